"""Finds out for whom a graph runs: from its configuration, or from the context of its run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.runtime import get_runtime

from remembrancer.errors import InvalidInput
from remembrancer.types import validate_name

SURFACE = "langgraph"


@dataclass(frozen=True, slots=True)
class GraphRun:
    """What a graph was started with: `configurable` of its configuration, and `context=`.

    A chain or a tool has a configuration too, without the context of the graph that calls it if it
    is called with a `configurable` of its own. It may stand in a graph, so it names its person.
    """

    configurable: Mapping[str, Any]
    context: Any = None

    def get_field(self, name: str) -> Any:
        """Return a field of either; raises InvalidInput if they disagree."""
        given = {
            place: value
            for place, value in (
                ("configurable", self.configurable.get(name)),
                ("context", _get_field(self.context, name)),
            )
            if value is not None
        }
        values = [*given.values()]
        if len(values) > 1 and values[0] != values[1]:
            raise InvalidInput(
                f"Say for whom the graph runs: {name} is not the same in configurable and context."
            )
        return values[0] if values else None


@dataclass(frozen=True, slots=True)
class RunPerson:
    """The organisation and the user that a graph runs for."""

    tenant: str
    user: str


NamedPerson = str | tuple[str, str] | None
"""A user, an organisation and a user, or nobody."""

PersonOf = Callable[[GraphRun], NamedPerson]
"""Names the person of a run, for applications with other fields than `org_id` and `user_id`."""


def named_person(run: GraphRun) -> NamedPerson:
    """Return the `user_id` of a run, with its `org_id` if it has one."""
    org, user = run.get_field("org_id"), run.get_field("user_id")
    if user is None and org is not None:
        raise InvalidInput("Say for whom the graph runs: org_id is set, but no user_id.")
    return user if org is None else (org, user)


def get_run() -> GraphRun | None:
    """Return the run in progress, or None outside of graphs, chains and tools."""
    try:
        return read_run(get_config())
    except RuntimeError:
        return None


def read_run(config: RunnableConfig | None) -> GraphRun:
    """Return the run with this configuration, with the context of the graph in progress."""
    return GraphRun(get_configurable(config), _get_context())


def get_configurable(config: RunnableConfig | None) -> Mapping[str, Any]:
    return (config or {}).get("configurable") or {}


def find_person(
    run: GraphRun, default_tenant: str, person_of: PersonOf = named_person
) -> RunPerson | None:
    """Return the person of a run, or None if it names nobody."""
    match person_of(run):
        case None:
            return None
        case (org, user):
            return RunPerson(_validate(org, "org_id"), _validate(user, "user_id"))
        case user:
            return RunPerson(default_tenant, _validate(user, "user_id"))


def require_person(
    run: GraphRun, default_tenant: str, person_of: PersonOf = named_person
) -> RunPerson:
    """Return the person of a run; raises InvalidInput if it names nobody."""
    person = find_person(run, default_tenant, person_of)
    if person is None:
        raise InvalidInput(
            "Say for whom the graph runs: set user_id, and org_id if there are several "
            "organisations, in configurable or in the context."
        )
    return person


def check_people(people: object, what: str, person_of: object) -> None:
    """Raise InvalidInput unless `people` is an open store, and `person_of` a function."""
    from remembrancer.engine import Remembrancer

    if not isinstance(people, Remembrancer):
        raise InvalidInput(
            f"{what} needs an open store, not {type(people).__name__}: "
            "pass what remembrancer.open(…) returns."
        )
    if not callable(person_of):
        raise InvalidInput(
            f"person_of must be a function that names the person of a run, not {person_of!r}: "
            "pass lambda run: run.get_field(…)."
        )


def _get_context() -> Any:
    """Return the context of the graph in progress, or None outside of graphs."""
    try:
        return getattr(get_runtime(), "context", None)
    except (KeyError, RuntimeError):
        return None


def _get_field(context: Any, name: str) -> Any:
    if isinstance(context, Mapping):
        return context.get(name)
    return getattr(context, name, None)


def _validate(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise InvalidInput(
            f"Say for whom the graph runs: {name} must be text, not {type(value).__name__}. "
            f"Pass str({name})."
        )
    return validate_name(value, name)
