"""Waits for a condition on a busy machine."""

from __future__ import annotations

import time
from collections.abc import Callable


def soon(condition: Callable[[], bool]) -> bool:
    """Whether something becomes true, on however busy a machine."""
    deadline = time.monotonic() + 30
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
