"""Finds out how many messages of a state are stored already. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from remembrancer.guard.redaction import redact_text
from remembrancer.types import Json, Turn

MESSAGE_KEY = "message"
"""Metadata of a turn: the id of the message that it was, if it has one."""

DIGEST_KEY = "message_digest"
"""Metadata of a turn: a hash of who said what."""

MIN_SHARED_BEGINNING = 2
"""Messages by which a branch is told from a new message with the words of the first one."""


def identify_message(role: str, text: str, message_id: str | None) -> dict[str, Json]:
    """The metadata by which a message is known again."""
    said = f"{role}\n{redact_text(text)}"
    digest = hashlib.blake2b(said.encode(errors="surrogatepass"), digest_size=16).hexdigest()
    return {DIGEST_KEY: digest, **({MESSAGE_KEY: message_id} if message_id else {})}


def count_stored(
    messages: Sequence[Mapping[str, Any]], latest: Sequence[Turn], *, is_whole: bool
) -> int | None:
    """The number of messages, from the first one, that the latest turns of a thread hold.

    Messages are known by their ids and words. If none is known, because there are no ids or
    because the history is sent anew with each run, their words and order count. None says that
    the turns before the latest ones decide; `is_whole` says that there are none.
    """
    known = _count_known_by_id(messages, latest)
    if known:
        return known
    new = [one[DIGEST_KEY] for one in messages]
    old = [one.metadata.get(DIGEST_KEY) for one in latest]
    return _align_thread(new, old) if is_whole else _align_latest(new, old)


def _count_known_by_id(messages: Sequence[Mapping[str, Any]], latest: Sequence[Turn]) -> int:
    """A branch of a thread is stored in order, so all before a known message are known.

    Those without an id that follow it are known by their words. Ids alone can begin anew with each
    run.
    """
    stored = {_identify(one.metadata): place for place, one in enumerate(latest, 1)}
    known = [
        (at, stored[_identify(one)])
        for at, one in enumerate(messages, 1)
        if MESSAGE_KEY in one and _identify(one) in stored
    ]
    if not known:
        return 0
    at, place = known[-1]
    following = zip(messages[at:], latest[place:], strict=False)
    return at + sum(1 for _ in takewhile(_are_same_without_id, following))


def _identify(metadata: Mapping[str, Any]) -> tuple[Any, Any]:
    return metadata.get(MESSAGE_KEY), metadata.get(DIGEST_KEY)


def _are_same_without_id(pair: tuple[Mapping[str, Any], Turn]) -> bool:
    message, turn = pair
    return MESSAGE_KEY not in message and _identify(message) == _identify(turn.metadata)


def _align_thread(new: Sequence[Any], old: Sequence[Any]) -> int:
    if new[: len(old)] == old:
        return len(old)
    return _measure_overlap(new, old) or _count_shared_beginning(new, old)


def _align_latest(new: Sequence[Any], old: Sequence[Any]) -> int | None:
    """A growing history holds the latest turns somewhere, a window of it begins among them.

    None if they fit in several places, or by one message alone.
    """
    width = len(old)
    ends = [end for end in range(width, len(new) + 1) if new[end - width : end] == old]
    if ends:
        return ends[0] if len(ends) == 1 else None
    overlap = _measure_overlap(new, old)
    return overlap if overlap > 1 else None


def _measure_overlap(new: Sequence[Any], old: Sequence[Any]) -> int:
    """How many of the new ones, from the first one, are the last of the old ones."""
    sizes = range(min(len(new), len(old)), 0, -1)
    return next((size for size in sizes if new[:size] == old[-size:]), 0)


def _count_shared_beginning(new: Sequence[Any], old: Sequence[Any]) -> int:
    """How many of the new ones a branch shares with a thread, which may have other branches."""
    if new[:1] != old[:1]:
        return 0
    rest = iter(old)
    shared = next((at for at, one in enumerate(new) if one not in rest), len(new))
    return shared if shared >= MIN_SHARED_BEGINNING else 0
