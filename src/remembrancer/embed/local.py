"""Runs the embedding model that ships with the package on the CPU. Uses no network.

It embeds one text per run, because quantisation makes a vector depend on the rest of its batch:
docs/decisions/embedding-batches.md.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from remembrancer.embed.truncate import truncate_text
from remembrancer.errors import EmbeddingFailed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

MODEL_NAME = "all-MiniLM-L6-v2/q8"
DIMENSIONS = 384
MAX_TOKENS = 256
# The tokenizer reads the whole text before it truncates, so cut long texts first.
MAX_CHARS = 16 * MAX_TOKENS
WEIGHTS_DIRECTORY = Path(__file__).parent / "weights" / "all-MiniLM-L6-v2"
WEIGHTS_SHA256 = {
    "model.onnx": "b941bf19f1f1283680f449fa6a7336bb5600bdcd5f84d10ddc5cd72218a0fd21",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}


class LocalEmbedder:
    """Returns the same vector for a text, alone or in any batch, from any thread.

    Blank text gets the unit vector that the model computes for an empty input.
    """

    def __init__(self, weights: Path = WEIGHTS_DIRECTORY) -> None:
        self._weights = weights
        self._load_lock = threading.Lock()
        self._loaded: _OnnxModel | None = None

    @property
    def model(self) -> str:
        return MODEL_NAME

    @property
    def dimensions(self) -> int:
        return DIMENSIONS

    def warm(self) -> None:
        """Start loading the model in the background; the first `embed` reports a failure."""
        # Not a daemon: the interpreter must not exit while native code builds the session.
        threading.Thread(target=self._load_quietly, name="remembrancer-warm").start()

    def verify(self) -> None:
        """Raise EmbeddingFailed unless the model files have the checksums of the shipped ones."""
        for name, expected in WEIGHTS_SHA256.items():
            if _hash_file(self._weights / name) != expected:
                raise EmbeddingFailed(
                    f"The embedding model's file {name} is missing or damaged: "
                    "reinstall remembrancer."
                )

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        if not texts:
            return np.empty((0, DIMENSIONS), dtype=np.float32)
        model = self._load()
        if len(texts) == 1:
            return np.stack([model.embed_text(texts[0])])
        with ThreadPoolExecutor(min(len(texts), _count_cores())) as pool:
            return np.stack(list(pool.map(model.embed_text, texts)))

    def _load(self) -> _OnnxModel:
        with self._load_lock:
            if self._loaded is None:
                self._loaded = _open_model(self._weights)
            return self._loaded

    def _load_quietly(self) -> None:
        with suppress(EmbeddingFailed):
            self._load()


@dataclass(frozen=True, slots=True)
class _OnnxModel:
    session: InferenceSession
    tokenizer: Tokenizer

    def embed_text(self, text: str) -> NDArray[np.float32]:
        import numpy as np

        tokens = self.tokenizer.encode(truncate_text(text, MAX_CHARS))
        ids = np.array([tokens.ids], dtype=np.int64)
        inputs = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        (hidden,) = self.session.run(["last_hidden_state"], inputs)
        # Without padding the attention mask is all ones, so this is the masked mean.
        mean: NDArray[np.float32] = hidden[0].mean(axis=0)
        return mean / np.linalg.norm(mean)


def _open_model(weights: Path) -> _OnnxModel:
    try:
        # Imports compete for the interpreter lock and building the session does not, so only
        # the tokenizer is worth a second thread.
        _silence_telemetry()
        # onnxruntime imports numpy from within; a thread that imports numpy at that moment would
        # get it half loaded.
        import numpy  # noqa: F401
        import onnxruntime  # noqa: F401

        with ThreadPoolExecutor(1) as pool:
            tokenizer = pool.submit(_open_tokenizer, weights / "tokenizer.json")
            return _OnnxModel(_open_session(weights / "model.onnx"), tokenizer.result())
    except Exception as error:  # tokenizers raises bare Exception, onnxruntime its own kinds
        raise EmbeddingFailed(
            f"The embedding model did not load ({type(error).__name__}): run `rem doctor`, "
            "reinstall remembrancer, or configure an endpoint."
        ) from error


def _silence_telemetry() -> None:
    """Must run before onnxruntime is imported: the import starts the telemetry."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"


def _open_session(path: Path) -> InferenceSession:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # Texts run in parallel, one per core, so each run uses one thread.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # The arena never frees the largest buffers of each thread and makes nothing faster.
    options.enable_cpu_mem_arena = False
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def _open_tokenizer(path: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    # "[SEP]" in a text is plain text, not a separator.
    tokenizer.encode_special_tokens = True
    return tokenizer


def _hash_file(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _count_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
