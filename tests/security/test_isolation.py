"""Nobody reaches another person's memory: on every verb, with every trick, on both engines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.pool import NullPool

from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidInput, NotFound
from remembrancer.ids import new_id
from remembrancer.memory import Memory
from remembrancer.types import Owner

Verb = Callable[[Memory, str], object]

BY_REFERENCE: dict[str, Verb] = {
    "get": lambda memory, reference: memory.get(reference),
    "update": lambda memory, reference: memory.update(reference, "overwritten"),
    "confirm": lambda memory, reference: memory.confirm(reference),
    "forget": lambda memory, reference: memory.forget(reference),
    "restore": lambda memory, reference: memory.restore(reference),
    "delete": lambda memory, reference: memory.delete(reference),
    "history": lambda memory, reference: memory.history(reference),
    "link from": lambda memory, reference: memory.link(reference, "of her own"),
    "link to": lambda memory, reference: memory.link("of her own", reference),
}


@pytest.mark.parametrize("verb", BY_REFERENCE.values(), ids=list(BY_REFERENCE))
def test_a_foreign_id_is_told_apart_from_a_missing_one_by_nothing(
    store: Remembrancer, verb: Verb
) -> None:
    ada, eve = store.for_user("ada"), store.for_user("eve")
    private = ada.remember("Ada's diary is under the floor").memory
    eve.remember("a memory of her own")
    missing = new_id("fact", private.recorded_at)

    answers = []
    for reference in (private.id, missing):
        with pytest.raises(NotFound) as caught:
            verb(eve, reference)
        answers.append((type(caught.value), str(caught.value).replace(reference, "ID")))
    assert answers[0] == answers[1]
    with pytest.raises(NotFound):
        verb(eve, "diary is under the floor")
    assert ada.get(private.id) == private


def test_reading_everything_shows_only_ones_own(store: Remembrancer, tenant: str) -> None:
    ada = store.for_user("ada")
    ada.remember("Ada's diary is under the floor", tags=["private"])
    strangers = [
        store.for_user("eve"),
        store.for_user("ada", tenant=f"{tenant}-other"),
        store.for_user("ADA"),
        store.for_user("ada "),
        store.for_user("%"),
        store.for_user("ada' OR '1'='1"),
    ]
    for stranger in strangers:
        assert stranger.list().items == ()
        assert stranger.recall("where is the diary?") == []
        assert stranger.recall("diary", mode="keyword") == []
        assert stranger.stats().by_kind == {}


def test_a_conversation_is_only_its_owners(store: Remembrancer) -> None:
    ada, eve = store.for_user("ada"), store.for_user("eve")
    (said,) = ada.append([{"role": "user", "content": "The diary is under the floor"}], "chat")
    eve.append([{"role": "user", "content": "Nothing much"}], "chat")

    assert [one.content for one in eve.turns("chat")] == ["Nothing much"]
    assert [one.content for one in ada.turns("chat")] == ["The diary is under the floor"]
    assert said.id not in {one.memory.id for one in eve.recall("diary")}
    with pytest.raises(NotFound):
        eve.get(said.id)


def test_undo_reaches_only_ones_own_events(store: Remembrancer) -> None:
    ada, eve = store.for_user("ada"), store.for_user("eve")
    event = ada.remember("Ada's diary is under the floor").event
    assert event is not None
    with pytest.raises(NotFound):
        eve.undo(event.id)
    with pytest.raises(NotFound):
        eve.undo()
    assert ada.recall("diary")


@pytest.mark.parametrize("name", ["", "   ", "\x00", "a\nb", "x" * 201, None])
def test_there_is_no_memory_without_a_proper_owner(store: Remembrancer, name: str) -> None:
    if name is not None:
        with pytest.raises(InvalidInput):
            store.for_user(name)
        with pytest.raises(InvalidInput):
            store.for_user("ada", tenant=name)
    with pytest.raises(InvalidInput):
        Owner("home", name)


def test_tenant_and_user_cannot_be_shifted_into_one_another() -> None:
    assert Owner("ab", "c").id != Owner("a", "bc").id
    assert Owner("1:a", "b").id != Owner("1", ":ab").id


def test_an_empty_owner_is_refused_by_the_tables_even_for_their_owner(
    store: Remembrancer, place: str
) -> None:
    store.for_user("ada").remember("x")
    if place.startswith("postgresql"):
        address = place.replace("postgresql://", "postgresql+psycopg://")
    else:
        (file,) = Path(place).glob("people/*.db")
        address = f"sqlite:///{file}"
    admin = create_engine(address, poolclass=NullPool)
    empty = text(
        "INSERT INTO agents (owner_id, name, created_at, settings) "
        "VALUES ('', 'nobody', '2026-01-01T00:00:00.000000Z', '{}')"
    )
    with admin.connect() as connection, pytest.raises(IntegrityError, match="ck_agents_owner"):
        connection.execute(empty)


def test_on_sqlite_each_person_has_a_file_that_only_they_may_open(tmp_path: Path) -> None:
    import remembrancer

    with remembrancer.open(tmp_path / "memory") as store:
        store.for_user("ada").remember("Ada's own")
        store.for_user("eve").remember("Eve's own")
        store.for_user("zoe").recall("anything")
    files = sorted((tmp_path / "memory" / "people").glob("*.db"))
    assert len(files) == 2
    assert all(path.stat().st_mode & 0o077 == 0 for path in files)
    assert (tmp_path / "memory").stat().st_mode & 0o077 == 0
