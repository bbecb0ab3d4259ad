"""Resolves a reference to one memory: by id, by words it contains, or by meaning.

A reply that the person saved is named by its id alone: its words are not about the person.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from remembrancer.call import Call
from remembrancer.errors import Ambiguous, InvalidInput, NotFound
from remembrancer.guard.redaction import redact_text
from remembrancer.remember.all_memories import names_everything
from remembrancer.store.contract import Embedding, Filter, Reader
from remembrancer.store.moments import is_in_force_still
from remembrancer.store.nearest import find_nearest, iter_records
from remembrancer.types import Episode, Kind, Record, Status, looks_like_id

MAX_CANDIDATES = 5
MIN_SIMILARITY = 0.4
"""The least similarity for a match by meaning; no other memory may be nearly as similar."""

MIN_SIMILARITY_MARGIN = 0.05

HOW_TO_FORGET_ALL = (
    "Say /forget in a chat, use `rem erase --keep-account`, or Settings on the dashboard."
)

ANY_STATUS = tuple(Status)
REPLACED_STATUSES = (Status.SUPERSEDED, Status.RETRACTED)
MAX_VERSIONS = 1000
RESOLVABLE_KINDS = (Kind.FACT, Kind.RULE, Kind.EPISODE)


def resolve(
    call: Call,
    reference: str,
    statuses: tuple[Status, ...] = (Status.ACTIVE,),
    kinds: tuple[Kind, ...] = RESOLVABLE_KINDS,
    known: datetime | None = None,
) -> Record:
    """The memory with that id, or else the only one of these kinds that contains those words.

    Unconfirmed memories are searched only if no other contains the words. With `known`, words are
    searched among the memories of then.
    """
    found = _find_by_id(call, reference)
    found = found or _search_by_words(call, reference, statuses, kinds, known)
    if found is None:
        raise NotFound("No memory has that id or contains those words.")
    return found


def resolve_current(
    call: Call, reference: str, statuses: tuple[Status, ...] = (Status.ACTIVE,)
) -> Record:
    """Like `resolve`; the id of an earlier version leads to the current one."""
    return find_current(call, resolve(call, reference, statuses))


def find_current(call: Call, found: Record) -> Record:
    """The version that has taken the place of this one; itself if it is in force."""
    if found.status not in REPLACED_STATUSES or is_in_force_still(found, call.now()):
        return found
    with call.store.open_reader(call.owner) as reader:
        versions = [one for one in load_versions(reader, found) if call.can_see(one)]
    current = [one for one in versions if one.status not in REPLACED_STATUSES]
    active = [one for one in current if one.status is Status.ACTIVE]
    return (active or current or [found])[-1]


def is_in_trash(call: Call, record: Record) -> bool:
    """True for a memory in the trash and for its past versions."""
    with call.store.open_reader(call.owner) as reader:
        return was_deleted(reader, record, call.now())


def was_deleted(reader: Reader, record: Record, now: datetime) -> bool:
    """Like `is_in_trash`, within a transaction."""
    if record.status is Status.TRASHED:
        return True
    if record.status not in REPLACED_STATUSES or is_in_force_still(record, now):
        return False
    return any(one.status is Status.TRASHED for one in load_versions(reader, record))


def load_versions(reader: Reader, record: Record) -> list[Record]:
    """All versions of a memory, oldest first."""
    record_filter = Filter(
        now=record.recorded_at, kinds=(record.kind,), lineage=record.lineage, statuses=ANY_STATUS
    )
    return list(reversed(reader.find(record_filter, MAX_VERSIONS)))


def resolve_by_meaning(call: Call, words: str) -> Record:
    """Like `resolve`; if no memory contains the words, the most similar one.

    Words that name all memories, such as "everything", are no search for one.
    """
    if names_everything(words):
        raise InvalidInput(f"{words!r} names all memories, not one. {HOW_TO_FORGET_ALL}")
    statuses = (Status.ACTIVE, Status.UNCONFIRMED)
    found = _find_by_id(call, words) or _search_by_words(call, words, statuses, RESOLVABLE_KINDS)
    if found is not None:
        return find_current(call, found)
    nearest = _find_nearest(call, call.embed(redact_text(words)))
    if not nearest or nearest[0][0] < MIN_SIMILARITY:
        raise NotFound("No memory is close to those words.")
    rivals = [one for score, one in nearest if score > nearest[0][0] - MIN_SIMILARITY_MARGIN]
    if len(rivals) > 1:
        raise _ambiguous_error(rivals)
    return rivals[0]


def _find_nearest(call: Call, embedding: Embedding) -> list[tuple[float, Record]]:
    """The most similar memories, each with its similarity, the nearest first."""
    with call.store.open_reader(call.owner) as reader:
        hits = [  # Apart, so that saved replies, which are episodes, displace nothing else.
            hit
            for kinds in ((Kind.FACT, Kind.RULE), (Kind.EPISODE,))
            for hit in find_nearest(
                reader, embedding, call.visible_filter(kinds=kinds), MAX_CANDIDATES
            )
        ]
        records = reader.load(hit.id for hit in hits)
    named = [(hit.score, records[hit.id]) for hit in hits if not _is_saved_reply(records[hit.id])]
    return sorted(named, key=lambda one: -one[0])[:MAX_CANDIDATES]


def _find_by_id(call: Call, reference: str) -> Record | None:
    if not looks_like_id(reference):
        return None
    with call.store.open_reader(call.owner) as reader:
        found = reader.get(reference)
    if found is None or not call.can_see(found):
        raise NotFound(f"There is no memory {reference}.")
    return found


def find_by_words(records: Iterable[Record], words: str) -> Record | None:
    """The only memory that contains the words, or the one that consists of them."""
    needle = " ".join(words.casefold().split())
    if not needle:
        raise InvalidInput("Give the id of a memory, or some words that it contains.")
    matches = [one for one in records if needle in _normalise(one)]
    whole = [one for one in matches if needle == _normalise(one)]
    if len(whole) == 1:
        return whole[0]
    if len(matches) > 1:
        raise _ambiguous_error(matches)
    return matches[0] if matches else None


def _search_by_words(
    call: Call,
    words: str,
    statuses: tuple[Status, ...],
    kinds: tuple[Kind, ...],
    known: datetime | None = None,
) -> Record | None:
    doubtful = tuple(one for one in statuses if one is Status.UNCONFIRMED)
    others = tuple(one for one in statuses if one is not Status.UNCONFIRMED)
    visible = call.visible_filter(kinds=kinds)
    with call.store.open_reader(call.owner) as reader:
        for some in (others, doubtful):
            records = _iter_with_status(reader, visible, some, known) if some else ()
            named = (one for one in records if call.can_see(one) and not _is_saved_reply(one))
            found = find_by_words(named, words)
            if found is not None:
                return found
    return None


def _iter_with_status(
    reader: Reader, visible: Filter, statuses: tuple[Status, ...], known: datetime | None
) -> Iterable[Record]:
    """The memories that have one of these statuses, or had it when they were `known`."""
    if known is None:
        return iter_records(reader, replace(visible, statuses=statuses))
    kept = tuple(one for one in Status if one is not Status.TRASHED)
    stored = iter_records(reader, replace(visible, statuses=kept))
    then = reader.as_of([one for one in stored if one.recorded_at <= known], known)
    return (one for one in then if one.status in statuses)


def _is_saved_reply(record: Record) -> bool:
    return isinstance(record, Episode) and record.is_note


def _normalise(record: Record) -> str:
    return " ".join(record.content.casefold().split())


def _ambiguous_error(candidates: list[Record]) -> Ambiguous:
    count = len(candidates)
    return Ambiguous(f"{count} memories match. Choose one by its id.", candidates[:MAX_CANDIDATES])
