"""Memory for LangGraph: a store, nodes, a state with reducers, and checkpointers."""

from remembrancer.integrations.langgraph.extra import explain_missing_extra

with explain_missing_extra():
    from remembrancer.integrations.langgraph.chat_model import LangChainModel, langchain_models
    from remembrancer.integrations.langgraph.copy import acopy_store, copy_store
    from remembrancer.integrations.langgraph.embedder import LangChainEmbedder
    from remembrancer.integrations.langgraph.messages import merge_system_messages
    from remembrancer.integrations.langgraph.middleware import MemoryMiddleware
    from remembrancer.integrations.langgraph.misuse import InvalidItem
    from remembrancer.integrations.langgraph.nodes import learn_node, of_run, recall_node
    from remembrancer.integrations.langgraph.savers import aopen_saver, open_saver
    from remembrancer.integrations.langgraph.shared_store import SharedStore, quote_label
    from remembrancer.integrations.langgraph.state import AssistantState
    from remembrancer.integrations.langgraph.store import RemembrancerStore
    from remembrancer.integrations.langgraph.threads import (
        adelete_threads,
        delete_threads,
        run_config,
    )
    from remembrancer.integrations.langgraph.tools import memory_tools
    from remembrancer.remember.items import ItemDetails

__all__ = [
    "AssistantState",
    "InvalidItem",
    "ItemDetails",
    "LangChainEmbedder",
    "LangChainModel",
    "MemoryMiddleware",
    "RemembrancerStore",
    "SharedStore",
    "acopy_store",
    "adelete_threads",
    "aopen_saver",
    "copy_store",
    "delete_threads",
    "langchain_models",
    "learn_node",
    "memory_tools",
    "merge_system_messages",
    "of_run",
    "open_saver",
    "quote_label",
    "recall_node",
    "run_config",
]
