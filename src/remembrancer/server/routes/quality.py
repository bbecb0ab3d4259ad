"""Looking after one's own memory: what is wrong, what could be tidied, what will fade."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from remembrancer.audit.findings import Fix, Flaw
from remembrancer.learn.consolidation.plan import from_json
from remembrancer.server import schemas
from remembrancer.server.deps import CallerMemory, check_scope

router = APIRouter(tags=["looking after it"])


class AuditParams(schemas.RequestModel):
    """What to look for; by default everything."""

    kind: tuple[Flaw, ...] = ()


class RepairRequest(schemas.RequestModel):
    """What to repair; secrets are destroyed only if they are named, and that cannot be undone."""

    kinds: list[Flaw] | None = None


class AuditFinding(schemas.ResponseModel):
    """One thing that is wrong."""

    kind: Flaw
    ids: list[str]
    message: str
    fix: Fix | None


class AuditResponse(schemas.ResponseModel):
    """What is wrong, and the share of the active memories that each flaw affects."""

    findings: list[AuditFinding]
    memories: int
    rates: dict[str, float]


class RepairResponse(schemas.ResponseModel):
    """What was fixed; undo takes `event`, and nothing takes back `purge`."""

    fixed: list[AuditFinding]
    event: schemas.Event | None
    purge: schemas.Event | None


class ScopePlan(schemas.ResponseModel):
    """What consolidation would do in one scope: as data to apply, and as lines to read."""

    plan: dict[str, Any]
    diff: list[str]


class PlanConsolidationResponse(schemas.ResponseModel):
    """All that consolidation would do now."""

    items: list[ScopePlan]


class ApplyConsolidationRequest(schemas.RequestModel):
    """Which plan to carry out; without one, all that there are now."""

    plan: schemas.Metadata | None = None


class ApplyConsolidationResponse(schemas.ResponseModel):
    """What came of it."""

    batches: list[schemas.BatchResponse]
    failures: list[str]


class SimulateParams(schemas.RequestModel):
    """How far to look ahead."""

    days: Annotated[int, Field(ge=1, le=3660)] = 365


class MemoryForecast(schemas.ResponseModel):
    """When a memory will no longer be recalled, and when it will be over."""

    id: str
    content: str
    fades_at: datetime | None
    expires_at: datetime | None


class SimulationPoint(schemas.ResponseModel):
    """How many memories are recalled, fading and expired at a moment."""

    at: datetime
    recalled: int
    fading: int
    expired: int


class SimulateResponse(schemas.ResponseModel):
    """What becomes of all that is active now, if nobody confirms anything."""

    forecasts: list[MemoryForecast]
    series: list[SimulationPoint]


@router.get("/audit", response_model=AuditResponse)
def audit(me: CallerMemory, params: Annotated[AuditParams, Query()]) -> Any:
    """What is wrong in the data, and how much of it."""
    return me.audit(params.kind or None)


@router.post("/audit/repair", response_model=RepairResponse)
def repair(me: CallerMemory, body: RepairRequest) -> Any:
    """Do what the audit offers as one event that can be undone."""
    return me.repair(body.kinds)


@router.post("/consolidation/plan", response_model=PlanConsolidationResponse)
def plan_consolidation(me: CallerMemory) -> Any:
    """What consolidation would do now; nothing is changed."""
    return {
        "items": [{"plan": one.to_json(), "diff": one.diff()} for one in me.plan_consolidation()]
    }


@router.post("/consolidation/apply", response_model=ApplyConsolidationResponse)
def apply_consolidation(me: CallerMemory, body: ApplyConsolidationRequest) -> Any:
    """Carry out one plan, or all that there are; each is one event that can be undone."""
    plan = from_json(body.plan) if body.plan is not None else None
    if plan is not None and plan.scope:
        check_scope(me, plan.scope)
    return me.consolidate(plan)


@router.get("/simulate", response_model=SimulateResponse)
def simulate(me: CallerMemory, params: Annotated[SimulateParams, Query()]) -> Any:
    """What will fade and expire, and when; nothing is changed."""
    return me.simulate(params.days)
