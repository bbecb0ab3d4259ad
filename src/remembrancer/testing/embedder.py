"""An embedder without a model: deterministic vectors, set by the test where they matter."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class FakeEmbedder:
    """Gives each text a direction of its own, the same in every process.

    Equal texts have equal vectors; two others have a cosine of about `similarity`. `vectors`
    overrides the vector of a text, `requests` holds the texts of each call.
    """

    def __init__(
        self, model: str = "fake", *, dimensions: int = 384, similarity: float = 0.0
    ) -> None:
        self.model = model
        self.dimensions = dimensions
        self.similarity = similarity
        self.requests: list[list[str]] = []
        self.vectors: dict[str, NDArray[np.float32]] = {}

    def set_cosine(self, text: str, cosine: float) -> None:
        """Give a text a vector with this cosine to the first axis."""
        vector = np.zeros(self.dimensions, dtype=np.float32)
        vector[0], vector[1] = cosine, np.sqrt(1 - cosine**2)
        self.vectors[text] = vector

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.requests.append(list(texts))
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:] = self.vectors[text] if text in self.vectors else self._make_vector(text)
        return rows

    def _make_vector(self, text: str) -> NDArray[np.float32]:
        digest = hashlib.blake2b(f"{self.model} {text}".encode(), digest_size=8).digest()
        vector = np.random.default_rng(int.from_bytes(digest)).standard_normal(self.dimensions)
        if self.similarity:
            vector[0] = 0.0
        vector *= np.sqrt(1 - self.similarity) / np.linalg.norm(vector)
        if self.similarity:
            vector[0] = np.sqrt(self.similarity)
        return vector.astype(np.float32)
