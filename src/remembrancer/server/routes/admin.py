"""What concerns everyone in a store: the recurring jobs and backups. It needs `users:edit`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from fastapi import APIRouter, Depends

from remembrancer.server import schemas
from remembrancer.server.deps import Caller, Engine, require_edit

router = APIRouter(tags=["upkeep"], dependencies=[Depends(require_edit)])


class JobSchedule(schemas.ResponseModel):
    """When a job runs, when it was done last and when it is due next."""

    job: str
    cron: str
    finished_at: datetime | None
    due_at: datetime | None


class ListJobsResponse(schemas.ResponseModel):
    """All jobs."""

    items: list[JobSchedule]


class RunJobResponse(schemas.ResponseModel):
    """What a job did."""

    job: str
    changed: int
    people: int
    failures: list[str]


class BackupResponse(schemas.ResponseModel):
    """A backup on the server, which was read back before it counted."""

    name: str
    created_at: datetime
    people: int
    rows: int
    bytes: int


@router.get("/jobs", response_model=ListJobsResponse)
def list_jobs(engine: Engine) -> Any:
    """When each job runs."""
    return {"items": engine.schedule()}


@router.post("/jobs/{job}/run", response_model=RunJobResponse)
def run_job(engine: Engine, caller: Caller, job: schemas.Name) -> Any:
    """Do a job now, for the people of one's own tenant."""
    return engine.run_job(job, tenant=caller.owner.tenant)


@router.post("/backup", response_model=BackupResponse, status_code=201)
def create_backup(engine: Engine) -> Any:
    """Write everyone's memories into one file among the backups on the server."""
    made = engine.backup_to_shelf()
    told = {name: getattr(made, name) for name in ("created_at", "people", "rows", "bytes")}
    return {"name": made.path.name, **told}
