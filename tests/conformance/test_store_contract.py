"""What every store promises, in the words of the contract; each test runs on both engines."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from sqlalchemy import event as sqlalchemy_event

from remembrancer.clock import ManualClock
from remembrancer.errors import Conflict, NotFound
from remembrancer.ids import new_id
from remembrancer.search.terms import extract_query_terms, extract_terms
from remembrancer.store.contract import (
    AddLink,
    DropLink,
    Embedding,
    Filter,
    Insert,
    Patch,
    Position,
    Purge,
    Store,
    Visibility,
    Write,
)
from remembrancer.store.nearest import find_nearest
from remembrancer.types import (
    Action,
    Episode,
    Event,
    Evidence,
    Fact,
    Key,
    Kind,
    Link,
    Owner,
    Relation,
    Rule,
    Session,
    Status,
    Turn,
)
from tests.support.keyword_search import by_words

MODEL = "test/3"
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
Make = Callable[..., Fact]


@pytest.fixture
def raw(place: str, clock: ManualClock) -> Iterator[Store]:
    """The bare store, below the engine."""
    from remembrancer.config import Settings
    from remembrancer.store.open import open_store

    where = {"url" if place.startswith("postgresql") else "path": place, "pool_size": 4}
    store = open_store(Settings.model_validate({"store": where}), clock)
    yield store
    store.close()


@pytest.fixture
def ada(tenant: str) -> Owner:
    return Owner(tenant, "ada")


def fact(content: str, **values: object) -> Fact:
    usual = {
        "id": new_id("fact", NOW),
        "content": content,
        "importance": 5.0,
        "category": "fact",
        "valid_from": NOW,
        "recorded_at": NOW,
        "confirmed_at": NOW,
    }
    return Fact(**{**usual, **values})  # type: ignore[arg-type]


def at(*numbers: float, model: str = MODEL) -> Embedding:
    vector = np.array(numbers, dtype=np.float32)
    return Embedding(model, vector / np.linalg.norm(vector))


def do(store: Store, owner: Owner, *writes: Write, at: datetime = NOW) -> Event:
    event = Event(id=new_id("event", at), at=at, action=Action.REMEMBERED)
    with store.open_writer(owner) as writer:
        return writer.apply(event, writes)


def everything(**values: object) -> Filter:
    return Filter(now=NOW + timedelta(days=1), **values)  # type: ignore[arg-type]


def turn(content: str, session: str, position: int, **values: object) -> Turn:
    usual = {
        "id": new_id("turn", NOW),
        "content": content,
        "importance": 5.0,
        "session_id": session,
        "position": position,
        "role": "user",
        "valid_from": NOW,
        "recorded_at": NOW,
        "confirmed_at": NOW,
    }
    return Turn(**{**usual, **values})  # type: ignore[arg-type]


def conversation(name: str, **values: object) -> Session:
    return Session(**{"id": name, "started_at": NOW, "active_at": NOW, **values})  # type: ignore[arg-type]


def test_every_field_comes_back_as_it_was_stored(raw: Store, ada: Owner) -> None:
    full = fact(
        "Ünïcode ✓ \n'quoted' \"twice\" \\ %s :name",
        subject="user",
        predicate="name",
        tags=("a", "b c"),
        metadata={"deep": {"list": [1, 2.5, None, True, "x"]}},
        evidence=(Evidence("session-1", "turn_1", "said so"),),
        summary="short",
        body="long",
        expires_at=NOW + timedelta(days=3, microseconds=1),
        valid_until=NOW + timedelta(days=9),
        tainted=True,
    )
    rule = Rule(
        id=new_id("rule", NOW),
        content="Ask before sending",
        importance=1,
        valid_from=NOW,
        recorded_at=NOW,
        confirmed_at=NOW,
        success_count=3,
    )
    episode = Episode(
        id=new_id("episode", NOW),
        content="Weighed in",
        importance=1,
        valid_from=NOW,
        recorded_at=NOW,
        confirmed_at=NOW,
    )
    do(raw, ada, Insert(full, at(1, 0, 0)), Insert(rule, None), Insert(episode, None))
    with raw.open_reader(ada) as reader:
        assert reader.get(full.id) == full
        assert reader.get(rule.id) == rule
        assert reader.get(episode.id) == episode


def test_a_block_that_fails_leaves_nothing_behind(raw: Store, ada: Owner) -> None:
    lost = fact("never stored")
    with contextlib.suppress(RuntimeError), raw.open_writer(ada) as writer:
        event = Event(id=new_id("event", NOW), at=NOW, action=Action.REMEMBERED)
        writer.apply(event, [Insert(lost, at(1, 0, 0))])
        assert find_nearest(writer, at(1, 0, 0), everything(), 5)[0].id == lost.id
        raise RuntimeError
    with raw.open_reader(ada) as reader:
        assert reader.get(lost.id) is None
        assert reader.list_events() == []
        assert find_nearest(reader, at(1, 0, 0), everything(), 5) == []
        assert by_words(reader, ["never"], everything(), 5) == []


def test_reading_for_someone_who_has_nothing_finds_nothing_and_creates_nothing(
    raw: Store, tenant: str
) -> None:
    stranger = Owner(tenant, "nobody")
    with raw.open_reader(stranger) as reader:
        assert reader.find(everything(), 10) == []
        assert reader.tally(NOW) == []
        assert find_nearest(reader, at(1, 0, 0), everything(), 5) == []
    assert stranger not in raw.system.list_owners()


def test_semantic_search_is_exact_and_ties_go_by_id(raw: Store, ada: Owner) -> None:
    near = fact("near")
    twins = [fact("twin one"), fact("twin two")]
    far = fact("far")
    pairs = [(far, at(0, 0, 1)), (twins[1], at(1, 1, 0)), (near, at(1, 0, 0))]
    pairs.append((twins[0], at(1, 1, 0)))
    do(raw, ada, *(Insert(one, vector) for one, vector in pairs))
    with raw.open_reader(ada) as reader:
        hits = find_nearest(reader, at(1, 0, 0), everything(), 10)
    expected = [near.id, *sorted(one.id for one in twins), far.id]
    assert [hit.id for hit in hits] == expected
    assert [hit.score for hit in hits] == pytest.approx([1, 0.707107, 0.707107, 0], abs=1e-6)


def test_vectors_of_different_models_are_never_compared(raw: Store, ada: Owner) -> None:
    ours, theirs = fact("ours"), fact("theirs")
    do(raw, ada, Insert(ours, at(1, 0, 0)), Insert(theirs, at(1, 0, 0, 0, model="other/4")))
    with raw.open_reader(ada) as reader:
        assert [hit.id for hit in find_nearest(reader, at(1, 0, 0), everything(), 10)] == [ours.id]
        other = find_nearest(reader, at(1, 0, 0, 0, model="other/4"), everything(), 10)
    assert [hit.id for hit in other] == [theirs.id]


def test_a_filter_never_costs_a_result_that_passes_it(raw: Store, ada: Owner) -> None:
    rng = np.random.default_rng(7)
    vectors = rng.normal(size=(300, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    facts = [fact(f"number {n}", tags=("rare",) if n % 50 == 0 else ()) for n in range(300)]
    writes = [Insert(one, Embedding(MODEL, row)) for one, row in zip(facts, vectors, strict=True)]
    do(raw, ada, *writes)
    query = vectors[1]
    rare = [n for n in range(300) if n % 50 == 0]
    best = sorted(rare, key=lambda n: -float(vectors[n] @ query))
    with raw.open_reader(ada) as reader:
        hits = find_nearest(reader, Embedding(MODEL, query), everything(tags=("rare",)), 4)
    assert [hit.id for hit in hits] == [facts[n].id for n in best[:4]]


def test_writes_of_another_opening_are_seen_at_once(
    raw: Store, ada: Owner, place: str, clock: ManualClock
) -> None:
    from remembrancer.config import Settings
    from remembrancer.store.open import open_store

    where = {"url" if place.startswith("postgresql") else "path": place}
    other = open_store(Settings.model_validate({"store": where}), clock)
    first, second = fact("first"), fact("second")
    do(raw, ada, Insert(first, at(1, 0, 0)))
    with raw.open_reader(ada) as reader:
        assert len(find_nearest(reader, at(1, 0, 0), everything(), 5)) == 1
    do(other, ada, Insert(second, at(1, 0, 0)))
    with raw.open_reader(ada) as reader:
        assert len(find_nearest(reader, at(1, 0, 0), everything(), 5)) == 2
    do(other, ada, Purge(first.id))
    with raw.open_reader(ada) as reader:
        assert [hit.id for hit in find_nearest(reader, at(1, 0, 0), everything(), 5)] == [second.id]
    other.close()


def test_similarity_is_exact_and_that_of_the_best_part(raw: Store, ada: Owner, tenant: str) -> None:
    whole, long, wordless = fact("whole"), fact("long"), fact("wordless")
    query = at(0.6, 0.8, 0)
    parts = tuple(
        Embedding(MODEL, at(*numbers).vector, part)
        for part, numbers in enumerate([(0, 0, 1), (0, 1, 0), (1, 0, 0)])
    )
    do(raw, ada, Insert(whole, at(1, 0, 0)), Insert(long, None, parts), Insert(wordless, None))
    with raw.open_reader(ada) as reader:
        hits = reader.compute_similarities(
            query, [whole.id, long.id, wordless.id, "fact_" + "0" * 26]
        )
        assert {hit.id: hit.score for hit in hits} == {whole.id: 0.6, long.id: 0.8}
        assert [hit.id for hit in find_nearest(reader, query, everything(), 5)] == [
            long.id,
            whole.id,
        ]
    with raw.open_reader(Owner(tenant, "bob")) as reader:
        assert reader.compute_similarities(query, [whole.id, long.id]) == []


def test_only_what_passes_comes_back_and_nothing_of_others(
    raw: Store, ada: Owner, tenant: str
) -> None:
    kept, gone, work = fact("kept", tags=("a",)), fact("gone"), fact("work", scope="work")
    rule = Rule(
        id=new_id("rule", NOW),
        content="rule",
        importance=1,
        valid_from=NOW,
        recorded_at=NOW,
        confirmed_at=NOW,
    )
    do(raw, ada, *(Insert(one, None) for one in (kept, gone, work, rule)))
    do(raw, ada, Patch(gone.id, {"status": Status.FORGOTTEN, "retired_at": NOW}))
    ids = [kept.id, gone.id, work.id, rule.id, "fact_" + "0" * 26]
    with raw.open_reader(ada) as reader:
        assert set(reader.matching(ids, everything())) == {kept.id, work.id, rule.id}
        assert reader.matching(ids, everything(tags=("a",))) == {kept.id: kept}
        assert set(reader.matching(ids, everything(kinds=(Kind.RULE,)))) == {rule.id}
        narrow = everything(visible=Visibility(scopes=("work",)))
        assert reader.matching(ids, narrow) == {work.id: work}
        before = everything(known_at=NOW - timedelta(days=1))
        assert reader.matching(ids, before) == {}
        assert reader.matching([], everything()) == {}
    do(raw, Owner(tenant, "bob"), Insert(fact("his"), None))
    with raw.open_reader(Owner(tenant, "bob")) as reader:
        assert reader.matching(ids, everything()) == {}


def test_any_number_of_ids_can_be_asked_about(raw: Store, ada: Owner) -> None:
    facts = [fact(str(n)) for n in range(1203)]
    do(raw, ada, *(Insert(one, at(1, 0, n)) for n, one in enumerate(facts)))
    ids = [one.id for one in facts]
    with raw.open_reader(ada) as reader:
        assert set(reader.matching(ids, everything())) == set(ids)
        assert {hit.id for hit in reader.compute_similarities(at(1, 0, 0), ids)} == set(ids)
        assert reader.load_index(MODEL).ids == ids


def test_an_index_has_what_its_own_transaction_wrote_and_no_other_does(
    raw: Store, ada: Owner
) -> None:
    first, second = fact("first kettle"), fact("second kettle")
    do(raw, ada, Insert(first, at(1, 0, 0)))
    event = Event(id=new_id("event", NOW), at=NOW, action=Action.REMEMBERED)
    with raw.open_writer(ada) as writer:
        assert writer.load_index(MODEL).ids == [first.id]
        writer.apply(event, [Insert(second, at(0, 1, 0))])
        assert writer.load_index(MODEL).ids == [first.id, second.id]
        with raw.open_reader(ada) as reader:
            assert reader.load_index(MODEL).ids == [first.id]
    with raw.open_reader(ada) as reader:
        index = reader.load_index(MODEL)
        assert index.ids == [first.id, second.id]
        assert index.vectors.size == 2
        assert index.row_documents.values.tolist() == [0, 1]


def test_a_view_of_an_index_stays_as_it_was_while_others_write(raw: Store, ada: Owner) -> None:
    first, second = fact("first kettle"), fact("second kettle")
    do(raw, ada, Insert(first, at(1, 0, 0)))
    with raw.open_reader(ada) as reader:
        before = reader.load_index(MODEL)
    do(raw, ada, Insert(second, at(1, 0, 0)))
    with raw.open_reader(ada) as reader:
        after = reader.load_index(MODEL)
    do(raw, ada, Purge(first.id))
    with raw.open_reader(ada) as reader:
        left = reader.load_index(MODEL)
    assert [len(before), len(after), len(left)] == [1, 2, 1]
    assert [before.vectors.size, after.vectors.size, left.vectors.size] == [1, 2, 1]
    assert before.ids[:1] == [first.id]
    assert left.ids == [second.id]


def test_what_is_committed_while_an_index_is_read_is_in_it_once(raw: Store, ada: Owner) -> None:
    first, second = fact("first kettle"), fact("second kettle")
    do(raw, ada, Insert(first, at(1, 0, 0)))
    with (
        raw.open_reader(ada) as reader,
        interrupted(
            reader, "SELECT documents.number", lambda: do(raw, ada, Insert(second, at(1, 0, 0)))
        ),
    ):
        assert first.id in reader.load_index(MODEL).ids
    with raw.open_reader(ada) as reader:
        index = reader.load_index(MODEL)
        assert index.ids == [first.id, second.id]
        assert index.row_documents.values.tolist() == [0, 1]
        assert len(by_words(reader, ["kettl"], everything(), 5)) == 2


@contextlib.contextmanager
def interrupted(reader: Any, beginning: str, by: Callable[[], object]) -> Iterator[None]:
    """Let something happen just before a statement that begins so."""
    left = [by]

    def before(_: Any, __: Any, statement: str, *___: Any) -> None:
        if statement.startswith(beginning) and left:
            left.pop()()

    sqlalchemy_event.listen(reader._connection, "before_cursor_execute", before)
    yield
    assert not left, f"no statement began with {beginning}"


def test_a_conversation_comes_back_turn_by_turn(raw: Store, ada: Owner, tenant: str) -> None:
    chat = conversation("chat", title="Tea", surface="cli", watermark=2, metadata={"a": [1]})
    turns = [
        turn("Hello", "chat", 0, speaker="Ada", valid_from=NOW - timedelta(days=400)),
        turn("Hi", "chat", 1, role="assistant", tainted=True, metadata={"n": 1}),
        turn("Bye", "chat", 2),
    ]
    other = turn("Elsewhere", "other", 0)
    event = Event(id=new_id("event", NOW), at=NOW, action=Action.HEARD)
    with raw.open_writer(ada) as writer:
        assert writer.get_session("chat") is None
        writer.save_session(chat)
        writer.save_session(conversation("other"))
        assert writer.next_position("chat") == 0
        writer.apply(event, [Insert(one, at(1, 0, 0)) for one in (*turns, other)])
        assert writer.next_position("chat") == 3
        writer.save_session(replace(chat, title="Coffee"))
    with raw.open_reader(ada) as reader:
        assert reader.get_session("chat") == replace(chat, title="Coffee")
        assert reader.list_turns("chat") == turns
        assert reader.list_turns("chat", after=0, limit=1) == turns[1:2]
        assert reader.get(turns[0].id) == turns[0]
        assert reader.find(everything(), 5) == []
        assert {one.id for one in reader.find(everything(kinds=(Kind.TURN,)), 5)} == {
            one.id for one in (*turns, other)
        }
        stored = reader.get_event(event.id)
        assert stored is not None
        assert stored.action is Action.HEARD
        index = reader.load_index(MODEL)
        assert index.previous.values.tolist() == [-1, 0, 1, -1]
        assert index.following.values.tolist() == [1, 2, -1, -1]
    with raw.open_reader(Owner(tenant, "bob")) as reader:
        assert reader.get_session("chat") is None
        assert reader.list_turns("chat") == []


def test_keyword_search_ranks_by_bm25_with_the_same_scores_on_both_engines(
    raw: Store, ada: Owner
) -> None:
    texts = [
        "Coffee, coffee and coffee again",
        "A coffee in the morning before the long walk to the station",
        "Tea in the afternoon",
        "The walk was long",
        "Nothing of note happened",
        "The garden needs water",
        "Bought a new lamp",
    ]
    facts = [fact(text) for text in texts]
    do(raw, ada, *(Insert(one, None) for one in facts))
    with raw.open_reader(ada) as reader:
        hits = by_words(reader, extract_query_terms("coffee walks"), everything(), 10)
    expected = bm25(["coffe", "walk"], {one.id: extract_terms(one.content) for one in facts})
    assert {hit.id: hit.score for hit in hits} == pytest.approx(expected, abs=2e-6)
    assert [hit.id for hit in hits] == sorted(expected, key=lambda one: -expected[one])


def bm25(query: list[str], documents: dict[str, list[str]]) -> dict[str, float]:
    """The textbook with k1 = 1.2 and b = 0.75, and some weight even for what all have."""
    mean = sum(map(len, documents.values())) / len(documents)
    scores: dict[str, float] = {}
    for term in query:
        having = sum(term in words for words in documents.values())
        weight = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
        for name, words in documents.items():
            often = words.count(term)
            norm = often + 1.2 * (0.25 + 0.75 * len(words) / mean)
            if often:
                scores[name] = scores.get(name, 0.0) + weight * often * 2.2 / norm
    return scores


@pytest.mark.parametrize(
    "query",
    ['"', "' OR 1=1", "a AND", "NEAR(", "*", "col:x", "(((", "a & b | !c", "\\", "-- x", "'':*"],
)
def test_no_query_breaks_keyword_search(raw: Store, ada: Owner, query: str) -> None:
    do(raw, ada, Insert(fact("a AND col:x OR b"), None))
    with raw.open_reader(ada) as reader:
        by_words(reader, extract_query_terms(query), everything(), 5)


def test_only_one_active_fact_holds_a_key_whatever_the_code_above_does(
    raw: Store, ada: Owner
) -> None:
    do(raw, ada, Insert(fact("John", subject="user", predicate="name"), None))
    with pytest.raises(Conflict):
        do(raw, ada, Insert(fact("Jon", subject="user", predicate="name"), None))
    do(raw, ada, Insert(fact("Jon", subject="user", predicate="name", scope="health"), None))


def test_a_state_that_passes_is_kept_with_the_time_it_lasted(raw: Store, ada: Owner) -> None:
    one = fact("passing")
    later, last = NOW + timedelta(hours=1), NOW + timedelta(hours=2)
    do(raw, ada, Insert(one, None))
    do(raw, ada, Patch(one.id, {"status": Status.FORGOTTEN, "retired_at": later}), at=later)
    do(raw, ada, Patch(one.id, {"status": Status.ACTIVE, "retired_at": None}), at=last)
    with raw.open_reader(ada) as reader:
        states = reader.list_states(one.id)
    assert [(state.status, state.since, state.until) for state in states] == [
        (Status.ACTIVE, NOW, later),
        (Status.FORGOTTEN, later, last),
    ]


def test_an_event_says_what_each_write_did(raw: Store, ada: Owner) -> None:
    one, two = fact("one"), fact("two")
    link = Link(one.id, two.id, Relation.SUPPORTS, NOW)
    event = do(raw, ada, Insert(one, None), Insert(two, None), AddLink(link))
    patched = do(raw, ada, Patch(one.id, {"confidence": 0.5}), DropLink(link))
    with raw.open_reader(ada) as reader:
        stored = reader.get_event(event.id)
        assert stored == event
        assert [change.memory_id for change in event.changes] == [one.id, two.id, one.id]
        assert patched.changes[0].before == {"confidence": 1.0}
        assert patched.changes[0].after == {"confidence": 0.5}
        assert reader.list_links(one.id) == []
        assert {entry.id for entry in reader.list_events(memory_ids=[two.id])} == {event.id}


def test_what_is_purged_is_in_no_table_and_no_index(raw: Store, ada: Owner) -> None:
    old = fact("secret plan", subject="plan", predicate="is")
    do(raw, ada, Insert(old, at(1, 0, 0)))
    new = fact("open plan", subject="plan", predicate="is", supersedes=old.id)
    retire = Patch(old.id, {"status": Status.SUPERSEDED, "retired_at": NOW, "valid_until": NOW})
    link = AddLink(Link(new.id, old.id, Relation.SUPERSEDES, NOW))
    do(raw, ada, retire, Insert(new, at(1, 0, 0)), link)
    do(raw, ada, Purge(old.id))
    with raw.open_reader(ada) as reader:
        assert reader.get(old.id) is None
        assert reader.list_links(new.id) == []
        assert reader.list_states(old.id) == []
        found = reader.get(new.id)
        assert found is not None
        assert found.supersedes is None
        assert [hit.id for hit in find_nearest(reader, at(1, 0, 0), everything(), 5)] == [new.id]
        assert by_words(reader, ["secret"], everything(), 5) == []
    with pytest.raises(NotFound):
        do(raw, ada, Purge(old.id))


def test_pages_cover_everything_once_from_newest_to_oldest(raw: Store, ada: Owner) -> None:
    facts = [fact(str(n), recorded_at=NOW + timedelta(minutes=n // 3)) for n in range(20)]
    rule = Rule(
        id=new_id("rule", NOW),
        content="rule",
        importance=1,
        valid_from=NOW,
        recorded_at=NOW + timedelta(minutes=2),
        confirmed_at=NOW,
    )
    do(raw, ada, *(Insert(one, None) for one in facts), Insert(rule, None))
    seen: list[str] = []
    after: Position | None = None
    with raw.open_reader(ada) as reader:
        while page := reader.find(everything(), 6, after):
            seen += [one.id for one in page]
            after = Position(page[-1].recorded_at, page[-1].id)
    everyone = [*facts, rule]
    assert seen == [
        one.id for one in sorted(everyone, key=lambda one: (one.recorded_at, one.id), reverse=True)
    ]


def test_scopes_limit_what_is_found(raw: Store, ada: Owner) -> None:
    scopes = ("global", "health", "health/diet", "healthy", "work")
    facts = {scope: fact(scope, scope=scope) for scope in scopes}
    do(raw, ada, *(Insert(one, at(1, 0, 0)) for one in facts.values()))

    def seen(visible: Visibility) -> set[str]:
        with raw.open_reader(ada) as reader:
            wanted = everything(visible=visible)
            listed = {one.scope for one in reader.find(wanted, 10)}
            hits = find_nearest(reader, at(1, 0, 0), wanted, 10)
            found = {record.scope for record in reader.load(hit.id for hit in hits).values()}
        assert listed == found
        return listed

    assert seen(Visibility()) == set(scopes)
    assert seen(Visibility(scopes=("global", "health"))) == {"global", "health"}
    assert seen(Visibility(path_prefix="health")) == {"health", "health/diet"}
    assert seen(Visibility(path_prefix="h%")) == set()


def test_recalls_are_counted_without_an_event(raw: Store, ada: Owner) -> None:
    one = fact("counted")
    do(raw, ada, Insert(one, None))
    with raw.open_writer(ada) as writer:
        writer.count_recalls({one.id: 3, "fact_" + "0" * 26: 1}, NOW)
    with raw.open_reader(ada) as reader:
        assert reader.get(one.id) == replace(one, recall_count=3, recalled_at=NOW)
        assert reader.count_events() == 1


def test_removals_count_down_nothing_so_that_numbers_stay_unique(raw: Store, ada: Owner) -> None:
    facts = [fact(str(n)) for n in range(4)]
    do(raw, ada, *(Insert(one, at(1, 0, n)) for n, one in enumerate(facts[:2])))
    do(raw, ada, Purge(facts[1].id))
    do(raw, ada, *(Insert(one, at(1, 0, n)) for n, one in enumerate(facts[2:])))
    with raw.open_reader(ada) as reader:
        assert reader.load_index(MODEL).ids == [facts[0].id, facts[2].id, facts[3].id]
    do(raw, ada, *(Purge(facts[n].id) for n in (0, 2, 3)))
    with raw.open_reader(ada) as reader:
        assert len(reader.load_index(MODEL)) == 0
        assert find_nearest(reader, at(1, 0, 0), everything(), 5) == []


def test_a_subject_and_predicate_are_held_by_the_active_fact_or_the_last_that_expired(
    raw: Store, ada: Owner
) -> None:
    topic = {"subject": "user", "predicate": "city"}
    expired = [
        fact(city, **topic, status=Status.EXPIRED, recorded_at=NOW + timedelta(hours=hour))
        for hour, city in enumerate(("Rome", "Oslo"))
    ]
    forgotten = fact("Paris", **topic, status=Status.FORGOTTEN)
    elsewhere = fact("Lima", **topic, scope="health")
    do(raw, ada, *(Insert(one, None) for one in (*expired, forgotten, elsewhere)))
    with raw.open_reader(ada) as reader:
        assert reader.active_fact("global", "user", "city") == expired[1]
        assert reader.active_fact("health", "user", "city") == elsewhere
        assert reader.active_fact("global", "user", "name") is None

    overdue = fact("Bonn", **topic, expires_at=NOW - timedelta(days=1))
    do(raw, ada, Insert(overdue, None))
    with raw.open_reader(ada) as reader:
        assert reader.active_fact("global", "user", "city") == overdue


def test_what_has_had_its_time_is_counted_as_expired(raw: Store, ada: Owner) -> None:
    do(raw, ada, *(Insert(fact("x", expires_at=one), None) for one in (NOW, None)))
    with raw.open_reader(ada) as reader:
        counts = {one.status: one.count for one in reader.tally(NOW)}
    assert counts == {Status.EXPIRED: 1, Status.ACTIVE: 1}


def test_kinds_are_kept_apart(raw: Store, ada: Owner) -> None:
    do(raw, ada, Insert(fact("a fact"), at(1, 0, 0)))
    with raw.open_reader(ada) as reader:
        assert reader.find(everything(kinds=(Kind.RULE,)), 5) == []
        assert find_nearest(reader, at(1, 0, 0), everything(kinds=(Kind.EPISODE,)), 5) == []
        assert [tally.kind for tally in reader.tally(NOW)] == [Kind.FACT]


def test_an_audit_reads_vectors_links_and_empty_conversations_of_one_owner(
    raw: Store, ada: Owner, tenant: str
) -> None:
    one, other, bare = fact("one"), fact("other"), fact("without a vector")
    opposed = Link(one.id, other.id, Relation.CONTRADICTS, NOW)
    related = Link(one.id, bare.id, Relation.RELATED_TO, NOW)
    inserts = [Insert(one, at(1, 2, 2)), Insert(other, at(1, 0, 0)), Insert(bare, None)]
    do(raw, ada, *inserts, AddLink(opposed), AddLink(related))
    with raw.open_writer(ada) as writer:
        writer.save_session(conversation("full"))
        writer.save_session(conversation("empty"))
    do(raw, ada, Insert(turn("hello", "full", 0), None))

    with raw.open_reader(ada) as reader:
        found = reader.load_vectors(MODEL, [one.id, bare.id])
        assert set(found) == {one.id}
        assert np.array_equal(found[one.id], at(1, 2, 2).vector)
        assert reader.load_vectors("another/3", [one.id]) == {}
        assert reader.list_links_by_relation(Relation.CONTRADICTS) == [opposed]
        assert [session.id for session in reader.list_empty_sessions()] == ["empty"]
    with raw.open_reader(Owner(tenant, "bob")) as reader:
        assert reader.load_vectors(MODEL, [one.id]) == {}
        assert reader.list_links_by_relation(Relation.CONTRADICTS) == []
        assert reader.list_empty_sessions() == []


def test_a_key_is_removed_by_one_caller_only(raw: Store, ada: Owner) -> None:
    key = Key(id=new_id("key", NOW), owner=ada, created_at=NOW)
    raw.system.add_key(key, f"digest of {key.id}")

    with ThreadPoolExecutor(4) as many:
        removed = list(many.map(raw.system.drop_key, [key.id] * 4))

    assert sorted(removed) == [False, False, False, True]
    assert raw.system.get_key(f"digest of {key.id}") is None
    raw.system.add_key(key, f"digest of {key.id}")
