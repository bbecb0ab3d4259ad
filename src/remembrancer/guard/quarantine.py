"""Quarantines text that reads like an instruction to an assistant, and that nobody vouches for."""

from __future__ import annotations

from remembrancer.types import Origin, Record, Status

WISHES = frozenset({"reply-language"})
"""Rules that an assistant's own notes and imported preferences may break."""


def screen_turn(text: str, *, tainted: bool) -> Status:
    """QUARANTINED if what nobody vouches for reads like an instruction, else ACTIVE.

    Chats are full of advice, so the model must be certain, and does not read what others say.
    """
    from remembrancer.guard.instructions.detector import detect_order

    held_back = _find_broken_rules(text, tainted) or (tainted and detect_order(text, strict=True))
    return Status.QUARANTINED if held_back else Status.ACTIVE


def find_reasons(text: str, *, tainted: bool = True) -> tuple[str, ...]:
    """The rules for which a memory from outside, or of an assistant or an import, is held back."""
    from remembrancer.guard.instructions.detector import detect_order
    from remembrancer.guard.instructions.order_model import RULE

    broken = _find_broken_rules(text, tainted)
    return broken or ((RULE,) if detect_order(text, strict=not tainted) else ())


def _find_broken_rules(text: str, tainted: bool) -> tuple[str, ...]:
    from remembrancer.guard.instructions.detector import detect_instructions

    return tuple(rule for rule in detect_instructions(text) if tainted or rule not in WISHES)


def explain_quarantine(record: Record) -> str:
    """Why a memory is held back, in words for its owner; "" for one that is not."""
    from remembrancer.guard.reasons import explain_rules

    if record.status is not Status.QUARANTINED:
        return ""
    reasons = explain_rules(find_reasons(record.content, tainted=record.tainted))
    return " ".join(reasons) or "It looks like an instruction from an outside source."


def choose_origin(text: str) -> Origin:
    """TOOL for text that reads like an instruction, else ASSISTANT.

    It is for text that a program kept, which can come from a model or from any page that a tool
    has read.
    """
    return Origin.TOOL if find_reasons(text) else Origin.ASSISTANT
