"""Memory for LangGraph: a store, nodes, a state with reducers, and checkpointers."""

from remembrancer.integrations.langgraph.chat_model import LangChainModel, langchain_models
from remembrancer.integrations.langgraph.messages import merge_system_messages
from remembrancer.integrations.langgraph.middleware import MemoryMiddleware
from remembrancer.integrations.langgraph.nodes import learn_node, of_run, recall_node
from remembrancer.integrations.langgraph.savers import aopen_saver, open_saver
from remembrancer.integrations.langgraph.shared_store import SharedStore
from remembrancer.integrations.langgraph.state import AssistantState
from remembrancer.integrations.langgraph.store import RemembrancerStore
from remembrancer.integrations.langgraph.threads import adelete_threads, delete_threads, run_config
from remembrancer.integrations.langgraph.tools import memory_tools

__all__ = [
    "AssistantState",
    "LangChainModel",
    "MemoryMiddleware",
    "RemembrancerStore",
    "SharedStore",
    "adelete_threads",
    "aopen_saver",
    "delete_threads",
    "langchain_models",
    "learn_node",
    "memory_tools",
    "merge_system_messages",
    "of_run",
    "open_saver",
    "recall_node",
    "run_config",
]
