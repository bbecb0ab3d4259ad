"""An embedder behind an endpoint that speaks OpenAI's embeddings protocol.

It validates every response. No error quotes the key, the texts or the response.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from remembrancer.embed.truncate import truncate_text
from remembrancer.errors import EmbeddingFailed
from remembrancer.retry import (
    DEFAULT_RETRY_POLICY,
    EndpointMessages,
    RetryPolicy,
    is_retryable,
    is_sendable_key,
    parse_retry_after,
)

if TYPE_CHECKING:
    import httpx
    import numpy as np
    from numpy.typing import NDArray

# The usual limit is 8,192 tokens, and a token is hardly ever shorter than a character.
MAX_CHARS = 8000
MESSAGES = EndpointMessages("embedding")


class OpenAICompatibleEmbedder:
    """Sends texts in batches and retries transient failures."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        dimensions: int,
        key: str | None = None,
        timeout: float = 30.0,
        batch_size: int = 64,
        retry_policy: RetryPolicy = DEFAULT_RETRY_POLICY,
    ) -> None:
        self._url = url.rstrip("/") + "/embeddings"
        self._model = model
        self._dimensions = dimensions
        self._headers = _build_headers(key)
        self._timeout = timeout
        self._batch_size = batch_size
        self._retry_policy = retry_policy
        self._client_lock = threading.Lock()
        self._client: httpx.Client | None = None

    @property
    def model(self) -> str:
        return self._model

    @property
    def dimensions(self) -> int:
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        rows = np.empty((len(texts), self._dimensions), dtype=np.float32)
        for start in range(0, len(texts), self._batch_size):
            chosen = slice(start, start + self._batch_size)
            # Endpoints reject the empty string and accept a space.
            batch = [truncate_text(text, MAX_CHARS) or " " for text in texts[chosen]]
            rows[chosen] = self._embed_batch(batch)
        return rows

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        with self._client_lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _embed_batch(self, batch: list[str]) -> NDArray[np.float32]:
        response = self._post({"model": self._model, "input": batch, "encoding_format": "float"})
        try:
            answer = response.json()
        except (ValueError, RecursionError):
            raise EmbeddingFailed(
                "The embedding endpoint did not answer in JSON: check the embedding url."
            ) from None
        return _normalise_rows(_sort_by_index(answer, len(batch)), self._dimensions)

    def _post(self, body: dict[str, Any]) -> httpx.Response:
        for attempt in range(self._retry_policy.max_retries + 1):
            outcome = self._attempt(body)
            if isinstance(outcome, str):
                message, retry_after = MESSAGES.unreachable(outcome), None
            elif outcome.is_success:
                return outcome
            else:
                message = MESSAGES.rejected(outcome.status_code)
                retry_after = parse_retry_after(outcome.headers)
                if not is_retryable(outcome.status_code):
                    break
            if attempt < self._retry_policy.max_retries:
                time.sleep(self._retry_policy.delay_seconds(attempt, retry_after))
        raise EmbeddingFailed(message)

    def _attempt(self, body: dict[str, Any]) -> httpx.Response | str:
        """The response, or the name of the error that prevented one."""
        import httpx

        try:
            return self._get_client().post(self._url, json=body)
        except (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL):
            raise EmbeddingFailed(MESSAGES.invalid_url()) from None
        except httpx.RequestError as error:
            return type(error).__name__

    def _get_client(self) -> httpx.Client:
        import httpx

        with self._client_lock:
            if self._client is None:
                self._client = httpx.Client(headers=self._headers, timeout=self._timeout)
            return self._client


def _build_headers(key: str | None) -> dict[str, str]:
    if not key:
        return {}
    if not is_sendable_key(key):
        raise EmbeddingFailed(MESSAGES.invalid_key())
    return {"Authorization": f"Bearer {key}"}


def _sort_by_index(answer: Any, count: int) -> list[Any]:
    """The embeddings of a response in the order of their indexes, each exactly once."""
    try:
        by_index = {int(item["index"]): item["embedding"] for item in answer["data"]}
        matches = len(answer["data"]) == count and by_index.keys() == set(range(count))
    except (KeyError, TypeError, ValueError):
        matches = False
    if not matches:
        raise EmbeddingFailed(
            "The embedding endpoint did not send one vector per text: "
            "check that the embedding url speaks OpenAI's embeddings protocol."
        )
    return [by_index[index] for index in range(count)]


def _normalise_rows(embeddings: list[Any], dimensions: int) -> NDArray[np.float32]:
    import numpy as np

    rows = np.stack([_validate_embedding(embedding, dimensions) for embedding in embeddings])
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise EmbeddingFailed(
            "The embedding endpoint sent a vector of zeros or of numbers that are not finite: "
            "try another embedding model."
        )
    unit: NDArray[np.float32] = (rows / lengths).astype(np.float32)
    return unit


def _validate_embedding(embedding: Any, dimensions: int) -> NDArray[np.float64]:
    import numpy as np

    if not isinstance(embedding, list) or any(type(x) not in (int, float) for x in embedding):
        raise EmbeddingFailed(
            "The embedding endpoint sent something other than numbers: try another embedding model."
        )
    if len(embedding) != dimensions:
        raise EmbeddingFailed(
            f"The embedding model has {len(embedding)} dimensions and {dimensions} are configured: "
            f"set the embedding dimensions to {len(embedding)}."
        )
    return np.array([_to_float(number) for number in embedding], dtype=np.float64)


def _to_float(number: float) -> float:
    """Infinity if a JSON integer is too large for a float; the caller rejects infinity."""
    try:
        return float(number)
    except OverflowError:
        return math.inf
