"""What every store promises about taking a person or a team out of it and putting them in."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import create_engine, text

from remembrancer.clock import ManualClock
from remembrancer.config import Settings
from remembrancer.errors import BadBackup, Conflict
from remembrancer.ids import new_id
from remembrancer.store.contract import DumpRow, Embedding, Insert, Store
from remembrancer.store.open import open_store
from remembrancer.store.sqlite import SqliteStore
from remembrancer.types import (
    Action,
    Event,
    Fact,
    Owner,
    TeamFact,
    TeamKind,
    TeamOrigin,
    TeamStatus,
    Tenant,
)
from tests.support.opening import open_files

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
def raw(place: str, clock: ManualClock) -> Iterator[Store]:
    """The bare store, below the engine."""
    where = {"url" if place.startswith("postgresql") else "path": place, "pool_size": 2}
    store = open_store(Settings.model_validate({"store": where}), clock)
    yield store
    store.close()


@pytest.fixture
def ada(tenant: str) -> Owner:
    return Owner(tenant, "ada")


@pytest.fixture
def bob(tenant: str) -> Owner:
    return Owner(tenant, "bob")


def remember(store: Store, owner: Owner, *contents: str) -> None:
    facts = [
        Fact(
            id=new_id("fact", NOW),
            content=content,
            importance=5.0,
            category="fact",
            valid_from=NOW,
            recorded_at=NOW,
            confirmed_at=NOW,
        )
        for content in contents
    ]
    vector = np.array([0.1, 0.2, -0.3], dtype=np.float32)
    event = Event(id=new_id("event", NOW), at=NOW, action=Action.REMEMBERED)
    with store.open_writer(owner) as writer:
        writer.apply(event, [Insert(one, Embedding("test/3", vector)) for one in facts])


def dumped(store: Store, owner: Owner) -> list[DumpRow]:
    with store.dump(owner) as rows:
        return list(rows)


def tell(store: Store, tenant: Tenant, *contents: str) -> None:
    """Let a team know things that one person has said."""
    with store.open_team_writer(tenant) as desk:
        for content in contents:
            fact = TeamFact(
                id=new_id("team", NOW),
                kind=TeamKind.FACT,
                content=content,
                origin=TeamOrigin.USER,
                importance=3.0,
                confidence=0.4,
                recorded_at=NOW,
                confirmed_at=NOW,
            )
            vector = np.array([0.1, 0.2, -0.3], dtype=np.float32)
            desk.add(fact, Embedding("test/3", vector))
            desk.add_contribution(fact.id, desk.load_contributor_key().hex()[:32], NOW)


def dumped_team(store: Store, tenant: Tenant) -> list[DumpRow]:
    with store.dump_team(tenant) as rows:
        return list(rows)


def told(store: Store, tenant: Tenant) -> tuple[int, list[str]]:
    """What recall reads: the version, and the facts."""
    with store.open_team_reader(tenant) as reader:
        known = reader.load_embedded_facts("test/3", tuple(TeamStatus))
        return reader.read_version(), [one.fact.content for one in known]


def renamed(rows: list[DumpRow], owner: Owner) -> list[DumpRow]:
    """The same rows for someone else."""
    own = {"tenant": owner.tenant, "name": owner.user}
    return [(name, {**values, **own} if name == "owners" else values) for name, values in rows]


def test_a_dump_is_of_one_person_and_of_nobody_who_has_nothing(
    raw: Store, ada: Owner, bob: Owner
) -> None:
    remember(raw, ada, "Ada's")
    assert dumped(raw, bob) == []
    remember(raw, bob, "Bob's")
    told = str(dumped(raw, ada))
    assert "Ada's" in told
    assert "Bob's" not in told


def test_a_dump_does_not_see_what_is_written_meanwhile(raw: Store, ada: Owner) -> None:
    remember(raw, ada, "one")
    before = dumped(raw, ada)
    with raw.dump(ada) as rows:
        first = next(rows)
        remember(raw, ada, "two")
        assert [first, *rows] == before


def test_what_is_loaded_is_what_was_dumped(raw: Store, ada: Owner, bob: Owner) -> None:
    remember(raw, ada, *(f"fact {number}" for number in range(1200)))
    rows = renamed(dumped(raw, ada), bob)
    raw.load(bob, iter(rows))
    assert dumped(raw, bob) == rows
    assert bob in raw.system.list_owners()
    with raw.open_reader(bob) as reader:
        assert len(reader.load_index("test/3")) == 1200


def test_a_load_that_breaks_off_leaves_nothing(raw: Store, ada: Owner, bob: Owner) -> None:
    remember(raw, ada, *(f"fact {number}" for number in range(1200)))
    rows = renamed(dumped(raw, ada), bob)

    def breaking_off() -> Iterator[DumpRow]:
        yield from rows[:-1]
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        raw.load(bob, breaking_off())
    assert len(dumped(raw, bob)) <= 1
    raw.load(bob, iter(rows))
    assert dumped(raw, bob) == rows


def test_whoever_has_memories_keeps_them_unless_they_are_replaced(
    raw: Store, ada: Owner, bob: Owner
) -> None:
    remember(raw, ada, "new")
    remember(raw, bob, "old", "older")
    before = dumped(raw, bob)
    with raw.open_reader(bob) as reader:
        index = reader.load_index("test/3")
        assert len(index) == 2
    rows = renamed(dumped(raw, ada), bob)

    with pytest.raises(Conflict):
        raw.load(bob, iter(rows))
    assert dumped(raw, bob) == before

    with contextlib.suppress(ZeroDivisionError):
        raw.load(bob, (row for row in [*rows, 1 / 0]), replace=True)  # type: ignore[misc]
    assert dumped(raw, bob) == before

    raw.load(bob, iter(rows), replace=True)
    assert dumped(raw, bob) == rows
    with raw.open_reader(bob) as reader:
        assert len(reader.load_index("test/3")) == 1, "the index has noticed"


@pytest.mark.parametrize(
    "row",
    [
        ("facts", {}),
        ("leases", {"name": "backup"}),
        ("users", {"name": "eve"}),
        ("agents", {"name": "x", "created_at": "yesterday", "settings": {}}),
        ("agents", {"name": 5, "created_at": "2026-03-02T12:00:00.000000Z", "settings": {}}),
        ("agents", {"owner_id": "someone", "name": "x", "created_at": "", "settings": {}}),
    ],
)
def test_a_row_that_fits_nowhere_is_refused(raw: Store, ada: Owner, row: DumpRow) -> None:
    with pytest.raises(BadBackup):
        raw.load(ada, iter([row]))
    assert len(dumped(raw, ada)) <= 1


def test_the_system_only_gains_what_is_missing(raw: Store, ada: Owner, clock: ManualClock) -> None:
    remember(raw, ada, "x")
    with raw.dump_system() as rows:
        own = [row for row in rows if ada.tenant in row[1].values()]
    key = {
        "id": ada.id,
        "digest": ada.id,
        "tenant": ada.tenant,
        "name": "ada",
        "agent": None,
        "capabilities": ["read"],
        "label": None,
        "created_at": "2026-03-02T12:00:00.000000Z",
        "expires_at": None,
        "revoked_at": "2026-03-02T13:00:00.000000Z",
        "used_at": None,
    }
    raw.load_system([*own, ("keys", key)])
    raw.load_system([("keys", {**key, "revoked_at": None})])
    with raw.dump_system() as rows:
        assert [values for name, values in rows if values.get("id") == ada.id] == [key]


def test_what_is_too_much_for_memory_is_decided_where_it_is_loaded(
    postgres_server: Callable[[str], str], clock: ManualClock, tenant: str
) -> None:
    from remembrancer.store.postgres import PostgresStore

    address = postgres_server("memory")
    ada, bob = Owner(tenant, "ada"), Owner(tenant, "bob")
    roomy, small = PostgresStore(address, clock=clock), PostgresStore(address, max_vectors=2)
    with contextlib.closing(roomy), contextlib.closing(small):
        remember(roomy, ada, "one", "two", "three")
        small.load(bob, iter(renamed(dumped(roomy, ada), bob)))
        assert dumped(roomy, bob) == renamed(dumped(roomy, ada), bob)
    engine = create_engine(address.replace("postgresql://", "postgresql+psycopg://"))
    query = text("SELECT number, crowded FROM embeddings WHERE owner_id = :owner ORDER BY number")
    with engine.connect() as connection:
        found = [tuple(row) for row in connection.execute(query, {"owner": bob.id})]
    engine.dispose()
    assert found == [(1, False), (2, False), (3, True)]


@pytest.fixture
def other(tenant: str) -> Tenant:
    return Tenant(f"{tenant}-other")


def test_a_team_is_listed_once_it_knows_something(raw: Store, tenant: str, other: Tenant) -> None:
    team = Tenant(tenant)
    assert told(raw, team) == (0, [])
    with raw.open_team_writer(team) as desk:
        desk.load_contributor_key()
    assert team not in raw.list_teams()
    tell(raw, team, "one")
    assert team in raw.list_teams()
    assert other not in raw.list_teams()
    assert dumped_team(raw, other) == []


def test_a_dump_of_a_team_is_of_one_moment(raw: Store, tenant: str) -> None:
    team = Tenant(tenant)
    tell(raw, team, "one")
    before = dumped_team(raw, team)
    with raw.dump_team(team) as rows:
        first = next(rows)
        tell(raw, team, "two")
        assert [first, *rows] == before


def test_a_team_that_is_loaded_is_what_was_dumped(raw: Store, tenant: str, other: Tenant) -> None:
    team = Tenant(tenant)
    tell(raw, team, *(f"fact {number}" for number in range(600)))
    rows = dumped_team(raw, team)

    assert raw.load_team(other, iter(rows)) == 600

    assert dumped_team(raw, other) == rows
    assert other in raw.list_teams()
    with raw.open_team_writer(team) as one, raw.open_team_writer(other) as two:
        assert one.load_contributor_key() == two.load_contributor_key()
        assert one.list_contributed_facts(
            one.load_contributor_key().hex()[:32]
        ) == two.list_contributed_facts(two.load_contributor_key().hex()[:32])


def test_a_team_keeps_its_memories_unless_all_of_them_are_replaced(
    raw: Store, tenant: str, other: Tenant
) -> None:
    tell(raw, other, "old", "older")
    tell(raw, Tenant(tenant), "new")
    before, seen = dumped_team(raw, other), told(raw, other)
    rows = dumped_team(raw, Tenant(tenant))

    def breaking_off() -> Iterator[DumpRow]:
        yield from rows
        raise ZeroDivisionError

    with pytest.raises(Conflict, match="has other memories here"):
        raw.load_team(other, iter(rows))
    with pytest.raises(ZeroDivisionError):
        raw.load_team(other, breaking_off(), replace=True)
    with pytest.raises(BadBackup, match="are inconsistent"):
        raw.load_team(other, [*rows, *rows], replace=True)
    assert (dumped_team(raw, other), told(raw, other)) == (before, seen)

    assert raw.load_team(other, iter(rows), replace=True) == 1
    version, contents = told(raw, other)
    assert (dumped_team(raw, other), contents) == (rows, ["new"])
    assert version > seen[0], "every process looks again"


@pytest.mark.parametrize(
    "row",
    [
        ("team_keys", {}),
        ("teams", {"version": 7}),
        ("facts", {"content": "personal"}),
        ("team_keys", {"tenant_id": "someone", "key": "aGVsbG8="}),
    ],
)
def test_a_row_that_fits_into_no_team_is_refused(raw: Store, other: Tenant, row: DumpRow) -> None:
    with pytest.raises(BadBackup):
        raw.load_team(other, iter([row]))
    assert dumped_team(raw, other) == []


def test_many_teams_are_backed_up_with_few_files_open(tmp_path: Path, clock: ManualClock) -> None:
    with contextlib.closing(SqliteStore(tmp_path, clock=clock, max_open_files=2)) as store:
        for number in range(8):
            tell(store, Tenant(f"team {number}"), "one")
        for team in store.list_teams():
            assert len(dumped_team(store, team)) == 4
        held = {path for path in open_files() if path.parent == tmp_path / "teams"}
        assert len([path for path in held if path.suffix == ".db"]) <= 2
