"""MCP prompts that a user can start: consolidate recent episodes, review what is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources

import mcp_types
from mcp_types import GetPromptResult, PromptMessage, TextContent

from remembrancer.errors import NotFound
from remembrancer.memory import Memory
from remembrancer.tools.caller import Caller
from remembrancer.tools.results import MemoryListResult
from remembrancer.types import Episode, Kind, Record, Status

MAX_MEMORIES = 100


@dataclass(frozen=True, slots=True)
class TaskPrompt:
    """A task, whose text is in `tasks/`, and the memories that it is about."""

    title: str
    description: str
    load_records: Callable[[Memory], list[Record]]


def _load_recent(memory: Memory) -> list[Record]:
    listed = memory.list(kinds=(Kind.EPISODE,), limit=MAX_MEMORIES).items
    episodes = [one for one in listed if not (isinstance(one, Episode) and one.is_note)]
    return [*episodes, *memory.list(kinds=(Kind.FACT, Kind.RULE), limit=MAX_MEMORIES).items]


def _load_doubtful(memory: Memory) -> list[Record]:
    unconfirmed = memory.list(status=Status.UNCONFIRMED, limit=MAX_MEMORIES).items
    known = memory.list(kinds=(Kind.FACT, Kind.RULE), limit=MAX_MEMORIES).items
    return [*unconfirmed, *sorted(known, key=memory.confidence)]


PROMPTS: Mapping[str, TaskPrompt] = {
    "consolidate": TaskPrompt(
        "Consolidate memory", "Turn recent episodes into lasting facts and rules.", _load_recent
    ),
    "review": TaskPrompt(
        "Review memory",
        "Go through what is remembered and correct it with the user.",
        _load_doubtful,
    ),
}


def list_prompts() -> list[mcp_types.Prompt]:
    return [
        mcp_types.Prompt(name=name, title=one.title, description=one.description)
        for name, one in PROMPTS.items()
    ]


def render_prompt(caller: Caller, name: str) -> GetPromptResult:
    """Return the text of a prompt, followed by its memories as data."""
    if name not in PROMPTS:
        raise NotFound(f"No such prompt; use one of {', '.join(PROMPTS)}.")
    prompt, memory = PROMPTS[name], caller.memory
    task = resources.files(__package__).joinpath("tasks", f"{name}.md").read_text("utf-8")
    about = MemoryListResult.from_records(memory, prompt.load_records(memory))
    text = TextContent(type="text", text=f"{task}\n{about.to_text()}")
    return GetPromptResult(
        description=prompt.description, messages=[PromptMessage(role="user", content=text)]
    )
