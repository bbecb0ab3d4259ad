"""Turning words into vectors: what every embedder promises, whoever computes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Embedder"]


class Embedder(Protocol):
    """Rules: every row has length one, blank text included, and the order is that of the texts.

    An embedder may be called from many threads at once, and fails with EmbeddingFailed only.
    """

    @property
    def model(self) -> str:
        """The name stored beside every vector; vectors of different names are never compared."""
        ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of `dimensions` numbers per text; no texts give no rows."""
        ...
