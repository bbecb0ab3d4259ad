"""What is said: turns in order, cleaned, stored and indexed with their session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Required, TypedDict

from remembrancer.call import Call
from remembrancer.clock import as_utc
from remembrancer.errors import InvalidInput
from remembrancer.guard.quarantine import standing_of
from remembrancer.guard.redaction import (
    checked_text,
    metadata_without_secrets,
    refuse_secret_name,
    without_secrets,
)
from remembrancer.ids import new_id
from remembrancer.remember.embedding import ROLES, embedded, spoken
from remembrancer.sessions.titles import BY_WORDS, TITLED, title_of
from remembrancer.store.contract import Embedding, Insert, Writer
from remembrancer.types import (
    Action,
    Json,
    Origin,
    Session,
    SessionStatus,
    Source,
    Turn,
    checked_name,
    member,
)

ORIGINS = {"user": Origin.USER, "tool": Origin.TOOL}
TITLE_LIMIT = 1000
TURN_LIMIT = 1_000_000
MOST_TURNS = 100_000


class Said(TypedDict, total=False):
    """One turn of a conversation, as a caller hands it over."""

    role: Required[str]
    content: Required[str]
    speaker: str | None
    said_at: datetime | None
    origin: Origin | str
    metadata: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A turn that is fit to be stored."""

    role: str
    content: str
    speaker: str | None
    said_at: datetime
    origin: Origin
    metadata: Mapping[str, Json]
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Heard:
    """Turns as they were stored, and their conversation."""

    session: Session
    turns: tuple[Turn, ...]


Due = Callable[[Session, Sequence[Turn]], datetime | None]
"""When a conversation is to be learned from, now that these turns were added to it."""


def append(
    call: Call,
    turns: Sequence[Said],
    session: str | None = None,
    *,
    scope: str | None = None,
    title: str | None = None,
    due: Due | None = None,
) -> Heard:
    """Add turns to the end of a conversation, which begins with the first of them.

    Those from which something is to be learned get their vectors then: nobody waits for that here.
    """
    if len(turns) > MOST_TURNS:
        raise InvalidInput(f"At most {MOST_TURNS} turns at a time.")
    now = call.now()
    said = [cleaned(turn, now, number) for number, turn in enumerate(turns, 1)]
    refuse_secret_name(scope)
    place = call.writable(scope)
    if title is not None:
        title = without_secrets(checked_text(title, "The title", TITLE_LIMIT))
    session_id = _session_id(session, now)
    vectors: list[tuple[Embedding, ...]] = [()] * len(said)
    if due is None:
        vectors = embedded(call, [spoken(one.role, one.speaker, one.content) for one in said])
    with call.writing() as writer:
        heard = continued(call, writer, said, session_id, place, title)
        current = heard.session
        if due is not None:
            current = replace(current, due_at=due(current, heard.turns) or current.due_at)
        writer.keep_session(current)
        inserts = [
            Insert(record, None, parts) for record, parts in zip(heard.turns, vectors, strict=True)
        ]
        if inserts:
            writer.apply(call.event(Action.HEARD, now), inserts)
    return Heard(current, heard.turns)


def continued(
    call: Call,
    writer: Writer,
    said: Sequence[Cleaned],
    session_id: str,
    scope: str,
    title: str | None,
) -> Heard:
    """A conversation with these turns at its end, and the turns as they are to be stored."""
    now = call.now()
    known = writer.session(session_id)
    if known is not None and known.scope != scope:
        raise InvalidInput("That conversation belongs to another scope.")
    start = writer.next_position(session_id) if known else 0
    records = [
        _record(call, one, session_id, scope, position, now)
        for position, one in enumerate(said, start)
    ]
    current = _continued(known or _begun(call, session_id, scope, said, now), said)
    if title is not None:
        current = titled(current, title)
    elif current.title is None:
        first = title_of([*writer.turns(session_id, limit=5), *records])
        current = titled(current, first, BY_WORDS)
    return Heard(current, tuple(records))


def cleaned(turn: Said, now: datetime, number: int) -> Cleaned:
    """A turn that was checked, with its secrets replaced, or an error that names its number."""
    role = turn.get("role", "")
    if role not in ROLES:
        raise InvalidInput(f"Turn {number}: the role must be one of {', '.join(ROLES)}.")
    content = turn.get("content", "")
    checked_text(content, f"Turn {number}", TURN_LIMIT)
    speaker = turn.get("speaker")
    said_at = turn.get("said_at")
    return Cleaned(
        role=role,
        content=without_secrets(content),
        speaker=checked_name(without_secrets(speaker), "speaker") if speaker else None,
        said_at=as_utc(said_at) if said_at else now,
        origin=member(
            Origin, str(turn.get("origin", ORIGINS.get(role, Origin.ASSISTANT))), "origin"
        ),
        metadata=metadata_without_secrets(turn.get("metadata", {}), f"Turn {number}"),
    )


def _session_id(session: str | None, now: datetime) -> str:
    if session is None:
        return new_id("session", now)
    refuse_secret_name(session)
    return checked_name(session, "session")


def _record(
    call: Call, one: Cleaned, session_id: str, scope: str, position: int, now: datetime
) -> Turn:
    return Turn(
        id=one.id or new_id("turn", now),
        content=one.content,
        scope=scope,
        status=standing_of(one.content, tainted=one.origin.taints),
        importance=call.profile.importance.default,
        source=Source.EXPLICIT if one.origin is Origin.USER else Source.IMPORTED,
        tainted=one.origin.taints,
        agent=call.principal.agent,
        surface=call.principal.surface,
        session_id=session_id,
        metadata=one.metadata,
        valid_from=one.said_at,
        recorded_at=now,
        confirmed_at=now,
        position=position,
        role=one.role,
        speaker=one.speaker,
        origin=one.origin,
    )


def titled(session: Session, title: str | None, by: str | None = None) -> Session:
    """The conversation with a title, by a person or by whoever else found it."""
    metadata = {name: value for name, value in session.metadata.items() if name != TITLED}
    if title is None:
        return session
    return replace(session, title=title, metadata=metadata | ({TITLED: by} if by else {}))


def _begun(
    call: Call, session_id: str, scope: str, said: Sequence[Cleaned], now: datetime
) -> Session:
    first = min((one.said_at for one in said), default=now)
    return Session(
        id=session_id,
        scope=scope,
        surface=call.principal.surface,
        started_at=first,
        active_at=first,
    )


def _continued(session: Session, said: Sequence[Cleaned]) -> Session:
    """The conversation after something was said: whatever it was, it is active again."""
    moments = [one.said_at for one in said]
    return replace(
        session,
        status=SessionStatus.ACTIVE,
        started_at=min([*moments, session.started_at]),
        active_at=max([*moments, session.active_at]),
    )
