"""Checks for the pages that the embedder works."""

from __future__ import annotations

import contextlib
import time
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache

from remembrancer.config import EmbeddingSettings, Settings
from remembrancer.doctor import CheckResult, Level, check_embedding

CACHE_SECONDS = 60
CHECK_TIMEOUT_SECONDS = 2

_executor = ThreadPoolExecutor(1, "remembrancer-embedder")
_last_results: dict[EmbeddingSettings, CheckResult] = {}


def find_embedder_warning(settings: Settings) -> str | None:
    """The reason why embedding fails; None if it works or was never checked to the end."""
    chosen = settings.embedding
    if chosen.provider == "local":
        return None
    check = _start_check(chosen, int(time.monotonic() / CACHE_SECONDS))
    with contextlib.suppress(TimeoutError):
        check.result(CHECK_TIMEOUT_SECONDS)
    result = _last_results.get(chosen)
    return result.message if result is not None and result.level is Level.PROBLEM else None


@lru_cache(maxsize=8)
def _start_check(chosen: EmbeddingSettings, _period: int) -> Future[None]:
    """One check per period for all pages, because a broken endpoint answers slowly."""
    return _executor.submit(_check, chosen)


def _check(chosen: EmbeddingSettings) -> None:
    _last_results[chosen] = check_embedding(Settings(embedding=chosen))
