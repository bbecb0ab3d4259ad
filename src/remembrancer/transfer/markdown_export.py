"""Exports the active memories and conversations of one person as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from remembrancer.call import Call
from remembrancer.sessions.lifecycle import load_turns
from remembrancer.store.contract import Filter, Position, Reader, SessionFilter
from remembrancer.store.nearest import iter_records
from remembrancer.types import Episode, Fact, Kind, Record, Rule, Session, Status, Turn

PAGE_SIZE = 200


def render_markdown(call: Call) -> Iterator[str]:
    """Yield the lines of the document, as of one moment."""
    with call.store.open_reader(call.owner) as reader:
        yield f"# What is remembered of {call.owner.instance or call.owner.user}\n"
        yield f"As of {call.now():%Y-%m-%d %H:%M} UTC.\n"
        is_fact = Filter(now=call.now(), kinds=(Kind.FACT,), visible=call.resolve_visibility())
        facts = [one for one in iter_records(reader, is_fact) if isinstance(one, Fact)]
        facts.sort(key=lambda one: one.category)
        for category, some in groupby(facts, key=lambda one: one.category):
            yield from _render_section(category.replace("_", " ").capitalize(), some)
        for kind, heading in ((Kind.RULE, "Rules"), (Kind.EPISODE, "Episodes")):
            found = Filter(now=call.now(), kinds=(kind,), visible=call.resolve_visibility())
            yield from _render_section(heading, iter_records(reader, found))
        for session in _list_sessions(call, reader):
            yield from _render_conversation(call, reader, session)


def _render_section(heading: str, records: Iterable[Record]) -> Iterator[str]:
    items = [_render_memory(one) for one in records]
    if items:
        yield f"\n## {heading}\n"
        yield from items


def _render_memory(record: Record) -> str:
    """Return a memory as a list item; its further lines are indented to stay in the item."""
    topic = ""
    if isinstance(record, Fact) and record.subject and record.predicate:
        topic = f"{record.subject}, {record.predicate}: "
    words = f"{topic}{record.content}".strip().replace("\n", "\n  ")
    return f"- {words} *({', '.join(_remarks(record))})*"


def _remarks(record: Record) -> Iterator[str]:
    match record:
        case Rule():
            yield record.maturity.replace("_", " ")
        case Episode():
            yield record.scope
        case _:
            yield record.source
    yield f"since {record.valid_from:%Y-%m-%d}"
    yield from (f"#{tag}" for tag in record.tags)


def _list_sessions(call: Call, reader: Reader) -> Iterator[Session]:
    filter, after = SessionFilter(visible=call.resolve_visibility()), None
    while page := reader.list_sessions(filter, PAGE_SIZE, after):
        yield from page
        after = Position(page[-1].active_at, page[-1].id)


def _render_conversation(call: Call, reader: Reader, session: Session) -> Iterator[str]:
    turns = [
        one
        for one in load_turns(reader, session.id)
        if one.status is Status.ACTIVE and call.can_see(one)
    ]
    if turns:
        yield f"\n## {session.title or 'A conversation'} ({session.started_at:%Y-%m-%d})\n"
        yield from map(_render_turn, turns)


def _render_turn(turn: Turn) -> str:
    words = turn.content.strip().replace("\n", "\n  ")
    return f"- **{turn.speaker or turn.role}**: {words}"
