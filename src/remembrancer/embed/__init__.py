"""The contract of an embedder, which turns texts into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Embedder"]


class Embedder(Protocol):
    """Returns one unit vector per text, in the order of the texts; blank text has one too.

    Can be called from many threads at once. Raises only EmbeddingFailed.
    """

    @property
    def model(self) -> str:
        """The name stored with every vector; vectors of different models are never compared."""
        ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """An array with one row of `dimensions` numbers per text."""
        ...
