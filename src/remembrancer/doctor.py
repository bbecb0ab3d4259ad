"""Health checks of configuration, storage, embedder and memory, each with its advice.

Nothing here changes stored memories; a missing directory is not created.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from remembrancer import environment
from remembrancer.embed.local import WEIGHTS_DIRECTORY, LocalEmbedder
from remembrancer.errors import InvalidSetting, RemembrancerError
from remembrancer.store.driver import require_driver
from remembrancer.text_format import pluralize

if TYPE_CHECKING:
    from datetime import datetime

    from remembrancer.config import Settings
    from remembrancer.store.contract import Store

PRIVATE_MODE = 0o700


class Level(StrEnum):
    """Only a problem keeps something from working."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check, with a sentence that says what to do."""

    name: str
    level: Level
    message: str


def run_checks(
    load: Callable[[], Settings],
    *,
    file: str | Path | None = None,
    in_memory: bool = False,
    weights: Path = WEIGHTS_DIRECTORY,
) -> tuple[CheckResult, ...]:
    """Run all checks, from the configuration that `load` reads to one real memory.

    `file` is the configuration file if the caller named one; `in_memory` skips the disk.
    """
    settings, configuration = _check_configuration(load, file)
    found = [configuration]
    if settings is not None and not in_memory:
        found += _check_storage(settings)
    found.append(_check_full_text())
    embedder = LocalEmbedder(weights)
    found += [
        _check_weights(embedder),
        check_embedding(settings, embedder),
        _check_round_trip(embedder),
    ]
    found.append(_check_postgres_driver())
    return tuple(found)


def _check_configuration(
    load: Callable[[], Settings], file: str | Path | None
) -> tuple[Settings | None, CheckResult]:
    name = "configuration"
    try:
        settings = load()
    except RemembrancerError as error:
        return None, CheckResult(name, Level.PROBLEM, str(error))
    path = file or environment.find_config_file()
    origin = f"{path} is valid" if path else "no file, so the defaults hold"
    message = f"{origin}; profile {settings.profile}, user {settings.user} of {settings.tenant}."
    return settings, CheckResult(name, Level.OK, message)


def _check_storage(settings: Settings) -> Iterator[CheckResult]:
    """Check the directory, then the store; a missing directory is not created."""
    if settings.store.url is None:
        directory = settings.data_directory()
        finding = _check_directory(directory)
        yield finding
        if finding.level is Level.PROBLEM or not directory.exists():
            return
    yield from _check_store(settings)


def _check_directory(path: Path) -> CheckResult:
    name = "data directory"
    if path.exists() and not path.is_dir():
        message = f"{path} is not a directory: give another one with --store or store.path."
        return CheckResult(name, Level.PROBLEM, message)
    nearest = next(one for one in (path, *path.parents) if one.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        message = f"{nearest} cannot be written to: give another one with --store or store.path."
        return CheckResult(name, Level.PROBLEM, message)
    if nearest != path:
        return CheckResult(name, Level.OK, f"{path} will be made when it is first used.")
    mode = stat.S_IMODE(path.stat().st_mode)
    if os.name == "posix" and mode & ~PRIVATE_MODE:
        message = f"Others can look into {path} (mode {mode:o}): run chmod 700 {path}"
        return CheckResult(name, Level.WARNING, message)
    return CheckResult(name, Level.OK, f"{path} is writable, and private.")


def _check_store(settings: Settings) -> Iterator[CheckResult]:
    from remembrancer.store import schema
    from remembrancer.store.open import open_store

    try:
        store = open_store(settings, None)
        try:
            health = store.check_health()
            damage = [*store.find_damage(), *_find_write_fault(store)]
            waiting = 0 if damage else _count_waiting(settings, store)
            clock = [] if damage else list(_check_clock(store))
        finally:
            store.close()
    except RemembrancerError as error:
        yield CheckResult("store", Level.PROBLEM, str(error))
    else:
        versions = ", ".join(f"{name} {version}" for name, version in health.details.items())
        yield CheckResult("store", Level.OK, f"{health.place}, {versions}.")
        for message in damage:
            yield CheckResult("store", Level.PROBLEM, message)
        yield CheckResult("schema", Level.OK, f"Revision {schema.HEAD}, the current one.")
        for warning in health.warnings:
            yield CheckResult("store", Level.WARNING, warning)
        yield from clock
        yield from _check_consolidation(waiting)


def _find_write_fault(store: Store) -> Iterator[str]:
    try:
        store.check_writable()
    except RemembrancerError as error:
        yield str(error)


def _check_clock(store: Store) -> Iterator[CheckResult]:
    """Warn if jobs wait after a leap of the clock, or if changes are dated ahead of it."""
    from remembrancer.clock import SystemClock
    from remembrancer.maintenance.clock_watch import TOLERANCE, explain_wait, judge, read_sighting

    now = SystemClock().now()
    waits_until = judge(read_sighting(store), now).waits_until
    if waits_until is not None:
        yield CheckResult("clock", Level.WARNING, explain_wait(waits_until))
    ahead = [last for last in _list_last_changes(store) if last > now + TOLERANCE]
    if ahead:
        people = pluralize(len(ahead), "person", "people")
        message = (
            f"The latest changes of {people} are dated up to {max(ahead):%Y-%m-%d}, ahead of the "
            "clock: it was wrong then or is wrong now. New changes follow them."
        )
        yield CheckResult("clock", Level.WARNING, message)


def _list_last_changes(store: Store) -> Iterator[datetime]:
    for owner in store.system.list_owners():
        with store.open_reader(owner) as reader:
            if (last := reader.last_moment()) is not None:
                yield last


def _count_waiting(settings: Settings, store: Store) -> int:
    """The number of episodes that wait because no model is configured."""
    from remembrancer.clock import SystemClock
    from remembrancer.learn.consolidation.backlog import count_pending

    if settings.models.fast or settings.models.smart:
        return 0
    return count_pending(store, store.system.list_owners(), SystemClock().now())


def _check_consolidation(waiting: int) -> Iterator[CheckResult]:
    from remembrancer.learn.consolidation.backlog import describe_waiting

    if waiting:
        message = f"{describe_waiting(waiting)}; name one under [models.smart]."
        yield CheckResult("consolidation", Level.WARNING, message)


def _check_full_text() -> CheckResult:
    from remembrancer.store.sqlite_file import supports_full_text

    if not supports_full_text():
        message = "SQLite was built without FTS5: use a Python that brings it."
        return CheckResult("full text", Level.PROBLEM, message)
    return CheckResult("full text", Level.OK, "SQLite has FTS5.")


def _check_weights(embedder: LocalEmbedder) -> CheckResult:
    try:
        embedder.verify()
    except RemembrancerError as error:
        return CheckResult("model files", Level.PROBLEM, str(error))
    return CheckResult("model files", Level.OK, f"{embedder.model} is as it was shipped.")


def check_embedding(
    settings: Settings | None, embedder: LocalEmbedder | None = None
) -> CheckResult:
    """Embed one sentence with the configured embedder."""
    name = "embedding"
    from remembrancer.factory import open_embedder

    try:
        remote = settings is not None and settings.embedding.provider != "local"
        chosen = (
            open_embedder(settings.embedding)
            if settings and remote
            else embedder or LocalEmbedder()
        )
        row = chosen.embed(["The quick brown fox."])[0]
    except RemembrancerError as error:
        return CheckResult(name, Level.PROBLEM, str(error))
    return CheckResult(name, Level.OK, f"{chosen.model} gives vectors of {len(row)} numbers.")


def _check_round_trip(embedder: LocalEmbedder) -> CheckResult:
    """Store a memory in a temporary store and recall it by meaning."""
    name = "round trip"
    from remembrancer.config import Settings
    from remembrancer.engine import Remembrancer
    from remembrancer.store.open import open_store

    settings = Settings()
    try:
        with Remembrancer(settings, open_store(settings, None, in_memory=True), embedder) as store:
            me = store.for_user("doctor")
            kept = me.remember("The gate opens at nine in the morning.").memory
            found = me.recall("When does the gate open?")
    except RemembrancerError as error:
        return CheckResult(name, Level.PROBLEM, str(error))
    if [one.memory.id for one in found] != [kept.id]:
        message = "What was remembered was not recalled: please report this with the lines above."
        return CheckResult(name, Level.PROBLEM, message)
    return CheckResult(name, Level.OK, "What was remembered was recalled.")


def _check_postgres_driver() -> CheckResult:
    name = "PostgreSQL"
    try:
        require_driver()
    except InvalidSetting as error:
        return CheckResult(name, Level.OK, f"The driver is not installed. {error}")
    return CheckResult(name, Level.OK, "The driver psycopg is installed.")
