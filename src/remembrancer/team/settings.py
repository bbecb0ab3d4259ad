"""Settings of a tenant that change at runtime; all processes see a change within a second."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from remembrancer.access.tenant_settings import LiveSetting
from remembrancer.errors import InvalidInput
from remembrancer.types import validate_name

if TYPE_CHECKING:
    from remembrancer.profiles import Profile
    from remembrancer.store.contract import Store
    from remembrancer.types import Json, Tenant

SETTINGS_KEY = "switches"
TEAM_RECALL, ANONYMOUS = "team_recall", "anonymous"

Share = Annotated[float, Field(ge=0, le=1)]


class TeamSettings(BaseModel):
    """The live settings of a tenant; the profile supplies those that are not set."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    personal_learning: bool = True
    team_learning: bool = True
    team_recall: dict[str, bool] = Field(default_factory=dict)
    promote_at: Annotated[int, Field(ge=1, le=1000)] | None = 2
    dedup_threshold: Share = 0.5
    recall_confidence: Share = 0.3
    limit: Annotated[int, Field(ge=1, le=100)] = 5

    def can_recall(self, surface: str | None) -> bool:
        """True if a surface can recall team facts; None means an anonymous caller."""
        if surface is None:
            return self.team_recall.get(ANONYMOUS, False)
        return self.team_recall.get(surface, True)


class LiveSettings:
    """Reads the settings through a short-lived cache and writes them to the store."""

    def __init__(self, store: Store) -> None:
        self._setting = LiveSetting(store, SETTINGS_KEY)

    def get(self, tenant: Tenant, profile: Profile) -> TeamSettings:
        """The stored settings of a tenant over the defaults of the profile."""
        team = profile.team
        defaults = {
            "team_learning": team.enabled,
            "promote_at": team.promote_at,
            "dedup_threshold": team.dedup_threshold,
            "recall_confidence": team.recall_confidence,
            "limit": team.limit,
        }
        return TeamSettings.model_validate(defaults | self._setting.get(tenant))

    def change(self, tenant: Tenant, profile: Profile, changes: Mapping[str, Json]) -> TeamSettings:
        """Change settings for every process; an invalid one changes nothing."""
        return self._save(tenant, profile, lambda stored: _merge(stored, changes))

    def reset(self, tenant: Tenant, profile: Profile, names: Sequence[str]) -> TeamSettings:
        """Reset settings to the profile's; an unknown name changes nothing."""
        return self._save(tenant, profile, lambda stored: _remove(stored, names))

    def _save(
        self, tenant: Tenant, profile: Profile, change: Callable[[dict[str, Json]], Json]
    ) -> TeamSettings:
        self._setting.change(tenant, change)
        return self.get(tenant, profile)


def _merge(values: dict[str, Json], changes: Mapping[str, Json]) -> Json:
    """Merge and validate; raises InvalidInput with the name of an invalid setting."""
    old, new = values.get(TEAM_RECALL), changes.get(TEAM_RECALL)
    merged: dict[str, Json] = {**values, **changes}
    if isinstance(new, dict):
        by_surface = {validate_name(name, "surface"): value for name, value in new.items()}
        merged[TEAM_RECALL] = {**(old if isinstance(old, dict) else {}), **by_surface}
    _refuse_unknown(merged)
    try:
        TeamSettings.model_validate(merged, strict=True)
    except ValidationError as error:
        problem = error.errors()[0]
        name = ".".join(str(step) for step in problem["loc"])
        raise InvalidInput(f"{name}: {problem['msg']}.") from None
    return merged


def _remove(values: dict[str, Json], names: Sequence[str]) -> Json:
    for name in names:
        setting, dot, surface = name.partition(".")
        if setting == TEAM_RECALL and dot:
            old = values.get(TEAM_RECALL)
            by_surface = dict(old) if isinstance(old, dict) else {}
            by_surface.pop(validate_name(surface, "surface"), None)
            values[TEAM_RECALL] = by_surface
        else:
            _refuse_unknown([name])
            values.pop(name, None)
    return values


def _refuse_unknown(names: Iterable[str]) -> None:
    unknown = set(names) - TeamSettings.model_fields.keys()
    if unknown:
        allowed = ", ".join(TeamSettings.model_fields)
        raise InvalidInput(f"There is no setting {min(unknown)!r}. Use one of {allowed}.")
