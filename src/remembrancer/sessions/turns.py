"""Validates and redacts turns, and appends them to a session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Required, TypedDict

from remembrancer.call import Call
from remembrancer.clock import as_utc
from remembrancer.errors import InvalidInput
from remembrancer.guard.quarantine import screen_turn
from remembrancer.guard.redaction import (
    MAX_METADATA_CHECKS,
    redact_metadata,
    redact_text,
    refuse_complex_metadata,
    refuse_secret_name,
    validate_text,
)
from remembrancer.guard.repetition import repeats_words
from remembrancer.guard.secrets.replies import REMEMBERED_TURNS, may_be_reply
from remembrancer.ids import new_id
from remembrancer.remember.embedding import ROLES, embed_units, split_turn
from remembrancer.remember.provenance import name_unverified_origin
from remembrancer.remember.session_texts import TITLE_SOURCE_KEY
from remembrancer.search.sentences import EmbeddingUnit
from remembrancer.sessions.titles import BY_WORDS, MAX_OPENING_TURNS, build_title
from remembrancer.store.contract import Embedding, Insert, Writer
from remembrancer.types import (
    GLOBAL_SCOPE,
    Action,
    Json,
    Origin,
    Session,
    SessionStatus,
    Source,
    Status,
    Turn,
    looks_like_id,
    parse_enum,
    validate_name,
)

ORIGIN_BY_ROLE = {"user": Origin.USER, "tool": Origin.TOOL}
MAX_TITLE_CHARS = 1000
MAX_SCOPE_CHARS = 200
MAX_TURN_CHARS = 1_000_000
MAX_TURNS = 100_000
CHECKS_PER_TURN = 50
"""How many searches for secrets in metadata each turn adds to what a call may take."""

MEMORIES_KEY = "memories"
"""Metadata key of a reply for the ids of the memories that it was given."""

SEAM_CHARS = 500
"""What is read on each side of the seam of two texts from outside."""

MAX_COMPARED_TURNS = 200
"""The latest turns of each side whose words a reply can repeat."""


class TurnInput(TypedDict, total=False):
    """One turn of a session as a caller passes it."""

    role: Required[str]
    content: Required[str]
    speaker: str | None
    said_at: datetime | None
    origin: Origin | str
    metadata: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class CleanTurn:
    """A turn that was validated and redacted."""

    role: str
    content: str
    speaker: str | None
    said_at: datetime
    origin: Origin
    metadata: Mapping[str, Json]
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Appended:
    """The stored turns and their session; `left` counts turns that still need their vectors."""

    session: Session
    turns: tuple[Turn, ...]
    left: int = 0


ScheduleLearning = Callable[[Session, Sequence[Turn]], datetime | None]
"""Returns when to learn from a session to which turns were added; None leaves it as it was."""


def append(
    call: Call,
    turns: Sequence[TurnInput],
    session: str | None = None,
    *,
    scope: str | None = None,
    title: str | None = None,
    embed_now: bool = True,
    max_units: int | None = None,
    schedule: ScheduleLearning | None = None,
) -> Appended:
    """Append turns to a session; the first turns begin it.

    Without `embed_now` the turns get their vectors from the next learning run, so that the caller
    does not wait for them. With `max_units` only the first turns get theirs at once, up to that
    many vectors.
    """
    if len(turns) > MAX_TURNS:
        raise InvalidInput(f"At most {MAX_TURNS} turns at a time.")
    now = call.now()
    allowed = MAX_METADATA_CHECKS + len(turns) * CHECKS_PER_TURN
    refuse_complex_metadata([turn.get("metadata", {}) for turn in turns], "The turns", allowed)
    session_id = _resolve_session_id(session, now)
    clean = _clean_turns(call, turns, session_id if session else None, now)
    refuse_secret_name(scope)
    write_scope = call.resolve_write_scope(scope)
    if title is not None:
        title = redact_text(validate_text(title, "The title", MAX_TITLE_CHARS))
    vectors: list[tuple[Embedding, ...]] = [()] * len(clean)
    if embed_now:
        vectors = embed_units(call, _split_first(clean, max_units))
    with call.open_writer() as writer:
        appended = continue_session(call, writer, clean, session_id, write_scope, title)
        current = appended.session
        if schedule is not None:
            due_at = schedule(current, appended.turns) or current.due_at
            current = replace(current, due_at=due_at)
        writer.save_session(current)
        inserts = [
            Insert(record, None, embeddings)
            for record, embeddings in zip(appended.turns, vectors, strict=True)
        ]
        if not inserts:
            return Appended(current, ())
        event = writer.apply(call.new_event(Action.HEARD, now), inserts)
    moved = (replace(one, recorded_at=max(one.recorded_at, event.at)) for one in appended.turns)
    left = sum(not one for one in vectors) if embed_now else 0
    return Appended(current, tuple(moved), left)


def _split_first(turns: Sequence[CleanTurn], max_units: int | None) -> list[list[EmbeddingUnit]]:
    """What is embedded of each turn; nothing of those beyond `max_units`."""
    pieces: list[list[EmbeddingUnit]] = []
    count = 0
    for one in turns:
        if max_units is not None and count >= max_units:
            pieces.append([])
            continue
        pieces.append(split_turn(one.role, one.speaker, one.content))
        count += len(pieces[-1])
    return pieces


def continue_session(
    call: Call,
    writer: Writer,
    turns: Sequence[CleanTurn],
    session_id: str,
    scope: str,
    title: str | None,
) -> Appended:
    """Build the session with these turns at its end; the caller stores both."""
    now = call.now()
    known = writer.get_session(session_id)
    if known is not None and known.scope != scope:
        raise InvalidInput("That conversation belongs to another scope.")
    start = writer.next_position(session_id) if known else 0
    records = [
        _build_turn(call, one, session_id, scope, position, now)
        for position, one in enumerate(turns, start)
    ]
    records = _screen_turns(writer, session_id if known else None, records)
    current = _touch_session(known or _begin_session(call, session_id, scope, turns, now), turns)
    if title is not None:
        current = set_title(current, title)
    elif current.title is None:
        derived = build_title([*writer.list_turns(session_id, limit=MAX_OPENING_TURNS), *records])
        current = set_title(current, derived, BY_WORDS)
    return Appended(current, tuple(records))


def _clean_turns(
    call: Call, turns: Sequence[TurnInput], session: str | None, now: datetime
) -> list[CleanTurn]:
    said = _list_said_before(call, turns, session)
    clean = []
    for number, turn in enumerate(turns, 1):
        clean.append(clean_turn(turn, now, number, said[-REMEMBERED_TURNS:]))
        said.append(turn["content"])
    return clean


def _list_said_before(call: Call, turns: Sequence[TurnInput], session: str | None) -> list[str]:
    """The last stored turns, if the first new one may be the answer to a question in them."""
    opening = turns[0].get("content", "") if turns else ""
    if not session or not isinstance(opening, str) or not may_be_reply(opening):
        return []
    with call.store.open_reader(call.owner) as reader:
        return [turn.content for turn in reader.list_latest_turns(session, REMEMBERED_TURNS)]


def clean_turn(
    turn: TurnInput, now: datetime, number: int, previous: Sequence[str] = ()
) -> CleanTurn:
    """Validate a turn and redact its secrets; an error names the turn's number."""
    role = turn.get("role", "")
    if role not in ROLES:
        raise InvalidInput(f"Turn {number}: the role must be one of {', '.join(ROLES)}.")
    content = turn.get("content", "")
    validate_text(content, f"Turn {number}", MAX_TURN_CHARS)
    speaker = turn.get("speaker")
    said_at = turn.get("said_at")
    return CleanTurn(
        role=role,
        content=redact_text(content, previous),
        speaker=validate_name(redact_text(speaker), "speaker") if speaker else None,
        said_at=as_utc(said_at) if said_at else now,
        origin=parse_enum(
            Origin, str(turn.get("origin", ORIGIN_BY_ROLE.get(role, Origin.ASSISTANT))), "origin"
        ),
        metadata=redact_metadata(turn.get("metadata", {}), f"Turn {number}"),
    )


def _resolve_session_id(session: str | None, now: datetime) -> str:
    if session is None:
        return new_id("session", now)
    refuse_secret_name(session)
    return validate_name(session, "session")


def _build_turn(
    call: Call, one: CleanTurn, session_id: str, scope: str, position: int, now: datetime
) -> Turn:
    turn = Turn(
        id=one.id or new_id("turn", now),
        content=one.content,
        scope=scope,
        importance=call.profile.importance.default,
        source=Source.EXPLICIT if one.origin is Origin.USER else Source.IMPORTED,
        tainted=one.origin.is_untrusted,
        agent=call.principal.agent,
        surface=call.principal.surface,
        author=call.author,
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
    if not name_unverified_origin(turn):
        return turn
    return replace(turn, status=screen_turn(turn.content, tainted=turn.tainted))


def _screen_turns(writer: Writer, session_id: str | None, turns: Sequence[Turn]) -> list[Turn]:
    """The turns, of which replies that repeat a tool or a document are tainted like these.

    An instruction that is split over two texts from outside is quarantined with the second.
    """
    if all(one.is_by_user and not one.tainted for one in turns):
        return [*turns]
    turns = [_follow_memories(writer, one) for one in turns]
    outside = writer.list_tainted_turns(session_id, MAX_COMPARED_TURNS) if session_id else []
    if not outside and not any(one.tainted for one in turns):
        return [*turns]
    earlier = writer.list_latest_turns(session_id, MAX_COMPARED_TURNS) if session_id else []
    own = [one for one in earlier if one.is_by_user and not one.tainted]
    checked: list[Turn] = []
    for one in turns:
        turn = _screen_turn(one, outside, own)
        if turn.tainted:
            outside.append(turn)
        elif turn.is_by_user:
            own.append(turn)
        checked.append(turn)
    return checked


def _follow_memories(writer: Writer, reply: Turn) -> Turn:
    """A reply that repeats a memory it was given: as tainted, and as private to an agent."""
    ids = reply.metadata.get(MEMORIES_KEY)
    if reply.role != "assistant" or not isinstance(ids, list):
        return reply
    given = writer.load([one for one in map(str, ids) if looks_like_id(one)]).values()
    repeated = [one for one in given if repeats_words(reply.content, [one.content])]
    scopes = sorted({one.scope for one in repeated} - {GLOBAL_SCOPE, reply.scope})
    if scopes and reply.scope == GLOBAL_SCOPE:
        # Of several agents' memories, none of them hears: only the person reads this scope.
        reply = replace(reply, scope="+".join(scopes)[:MAX_SCOPE_CHARS])
    return _taint(reply) if any(one.tainted for one in repeated) else reply


def _taint(turn: Turn) -> Turn:
    return replace(turn, tainted=True, status=screen_turn(turn.content, tainted=True))


def _screen_turn(turn: Turn, outside: Sequence[Turn], own: Sequence[Turn]) -> Turn:
    if turn.tainted:
        return _screen_continuation(turn, outside)
    if turn.role != "assistant":
        return turn
    sources, said = (one.content for one in outside), [one.content for one in own]
    if not repeats_words(turn.content, sources, said):
        return turn
    return _taint(turn)


def _screen_continuation(turn: Turn, outside: Sequence[Turn]) -> Turn:
    """The turn, in quarantine if it completes an instruction that the text before it began."""
    if turn.status is not Status.ACTIVE or not outside or outside[-1].status is not Status.ACTIVE:
        return turn
    seam = f"{outside[-1].content[-SEAM_CHARS:]} {turn.content[:SEAM_CHARS]}"
    return replace(turn, status=screen_turn(seam, tainted=True))


def set_title(session: Session, title: str | None, by: str | None = None) -> Session:
    """Set a title; `by` says what derived it, and is None for a title given by a person."""
    metadata = {name: value for name, value in session.metadata.items() if name != TITLE_SOURCE_KEY}
    if title is None:
        return session
    return replace(session, title=title, metadata=metadata | ({TITLE_SOURCE_KEY: by} if by else {}))


def _begin_session(
    call: Call, session_id: str, scope: str, turns: Sequence[CleanTurn], now: datetime
) -> Session:
    first = min((one.said_at for one in turns), default=now)
    return Session(
        id=session_id,
        scope=scope,
        surface=call.principal.surface,
        started_at=first,
        active_at=first,
    )


def _touch_session(session: Session, turns: Sequence[CleanTurn]) -> Session:
    """Make the session active again, whatever its status was."""
    moments = [one.said_at for one in turns]
    return replace(
        session,
        status=SessionStatus.ACTIVE,
        started_at=min([*moments, session.started_at]),
        active_at=max([*moments, session.active_at]),
    )
