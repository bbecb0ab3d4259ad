"""What a page should warn of: so far, that memory is on and nothing can be embedded."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache

from remembrancer.config import EmbeddingSettings, Settings
from remembrancer.doctor import CheckResult, Level, check_embedding

CACHE_SECONDS = 60
CHECK_TIMEOUT_SECONDS = 2

_executor = ThreadPoolExecutor(1, "remembrancer-embedder")


def find_embedder_warning(settings: Settings) -> str | None:
    """Why nothing can be embedded, if that is known by now; the model that ships always can."""
    if settings.embedding.provider == "local":
        return None
    attempt = _start_check(settings.embedding, int(time.monotonic() / CACHE_SECONDS))
    try:
        finding = attempt.result(CHECK_TIMEOUT_SECONDS)
    except TimeoutError:
        return None
    return finding.message if finding.level is Level.PROBLEM else None


@lru_cache(maxsize=8)
def _start_check(chosen: EmbeddingSettings, _period: int) -> Future[CheckResult]:
    """One attempt for all pages of a period: an endpoint that is out of order takes its time."""
    return _executor.submit(check_embedding, Settings(embedding=chosen))
