"""The points in a local Qdrant store, which are pickles. A pickle is a program: none is run here.

Only plain data comes out; whatever would import or call anything is refused.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

ALLOWED_MODULE_PREFIX, ALLOWED_CLASS = "qdrant_client.", "PointStruct"


class _Point:
    """Stands in for the library's class, and does nothing but keep what it is given."""

    state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state


# The one in Python, as the one in C allots whatever memory a file tells it to.
class _SafeUnpickler(pickle._Unpickler):
    def find_class(self, module: str, name: str) -> type[_Point]:
        if module.startswith(ALLOWED_MODULE_PREFIX) and name == ALLOWED_CLASS:
            return _Point
        raise pickle.UnpicklingError(f"it would import {name!r}")


def read_payload(point: bytes) -> dict[str, Any] | None:
    """What a point holds beside its vector; None if it cannot be read."""
    try:
        found = _SafeUnpickler(io.BytesIO(point)).load()
    except Exception:  # Whatever a broken program does, the point is unreadable.
        return None
    state = found.state if isinstance(found, _Point) else None
    fields = state.get("__dict__") if isinstance(state, dict) else None
    held = fields.get("payload") if isinstance(fields, dict) else None
    return held if isinstance(held, dict) else None
