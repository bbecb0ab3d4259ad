"""A8: no cap on the number of memories, and an HNSW cosine index on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Engine, text
from sqlalchemy import event as sqlalchemy_event

from remembrancer.clock import SetClock
from remembrancer.config import Settings
from remembrancer.opening import open_store
from remembrancer.store.contract import Embedding, Filter, Insert, Reader, Store
from remembrancer.store.postgres import INDEXED_MODEL, PostgresStore
from remembrancer.types import Action, Event, Fact, Owner, new_id

ON_POSTGRES = pytest.mark.parametrize("place", ["postgres"], indirect=True)
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
NOW_ON = Filter(now=NOW + timedelta(days=1))
MANY = 3000
PLAIN = "a-model-without-an-index"


def unit_vectors(count: int, seed: int) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((count, 384))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def fact(number: int, subject: str | None = None) -> Fact:
    return Fact(
        id=new_id("fact", NOW),
        content=f"Statement number {number}.",
        importance=5,
        valid_from=NOW,
        recorded_at=NOW + timedelta(microseconds=number),
        confirmed_at=NOW,
        category="fact",
        subject=subject,
        predicate=str(number) if subject else None,
    )


def fill(
    store: Store, owner: Owner, vectors: np.ndarray, model: str, subject: str | None = None
) -> list[str]:
    """Store a fact for each vector, in one transaction; returns their ids."""
    facts = [fact(number, subject) for number in range(len(vectors))]
    event = Event(id=new_id("event", NOW), at=NOW, action=Action.REMEMBERED)
    pairs = zip(facts, vectors, strict=True)
    with store.writing(owner) as writer:
        writer.apply(event, [Insert(one, Embedding(model, vector)) for one, vector in pairs])
    return [one.id for one in facts]


@pytest.fixture
def store(place: str, tenant: str) -> Iterator[Store]:
    where = {"url" if place.startswith("postgresql") else "path": place}
    settings = Settings.model_validate({"tenant": tenant, "store": where})
    store = open_store(settings, SetClock(NOW_ON.now))
    yield store
    store.close()


def test_A8_thousands_are_all_kept_listed_counted_and_found_exactly(
    store: Store, tenant: str
) -> None:
    owner = Owner(tenant, "ada")
    vectors = unit_vectors(MANY, seed=1)
    ids = fill(store, owner, vectors, PLAIN)

    with store.reading(owner) as reader:
        assert {one.id for one in reader.find(NOW_ON, 2 * MANY)} == set(ids)
        assert sum(one.count for one in reader.tally()) == MANY
        for number in (0, MANY // 2, MANY - 1):
            nearest = reader.semantic(Embedding(PLAIN, vectors[number]), NOW_ON, 5)[0]
            assert (nearest.id, nearest.score) == (ids[number], 1.0)
            (word,) = reader.keyword([str(number)], NOW_ON, 5)
            assert word.id == ids[number]
        assert recall_at_50(reader, vectors, ids, PLAIN, queries=3) == 1.0


# PostgreSQL's index and plans.


@pytest.fixture
def indexing(place: str) -> Iterator[PostgresStore]:
    """A store that takes its index from the first vector on."""
    store = PostgresStore(place, clock=SetClock(NOW_ON.now), hnsw_from=1)
    yield store
    store.close()


@ON_POSTGRES
def test_A8_the_index_is_hnsw_by_cosine(indexing: PostgresStore, superuser: Engine) -> None:
    with superuser.connect() as connection:
        definitions = connection.execute(
            text("SELECT indexdef FROM pg_indexes WHERE tablename = 'embeddings'")
        ).scalars()
        (hnsw,) = [one for one in definitions if "USING hnsw" in one]
    assert "vector_cosine_ops" in hnsw
    assert INDEXED_MODEL in hnsw


@ON_POSTGRES
def test_A8_the_index_finds_99_of_100_of_the_exact_answer_among_other_peoples_vectors(
    indexing: PostgresStore, tenant: str
) -> None:
    owner = Owner(tenant, "ada")
    vectors = unit_vectors(700, seed=3)
    ids = fill(indexing, owner, vectors, INDEXED_MODEL)
    fill(indexing, Owner(tenant, "bob"), unit_vectors(500, seed=10), INDEXED_MODEL)

    with indexing.reading(owner) as reader:
        walk_the_index(reader)
        assert recall_at_50(reader, vectors, ids, INDEXED_MODEL, queries=15) >= 0.99
        query = Embedding(INDEXED_MODEL, vectors[0])
        plans = plans_of(reader, lambda: reader.semantic(query, NOW_ON, 50))
    assert "ix_embeddings_minilm" in str(plans)


@ON_POSTGRES
def test_A8_what_few_pass_is_found_through_the_index_too(
    indexing: PostgresStore, tenant: str
) -> None:
    owner = Owner(tenant, "ada")
    vectors = unit_vectors(400, seed=4)
    fill(indexing, owner, vectors, INDEXED_MODEL)
    rare = fill(indexing, owner, unit_vectors(6, seed=5), INDEXED_MODEL, subject="rare")
    wanted = Filter(now=NOW_ON.now, subject="rare")

    with indexing.reading(owner) as reader:
        walk_the_index(reader)
        hits = reader.semantic(Embedding(INDEXED_MODEL, vectors[0]), wanted, 10)

    assert {hit.id for hit in hits} == set(rare)


@ON_POSTGRES
@pytest.mark.parametrize("search", ["semantic", "keyword"])
def test_A8_the_work_of_a_search_does_not_grow_with_the_square_of_what_is_stored(
    search: str, indexing: PostgresStore, superuser: Engine, tenant: str
) -> None:
    """For a person whom the database's statistics do not know yet, as everyone is for a while."""
    count = 400
    vectors = unit_vectors(count, seed=6)
    fill(indexing, Owner(tenant, "ada"), vectors, PLAIN)
    with superuser.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE"))
    bob = Owner(tenant, "bob")
    fill(indexing, bob, vectors, PLAIN)

    with indexing.reading(bob) as reader:
        asked: dict[str, Callable[[], object]] = {
            "semantic": lambda: reader.semantic(Embedding(PLAIN, vectors[0]), NOW_ON, 50),
            "keyword": lambda: reader.keyword(["number"], NOW_ON, 50),
        }
        visited = sum(_visited(plan) for plan in plans_of(reader, asked[search]))

    assert visited < 50 * count


def recall_at_50(
    reader: Reader, vectors: np.ndarray, ids: list[str], model: str, queries: int
) -> float:
    """What share of the true 50 nearest is found, over some queries."""
    shares = []
    for query in unit_vectors(queries, seed=99):
        exact = {ids[place] for place in np.argsort(-(vectors @ query))[:50]}
        hits = reader.semantic(Embedding(model, query), NOW_ON, 50)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        shares.append(len({hit.id for hit in hits} & exact) / 50)
    return float(np.mean(shares))


def walk_the_index(reader: Any) -> None:
    """Have the planner take the index at a size at which it would rather read and sort."""
    reader._connection.exec_driver_sql("SET LOCAL enable_sort = off")


def plans_of(reader: Any, search: Callable[[], object]) -> list[dict[str, Any]]:
    """How the database carries out a search, step by step, with the settings it has just then."""
    connection = reader._connection
    plans: list[dict[str, Any]] = []

    def explain(_: Any, __: Any, statement: str, parameters: Any, *___: Any) -> None:
        if statement.startswith("SELECT facts"):
            cursor = connection.connection.cursor()
            cursor.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + statement, parameters)
            ((plan,),) = cursor.fetchone()
            plans.append(plan["Plan"])

    sqlalchemy_event.listen(connection, "before_cursor_execute", explain)
    search()
    sqlalchemy_event.remove(connection, "before_cursor_execute", explain)
    assert plans
    return plans


def _visited(node: dict[str, Any]) -> int:
    rows = sum(
        node.get(name, 0)
        for name in ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Join Filter")
    )
    own = int(rows * node["Actual Loops"])
    return own + sum(_visited(inner) for inner in node.get("Plans", ()))
