"""Data quality of the caller's memory: audit, repair, consolidation and forecast."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from remembrancer.audit.findings import Flaw
from remembrancer.audit.repair import Repair
from remembrancer.audit.report import Audit
from remembrancer.learn.consolidation.plan import from_json
from remembrancer.learn.consolidation.run import ConsolidationResult
from remembrancer.maintenance.simulate import Simulation
from remembrancer.server import schemas
from remembrancer.server.deps import CallerMemory, check_scope

router = APIRouter(tags=["maintenance"])


class AuditParams(schemas.RequestModel):
    """The flaws to check for; by default all."""

    kind: tuple[Flaw, ...] = ()


class RepairRequest(schemas.RequestModel):
    """The flaws to repair. Secrets are only purged if named, which cannot be undone."""

    kinds: list[Flaw] | None = None


class ScopePlan(schemas.ResponseModel):
    """A consolidation plan: as data to apply, and as a readable diff."""

    plan: dict[str, Any]
    diff: list[str]


class PlanConsolidationResponse(schemas.ResponseModel):
    """One plan per scope with pending episodes."""

    items: list[ScopePlan]


class ApplyConsolidationRequest(schemas.RequestModel):
    """The plan to apply; without one, all current plans."""

    plan: schemas.Metadata | None = None


class SimulateParams(schemas.RequestModel):
    """The length of the forecast."""

    days: Annotated[int, Field(ge=1, le=3660)] = 365


@router.get("/audit", response_model=Audit)
def audit(me: CallerMemory, params: Annotated[AuditParams, Query()]) -> Any:
    """Find data-quality problems and their rates."""
    return me.audit(params.kind or None)


@router.post("/audit/repair", response_model=Repair)
def repair(me: CallerMemory, body: RepairRequest) -> Any:
    """Apply the audit's fixes as one undoable event."""
    return me.repair(body.kinds)


@router.post("/consolidation/plan", response_model=PlanConsolidationResponse)
def plan_consolidation(me: CallerMemory) -> Any:
    """Preview consolidation. Nothing is changed."""
    plans = me.plan_consolidation()
    return {"items": [{"plan": plan.to_json(), "diff": plan.diff()} for plan in plans]}


@router.post("/consolidation/apply", response_model=ConsolidationResult)
def apply_consolidation(me: CallerMemory, body: ApplyConsolidationRequest) -> Any:
    """Apply one consolidation plan or all current ones, each as one undoable event."""
    plan = from_json(body.plan) if body.plan is not None else None
    if plan is not None and plan.scope:
        check_scope(me, plan.scope)
    return me.consolidate(plan)


@router.get("/simulate", response_model=Simulation)
def simulate(me: CallerMemory, params: Annotated[SimulateParams, Query()]) -> Any:
    """Forecast which memories will fade and expire. Nothing is changed."""
    return me.simulate(params.days)
