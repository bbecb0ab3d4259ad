"""Checks for the pages that the embedder works."""

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
    """The reason why embedding fails; None if it works or the check is still running."""
    if settings.embedding.provider == "local":
        return None
    check = _start_check(settings.embedding, int(time.monotonic() / CACHE_SECONDS))
    try:
        result = check.result(CHECK_TIMEOUT_SECONDS)
    except TimeoutError:
        return None
    return result.message if result.level is Level.PROBLEM else None


@lru_cache(maxsize=8)
def _start_check(chosen: EmbeddingSettings, _period: int) -> Future[CheckResult]:
    """One check per period for all pages, because a broken endpoint answers slowly."""
    return _executor.submit(check_embedding, Settings(embedding=chosen))
