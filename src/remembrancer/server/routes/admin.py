"""Recurring jobs and backups of the whole store. Needs the capability `users:edit`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from fastapi import APIRouter, Depends

from remembrancer.maintenance.runner import JobResult, ScheduledJob
from remembrancer.server import schemas
from remembrancer.server.deps import Caller, Engine, require_edit

router = APIRouter(tags=["admin"], dependencies=[Depends(require_edit)])


class ListJobsResponse(schemas.ResponseModel):
    """All recurring jobs."""

    items: list[ScheduledJob]


class TickResponse(schemas.ResponseModel):
    """The jobs that were due; what they changed concerns other tenants too."""

    ran: list[str]


class BackupResponse(schemas.ResponseModel):
    """A backup on the server; it was read back and verified."""

    name: str
    created_at: datetime
    people: int
    rows: int
    bytes: int


@router.get("/jobs", response_model=ListJobsResponse)
def list_jobs(engine: Engine) -> Any:
    """List the recurring jobs with their last and next run."""
    return {"items": engine.schedule()}


@router.post("/jobs/{job}/run", response_model=JobResult)
def run_job(engine: Engine, caller: Caller, job: schemas.Name) -> Any:
    """Run a job now for the caller's tenant."""
    return engine.run_job(job, tenant=caller.owner.tenant)


@router.post("/jobs/tick", response_model=TickResponse)
def run_due_jobs(engine: Engine) -> Any:
    """Run the jobs that are due for the whole store, for a heartbeat from outside."""
    return {"ran": [one.job for one in engine.tick()]}


@router.post("/backup", response_model=BackupResponse, status_code=201)
def create_backup(engine: Engine) -> Any:
    """Create a backup of all users on the server."""
    backup = engine.backup_to_shelf()
    values = {name: getattr(backup, name) for name in ("created_at", "people", "rows", "bytes")}
    return {"name": backup.path.name, **values}
