"""Vectors from an endpoint that speaks OpenAI's embeddings protocol; trusts nothing it answers.

No message here quotes the key, the texts or the endpoint's own words, which may quote either.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from remembrancer.embed.visible import visible
from remembrancer.errors import EmbeddingFailed
from remembrancer.retry import PATIENT, Patience

if TYPE_CHECKING:
    import httpx
    import numpy as np
    from numpy.typing import NDArray

# The customary limit is 8,192 tokens, and a token is hardly ever less than a character.
CHARACTERS = 8000


class OpenAICompatibleEmbedder:
    """Sends texts in batches, retries what may pass, and checks every answer."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        dimensions: int,
        key: str | None = None,
        timeout: float = 30.0,
        batch: int = 64,
        patience: Patience = PATIENT,
    ) -> None:
        self._url = url.rstrip("/") + "/embeddings"
        self._model = model
        self._dimensions = dimensions
        self._headers = _headers(key)
        self._timeout = timeout
        self._batch = batch
        self._patience = patience
        self._opening = threading.Lock()
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
        for start in range(0, len(texts), self._batch):
            chosen = slice(start, start + self._batch)
            # Endpoints refuse the empty string, and accept a space.
            batch = [visible(text, CHARACTERS) or " " for text in texts[chosen]]
            rows[chosen] = self._vectors(batch)
        return rows

    def close(self) -> None:
        """Let go of the connections; the next call opens new ones."""
        with self._opening:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _vectors(self, batch: list[str]) -> NDArray[np.float32]:
        response = self._post({"model": self._model, "input": batch, "encoding_format": "float"})
        try:
            answer = response.json()
        except (ValueError, RecursionError):
            raise EmbeddingFailed(
                "The embedding endpoint did not answer in JSON: check the embedding url."
            ) from None
        return _unit_rows(_in_order(answer, len(batch)), self._dimensions)

    def _post(self, body: dict[str, Any]) -> httpx.Response:
        for attempt in range(self._patience.retries + 1):
            outcome = self._attempt(body)
            if not isinstance(outcome, str) and outcome.is_success:
                return outcome
            if not _may_pass(outcome) or attempt == self._patience.retries:
                raise EmbeddingFailed(_advice(outcome))
            time.sleep(self._patience.pause(attempt, _asked_pause(outcome)))
        raise AssertionError("the last attempt returns or raises")

    def _attempt(self, body: dict[str, Any]) -> httpx.Response | str:
        """The endpoint's response, or the kind of failure that kept us from one."""
        import httpx

        try:
            return self._opened().post(self._url, json=body)
        except (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL):
            raise EmbeddingFailed(
                "The embedding url cannot be used: it must look like https://host/v1."
            ) from None
        except httpx.RequestError as error:
            return type(error).__name__

    def _opened(self) -> httpx.Client:
        import httpx

        with self._opening:
            if self._client is None:
                self._client = httpx.Client(headers=self._headers, timeout=self._timeout)
            return self._client


def _headers(key: str | None) -> dict[str, str]:
    if not key:
        return {}
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise EmbeddingFailed(
            "The embedding key has a space, a line break or a character that no key has: "
            "copy it again."
        )
    return {"Authorization": f"Bearer {key}"}


def _may_pass(outcome: httpx.Response | str) -> bool:
    return isinstance(outcome, str) or outcome.status_code == 429 or outcome.status_code >= 500


def _asked_pause(outcome: httpx.Response | str) -> float | None:
    if isinstance(outcome, str):
        return None
    try:
        seconds = float(outcome.headers.get("Retry-After", ""))
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _advice(outcome: httpx.Response | str) -> str:
    if isinstance(outcome, str):
        return (
            f"The embedding endpoint could not be reached ({outcome}): "
            "check that it runs and that the embedding url is right."
        )
    status = outcome.status_code
    if status in (401, 403):
        return f"The embedding endpoint refused the key ({status}): check the embedding key."
    if status == 429:
        return f"The embedding endpoint is over its limit ({status}): wait, or raise your quota."
    if status >= 500:
        return f"The embedding endpoint keeps failing ({status}): try again later."
    return (
        f"The embedding endpoint refused the request ({status}): "
        "check the embedding url and the embedding model's name."
    )


def _in_order(answer: Any, count: int) -> list[Any]:
    """The embeddings of an answer, by their index; each index exactly once."""
    try:
        by_index = {int(item["index"]): item["embedding"] for item in answer["data"]}
        matches = len(answer["data"]) == count and by_index.keys() == set(range(count))
    except (KeyError, TypeError, ValueError):
        matches = False
    if not matches:
        raise EmbeddingFailed(
            "The embedding endpoint did not answer with one vector per text: "
            "check that the embedding url speaks OpenAI's embeddings protocol."
        )
    return [by_index[index] for index in range(count)]


def _unit_rows(embeddings: list[Any], dimensions: int) -> NDArray[np.float32]:
    import numpy as np

    rows = np.stack([_numbers(embedding, dimensions) for embedding in embeddings])
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise EmbeddingFailed(
            "The embedding endpoint answered with a vector of no direction "
            "(zeros or numbers that are not finite): try another embedding model."
        )
    unit: NDArray[np.float32] = (rows / lengths).astype(np.float32)
    return unit


def _numbers(embedding: Any, dimensions: int) -> NDArray[np.float64]:
    import numpy as np

    if not isinstance(embedding, list) or any(type(x) not in (int, float) for x in embedding):
        raise EmbeddingFailed(
            "The embedding endpoint answered with something other than numbers: "
            "try another embedding model."
        )
    if len(embedding) != dimensions:
        raise EmbeddingFailed(
            f"The embedding model gives {len(embedding)} numbers and {dimensions} are configured: "
            f"set the embedding dimensions to {len(embedding)}."
        )
    return np.array([_float(number) for number in embedding], dtype=np.float64)


def _float(number: float) -> float:
    """A JSON integer can be too large for a float; infinity is then refused with the rest."""
    try:
        return float(number)
    except OverflowError:
        return math.inf
