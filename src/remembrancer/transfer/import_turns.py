"""The conversations of an import, a few hundred turns at a time, each step one event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from remembrancer.call import Call
from remembrancer.errors import InvalidInput, RemembrancerError
from remembrancer.guard.redaction import checked_text, without_secrets
from remembrancer.ids import stable_id
from remembrancer.remember.embedding import embedded, spoken
from remembrancer.remember.lifecycle import as_before
from remembrancer.sessions.turns import TITLE_LIMIT, Cleaned, cleaned, continued
from remembrancer.store.contract import Embedding, Insert, Patch, Write, Writer
from remembrancer.transfer.formats.items import Conversation, LeftOut, Spoken
from remembrancer.transfer.import_memories import EMBEDDED, Outcome, Tell, provenance
from remembrancer.types import Action, Origin, Record, Session, SessionStatus, Status

Parts = tuple[Embedding, ...]


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation, or a part of it, that is fit to be stored."""

    session_id: str
    scope: str
    title: str | None
    turns: tuple[Cleaned, ...]

    def pieces(self, size: int) -> Iterator[Talk]:
        """The same in parts of so many turns at most."""
        for start in range(0, len(self.turns), size):
            yield replace(self, turns=self.turns[start : start + size])


def ready(
    call: Call, format: str, piece: Conversation, origin: Origin | None
) -> tuple[Talk, list[LeftOut]]:
    """A conversation whose turns were checked and cleaned, and those that cannot be stored."""
    scope = call.writable()
    told = (call.owner.id, scope, format, piece.key)
    turns: dict[str, Cleaned] = {}
    unfit: list[LeftOut] = []
    for number, one in enumerate(piece.turns, 1):
        try:
            turn = _cleaned(call, format, one, number, origin)
        except (RemembrancerError, RecursionError) as error:
            unfit.append(LeftOut(one.place, str(error).partition(": ")[2] or str(error)))
            continue
        at = one.said.get("said_at")
        id = stable_id("turn", at, *told, one.key)
        turns.setdefault(id, replace(turn, id=id))
    session_id = stable_id("session", None, *told)
    return Talk(session_id, scope, _title(piece.title), tuple(turns.values())), unfit


def step(call: Call, note: str, talks: Sequence[Talk], tell: Tell, *, learns: bool) -> Outcome:
    """Store some turns, but for those that came before."""
    outcome = Outcome()
    turns = [one for talk in talks for one in talk.turns]
    with call.store.reading(call.owner) as reader:
        there = reader.load(str(one.id) for one in turns)
    fresh = [one for one in turns if one.id not in there]
    tell(len(turns) - len(fresh))
    vectors = _embedded(call, fresh, tell)
    with call.writing() as writer:
        there = writer.load(str(one.id) for one in turns)
        writes: list[Write] = [
            Patch(one.id, as_before(writer, one))
            for one in there.values()
            if one.status is Status.RETRACTED
        ]
        for talk in talks:
            writes += _continued(call, writer, talk, there, vectors, learns=learns)
        if writes:
            event = call.event(Action.IMPORTED, call.now(), note=note)
            outcome.event = writer.apply(event, writes).id
    outcome.added = len(writes)
    outcome.present = len(turns) - len(writes)
    return outcome


def _cleaned(call: Call, format: str, one: Spoken, number: int, origin: Origin | None) -> Cleaned:
    said = one.said
    if origin is not None and said["role"] == "user":
        said = {**said, "origin": origin}
    turn = cleaned(said, call.now(), number)
    return replace(turn, metadata={**turn.metadata, **provenance(format, one.place)})


def _title(title: str | None) -> str | None:
    try:
        return without_secrets(checked_text((title or "")[:TITLE_LIMIT], "The title", TITLE_LIMIT))
    except InvalidInput:
        return None


def _embedded(call: Call, turns: Sequence[Cleaned], tell: Tell) -> dict[str, Parts]:
    vectors: dict[str, Parts] = {}
    for start in range(0, len(turns), EMBEDDED):
        few = turns[start : start + EMBEDDED]
        units = [spoken(one.role, one.speaker, one.content) for one in few]
        found = embedded(call, units)
        vectors |= {str(one.id): parts for one, parts in zip(few, found, strict=True)}
        tell(len(few))
    return vectors


def _continued(
    call: Call,
    writer: Writer,
    talk: Talk,
    there: Mapping[str, Record],
    vectors: Mapping[str, Parts],
    *,
    learns: bool,
) -> list[Write]:
    """The turns of a conversation that are new, after those that it has."""
    new = [one for one in talk.turns if one.id not in there]
    if not new:
        return []
    title = None if writer.session(talk.session_id) else talk.title
    heard = continued(call, writer, new, talk.session_id, talk.scope, title)
    writer.keep_session(_resting(call, heard.session, learns=learns))
    return [Insert(one, None, vectors.get(one.id, ())) for one in heard.turns]


def _resting(call: Call, session: Session, *, learns: bool) -> Session:
    """It is over; what was said in it is learned from in the background, if at all."""
    due = session.due_at or call.now() if learns else session.due_at
    return replace(session, status=SessionStatus.IDLE, due_at=due)
