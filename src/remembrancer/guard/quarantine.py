"""What becomes of words that nobody here vouches for: kept, but not told if they would command."""

from __future__ import annotations

from remembrancer.types import Status


def quarantine_status(text: str, *, tainted: bool) -> Status:
    """Active, unless the text came from outside and reads like an instruction."""
    if not tainted:
        return Status.ACTIVE
    from remembrancer.guard.instructions.detector import detect_instructions

    return Status.QUARANTINED if detect_instructions(text) else Status.ACTIVE
