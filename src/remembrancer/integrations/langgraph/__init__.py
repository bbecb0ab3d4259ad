"""Memory for LangGraph: a store, nodes, a state with reducers, and checkpointers."""

from remembrancer.integrations.langgraph.nodes import learn_node, of_run, recall_node
from remembrancer.integrations.langgraph.savers import open_saver
from remembrancer.integrations.langgraph.shared_store import SharedStore, run_config
from remembrancer.integrations.langgraph.state import AssistantState
from remembrancer.integrations.langgraph.store import RemembrancerStore

__all__ = [
    "AssistantState",
    "RemembrancerStore",
    "SharedStore",
    "learn_node",
    "of_run",
    "open_saver",
    "recall_node",
    "run_config",
]
