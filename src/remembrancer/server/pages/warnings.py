"""What a page should warn of: so far, that memory is on and nothing can be embedded."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache

from remembrancer.config import EmbeddingSettings, Settings
from remembrancer.doctor import Finding, Level, embedding

HOLDS_SECONDS = 60
PATIENCE_SECONDS = 2

_trying = ThreadPoolExecutor(1, "remembrancer-embedder")


def embedder_warning(settings: Settings) -> str | None:
    """Why nothing can be embedded, if that is known by now; the model that ships always can."""
    if settings.embedding.provider == "local":
        return None
    attempt = _attempt(settings.embedding, int(time.monotonic() / HOLDS_SECONDS))
    try:
        finding = attempt.result(PATIENCE_SECONDS)
    except TimeoutError:
        return None
    return finding.message if finding.level is Level.PROBLEM else None


@lru_cache(maxsize=8)
def _attempt(chosen: EmbeddingSettings, _period: int) -> Future[Finding]:
    """One attempt for all pages of a period: an endpoint that is out of order takes its time."""
    return _trying.submit(embedding, Settings(embedding=chosen))
