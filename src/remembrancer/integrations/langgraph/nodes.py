"""Graph nodes that recall before the model runs and learn afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain_core.messages import BaseMessage, RemoveMessage, SystemMessage
from langchain_core.runnables import RunnableConfig

from remembrancer.errors import InvalidInput
from remembrancer.integrations.langgraph.messages import (
    NOTE_NAME,
    is_note,
    latest_user_text,
    read_messages,
    to_turns,
)
from remembrancer.integrations.langgraph.run_person import (
    SURFACE,
    PersonOf,
    check_people,
    get_configurable,
    named_person,
    read_run,
    require_person,
)
from remembrancer.integrations.langgraph.stored_messages import count_stored
from remembrancer.options import check_options, check_value
from remembrancer.paging import MAX_LIMIT
from remembrancer.recall.prompt_block import BlockLayout, PromptEntry, build_block
from remembrancer.recall.prompt_lines import render_memory
from remembrancer.sessions.turns import TurnInput
from remembrancer.types import Kind, Recalled

if TYPE_CHECKING:
    from remembrancer.client import RemoteMemory
    from remembrancer.engine import Remembrancer
    from remembrancer.memory import Memory

    MemoryHandle = Memory | RemoteMemory
    MemoryResolver = Callable[[RunnableConfig], MemoryHandle]
    LocalResolver = Callable[[RunnableConfig], Memory]

StateUpdate = dict[str, Any]
GraphNode = Callable[[Any, RunnableConfig], StateUpdate]
FIRST_READ_TURNS = 50
NOTE_LAYOUT = BlockLayout("## What you remember about this user")


def of_run(people: Remembrancer, *, person_of: PersonOf = named_person) -> LocalResolver:
    """Return a resolver for the memory of the person whom a run is for.

    The run names them by `user_id`, and by `org_id` if there are several organisations, in its
    configuration or in its context. `person_of` reads other fields.
    """
    check_people(people, "of_run", person_of)

    def memory_of(config: RunnableConfig) -> Memory:
        person = require_person(read_run(config), people.settings.tenant, person_of)
        return people.for_user(person.user, tenant=person.tenant, surface=SURFACE)

    return memory_of


@dataclass(frozen=True, slots=True)
class NoteOptions:
    """How many memories a note has, which ones, and how many tokens."""

    limit: int = 5
    budget: int = 1000
    scope: str | None = None
    kinds: Sequence[Kind | str] | None = None
    minimum_importance: float | None = None

    def __post_init__(self) -> None:
        check_options({name: getattr(self, name) for name in self.__slots__}, NoteOptions)

    @property
    def recall_options(self) -> Any:
        given = {
            "limit": self.limit,
            "scope": self.scope,
            "kinds": self.kinds,
            "minimum_importance": self.minimum_importance,
        }
        return {name: value for name, value in given.items() if value is not None}


def recall_node(
    memory_of: MemoryResolver,
    *,
    limit: int = 5,
    budget: int = 1000,
    scope: str | None = None,
    kinds: Sequence[Kind | str] | None = None,
    minimum_importance: float | None = None,
) -> GraphNode:
    """Return a node that adds a note with the memories that fit the latest user message.

    It removes the note of the previous turn. In a state without `add_messages`, which cannot
    remove messages, a note has only what no earlier note says.
    """
    check_resolver(memory_of)
    options = NoteOptions(limit, budget, scope, kinds, minimum_importance)

    def recall(state: Any, config: RunnableConfig) -> StateUpdate:
        messages = read_messages(state)
        notes = [one for one in messages if is_note(one)]
        removed = [RemoveMessage(id=one.id) for one in notes if one.id]
        kept = "\n".join(one.text for one in notes if not one.id)
        thread = get_configurable(config).get("thread_id")
        note = write_note(memory_of(config), messages, options, thread, told=kept)
        return {"messages": [*removed, *([SystemMessage(note, name=NOTE_NAME)] if note else [])]}

    return recall


def learn_node(
    memory_of: MemoryResolver,
    *,
    has_acted: Callable[[Any], bool] = lambda _: False,
    scope: str | None = None,
) -> GraphNode:
    """Return a node that stores the messages, to learn from after some turns or an action.

    The profile sets the number of turns. An action is a tool message, or `has_acted` returning
    True. Each message is stored once, however often a graph is resumed or branched.
    """
    check_resolver(memory_of)
    check_value("has_acted", has_acted, Callable)

    def learn(state: Any, config: RunnableConfig) -> StateUpdate:
        memory = memory_of(config)
        is_new = learn_messages(memory, config, read_messages(state), scope=scope)
        if is_new and has_acted(state):
            memory.close(get_thread(config))
        return {}

    return learn


def write_note(
    memory: MemoryHandle,
    messages: Sequence[BaseMessage],
    options: NoteOptions,
    thread: str | None = None,
    *,
    told: str = "",
) -> str:
    """Return the memories that fit the latest user message as text, without those told already.

    The turns of the thread are left out: the model has them.
    """
    query = latest_user_text(messages)
    lines = {line.removeprefix("- ") for line in told.splitlines()}
    found = _recall_entries(memory, query, options, thread) if query else []
    new = [one for one in found if one.line not in lines]
    return build_block(NOTE_LAYOUT, new, options.budget).text


def _recall_entries(
    memory: MemoryHandle, query: str, options: NoteOptions, thread: str | None
) -> list[PromptEntry]:
    """Return what is recalled, each line once; recalls more if that leaves some out."""
    found = memory.recall(query, **options.recall_options)
    entries = _build_entries(found, thread)
    if len(entries) < len(found) == options.limit:
        wider = {**options.recall_options, "limit": min(4 * options.limit, MAX_LIMIT)}
        entries = _build_entries(memory.recall(query, used=False, **wider), thread)
    return entries[: options.limit]


def _build_entries(found: Iterable[Recalled], thread: str | None) -> list[PromptEntry]:
    entries: dict[str, PromptEntry] = {}
    for one in found:
        if one.memory.kind is not Kind.TURN or one.memory.session_id != thread:
            line = render_memory(one.memory)
            entries.setdefault(line, PromptEntry(one.memory.id, line))
    return list(entries.values())


def learn_messages(
    memory: MemoryHandle,
    config: RunnableConfig,
    messages: Sequence[BaseMessage],
    *,
    scope: str | None = None,
) -> bool:
    """Hand over the messages that are not stored yet; True if there are any."""
    thread = get_thread(config)
    turns = _select_new(memory, thread, to_turns(messages))
    if turns:
        memory.learn(turns, thread, scope=scope)
    return bool(turns)


def get_thread(config: RunnableConfig) -> str:
    thread = get_configurable(config).get("thread_id")
    if not isinstance(thread, str) or not thread:
        raise InvalidInput(
            "The run has no thread to learn from: set thread_id as configurable, "
            "as run_config does."
        )
    return thread


def _select_new(memory: MemoryHandle, thread: str, turns: list[TurnInput]) -> list[TurnInput]:
    """Return the turns after the last one that is stored, which is looked for from the end."""
    messages = [one["metadata"] for one in turns]
    limit: int | None = FIRST_READ_TURNS
    while turns:
        latest = memory.turns(thread, latest=limit)
        is_whole = limit is None or len(latest) < limit
        stored = count_stored(messages, latest, is_whole=is_whole)
        if stored is not None:
            return turns[stored:]
        assert limit is not None
        limit = limit * 4 if limit * 4 <= MAX_LIMIT else None
    return []


def check_resolver(memory_of: object) -> None:
    if not callable(memory_of):
        raise InvalidInput(
            "A node needs a function from a run's configuration to a memory, such as "
            f"of_run(people), not {type(memory_of).__name__}."
        )
