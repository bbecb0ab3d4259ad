"""One person's memories as Markdown, for reading: what is in force, and what was said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from remembrancer.call import Call
from remembrancer.sessions.lifecycle import all_turns
from remembrancer.store.contract import Filter, Position, Reader, SessionFilter
from remembrancer.store.nearest import everything
from remembrancer.types import Episode, Fact, Kind, Record, Rule, Session, Status, Turn

AT_ONCE = 200


def lines(call: Call) -> Iterator[str]:
    """The document, line by line, as of one moment."""
    with call.store.reading(call.owner) as reader:
        yield f"# What is remembered of {call.owner.user}\n"
        yield f"As of {call.now():%Y-%m-%d %H:%M} UTC.\n"
        wanted = Filter(now=call.now(), kinds=(Kind.FACT,), visible=call.visible())
        facts = [one for one in everything(reader, wanted) if isinstance(one, Fact)]
        facts.sort(key=lambda one: one.category)
        for category, some in groupby(facts, key=lambda one: one.category):
            yield from _section(category.replace("_", " ").capitalize(), some)
        for kind, heading in ((Kind.RULE, "Rules"), (Kind.EPISODE, "Episodes")):
            found = Filter(now=call.now(), kinds=(kind,), visible=call.visible())
            yield from _section(heading, everything(reader, found))
        for session in _sessions(call, reader):
            yield from _conversation(call, reader, session)


def _section(heading: str, records: Iterable[Record]) -> Iterator[str]:
    told = [_told(one) for one in records]
    if told:
        yield f"\n## {heading}\n"
        yield from told


def _told(record: Record) -> str:
    """A memory as an item of a list; further lines of it are indented, so that they stay in it."""
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


def _sessions(call: Call, reader: Reader) -> Iterator[Session]:
    wanted, after = SessionFilter(visible=call.visible()), None
    while page := reader.sessions(wanted, AT_ONCE, after):
        yield from page
        after = Position(page[-1].active_at, page[-1].id)


def _conversation(call: Call, reader: Reader, session: Session) -> Iterator[str]:
    turns = [
        one
        for one in all_turns(reader, session.id)
        if one.status is Status.ACTIVE and call.sees(one)
    ]
    if turns:
        yield f"\n## {session.title or 'A conversation'} ({session.started_at:%Y-%m-%d})\n"
        yield from map(_said, turns)


def _said(turn: Turn) -> str:
    words = turn.content.strip().replace("\n", "\n  ")
    return f"- **{turn.speaker or turn.role}**: {words}"
