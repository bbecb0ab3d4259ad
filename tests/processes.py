"""Processes of their own for tests, begun in milliseconds: what they import is loaded once."""

from __future__ import annotations

import multiprocessing

forked = multiprocessing.get_context("forkserver")
forked.set_forkserver_preload(
    [
        "sqlalchemy.dialects.postgresql.psycopg",
        "remembrancer.search.index",
        "tests.conformance.test_migrations",
        "tests.faults.test_concurrency",
        "tests.faults.test_erasure_killed",
        "tests.faults.test_killed",
        "tests.faults.test_learned_once",
    ]
)
