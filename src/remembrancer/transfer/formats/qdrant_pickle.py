"""Reads the points of a local Qdrant store, which are pickles, without running code.

Only plain data is loaded; a pickle that would import or call anything is refused.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

ALLOWED_MODULE_PREFIX, ALLOWED_CLASS = "qdrant_client.", "PointStruct"


class _Point:
    """Replaces the class of the Qdrant client and only holds its state."""

    state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state


# The unpickler in Python, because the one in C allocates as much memory as a file claims to need.
class _SafeUnpickler(pickle._Unpickler):
    def find_class(self, module: str, name: str) -> type[_Point]:
        if module.startswith(ALLOWED_MODULE_PREFIX) and name == ALLOWED_CLASS:
            return _Point
        raise pickle.UnpicklingError(f"it would import {name!r}")


def read_payload(point: bytes) -> dict[str, Any] | None:
    """Return the payload of a point, or None if it cannot be read."""
    try:
        found = _SafeUnpickler(io.BytesIO(point)).load()
    except Exception:  # a malformed pickle can raise anything
        return None
    state = found.state if isinstance(found, _Point) else None
    fields = state.get("__dict__") if isinstance(state, dict) else None
    payload = fields.get("payload") if isinstance(fields, dict) else None
    return payload if isinstance(payload, dict) else None
