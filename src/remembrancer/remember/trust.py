"""How far a memory is trusted by who vouches for it. No I/O."""

from __future__ import annotations

from remembrancer.remember.provenance import is_own_word
from remembrancer.types import Record, Source

TAINTED, INFERRED, DELEGATED, PERSONAL = 0, 1, 2, 3
"""The tiers: text from outside; a conclusion; a model's or an import's word; the person's own."""


def trust_tier(record: Record) -> int:
    """The tier of a memory, from 0 (tainted) to 3 (the person's own word)."""
    if record.tainted:
        return TAINTED
    match record.source:
        case Source.CONSOLIDATED:
            return INFERRED
        case Source.IMPORTED:
            return DELEGATED
        case Source.EXTRACTED:
            return PERSONAL if record.evidence else DELEGATED
        case Source.EXPLICIT:
            return PERSONAL if is_own_word(record) else DELEGATED


def can_revise(tier: int, old: Record) -> bool:
    """True if text of this tier may replace a memory.

    Tainted text replaces only tainted text, and a conclusion never the person's own word.
    """
    if tier == TAINTED:
        return trust_tier(old) == TAINTED
    return tier >= DELEGATED or trust_tier(old) < PERSONAL


def is_less_trusted(new: Record, old: Record, *, keep_explicit: bool) -> bool:
    """True if `new` must not supersede `old`.

    With `keep_explicit`, only an explicit statement replaces what the person stated explicitly, and
    nothing extracted replaces what a model saved explicitly.
    """
    if not can_revise(trust_tier(new), old) or _is_outdated(new, old):
        return True
    is_kept = trust_tier(old) == PERSONAL or new.source is Source.EXTRACTED
    return old.source is Source.EXPLICIT and is_kept and _needs_statement(new, keep_explicit)


def _needs_statement(new: Record, keep_explicit: bool) -> bool:
    return new.source is Source.IMPORTED or (keep_explicit and new.source is not Source.EXPLICIT)


def _is_outdated(new: Record, old: Record) -> bool:
    """True if a conclusion is about an earlier time than the memory that it would replace."""
    return new.source is Source.CONSOLIDATED and new.valid_from < old.valid_from
