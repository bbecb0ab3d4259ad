"""Memory for LangGraph: a store, nodes, a state with reducers, and checkpointers."""

try:
    from remembrancer.integrations.langgraph.copy import copy_store
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "LangGraph is not installed: pip install 'remembrancer[langgraph]'.", name=error.name
    ) from error

from remembrancer.integrations.langgraph.embedder import LangChainEmbedder
from remembrancer.integrations.langgraph.items import ItemDetails
from remembrancer.integrations.langgraph.misuse import InvalidItem
from remembrancer.integrations.langgraph.nodes import learn_node, of_run, recall_node
from remembrancer.integrations.langgraph.savers import open_saver
from remembrancer.integrations.langgraph.shared_store import SharedStore, quote_label, run_config
from remembrancer.integrations.langgraph.state import AssistantState
from remembrancer.integrations.langgraph.store import RemembrancerStore

__all__ = [
    "AssistantState",
    "InvalidItem",
    "ItemDetails",
    "LangChainEmbedder",
    "RemembrancerStore",
    "SharedStore",
    "copy_store",
    "learn_node",
    "of_run",
    "open_saver",
    "quote_label",
    "recall_node",
    "run_config",
]
