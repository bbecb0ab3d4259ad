"""Purges memories: with all their versions, and with what other texts still say of them.

What a person forgot, deleted or undid is masked in the turns that it was learned from, in every
other turn and episode that says the same, in titles and summaries, and in the quotes that other
memories rest on. A memory that a job dropped, such as a duplicate, leaves those texts alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from remembrancer.call import Call
from remembrancer.remember.forgotten_words import (
    MIN_TERMS,
    ForgottenWords,
    build_forgotten_words,
    list_tellings,
    telling_terms,
)
from remembrancer.remember.session_texts import clear_derived_texts, mask_texts
from remembrancer.search.terms import fingerprint
from remembrancer.store.contract import (
    CURRENT_STATUSES,
    Filter,
    Purge,
    Reader,
    Rewrite,
    Write,
    Writer,
)
from remembrancer.types import (
    FORGOTTEN_MARK,
    Action,
    Event,
    Evidence,
    Json,
    Kind,
    Record,
    Relation,
    Session,
    Status,
    Turn,
)

REMOVED_STATUSES = (Status.FORGOTTEN, Status.TRASHED, Status.RETRACTED)
"""The statuses of what is purged after its days in the trash."""

HELD_STATUSES = (*CURRENT_STATUSES, Status.EXPIRED, Status.DISABLED)
"""The statuses of memories that a person still has."""

REMOVING_ACTIONS = frozenset({Action.FORGOTTEN, Action.TRASHED, Action.UNDONE})
"""The actions by which a person removes a memory."""

MAX_VERSIONS = 10_000
MAX_CITING = 10_000
MAX_EVENTS = 10_000
MAX_REJECTIONS = 10_000


@dataclass(frozen=True, slots=True)
class PurgePlan:
    """The memories to destroy, and what changes in texts that stay."""

    records: tuple[Record, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()
    sessions: tuple[Session, ...] = ()
    rejections: tuple[str, ...] = ()

    @property
    def writes(self) -> list[Write]:
        return [*self.rewrites, *(Purge(one.id) for one in self.records)]


def purge(
    call: Call, writer: Writer, ids: Sequence[str], action: Action, *, is_asked: bool = True
) -> Event:
    """Destroy memories as one event; `is_asked` if a person asks for it now."""
    plan = plan_purge(writer, ids, call.now(), is_asked=is_asked)
    for session in plan.sessions:
        writer.save_session(session)
    writer.delete_rejections(plan.rejections)
    return writer.apply(call.new_event(action, call.now()), plan.writes)


def plan_purge(
    reader: Reader, ids: Sequence[str], now: datetime, *, is_asked: bool = True
) -> PurgePlan:
    """What it takes to destroy memories with their past versions."""
    gone = _load_versions(reader, ids, now)
    if not gone:
        return PurgePlan()
    told = _drop_held(reader, [one for one in gone.values() if not isinstance(one, Turn)], gone)
    if not is_asked:
        told = _select_removed_by_person(reader, told)
    citing = _load_citing(reader, gone.values(), now)
    words = build_forgotten_words(told, [one for one in citing if one.status in HELD_STATUSES])
    rewritten = {
        one.id: values
        for one in (*_load_telling(reader, words, gone), *citing)
        if (values := _mask_record(one, words, gone))
    }
    return PurgePlan(
        records=tuple(gone.values()),
        rewrites=tuple(Rewrite(*item) for item in rewritten.items()),
        sessions=_mask_sessions(reader, words, gone, rewritten),
        rejections=_find_rejections(reader, words, gone),
    )


def _load_versions(reader: Reader, ids: Sequence[str], now: datetime) -> dict[str, Record]:
    """The memories and their past versions; the history of a memory that stays is left."""
    found = reader.load(ids)
    named = {one: found[one] for one in ids if one in found}
    whole = [one.id for one in named.values() if not _is_history(reader, one, named, now)]
    return {**named, **reader.load(reader.list_past_versions(whole, now))}


def _is_history(reader: Reader, one: Record, named: dict[str, Record], now: datetime) -> bool:
    """True for a version that was undone or removed, of a memory that stays."""
    if one.status not in REMOVED_STATUSES:
        return False
    versions = Filter(now=now, kinds=(one.kind,), lineage=one.lineage, statuses=HELD_STATUSES)
    return any(other.id not in named for other in reader.find(versions, MAX_VERSIONS))


def _drop_held(reader: Reader, gone: Sequence[Record], ids: dict[str, Record]) -> list[Record]:
    """Leave out what another memory says in the same words."""
    tellings = {one.id: frozenset(t.terms for t in list_tellings(one)) for one in gone}
    sought = [terms for found in tellings.values() for terms in found]
    alike = reader.load(set(reader.find_with_terms(sought)) - ids.keys()).values()
    same = {fingerprint(one.content) for one in gone}
    held = {
        terms
        for one in alike
        if not isinstance(one, Turn)
        if one.kind is not Kind.EPISODE or fingerprint(one.content) in same
        if one.status in HELD_STATUSES
        for terms in (telling.terms for telling in list_tellings(one))
    }
    return [one for one in gone if not tellings[one.id] or not tellings[one.id] <= held]


def _select_removed_by_person(reader: Reader, records: Sequence[Record]) -> list[Record]:
    """Those that a person forgot, deleted or undid, and the past versions of these."""
    actions: dict[str, Action] = {}
    ids = [one.id for one in records]
    for event in reader.list_events(memory_ids=ids, limit=MAX_EVENTS) if ids else ():
        for change in event.changes:
            if "status" in (change.after or {}):
                actions.setdefault(change.memory_id, event.action)
    removed = {one.lineage for one in records if actions.get(one.id) in REMOVING_ACTIONS}
    return [one for one in records if one.lineage in removed]


def _load_citing(reader: Reader, gone: Iterable[Record], now: datetime) -> list[Record]:
    """The memories that rest on the same turns, or on turns that are gone."""
    ids = {one.id for one in gone}
    turns = {source.turn_id for one in gone for source in one.evidence} | ids
    names = {source.session_id for one in gone for source in one.evidence}
    names |= {one.session_id for one in gone if one.session_id is not None}
    memories = (Kind.FACT, Kind.RULE, Kind.EPISODE)
    found = [
        record
        for name in sorted(names)
        for record in reader.find(
            Filter(now=now, kinds=memories, session_id=name, statuses=tuple(Status)), MAX_CITING
        )
    ]
    return [
        one
        for one in found
        if one.id not in ids and any(source.turn_id in turns for source in one.evidence)
    ]


def _load_telling(reader: Reader, words: ForgottenWords, gone: dict[str, Record]) -> list[Record]:
    """The turns and episodes that may say what was forgotten."""
    if words.is_empty:
        return []
    sought = [one.terms for one in words.tellings if one.is_telling]
    cited = (quote for quotes in words.quotes.values() for quote in quotes)
    sought += [terms for one in cited if len(terms := telling_terms(one)) > MIN_TERMS]
    ids = {*reader.find_with_terms(sought), *words.quotes}
    concluded = [one.id for one in gone.values() if one.metadata.get("episodes")]
    for link in (link for one in concluded for link in reader.list_links(one)):
        ids |= {link.target} if link.relation is Relation.DERIVED_FROM else set()
    found = reader.load(ids - gone.keys()).values()
    return [one for one in found if one.kind in (Kind.TURN, Kind.EPISODE)]


def _mask_record(
    record: Record, words: ForgottenWords, gone: dict[str, Record]
) -> dict[str, object]:
    """The values of a memory that stays which say what was forgotten, masked."""
    values: dict[str, object] = {}
    evidence = tuple(_mask_evidence(one, words, gone) for one in record.evidence)
    if evidence != record.evidence:
        values["evidence"] = evidence
    if record.kind not in (Kind.TURN, Kind.EPISODE):
        return values
    content = words.mask(record.content, record.id)
    if content != record.content:
        values["content"] = content
    metadata = _mask_json(dict(record.metadata), words)
    if metadata != dict(record.metadata):
        values["metadata"] = metadata
    return values


def _mask_evidence(source: Evidence, words: ForgottenWords, gone: dict[str, Record]) -> Evidence:
    if source.turn_id in gone and source.quote:
        return replace(source, quote=FORGOTTEN_MARK)
    return words.mask_quote(source)


def _mask_json(value: Json, words: ForgottenWords) -> Json:
    if isinstance(value, str):
        return words.mask(value)
    if isinstance(value, list):
        return [_mask_json(one, words) for one in value]
    if isinstance(value, dict):
        return {name: _mask_json(one, words) for name, one in value.items()}
    return value


def _mask_sessions(
    reader: Reader, words: ForgottenWords, gone: dict[str, Record], rewritten: Iterable[str]
) -> tuple[Session, ...]:
    """The sessions of these memories, without what their own texts say of what is gone."""
    emptied = {one.session_id for one in gone.values() if isinstance(one, Turn)}
    records = [*gone.values(), *reader.load(rewritten).values()]
    names = {source.session_id for one in records for source in one.evidence}
    names |= {one.session_id for one in records if one.session_id is not None}
    changed = []
    for name in sorted(names):
        session = reader.get_session(name)
        if session is not None:
            masked = clear_derived_texts(session) if name in emptied else mask_texts(session, words)
            changed += [masked] if masked != session else []
    return tuple(changed)


def _find_rejections(
    reader: Reader, words: ForgottenWords, gone: dict[str, Record]
) -> tuple[str, ...]:
    """The rejected candidates that say what was forgotten, or that quote a turn that is gone."""
    return tuple(
        one.id
        for one in reader.list_rejections(MAX_REJECTIONS)
        if not gone.keys().isdisjoint(one.turns)
        or any(words.mask(text) != text for text in (one.content, one.quote))
    )
