"""X9: memories move between SQLite and PostgreSQL, and nothing is lost on the way."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.errors import Conflict, InvalidInput
from remembrancer.store import dump
from tests.support.full_memory import answers, fill, members, tables_in

pytestmark = pytest.mark.feature("X9")

Fresh = Callable[[str], str]
OpenAt = Callable[..., Remembrancer]

FAR = {"sqlite": "postgres", "postgres": "sqlite"}


def packed(store: Remembrancer, tmp_path: Path, name: str) -> dict[str, bytes]:
    return members(store.backup(tmp_path / f"{name}.zip").path)


@pytest.mark.parametrize("engine", FAR)
def test_there_and_back_is_the_same_byte_by_byte_and_in_every_answer(
    fresh: Fresh, open_at: OpenAt, clock: ManualClock, tmp_path: Path, engine: str
) -> None:
    first = open_at(fresh(engine))
    fill(first.for_user("ada"), clock)
    fill(first.for_user("grace", tenant="elsewhere"), clock)
    before = packed(first, tmp_path, "before")

    far = fresh(FAR[engine])
    moved = first.move_to(far)
    middle = open_at(far)
    there = packed(middle, tmp_path, "there")
    home = fresh(engine)
    middle.move_to(home)
    last = open_at(home)
    back = packed(last, tmp_path, "back")

    assert moved.people == 2
    assert there == before
    assert back == before
    told = answers(first)
    assert answers(middle) == told
    assert answers(last) == told


def test_a_dump_has_rows_of_everything_that_a_person_has(
    fresh: Fresh, open_at: OpenAt, clock: ManualClock, tmp_path: Path
) -> None:
    store = open_at(fresh("sqlite"))
    fill(store.for_user("ada"), clock)

    (person,) = (
        text for name, text in packed(store, tmp_path, "all").items() if name.startswith("people/")
    )

    # Agents have no settings of their own yet.
    assert tables_in(person) == {table.name for table in dump.PERSONAL_TABLES} - {"agents"}


@pytest.mark.parametrize("engine", FAR)
def test_moving_again_finds_everyone_there_and_changes_nothing(
    fresh: Fresh, open_at: OpenAt, clock: ManualClock, engine: str
) -> None:
    store = open_at(fresh(engine))
    fill(store.for_user("ada"), clock)
    far = fresh(FAR[engine])
    store.move_to(far)

    again = store.move_to(far)

    assert (again.people, again.rows, again.present) == (0, 0, 1)


@pytest.mark.parametrize("engine", FAR)
def test_what_is_there_is_not_overwritten_unless_asked_for(
    fresh: Fresh, open_at: OpenAt, clock: ManualClock, tmp_path: Path, engine: str
) -> None:
    store = open_at(fresh(engine))
    fill(store.for_user("ada"), clock)
    far = fresh(FAR[engine])
    other = open_at(far)
    other.for_user("ada").remember("Ada has another memory there")
    other.for_user("zoe").remember("Zoe lives there")
    assert other.for_user("ada").recall("another memory"), "there is an index in memory"
    before = packed(other, tmp_path, "before")

    with pytest.raises(Conflict, match="ada of home has other memories here"):
        store.move_to(far)
    assert packed(other, tmp_path, "refused") == before

    assert store.move_to(far, replace=True).people == 1
    here, there = packed(store, tmp_path, "here"), packed(other, tmp_path, "there")
    assert {name: there[name] for name in here if name != "system.jsonl"} == {
        name: text for name, text in here.items() if name != "system.jsonl"
    }
    assert answers(other) == answers(store), "the index in memory has noticed"
    assert other.for_user("zoe").recall("Where does Zoe live?")


def test_what_was_moved_can_be_gone_on_with(
    fresh: Fresh, open_at: OpenAt, clock: ManualClock
) -> None:
    store = open_at(fresh("sqlite"))
    fill(store.for_user("ada"), clock)
    far = fresh("postgres")
    store.move_to(far)

    me = open_at(far).for_user("ada")
    me.remember("Ada lives in Rome", subject="ada", predicate="city")

    found = [one.memory.content for one in me.recall("Where does Ada live?")]
    assert "Ada lives in Rome" in found
    assert "Ada lives in Bonn" not in found
    assert len(me.history("Ada lives in Rome").versions) == 4


def test_a_version_older_by_its_id_than_what_it_replaces_arrives(
    fresh: Fresh, open_at: OpenAt, clock: ManualClock, tmp_path: Path
) -> None:
    """A clock that was set back gives a later version a lower id."""
    store = open_at(fresh("sqlite"))
    me = store.for_user("ada")
    me.remember("Ada lives in Oslo", subject="ada", predicate="city")
    clock.advance(-timedelta(days=1))
    me.update("Oslo", "Ada lives in Lima")
    far = fresh("postgres")

    store.move_to(far)

    assert packed(open_at(far), tmp_path, "there") == packed(store, tmp_path, "here")


def test_numbers_keep_their_form(
    fresh: Fresh, open_at: OpenAt, clock: ManualClock, tmp_path: Path
) -> None:
    """PostgreSQL gives back large numbers without an exponent, and no negative zero."""
    store = open_at(fresh("sqlite"))
    numbers = [0, 0.0, -0.0, 1, 1.0, 0.1, 1e-300, 5e-324, 1e15, 1e16, 1e23, -1.5e300, 2**70]
    store.for_user("ada").remember("Numbers", metadata={"numbers": numbers})
    far = fresh("postgres")

    store.move_to(far)

    assert packed(open_at(far), tmp_path, "there") == packed(store, tmp_path, "here")


def test_nothing_is_moved_into_a_memory_that_vanishes(fresh: Fresh, open_at: OpenAt) -> None:
    with pytest.raises(InvalidInput, match="would lose everything"):
        open_at(fresh("sqlite")).move_to(":memory:")
