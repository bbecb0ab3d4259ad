"""What the tests of faults share."""

from __future__ import annotations

from collections.abc import Iterator
from multiprocessing.process import BaseProcess

import pytest


@pytest.fixture
def running() -> Iterator[list[BaseProcess]]:
    """Processes that are ended, whatever happens."""
    started: list[BaseProcess] = []
    yield started
    for one in started:
        if one.is_alive():
            one.kill()
        one.join()
