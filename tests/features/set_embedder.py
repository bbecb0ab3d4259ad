"""An embedder whose vectors a test sets, to meet a threshold exactly."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np


class SetEmbedder:
    """Gives the vectors it was told; any other text gets a direction of its own, far from all."""

    model = "set-by-the-test"
    dimensions = 384

    def __init__(self) -> None:
        self.vectors: dict[str, np.ndarray] = {}

    def at_cosine(self, text: str, cosine: float) -> None:
        """Place a text at that cosine to the first axis."""
        vector = np.zeros(self.dimensions, dtype=np.float32)
        vector[0], vector[1] = cosine, np.sqrt(1 - cosine**2)
        self.vectors[text] = vector

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        return np.stack([self._one(text) for text in texts])

    def _one(self, text: str) -> np.ndarray:
        if text in self.vectors:
            return self.vectors[text].copy()
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
        vector = np.random.default_rng(seed).standard_normal(self.dimensions)
        return (vector / np.linalg.norm(vector)).astype(np.float32)
