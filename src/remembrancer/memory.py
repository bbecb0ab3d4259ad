"""The verbs of a memory: `Remembrancer` opens a store, `Memory` is one person's handle on it."""

from __future__ import annotations

import base64
import binascii
import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Unpack

from remembrancer import lifecycle
from remembrancer.call import Call
from remembrancer.clock import Clock, SystemClock
from remembrancer.context import compose
from remembrancer.decay import effective_confidence
from remembrancer.errors import InvalidInput, NotFound
from remembrancer.recall import Narrowing, Wanted, checked_limit, moment, narrowed, recall
from remembrancer.references import References
from remembrancer.remember import remember, update
from remembrancer.resolve import ANY, closest, resolve
from remembrancer.sessions import Said, append
from remembrancer.statement import Details, refuse_secret_name
from remembrancer.store.contract import Filter, Health, Position, Reader, Store
from remembrancer.types import (
    AsOf,
    History,
    Kind,
    Owner,
    Page,
    Principal,
    Recollection,
    Record,
    Relation,
    Stats,
    Status,
    Turn,
    Written,
    checked_name,
    member,
)

if TYPE_CHECKING:
    from remembrancer.block import Context
    from remembrancer.config import Settings
    from remembrancer.embed import Embedder

FADING_SAMPLE = 10_000
BESIDES_TURNS = tuple(kind for kind in Kind if kind is not Kind.TURN)
"""What a listing is of: the turns of conversations are read conversation by conversation."""


class Remembrancer:
    """An open store and the engine over it. Close it, or use it in a `with` block."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        embedder: Embedder,
        clock: Clock | None = None,
    ) -> None:
        self.settings = settings
        self._store = store
        self._embedder = embedder
        self._clock = clock or SystemClock()
        self._references = References(store)

    def for_user(
        self,
        user: str | None = None,
        *,
        tenant: str | None = None,
        agent: str | None = None,
        surface: str = "library",
    ) -> Memory:
        """The memory of one person, and nobody else's; `agent` says who acts for them."""
        owner = Owner(
            self.settings.tenant if tenant is None else tenant,
            self.settings.user if user is None else user,
        )
        agent = checked_name(agent, "agent") if agent is not None else None
        for name in (agent, surface):
            refuse_secret_name(name)
        principal = Principal(owner, agent, checked_name(surface, "surface"))
        profile = self.settings.profile_for(agent)
        return Memory(
            Call(principal, profile, self._store, self._embedder, self._clock, self._references)
        )

    def for_namespace(self, namespace: Sequence[str], *, surface: str = "library") -> Memory:
        """The memory under a namespace (organisation, user, …); it reaches nothing beside it."""
        if len(namespace) < 2:
            raise InvalidInput("A namespace starts with an organisation and a user.")
        tenant, user, *path = namespace
        if any(not step or "/" in step for step in path):
            raise InvalidInput("The parts of a namespace are not empty and have no slash in them.")
        agent = "/".join(path) or None
        return self.for_user(user, tenant=tenant, agent=agent, surface=surface)

    def owners(self) -> list[Owner]:
        """Everyone who has stored something here."""
        return self._store.owners()

    def health(self) -> Health:
        """What the store says about itself."""
        return self._store.health()

    def flush(self) -> None:
        """Write what was gathered in the background."""
        self._references.flush()

    def close(self) -> None:
        """Write what is waiting and give back all connections."""
        self._references.close()
        self._store.close()

    def __enter__(self) -> Remembrancer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Memory:
    """Everything one person can do with their memory.

    Where a memory is to be named, give its id, or words that occur in it and in no other.
    """

    def __init__(self, call: Call) -> None:
        self._call = call

    @property
    def principal(self) -> Principal:
        """Whose memory this is and who acts for them."""
        return self._call.principal

    def remember(self, content: str, **details: Unpack[Details]) -> Written:
        """Keep one thing. What it restates is replaced, what it repeats is returned as it is."""
        return remember(self._call, content, details)

    def append(
        self,
        turns: Sequence[Said],
        session: str | None = None,
        *,
        scope: str | None = None,
        title: str | None = None,
    ) -> tuple[Turn, ...]:
        """Add turns to a conversation, to be recalled later; without a name it is a new one."""
        return append(self._call, turns, session, scope=scope, title=title)

    def turns(self, session: str) -> tuple[Turn, ...]:
        """A conversation as it was, from its first turn to its last."""
        found: list[Turn] = []
        with self._reading() as reader:
            while page := reader.turns(session, after=found[-1].position if found else -1):
                found += page
        return tuple(turn for turn in found if self._call.sees(turn))

    def recall(self, query: str, **wanted: Unpack[Wanted]) -> Recollection:
        """Bring back what matters for a query, best first; each result's `.why` explains itself.

        The result's `.sure` tells how likely it is that anything relevant is remembered at all.
        """
        return recall(self._call, query, wanted)

    def context(
        self,
        prompt: str | None = None,
        *,
        budget: int | None = None,
        session: str | None = None,
        as_of: AsOf | datetime | None = None,
        style: str | None = None,
    ) -> Context:
        """Memory as text to put into a prompt, in the profile's style, never over the budget.

        A `session` keeps to what was known when it first asked; a note is always of this moment.
        """
        return compose(self._call, prompt, budget=budget, session=session, as_of=as_of, style=style)

    def get(self, reference: str, *, as_of: AsOf | datetime | None = None) -> Record:
        """One memory, whatever became of it; `as_of` shows it as it was known then."""
        record = resolve(self._call, reference, ANY)
        then = moment(as_of)
        if then is None or then.known is None:
            return record
        if record.recorded_at > then.known:
            raise NotFound(f"{record.id} was not known then.")
        with self._reading() as reader:
            return reader.as_known([record], then.known)[0]

    def list(
        self,
        *,
        status: Status | str | None = None,
        limit: int = 50,
        cursor: str | None = None,
        **narrowing: Unpack[Narrowing],
    ) -> Page[Record]:
        """Memories from the newest to the oldest, a page at a time; by default those in force."""
        limit = checked_limit(limit)
        passing = narrowed(self._call, narrowing)
        if not narrowing.get("kinds"):
            passing = replace(passing, kinds=BESIDES_TURNS)
        if status is not None:
            passing = replace(passing, statuses=(member(Status, status, "status"),))
            if passing.statuses == (Status.TRASHED,):
                days = timedelta(days=self._call.profile.deletion.trash_days)
                passing = replace(passing, retired_after=passing.now - days)
        with self._reading() as reader:
            found = reader.find(passing, limit + 1, _position(cursor))
            if passing.known_at is not None:
                found = reader.as_known(found, passing.known_at)
        more = len(found) > limit
        return Page(tuple(found[:limit]), _cursor(found[limit - 1]) if more else None)

    def update(self, reference: str, content: str, **details: Unpack[Details]) -> Written:
        """Replace a memory by a new version; the old one stays in its history."""
        return update(self._call, resolve(self._call, reference), content, details)

    def confirm(self, reference: str) -> Written:
        """Say that a memory is still true."""
        known = (Status.ACTIVE, Status.EXPIRED)
        return lifecycle.confirm(self._call, resolve(self._call, reference, known))

    def forget(self, reference: str) -> Written:
        """End a memory: the one named, or else the one whose sense is clearly closest."""
        return lifecycle.forget(self._call, closest(self._call, reference))

    def restore(self, reference: str) -> Written:
        """Bring back what was forgotten or deleted."""
        gone = lifecycle.RESTORABLE
        return lifecycle.restore(self._call, resolve(self._call, reference, gone))

    def delete(self, reference: str) -> Written:
        """Put a memory into the trash, or destroy it where the profile says so."""
        return lifecycle.delete(self._call, resolve(self._call, reference))

    def undo(self, event_id: str | None = None) -> Written:
        """Take back one change: that of the event, or the latest."""
        return lifecycle.undo(self._call, event_id)

    def link(
        self, source: str, target: str, relation: Relation | str = Relation.RELATED_TO
    ) -> Written:
        """Relate two memories."""
        call = self._call
        chosen = member(Relation, relation, "relation")
        return lifecycle.link(call, resolve(call, source), resolve(call, target), chosen)

    def history(self, reference: str) -> History:
        """All versions of a memory, what happened to them, and what they are linked to."""
        record = resolve(self._call, reference, ANY)
        with self._reading() as reader:
            versions = _versions(reader, record)
            events = reader.events(memory_ids=[one.id for one in versions], limit=1000)
            links = reader.links(record.id)
        return History(tuple(versions), tuple(reversed(events)), tuple(links))

    def stats(self) -> Stats:
        """How many memories there are, of what sort, and how they are doing."""
        return _stats(self._call)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Reader]:
        with self._call.store.reading(self._call.owner) as reader:
            yield reader


def _versions(reader: Reader, record: Record) -> list[Record]:
    wanted = Filter(
        now=record.recorded_at, kinds=(record.kind,), lineage=record.lineage, statuses=ANY
    )
    return list(reversed(reader.find(wanted, 1000)))


def _stats(call: Call) -> Stats:
    now = call.now()
    with call.store.reading(call.owner) as reader:
        tallies = reader.tally()
        active = replace(call.filter(kinds=BESIDES_TURNS), statuses=(Status.ACTIVE,))
        sample = reader.find(active, FADING_SAMPLE)
        events = reader.count_events()
    by_kind: dict[str, Counter[str]] = {}
    for one in tallies:
        by_kind.setdefault(one.kind, Counter())[one.status] += one.count
    alive = [one for one in tallies if one.status is Status.ACTIVE]
    decay = call.profile.decay
    soon = now + timedelta(days=7)
    return Stats(
        by_kind={kind: dict(counts) for kind, counts in by_kind.items()},
        by_category=_sums((one.category, one.count) for one in alive if one.category),
        by_permanence=_sums((one.permanence, one.count) for one in alive),
        by_scope=_sums((one.scope, one.count) for one in alive),
        fading=sum(effective_confidence(one, decay, now) < decay.recall_at for one in sample),
        expiring=sum(one.expires_at is not None and one.expires_at < soon for one in sample),
        backlog=sum(getattr(one, "backlog", None) == "pending" for one in sample),
        events=events,
    )


def _sums(pairs: Iterator[tuple[str, int]]) -> dict[str, int]:
    sums: Counter[str] = Counter()
    for name, count in pairs:
        sums[name] += count
    return dict(sums)


def _cursor(record: Record) -> str:
    place = f"{record.recorded_at.isoformat()} {record.id}"
    return base64.urlsafe_b64encode(place.encode()).decode()


def _position(cursor: str | None) -> Position | None:
    if cursor is None:
        return None
    try:
        at, memory_id = base64.urlsafe_b64decode(cursor.encode()).decode().split(" ")
        return Position(datetime.fromisoformat(at), memory_id)
    except (ValueError, binascii.Error):
        raise InvalidInput("The cursor is not one that a listing gave.") from None
