"""The embedding model for peers: to bring along, or to find where they look for their own.

Knows nothing of the package they are compared with but where its weights lie.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

WEIGHTS = (
    Path(__file__).parents[2] / "src" / "remembrancer" / "embed" / "weights" / "all-MiniLM-L6-v2"
)
DIMENSIONS = 384
TOKENS = 256
SETTINGS = {
    "config.json": '{"pad_token_id": 0}',
    "special_tokens_map.json": '{"pad_token": "[PAD]", "unk_token": "[UNK]"}',
    "tokenizer_config.json": '{"model_max_length": 256, "pad_token": "[PAD]"}',
}
"""What some loaders want beside the weights and the tokenizer, as the publisher has it."""


class MiniLM:
    """One text per run, as many runs at once as there are cores: the fastest way here."""

    def __init__(self) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(WEIGHTS / "model.onnx", options)
        self._tokenizer = Tokenizer.from_file(str(WEIGHTS / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(TOKENS)
        self._pool = ThreadPoolExecutor(2)

    def embed(self, text: str) -> list[float]:
        import numpy as np

        ids = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
        inputs = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        mean = self._session.run(["last_hidden_state"], inputs)[0][0].mean(axis=0)
        vector: list[float] = (mean / np.linalg.norm(mean)).tolist()
        return vector

    def embed_all(self, texts: Sequence[str]) -> list[list[float]]:
        if len(texts) == 1:
            return [self.embed(texts[0])]
        return list(self._pool.map(self.embed, texts))


def place_in(folder: Path, beside: Mapping[str, str] = SETTINGS) -> None:
    """Put the weights where a peer would otherwise download them to."""
    folder.mkdir(parents=True)
    for name in ("model.onnx", "tokenizer.json"):
        (folder / name).symlink_to(WEIGHTS / name)
    for name, content in beside.items():
        (folder / name).write_text(content)
