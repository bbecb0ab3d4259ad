"""The time zone of each user: in it, dates are shown to them and read from them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from remembrancer.store.contract import Store
    from remembrancer.types import Owner


class TimeZones:
    """Reads and stores the zone of a user; without one, the default of the configuration."""

    def __init__(self, store: Store, default: str) -> None:
        self._store = store
        self._default = default

    def get(self, owner: Owner) -> ZoneInfo:
        return self.get_own(owner) or ZoneInfo(self._default)

    def get_own(self, owner: Owner) -> ZoneInfo | None:
        """The zone that the user has set; None if they have set none."""
        name = self._store.system.get_time_zone(owner)
        return ZoneInfo(name) if name else None

    def set(self, owner: Owner, name: str | None) -> None:
        """Store a zone, or with None go back to the default."""
        self._store.system.set_time_zone(owner, parse_zone(name).key if name else None)


def parse_zone(name: str) -> ZoneInfo:
    """Raises InvalidInput if there is no such zone."""
    try:
        return ZoneInfo(name.strip())
    except (KeyError, ValueError, OSError):
        raise InvalidInput(
            f"{name!r} is not a time zone. Use a name such as Europe/Berlin or UTC."
        ) from None
