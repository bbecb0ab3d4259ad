"""The layers of the package."""

from __future__ import annotations

LAYERS = """
errors clock retry ids text_format
types options cron embed environment
guard llm local_server profiles testing
config search
agreement store
access call decay paging
remember team
audit recall
sessions
learn transfer conversations
erasure
maintenance
memory client
engine tools async_memory
factory mcp assistant
doctor integrations demo
server
cli
"""
"""Modules and packages from low to high: each imports only from the lines above its own."""
