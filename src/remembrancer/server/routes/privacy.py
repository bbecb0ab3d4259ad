"""Export, import and erasure of a user's data, by the user or by an administrator."""

from __future__ import annotations

from datetime import datetime
from itertools import chain, islice
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from remembrancer.erasure.erase import Inventory
from remembrancer.erasure.receipts import Receipt, parse_receipt
from remembrancer.errors import InvalidInput, NotAllowed
from remembrancer.server import schemas
from remembrancer.server.deps import Caller, Engine, TeamReview, require_edit
from remembrancer.store.contract import ScanResult
from remembrancer.team.review import PersonCounts

router = APIRouter(tags=["privacy"])
people = APIRouter(tags=["people"])

NDJSON = "application/x-ndjson"


class EraseRequest(schemas.RequestModel):
    """The name of the user to erase, as a confirmation.

    With `keep_account`, keys and account links stay; with `contributions_only`, all but what the
    user told the team.
    """

    user: schemas.Name
    contributions_only: bool = False
    keep_account: bool = False


class EraseResponse(schemas.ResponseModel):
    """The receipt of an erasure; `clean` is true if no trace of the user is left."""

    id: str
    tenant: str
    user: str
    contributions_only: bool
    account_kept: bool
    begun_at: datetime
    finished_at: datetime
    removed: dict[str, int]
    sought: int
    searched: list[ScanResult]
    left: list[str]
    signature: str
    clean: bool


class VerifyReceiptRequest(schemas.RequestModel):
    """The text of a receipt to verify."""

    receipt: Annotated[str, Field(min_length=2, max_length=100_000)]


class VerifyReceiptResponse(schemas.ResponseModel):
    """`genuine` is true if this server issued the receipt and it is unchanged."""

    genuine: bool


class ImportResponse(schemas.ResponseModel):
    """The number of imported rows."""

    rows: int


class ListPeopleResponse(schemas.ResponseModel):
    """The names of users."""

    items: list[str]


async def refuse_agent_key(caller: Caller) -> None:
    """Raise NotAllowed for an agent's key, because only the user decides about all their data."""
    if caller.agent is not None:
        raise NotAllowed("An agent's key cannot export, import or erase all data.")


OWNER_ONLY = Depends(refuse_agent_key)


@router.get("/export", response_class=StreamingResponse, dependencies=[OWNER_ONLY])
def export_memories(
    engine: Engine, caller: Caller, include_trash: Annotated[bool, Query()] = False
) -> Any:
    """Export all of the caller's data as NDJSON: memories, history, sessions, embeddings.

    What was forgotten or deleted is left out unless `include_trash` is set.
    """
    owner = caller.owner
    lines = engine.export(owner.user, tenant=owner.tenant, include_trash=include_trash)
    # The first line names the person; the second is read from the store, and can fail.
    head = list(islice(lines, 2))
    return StreamingResponse(chain(head, lines), media_type=NDJSON)


@router.post("/import", response_model=ImportResponse, dependencies=[OWNER_ONLY])
async def import_memories(
    request: Request, engine: Engine, caller: Caller, replace: Annotated[bool, Query()] = False
) -> Any:
    """Import an export, all or nothing. `replace` deletes the existing data first."""
    lines = (await request.body()).splitlines(keepends=True)
    owner = caller.owner
    rows = await run_in_threadpool(
        lambda: engine.import_(owner.user, lines, tenant=owner.tenant, replace=replace)
    )
    return {"rows": rows}


@router.get("/erasure", response_model=Inventory, dependencies=[OWNER_ONLY])
def preview_erasure(engine: Engine, caller: Caller) -> Any:
    """Preview what erasure would remove. Nothing is changed."""
    return engine.inventory(caller.owner.user, tenant=caller.owner.tenant)


@router.post("/erasure", response_model=EraseResponse, dependencies=[OWNER_ONLY])
def erase_me(engine: Engine, caller: Caller, body: EraseRequest) -> Any:
    """Erase the caller permanently and return a receipt. `user` must be the caller's name."""
    if body.user != caller.owner.user:
        raise InvalidInput("user: enter your own name to confirm.")
    return _erase(engine, caller, body)


@router.post("/erasure/verify", response_model=VerifyReceiptResponse)
def verify_receipt(engine: Engine, caller: Caller, body: VerifyReceiptRequest) -> Any:
    """Check that this server issued a receipt and that it is unchanged."""
    receipt = parse_receipt(body.receipt)
    return {"genuine": receipt.tenant == caller.owner.tenant and engine.verify_receipt(receipt)}


@people.get("", response_model=ListPeopleResponse)
def list_people(review: TeamReview) -> Any:
    """List the users of the tenant. Needs the capability `users:view`."""
    return {"items": list(review.people())}


@people.get("/{user}", response_model=PersonCounts)
def get_person(review: TeamReview, user: schemas.Name) -> Any:
    """Get a user's row counts. The access is logged in the user's activity."""
    return review.person(user)


@people.post("/{user}/erase", response_model=EraseResponse, dependencies=[Depends(require_edit)])
def erase_person(engine: Engine, caller: Caller, user: schemas.Name, body: EraseRequest) -> Any:
    """Erase a user of the tenant permanently. Needs the capability `users:edit`."""
    if body.user != user:
        raise InvalidInput("user: enter the name of the user to erase to confirm.")
    return _erase(engine, caller, body)


def _erase(engine: Engine, caller: Caller, body: EraseRequest) -> dict[str, Any]:
    receipt: Receipt = engine.erase(
        body.user,
        tenant=caller.owner.tenant,
        contributions_only=body.contributions_only,
        keep_account=body.keep_account,
    )
    names = EraseResponse.model_fields.keys()
    return {name: getattr(receipt, name) for name in names}
