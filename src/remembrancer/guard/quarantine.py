"""Quarantines tainted text that reads like an instruction to an assistant."""

from __future__ import annotations

from remembrancer.types import Origin, Status


def quarantine_status(text: str, *, tainted: bool) -> Status:
    """QUARANTINED if the text is tainted and reads like an instruction, else ACTIVE."""
    if not tainted:
        return Status.ACTIVE
    from remembrancer.guard.instructions.detector import detect_instructions

    return Status.QUARANTINED if detect_instructions(text) else Status.ACTIVE


def choose_origin(text: str) -> Origin:
    """TOOL for text that reads like an instruction, else ASSISTANT.

    It is for text that a program kept, which can come from a model or from any page that a tool
    has read.
    """
    from remembrancer.guard.instructions.detector import detect_instructions

    return Origin.TOOL if detect_instructions(text) else Origin.ASSISTANT
