"""Caches the vectors of any embedder, so that the same text is computed only once."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from remembrancer.embed import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class CachedEmbedder:
    """An LRU cache of `max_entries` vectors. It stores digests of the texts, not the texts."""

    def __init__(self, embedder: Embedder, max_entries: int = 4096) -> None:
        self._embedder = embedder
        self._max_entries = max_entries
        self._lock = threading.Lock()
        self._vectors: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Returns a new array each time: changing it does not change the cache."""
        if not texts:
            return self._embedder.embed([])
        import numpy as np

        keys = [_hash_text(text) for text in texts]
        cached = self._look_up(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in cached}
        if missing:
            rows = self._embedder.embed(list(missing.values()))
            computed = {key: row.copy() for key, row in zip(missing, rows, strict=True)}
            self._store_vectors(computed)
            cached |= computed
        return np.stack([cached[key] for key in keys])

    def clear(self) -> None:
        with self._lock:
            self._vectors.clear()

    def _look_up(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        with self._lock:
            cached = {key: self._vectors[key] for key in keys if key in self._vectors}
            for key in cached:
                self._vectors.move_to_end(key)
            return cached

    def _store_vectors(self, computed: dict[bytes, NDArray[np.float32]]) -> None:
        with self._lock:
            for key, vector in computed.items():
                self._vectors[key] = vector
                self._vectors.move_to_end(key)
            while len(self._vectors) > self._max_entries:
                self._vectors.popitem(last=False)


def _hash_text(text: str) -> bytes:
    # surrogatepass: invalid Unicode needs a distinct key too.
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
