"""Generates ids that sort by creation time."""

from __future__ import annotations

import hashlib
import secrets
import threading
from datetime import UTC, datetime

BASE32_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id(kind: str, now: datetime) -> str:
    """A new id such as `fact_01k…`: its kind, the millisecond, and 80 bits that start at random.

    Ids from one process within one millisecond count up, so that ids sort in creation order.
    """
    number = int(now.timestamp() * 1000) << 80 | secrets.randbits(79)
    with _id_lock:
        if number >> 80 == _last_number[0] >> 80:
            number = _last_number[0] + 1
        _last_number[0] = number
    return f"{kind}_{encode_base32(number, 26)}"


_id_lock = threading.Lock()


_last_number = [0]


def stable_id(kind: str, at: datetime | None, *parts: str) -> str:
    """A deterministic id for something imported, derived from `parts`.

    Without a time of its own, it sorts first.
    """
    joined = "".join(f"{len(part)}:{part}" for part in parts).encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(joined, digest_size=10, person=b"rem-stable").digest()
    moment = max(0, int(at.timestamp() * 1000)) if at is not None else 0
    return f"{kind}_{encode_base32(moment << 80 | int.from_bytes(digest), 26)}"


def encode_base32(number: int, width: int) -> str:
    """`number` in Crockford's lower-case alphabet, which has no look-alike letters."""
    return "".join(BASE32_ALPHABET[number >> 5 * place & 31] for place in reversed(range(width)))


def id_timestamp(memory_id: str) -> datetime:
    """The millisecond in which an id was created."""
    number = 0
    for letter in memory_id.rpartition("_")[2][:-16]:
        number = number << 5 | BASE32_ALPHABET.index(letter)
    return datetime.fromtimestamp(number / 1000, UTC)
