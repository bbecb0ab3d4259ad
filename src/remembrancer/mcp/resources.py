"""MCP resources: one memory by its id, and a summary of the user as text."""

from __future__ import annotations

from mcp_types import Resource, ResourceTemplate, TextResourceContents

from remembrancer.errors import NotFound
from remembrancer.tools.caller import Caller
from remembrancer.tools.results import MemoryResult
from remembrancer.types import looks_like_id

SCHEME = "memory://"
PROFILE_URI = f"{SCHEME}profile"

RESOURCES = [
    Resource(
        uri=PROFILE_URI,
        name="profile",
        title="What is known about the user",
        description="What matters most about the user, as text for a prompt.",
        mime_type="text/markdown",
    )
]
TEMPLATES = [
    ResourceTemplate(
        uri_template=f"{SCHEME}{{id}}",
        name="memory",
        title="A memory",
        description="One memory by its id, in full.",
        mime_type="application/json",
    )
]


def read_resource(caller: Caller, uri: str) -> TextResourceContents:
    """Return the resource at a URI; raises `NotFound` for the memories of other users too."""
    memory = caller.memory
    if uri == PROFILE_URI:
        text = memory.context().text
        return TextResourceContents(uri=uri, text=text, mime_type="text/markdown")
    name = uri.removeprefix(SCHEME)
    if not uri.startswith(SCHEME) or not looks_like_id(name):
        raise NotFound(f"No such resource; use {PROFILE_URI} or {SCHEME}ID.")
    result = MemoryResult.from_record(memory, memory.get(name, used=True), max_detail_chars=None)
    text = result.model_dump_json(exclude_none=True)
    return TextResourceContents(uri=uri, text=text, mime_type="application/json")
