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
from remembrancer.server.deps import Caller, Desk, Engine, may_edit

router = APIRouter(tags=["leaving"])
people = APIRouter(tags=["people"])

JSON_LINES = "application/x-ndjson"


class Inventory(schemas.Told):
    """What there is of someone: rows by table, keys, what they told the team, backups."""

    rows: dict[str, int]
    keys: int
    contributions: int
    team_facts: int
    backups: int


class Leaving(schemas.Asked):
    """The name of who is to be erased, so that nobody is by mistake."""

    user: schemas.Name
    contributions_only: bool = False


class Place(schemas.Told):
    """Where was searched, how much, and how many traces were found."""

    place: str
    bytes: int
    found: int


class Erased(schemas.Told):
    """The receipt of an erasure."""

    id: str
    tenant: str
    user: str
    contributions_only: bool
    begun_at: datetime
    finished_at: datetime
    removed: dict[str, int]
    sought: int
    searched: list[Place]
    left: list[str]
    signature: str
    clean: bool


class Shown(schemas.Asked):
    """A receipt to be checked, as the text that was given out."""

    receipt: Annotated[str, Field(min_length=2, max_length=100_000)]


class Verdict(schemas.Told):
    """Whether a receipt was given out here, in these words."""

    genuine: bool


class Came(schemas.Told):
    """How many rows were brought in."""

    rows: int


class People(schemas.Told):
    """Who has a memory here, by name."""

    items: list[str]


class Person(schemas.Told):
    """How much there is of someone."""

    user: str
    rows: dict[str, int]
    keys: int


async def themselves(caller: Caller) -> None:
    """Refuse an agent's key: only the person decides about all of it."""
    if caller.agent is not None:
        raise NotAllowed("A key for one agent cannot take along or erase everything.")


Own = Depends(themselves)


@router.get("/export", response_class=StreamingResponse, dependencies=[Own])
def export_mine(engine: Engine, caller: Caller) -> Any:
    """Everything there is of you, as lines of JSON: memories, history, conversations, vectors."""
    lines = engine.export(caller.owner.user, tenant=caller.owner.tenant)
    return StreamingResponse(lines, media_type=JSON_LINES)


@router.post("/import", response_model=Came, dependencies=[Own])
async def import_mine(
    request: Request, engine: Engine, caller: Caller, replace: Annotated[bool, Query()] = False
) -> Any:
    """Bring back what was exported, all of it or nothing; `replace` gives up what is here."""
    lines = (await request.body()).splitlines(keepends=True)
    owner = caller.owner
    rows = await run_in_threadpool(
        lambda: engine.import_(owner.user, lines, tenant=owner.tenant, replace=replace)
    )
    return {"rows": rows}


@router.get("/erasure", response_model=Inventory, dependencies=[Own])
def what_there_is(engine: Engine, caller: Caller) -> Any:
    """What an erasure of yourself would remove; nothing is changed."""
    return engine.inventory(caller.owner.user, tenant=caller.owner.tenant)


@router.post("/erasure", response_model=Erased, dependencies=[Own])
def erase_me(engine: Engine, caller: Caller, leaving: Leaving) -> Any:
    """Remove everything of yourself for good, and get a receipt. Say your own name to confirm."""
    if leaving.user != caller.owner.user:
        raise InvalidInput("user: say your own name, to confirm that you mean it.")
    return _erased(engine, caller, leaving)


@router.post("/erasure/verify", response_model=Verdict)
def verify_receipt(engine: Engine, caller: Caller, shown: Shown) -> Any:
    """Whether a receipt was given out here and nobody has changed a word of it."""
    from remembrancer.erasure.receipts import receipt_from

    receipt = receipt_from(shown.receipt)
    return {"genuine": receipt.tenant == caller.owner.tenant and engine.verify_receipt(receipt)}


@people.get("", response_model=People)
def list_people(desk: Desk) -> Any:
    """Who of your tenant has a memory here. It needs `users:view`."""
    return {"items": list(desk.people())}


@people.get("/{user}", response_model=Person)
def look_at_person(desk: Desk, user: schemas.Name) -> Any:
    """How much there is of someone, in numbers alone. They see in their activity who looked."""
    return desk.person(user)


@people.post("/{user}/erase", response_model=Erased, dependencies=[Depends(may_edit)])
def erase_person(engine: Engine, caller: Caller, user: schemas.Name, leaving: Leaving) -> Any:
    """Remove everything of someone in your tenant for good. It needs `users:edit`."""
    if leaving.user != user:
        raise InvalidInput("user: say the name of who is to be erased, to confirm it.")
    return _erased(engine, caller, leaving)


def _erased(engine: Engine, caller: Caller, leaving: Leaving) -> dict[str, Any]:
    receipt: Receipt = engine.erase(
        leaving.user,
        tenant=caller.owner.tenant,
        contributions_only=leaving.contributions_only,
    )
    names = Erased.model_fields.keys()
    return {name: getattr(receipt, name) for name in names}
