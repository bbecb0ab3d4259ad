"""Lets an application's own LangChain embeddings embed a memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from langchain_core.embeddings import Embeddings
from langgraph.store.base.embed import ensure_embeddings

from remembrancer.errors import EmbeddingFailed, InvalidInput
from remembrancer.options import check_value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class LangChainEmbedder:
    """An embedder over LangChain embeddings, for `remembrancer.open(embedder=…)`.

    `embeddings` is what LangGraph takes as `embed` of an index: an object, a function or a name.
    `model` is stored with every vector: use another for embeddings that are not comparable.
    """

    def __init__(
        self,
        embeddings: Embeddings | Callable[[Sequence[str]], list[list[float]]] | str,
        *,
        model: str,
        dims: int | None = None,
    ) -> None:
        if not (isinstance(embeddings, Embeddings | str) or callable(embeddings)):
            raise InvalidInput(
                "Pass embeddings of LangChain, a function or the name of a model, "
                f"not {type(embeddings).__name__}."
            )
        check_value("model", model, str)
        self._embeddings = ensure_embeddings(embeddings)
        self._model = model
        self._dimensions = dims if dims is not None else len(self._embed_raw([" "])[0])

    @property
    def model(self) -> str:
        return self._model

    @property
    def dimensions(self) -> int:
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        if not texts:
            return np.empty((0, self._dimensions), dtype=np.float32)
        # Providers reject the empty string and accept a space.
        rows = np.array(self._embed_raw([text or " " for text in texts]), dtype=np.float64)
        if rows.shape != (len(texts), self._dimensions):
            raise EmbeddingFailed(
                f"The embeddings {self._model} returned an array of {rows.shape}, not "
                f"{(len(texts), self._dimensions)}: check dims."
            )
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not (np.isfinite(lengths).all() and (lengths > 0).all()):
            raise EmbeddingFailed(f"The embeddings {self._model} returned a vector of no length.")
        unit: NDArray[np.float32] = (rows / lengths).astype(np.float32)
        return unit

    def _embed_raw(self, texts: list[str]) -> list[list[float]]:
        try:
            return self._embeddings.embed_documents(texts)
        except Exception as error:  # each provider has errors of its own
            reason = f"{type(error).__name__}: {error}"
            raise EmbeddingFailed(f"The embeddings {self._model} failed. {reason}") from error
