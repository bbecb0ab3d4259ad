"""A8: no cap on the number of memories, and an HNSW cosine index on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import psycopg
import pytest
from sqlalchemy import Engine, event, text

from remembrancer.clock import ManualClock
from remembrancer.config import Settings
from remembrancer.ids import new_id
from remembrancer.store.contract import Embedding, Filter, Insert, Patch, Reader, Store
from remembrancer.store.nearest import find_nearest, score_similarity
from remembrancer.store.open import open_store
from remembrancer.store.pg_vector_index import name_index
from remembrancer.store.postgres import INDEXED_MODEL, PostgresStore
from remembrancer.types import Action, Event, Fact, Owner, Status
from tests.support.keyword_search import by_words

pytestmark = pytest.mark.feature("A8")

ON_POSTGRES = pytest.mark.parametrize("place", ["postgres"], indirect=True)
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
NOW_ON = Filter(now=NOW + timedelta(days=1))
MANY = 3000
PLAIN = "a-model-without-an-index"


def unit_vectors(count: int, seed: int, dimensions: int = 384) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((count, dimensions))
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
    heard = Event(id=new_id("event", NOW), at=NOW, action=Action.REMEMBERED)
    pairs = zip(facts, vectors, strict=True)
    with store.open_writer(owner) as writer:
        writer.apply(heard, [Insert(one, Embedding(model, vector)) for one, vector in pairs])
    return [one.id for one in facts]


def forget(store: Store, owner: Owner, ids: list[str]) -> None:
    """Give memories a past: a table of hardly any rows is read as a whole, and rightly so."""
    forgotten = Event(id=new_id("event", NOW), at=NOW, action=Action.FORGOTTEN)
    with store.open_writer(owner) as writer:
        writer.apply(forgotten, [Patch(one, {"status": Status.FORGOTTEN}) for one in ids])


@pytest.fixture
def store(place: str, tenant: str) -> Iterator[Store]:
    where = {"url" if place.startswith("postgresql") else "path": place}
    settings = Settings.model_validate({"tenant": tenant, "store": where})
    store = open_store(settings, ManualClock(NOW_ON.now))
    yield store
    store.close()


def test_A8_thousands_are_all_kept_listed_counted_and_found_exactly(
    store: Store, tenant: str
) -> None:
    owner = Owner(tenant, "ada")
    vectors = unit_vectors(MANY, seed=1)
    ids = fill(store, owner, vectors, PLAIN)

    with store.open_reader(owner) as reader:
        assert {one.id for one in reader.find(NOW_ON, 2 * MANY)} == set(ids)
        assert sum(one.count for one in reader.tally(NOW)) == MANY
        for number in (0, MANY // 2, MANY - 1):
            first = find_nearest(reader, Embedding(PLAIN, vectors[number]), NOW_ON, 5)[0]
            assert (first.id, first.score) == (ids[number], 1.0)
            (word,) = by_words(reader, [str(number)], NOW_ON, 5)
            assert word.id == ids[number]
        assert recall_at_50(reader, vectors, ids, PLAIN, queries=3) == 1.0


@pytest.mark.parametrize("known_at", [None, NOW_ON.now], ids=["now", "then"])
def test_A8_reading_what_was_found_visits_only_that_however_much_is_stored(
    known_at: datetime | None, store: Store, superuser: Engine | None, tenant: str
) -> None:
    """Whoever asks, and however much others have stored."""
    others, asked = [Owner(tenant, f"person {number}") for number in range(50)], 8
    for other in others:
        forget(store, other, fill(store, other, unit_vectors(40, seed=6), PLAIN))
    bob = Owner(tenant, "bob")
    ids = fill(store, bob, unit_vectors(1000, seed=7), PLAIN)[:asked]
    if superuser is not None:
        with superuser.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("ANALYZE"))
    wanted = replace(NOW_ON, known_at=known_at)

    with store.open_reader(bob) as reader:
        plans = plans_of(reader, "WITH named", lambda: reader.matching(ids, wanted))

    if superuser is None:
        read = [step["detail"] for step in plans if " facts" in step["detail"]]
        assert read == ["SEARCH facts USING INDEX sqlite_autoindex_facts_1 (owner_id=? AND id=?)"]
    else:
        assert sum(_visited(plan) for plan in plans) < 10 * asked, plans
        assert "pk_facts" in str(plans), (
            "read by another index, all of which has to be gone through"
        )


def test_A8_the_fact_of_a_subject_and_predicate_is_looked_up_however_much_is_stored(
    store: Store, tenant: str
) -> None:
    owner = Owner(tenant, "ada")
    ids = fill(store, owner, unit_vectors(1000, seed=8), PLAIN, subject="ada")

    with store.open_reader(owner) as reader:
        held = reader.active_fact("global", "ada", "700")
        plans = explained(reader, lambda: reader.active_fact("global", "ada", "no such"))

    assert held is not None
    assert held.id == ids[700]
    assert "uq_facts_active_key" in plans[0]


def explained(reader: Any, search: Callable[[], object]) -> list[str]:
    """How the database carries out statements, with the values left open as they were."""
    connection, sent = reader._connection, []

    def note(_: object, __: object, statement: str, parameters: Any, *___: object) -> None:
        sent.append((statement, parameters))

    event.listen(connection, "before_cursor_execute", note)
    search()
    event.remove(connection, "before_cursor_execute", note)
    explain = "EXPLAIN QUERY PLAN" if connection.dialect.name == "sqlite" else "EXPLAIN"
    return [
        str(connection.exec_driver_sql(f"{explain} {one}", values).all()) for one, values in sent
    ]


# PostgreSQL's index, for those who have more vectors than are kept in memory.


@pytest.fixture
def crowded(place: str) -> Iterator[Callable[[int], PostgresStore]]:
    """A store that keeps only so many of one person's vectors in memory."""
    opened: list[PostgresStore] = []

    def start(most_vectors: int) -> PostgresStore:
        clock = ManualClock(NOW_ON.now)
        opened.append(PostgresStore(place, clock=clock, max_vectors=most_vectors))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


Crowded = Callable[[int], PostgresStore]


@ON_POSTGRES
def test_A8_the_index_is_hnsw_by_cosine_of_what_is_not_in_memory(
    crowded: Crowded, superuser: Engine
) -> None:
    crowded(1)
    with superuser.connect() as connection:
        definitions = connection.execute(
            text("SELECT indexdef FROM pg_indexes WHERE tablename = 'embeddings'")
        ).scalars()
        (hnsw,) = [one for one in definitions if "ix_embeddings_minilm" in one]
    assert "USING hnsw" in hnsw
    assert "vector_cosine_ops" in hnsw
    assert INDEXED_MODEL in hnsw
    assert "crowded" in hnsw


@ON_POSTGRES
def test_A8_memory_holds_as_many_vectors_as_it_may_and_the_database_the_rest(
    crowded: Crowded, tenant: str
) -> None:
    owner = Owner(tenant, "ada")
    store = crowded(30)
    vectors = unit_vectors(50, seed=2)
    ids = [*fill(store, owner, vectors[:20], PLAIN), *fill(store, owner, vectors[20:], PLAIN)]

    with store.open_reader(owner) as reader:
        index = reader.load_index(PLAIN)
        query = Embedding(PLAIN, vectors[0])
        assert (len(index), index.vectors.size, index.overflows) == (50, 30, True)
        assert {hit.id for hit in reader.nearest_outside_index(query)} == set(ids[30:])
        assert {hit.id for hit in by_words(reader, ["29"], NOW_ON, 5)} == {ids[-1]}


@ON_POSTGRES
def test_A8_the_index_finds_99_of_100_of_the_exact_answer_among_other_peoples_vectors(
    crowded: Crowded, tenant: str
) -> None:
    owner = Owner(tenant, "ada")
    store = crowded(1)
    vectors = unit_vectors(700, seed=3)
    ids = fill(store, owner, vectors, INDEXED_MODEL)
    fill(store, Owner(tenant, "bob"), unit_vectors(500, seed=10), INDEXED_MODEL)

    with store.open_reader(owner) as reader:
        walk_the_index(reader)
        shares = []
        for query in unit_vectors(15, seed=99):
            exact = [ids[place] for place in np.argsort(-(vectors[1:] @ query))[:50] + 1]
            hits = reader.nearest_outside_index(Embedding(INDEXED_MODEL, query))
            assert [hit.score for hit in hits] == sorted((h.score for h in hits), reverse=True)
            shares.append(len({hit.id for hit in hits[:50]} & set(exact)) / 50)
        assert np.mean(shares) >= 0.99
        query = Embedding(INDEXED_MODEL, vectors[0])
        plans = plans_of(
            reader, "SELECT embeddings.memory_id", lambda: reader.nearest_outside_index(query)
        )
    assert "ix_embeddings_minilm" in str(plans)


@ON_POSTGRES
@pytest.mark.parametrize("dimensions", [96, 1536, 3072])
def test_A8_the_first_search_beyond_memory_has_an_index_built_for_its_dimension(
    crowded: Crowded, tenant: str, dimensions: int
) -> None:
    owner, model = Owner(tenant, "ada"), f"a-model-of-{dimensions}"
    store = crowded(1)
    vectors = unit_vectors(120, 11, dimensions)
    ids = fill(store, owner, vectors, model)
    query = Embedding(model, unit_vectors(1, 12, dimensions)[0])
    with store.open_reader(owner) as reader:
        before = reader.nearest_outside_index(query)
    store.vector_indexes.wait()

    with store.open_reader(owner) as reader:
        walk_the_index(reader)
        hits = reader.nearest_outside_index(query)
        plans = plans_of(
            reader, "SELECT embeddings.memory_id", lambda: reader.nearest_outside_index(query)
        )

    assert name_index(dimensions) in str(plans)
    exact = [ids[place] for place in np.argsort(-(vectors[1:] @ query.vector)) + 1]
    assert [hit.id for hit in before] == exact
    assert len({hit.id for hit in hits[:50]} & set(exact[:50])) >= 49


@ON_POSTGRES
@pytest.mark.parametrize("model", [INDEXED_MODEL, PLAIN])
def test_A8_the_nearest_are_found_in_memory_and_beyond_it_alike(
    model: str, crowded: Crowded, tenant: str
) -> None:
    owner = Owner(tenant, "ada")
    store = crowded(300)
    vectors = unit_vectors(600, seed=5)
    ids = fill(store, owner, vectors, model)

    with store.open_reader(owner) as reader:
        walk_the_index(reader)
        assert recall_at_50(reader, vectors, ids, model, queries=10) >= 0.99
        for number in (0, 299, 300, 599):
            first = find_nearest(reader, Embedding(model, vectors[number]), NOW_ON, 1)[0]
            assert (first.id, first.score) == (ids[number], 1.0)


@ON_POSTGRES
def test_A8_what_few_pass_is_found_through_the_index_too(crowded: Crowded, tenant: str) -> None:
    owner = Owner(tenant, "ada")
    store = crowded(1)
    vectors = unit_vectors(400, seed=4)
    fill(store, owner, vectors, INDEXED_MODEL)
    rare = fill(store, owner, unit_vectors(6, seed=5), INDEXED_MODEL, subject="rare")
    wanted = Filter(now=NOW_ON.now, subject="rare")

    with store.open_reader(owner) as reader:
        walk_the_index(reader)
        hits = find_nearest(reader, Embedding(INDEXED_MODEL, vectors[0]), wanted, 10)

    assert {hit.id for hit in hits} == set(rare)


@ON_POSTGRES
def test_A8_a_writer_who_changed_something_still_finds_what_is_beyond_memory(
    crowded: Crowded, tenant: str
) -> None:
    owner = Owner(tenant, "ada")
    store = crowded(1)
    vectors = unit_vectors(3, seed=7)
    ids = fill(store, owner, vectors, PLAIN)
    event = Event(id=new_id("event", NOW), at=NOW, action=Action.CONFIRMED)

    with store.open_writer(owner) as writer:
        writer.apply(event, [Patch(ids[0], {"confidence": 0.5})])
        hits = find_nearest(writer, Embedding(PLAIN, vectors[2]), NOW_ON, 5)

    assert {hit.id for hit in hits} == set(ids)


@ON_POSTGRES
def test_A8_what_is_stored_while_someone_searches_does_not_disturb_them(
    crowded: Crowded, tenant: str
) -> None:
    owner = Owner(tenant, "ada")
    store = crowded(1)
    vectors = unit_vectors(3, seed=8)
    ids = fill(store, owner, vectors[:2], PLAIN)
    query = Embedding(PLAIN, vectors[2])

    with store.open_reader(owner) as reader:
        index = reader.load_index(PLAIN)
        ids += fill(store, owner, vectors[2:], PLAIN)
        assert {hit.id for hit in reader.nearest_outside_index(query)} == set(ids[1:])
        assert len(score_similarity(reader, index, query)) == 2
    with store.open_reader(owner) as reader:
        assert find_nearest(reader, query, NOW_ON, 5)[0].id == ids[2]


def recall_at_50(
    reader: Reader, vectors: np.ndarray, ids: list[str], model: str, queries: int
) -> float:
    """What share of the true 50 nearest is found, over some queries."""
    shares = []
    for query in unit_vectors(queries, seed=99):
        exact = {ids[place] for place in np.argsort(-(vectors @ query))[:50]}
        hits = find_nearest(reader, Embedding(model, query), NOW_ON, 50)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        shares.append(len({hit.id for hit in hits} & exact) / 50)
    return float(np.mean(shares))


def walk_the_index(reader: Any) -> None:
    """Have the planner take the index at a size at which it would rather read and sort."""
    reader._connection.exec_driver_sql("SET LOCAL enable_sort = off")


def plans_of(reader: Any, beginning: str, search: Callable[[], object]) -> list[dict[str, Any]]:
    """How the database carries out such statements, with the settings it has just then."""
    raw = reader._connection.connection.driver_connection
    plans: list[dict[str, Any]] = []

    class Explaining(psycopg.Cursor[Any]):
        def execute(self, query: Any, params: Any = None, **more: Any) -> Any:
            if query.startswith(beginning):
                ((plan,),) = super().execute("EXPLAIN (ANALYZE, FORMAT JSON) " + query, params)
                plans.append(plan[0]["Plan"])
            return super().execute(query, params, **more)

    if reader._connection.dialect.name == "sqlite":
        seen: list[str] = []
        raw.set_trace_callback(seen.append)
        search()
        raw.set_trace_callback(None)
        for statement in (one for one in seen if one.startswith(beginning)):
            rows = raw.execute("EXPLAIN QUERY PLAN " + statement)
            plans.extend({"detail": detail} for *_, detail in rows)
    else:
        raw.cursor_factory = Explaining
        search()
        raw.cursor_factory = psycopg.Cursor
    assert plans
    return plans


def _visited(node: dict[str, Any]) -> int:
    rows = sum(
        node.get(name, 0)
        for name in ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Join Filter")
    )
    own = int(rows * node["Actual Loops"])
    return own + sum(_visited(inner) for inner in node.get("Plans", ()))
