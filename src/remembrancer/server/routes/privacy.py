"""Taking one's memories along, bringing them back, and being erased; and the same for support."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from remembrancer.erasure.receipts import Receipt
from remembrancer.errors import InvalidInput, NotAllowed
from remembrancer.server import schemas
from remembrancer.server.deps import Caller, Engine, TeamReview, require_edit

router = APIRouter(tags=["leaving"])
people = APIRouter(tags=["people"])

JSON_LINES = "application/x-ndjson"


class ErasurePreviewResponse(schemas.ResponseModel):
    """What there is of someone: rows by table, keys, what they told the team, backups."""

    rows: dict[str, int]
    keys: int
    contributions: int
    team_facts: int
    backups: int


class EraseRequest(schemas.RequestModel):
    """The name of who is to be erased, so that nobody is by mistake."""

    user: schemas.Name
    contributions_only: bool = False


class SearchedPlace(schemas.ResponseModel):
    """Where was searched, how much, and how many traces were found."""

    place: str
    bytes: int
    found: int


class EraseResponse(schemas.ResponseModel):
    """The receipt of an erasure."""

    id: str
    tenant: str
    user: str
    contributions_only: bool
    begun_at: datetime
    finished_at: datetime
    removed: dict[str, int]
    sought: int
    searched: list[SearchedPlace]
    left: list[str]
    signature: str
    clean: bool


class VerifyReceiptRequest(schemas.RequestModel):
    """A receipt to be checked, as the text that was given out."""

    receipt: Annotated[str, Field(min_length=2, max_length=100_000)]


class VerifyReceiptResponse(schemas.ResponseModel):
    """Whether a receipt was given out here, in these words."""

    genuine: bool


class ImportResponse(schemas.ResponseModel):
    """How many rows were brought in."""

    rows: int


class ListPeopleResponse(schemas.ResponseModel):
    """Who has a memory here, by name."""

    items: list[str]


class PersonResponse(schemas.ResponseModel):
    """How much there is of someone."""

    user: str
    rows: dict[str, int]
    keys: int


async def refuse_agent_key(caller: Caller) -> None:
    """Refuse an agent's key: only the person decides about all of it."""
    if caller.agent is not None:
        raise NotAllowed("A key for one agent cannot take along or erase everything.")


OWNER_ONLY = Depends(refuse_agent_key)


@router.get("/export", response_class=StreamingResponse, dependencies=[OWNER_ONLY])
def export_memories(engine: Engine, caller: Caller) -> Any:
    """Everything there is of you, as lines of JSON: memories, history, conversations, vectors."""
    lines = engine.export(caller.owner.user, tenant=caller.owner.tenant)
    return StreamingResponse(lines, media_type=JSON_LINES)


@router.post("/import", response_model=ImportResponse, dependencies=[OWNER_ONLY])
async def import_memories(
    request: Request, engine: Engine, caller: Caller, replace: Annotated[bool, Query()] = False
) -> Any:
    """Bring back what was exported, all of it or nothing; `replace` gives up what is here."""
    lines = (await request.body()).splitlines(keepends=True)
    owner = caller.owner
    rows = await run_in_threadpool(
        lambda: engine.import_(owner.user, lines, tenant=owner.tenant, replace=replace)
    )
    return {"rows": rows}


@router.get("/erasure", response_model=ErasurePreviewResponse, dependencies=[OWNER_ONLY])
def preview_erasure(engine: Engine, caller: Caller) -> Any:
    """What an erasure of yourself would remove; nothing is changed."""
    return engine.inventory(caller.owner.user, tenant=caller.owner.tenant)


@router.post("/erasure", response_model=EraseResponse, dependencies=[OWNER_ONLY])
def erase_me(engine: Engine, caller: Caller, body: EraseRequest) -> Any:
    """Remove everything of yourself for good, and get a receipt. Say your own name to confirm."""
    if body.user != caller.owner.user:
        raise InvalidInput("user: say your own name, to confirm that you mean it.")
    return _erase(engine, caller, body)


@router.post("/erasure/verify", response_model=VerifyReceiptResponse)
def verify_receipt(engine: Engine, caller: Caller, body: VerifyReceiptRequest) -> Any:
    """Whether a receipt was given out here and nobody has changed a word of it."""
    from remembrancer.erasure.receipts import parse_receipt

    receipt = parse_receipt(body.receipt)
    return {"genuine": receipt.tenant == caller.owner.tenant and engine.verify_receipt(receipt)}


@people.get("", response_model=ListPeopleResponse)
def list_people(review: TeamReview) -> Any:
    """Who of your tenant has a memory here. It needs `users:view`."""
    return {"items": list(review.people())}


@people.get("/{user}", response_model=PersonResponse)
def get_person(review: TeamReview, user: schemas.Name) -> Any:
    """How much there is of someone, in numbers alone. They see in their activity who looked."""
    return review.person(user)


@people.post("/{user}/erase", response_model=EraseResponse, dependencies=[Depends(require_edit)])
def erase_person(engine: Engine, caller: Caller, user: schemas.Name, body: EraseRequest) -> Any:
    """Remove everything of someone in your tenant for good. It needs `users:edit`."""
    if body.user != user:
        raise InvalidInput("user: say the name of who is to be erased, to confirm it.")
    return _erase(engine, caller, body)


def _erase(engine: Engine, caller: Caller, body: EraseRequest) -> dict[str, Any]:
    receipt: Receipt = engine.erase(
        body.user,
        tenant=caller.owner.tenant,
        contributions_only=body.contributions_only,
    )
    names = EraseResponse.model_fields.keys()
    return {name: getattr(receipt, name) for name in names}
