"""Opens the store that the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remembrancer import config
from remembrancer.config import IN_MEMORY, Settings
from remembrancer.errors import InvalidInput
from remembrancer.store.driver import require_driver

if TYPE_CHECKING:
    from remembrancer.clock import Clock
    from remembrancer.store.contract import Store


def open_store(settings: Settings, clock: Clock | None, *, in_memory: bool = False) -> Store:
    store = settings.store
    if store.url is not None and not in_memory:
        require_driver()
        from remembrancer.store.postgres import PostgresStore

        return PostgresStore(
            store.url.get_secret_value(),
            admin_url=store.admin_url.get_secret_value() if store.admin_url else None,
            clock=clock,
            pool_size=store.pool_size,
        )
    from remembrancer.store.sqlite import SqliteStore

    return SqliteStore(
        None if in_memory else settings.data_directory(),
        clock=clock,
        max_open_files=store.open_files,
        lock_timeout_seconds=store.lock_timeout_seconds,
        is_durable=store.durability == "full",
    )


def open_store_at(settings: Settings, place: str, clock: Clock | None) -> Store:
    """A store at another place, with the same settings otherwise."""
    if place == IN_MEMORY:
        raise InvalidInput("Moving to :memory: would lose everything. Pass a directory or a URL.")
    placed = config.set_store_location(settings, place)
    # The login that can change this schema need not exist at the other place.
    return open_store(config.override_settings(placed, {"store": {"admin_url": None}}), clock)
