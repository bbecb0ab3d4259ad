"""Looking after one's own memory: what is wrong, what could be tidied, what will fade."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from remembrancer.audit.finding import Fix, Flaw
from remembrancer.learn.consolidation.plan import from_json
from remembrancer.server import schemas
from remembrancer.server.deps import Me, within

router = APIRouter(tags=["looking after it"])


class Flaws(schemas.Asked):
    """What to look for; by default everything."""

    kind: tuple[Flaw, ...] = ()


class Repairing(schemas.Asked):
    """What to repair; secrets are destroyed only if they are named, and that cannot be undone."""

    kinds: list[Flaw] | None = None


class Finding(schemas.Told):
    """One thing that is wrong."""

    kind: Flaw
    ids: list[str]
    message: str
    fix: Fix | None


class Audit(schemas.Told):
    """What is wrong, and the share of the active memories that each flaw affects."""

    findings: list[Finding]
    memories: int
    rates: dict[str, float]


class Repair(schemas.Told):
    """What was fixed; undo takes `event`, and nothing takes back `purge`."""

    fixed: list[Finding]
    event: schemas.Event | None
    purge: schemas.Event | None


class Plan(schemas.Told):
    """What consolidation would do in one scope: as data to apply, and as lines to read."""

    plan: dict[str, Any]
    diff: list[str]


class Plans(schemas.Told):
    """All that consolidation would do now."""

    items: list[Plan]


class Applying(schemas.Asked):
    """Which plan to carry out; without one, all that there are now."""

    plan: schemas.Metadata | None = None


class Consolidated(schemas.Told):
    """What came of it."""

    batches: list[schemas.Batch]
    failures: list[str]


class Days(schemas.Asked):
    """How far to look ahead."""

    days: Annotated[int, Field(ge=1, le=3660)] = 365


class Forecast(schemas.Told):
    """When a memory will no longer be recalled, and when it will be over."""

    id: str
    content: str
    fades_at: datetime | None
    expires_at: datetime | None


class Count(schemas.Told):
    """How many memories are recalled, fading and expired at a moment."""

    at: datetime
    recalled: int
    fading: int
    expired: int


class Simulation(schemas.Told):
    """What becomes of all that is active now, if nobody confirms anything."""

    forecasts: list[Forecast]
    series: list[Count]


@router.get("/audit", response_model=Audit)
def audit(me: Me, asked: Annotated[Flaws, Query()]) -> Any:
    """What is wrong in the data, and how much of it."""
    return me.audit(asked.kind or None)


@router.post("/audit/repair", response_model=Repair)
def repair(me: Me, asked: Repairing) -> Any:
    """Do what the audit offers as one event that can be undone."""
    return me.repair(asked.kinds)


@router.post("/consolidation/plan", response_model=Plans)
def plan_consolidation(me: Me) -> Any:
    """What consolidation would do now; nothing is changed."""
    return {
        "items": [{"plan": one.as_json(), "diff": one.diff()} for one in me.plan_consolidation()]
    }


@router.post("/consolidation/apply", response_model=Consolidated)
def apply_consolidation(me: Me, asked: Applying) -> Any:
    """Carry out one plan, or all that there are; each is one event that can be undone."""
    plan = from_json(asked.plan) if asked.plan is not None else None
    if plan is not None and plan.scope:
        within(me, plan.scope)
    return me.consolidate(plan)


@router.get("/simulate", response_model=Simulation)
def simulate(me: Me, asked: Annotated[Days, Query()]) -> Any:
    """What will fade and expire, and when; nothing is changed."""
    return me.simulate(asked.days)
