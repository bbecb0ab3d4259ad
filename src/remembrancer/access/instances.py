"""The settings of a tenant's instances: who can use each of them, and whether it has a memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from remembrancer.access.tenant_settings import LiveSetting, as_values
from remembrancer.errors import NotAllowed
from remembrancer.store.erasure_marks import author_mark
from remembrancer.types import Owner, Tenant

if TYPE_CHECKING:
    from remembrancer.store.contract import Store
    from remembrancer.types import Json, Principal

INSTANCES_KEY = "instances"
ADMIN_CAPABILITY = "instances:admin"
"""The capability to use every instance of the tenant and to change its settings."""


class InstanceSettings(BaseModel):
    """The settings of one instance. Without `members` it is open to all users of the tenant.

    With `memory_enabled` off, nothing is learned and prompts get no memories.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    memory_enabled: bool = True
    members: tuple[str, ...] | None = None

    def admits(self, user: str) -> bool:
        return self.members is None or user in self.members


class Instances:
    """Reads and changes the settings of instances."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._setting = LiveSetting(store, INSTANCES_KEY)
        self._author_marks: dict[Owner, str] = {}

    def get(self, tenant: str, name: str) -> InstanceSettings:
        return InstanceSettings.model_validate(self._setting.get(Tenant(tenant)).get(name) or {})

    def list_names(self, tenant: str) -> list[str]:
        """The instances that have settings of their own."""
        return sorted(self._setting.get(Tenant(tenant)))

    def change(self, tenant: str, name: str, changes: Mapping[str, Json]) -> InstanceSettings:
        """Change some settings of an instance, for every process."""

        def merge(stored: dict[str, Json]) -> Json:
            values = {**as_values(stored.get(name)), **changes}
            return {**stored, name: InstanceSettings.model_validate(values).model_dump(mode="json")}

        self._setting.change(Tenant(tenant), merge)
        return self.get(tenant, name)

    def forget(self, tenant: str, name: str) -> None:
        """Drop the settings of an instance that was erased."""

        def drop(stored: dict[str, Json]) -> Json:
            return {known: values for known, values in stored.items() if known != name}

        self._setting.change(Tenant(tenant), drop)

    def forget_member(self, owner: Owner) -> None:
        """Remove a person from all lists of members; a list that becomes empty admits no one."""

        def strike(stored: dict[str, Json]) -> Json:
            return {name: _without_member(values, owner.user) for name, values in stored.items()}

        if any(self.get(owner.tenant, one).members for one in self.list_names(owner.tenant)):
            self._setting.change(Tenant(owner.tenant), strike)

    def author_mark(self, owner: Owner) -> str:
        """The mark of a person on what they write, the same in all instances of the tenant."""
        if owner not in self._author_marks:
            self._author_marks[owner] = author_mark(self._store, owner)
        return self._author_marks[owner]

    def check_access(self, principal: Principal, name: str) -> None:
        """Raise NotAllowed if the principal cannot use an instance."""
        if not self.can_use(principal, name):
            raise NotAllowed(
                f"You have no access to the instance {name!r}. "
                "Ask an administrator to add you to its users."
            )

    def require_admin(self, principal: Principal, name: str) -> None:
        """Raise NotAllowed if the principal cannot change the settings of an instance."""
        if principal.agent not in (None, name) or ADMIN_CAPABILITY not in principal.capabilities:
            raise NotAllowed(f"This needs the capability {ADMIN_CAPABILITY}.")

    def can_use(self, principal: Principal, name: str) -> bool:
        if principal.owner.instance is not None:  # a background job of the instance itself
            return principal.owner.instance == name
        if principal.agent not in (None, name):
            return False
        if ADMIN_CAPABILITY in principal.capabilities:
            return True
        return self.get(principal.owner.tenant, name).admits(principal.owner.user)


def validate_members(tenant: str, members: Iterable[str]) -> list[Json]:
    """The normalised names of the users, in order."""
    return [*sorted({Owner.of_person(tenant, one).user for one in members})]


def list_instances(owners: Iterable[Owner], tenant: str) -> list[str]:
    """The instances of a tenant that have stored something."""
    return [one.instance for one in owners if one.tenant == tenant and one.instance is not None]


def _without_member(values: Json, user: str) -> Json:
    kept = as_values(values)
    members = kept.get("members")
    if isinstance(members, list):
        kept["members"] = [one for one in members if one != user]
    return kept
