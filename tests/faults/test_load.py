"""Sixteen clients use everything at once on a real server: no error, no growth, no long tail.

`REM_LONG=1` keeps it up for three minutes instead of some seconds.
"""

from __future__ import annotations

import os

import remembrancer
from bench.mixed_load import PEOPLE, put_under_load
from tests.support.rem_serve import address_of, free_port, running

LONG = bool(os.environ.get("REM_LONG"))
SECONDS = 180 if LONG else 5
GROWTH = 1.15 if LONG else 1.5
TAIL = 40
"""The most that the slowest in a hundred may take, in medians of the same verb."""

ROOMY = {
    "REMEMBRANCER_SERVER__REQUESTS_PER_MINUTE": "10000000",
    "REMEMBRANCER_SERVER__BURST": "1000000",
}


def test_everything_at_once_fails_never_and_grows_not(place: str) -> None:
    with remembrancer.open(place) as store:
        keys = [store.create_key(f"person {number}").secret for number in range(PEOPLE)]
    command = ("--store", place, "serve", "--port", str(free_port()))
    with running(*command, environment=ROOMY) as process:
        address, _ = address_of(process)
        report = put_under_load(address, keys, process.pid, SECONDS)
    figures = report.summary()
    print(figures)
    assert report.failures == {}
    assert len(report.latencies) == 10, "every verb was called"
    assert report.growth(report.kilobytes) <= GROWTH, figures
    assert report.growth(report.handles) <= 1.1, figures
    tails = {verb: report.tail(verb) for verb, times in report.latencies.items() if len(times) > 30}
    assert all(one <= TAIL for one in tails.values()), figures
