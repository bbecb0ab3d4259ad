"""M9: storing a fact with an existing subject and predicate supersedes it, in one transaction."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import event as sqlalchemy_event
from sqlalchemy.engine import Engine

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.errors import Conflict
from remembrancer.memory import Memory
from remembrancer.types import Action, AsOf, Fact, Record, Relation, Source, Status

pytestmark = pytest.mark.feature("M9")

DIET = {"subject": "user", "predicate": "diet"}


@pytest.fixture
def me(open_fake: Callable[..., Remembrancer]) -> Memory:
    return open_fake("agents").for_user("ada")


def active(me: Memory) -> list[str]:
    return sorted(one.content for one in me.list().items)


def test_M9_the_old_fact_is_superseded_and_both_directions_can_be_asked(me: Memory) -> None:
    old = me.remember("Vegetarian", **DIET)
    new = me.remember("Eats fish again", **DIET)

    assert active(me) == ["Eats fish again"]
    assert new.replaced is not None
    assert (new.replaced.id, new.replaced.status) == (old.memory.id, Status.SUPERSEDED)
    assert me.get(new.memory.id).supersedes == old.memory.id
    for one in (old, new):
        history = me.history(one.memory.id)
        assert [version.content for version in history.versions] == [
            "Vegetarian",
            "Eats fish again",
        ]
        assert [(link.source, link.target, link.relation) for link in history.links] == [
            (new.memory.id, old.memory.id, Relation.SUPERSEDES)
        ]


def test_M9_one_event_tells_of_both_and_undoing_it_brings_the_old_one_back(me: Memory) -> None:
    old = me.remember("Vegetarian", **DIET)
    new = me.remember("Eats fish again", **DIET)
    assert new.event is not None
    assert new.event.action is Action.REPLACED
    touched = {change.memory_id for change in new.event.changes}
    assert touched == {old.memory.id, new.memory.id}

    me.undo(new.event.id)

    assert active(me) == ["Vegetarian"]
    assert me.get(new.memory.id).status is Status.RETRACTED
    assert me.history(old.memory.id).links == ()


@pytest.mark.parametrize(
    "details",
    [
        {"subject": "user", "predicate": "sport"},
        {"subject": "dog", "predicate": "diet"},
        {**DIET, "scope": "health"},
    ],
    ids=["predicate", "subject", "scope"],
)
def test_M9_another_subject_predicate_or_scope_is_another_fact(
    details: dict[str, str], me: Memory
) -> None:
    me.remember("Vegetarian", **DIET)
    me.remember("Something else", **details)

    assert active(me) == ["Something else", "Vegetarian"]


def contradictions(me: Memory, one: Record) -> set[tuple[str, str]]:
    links = [link for link in me.links(one.id) if link.relation is Relation.CONTRADICTS]
    return {(me.get(link.source).content, me.get(link.target).content) for link in links}


def test_M9_another_value_in_another_scope_is_flagged_until_they_agree(me: Memory) -> None:
    john = me.remember("John", subject="user", predicate="name").memory
    johnny = me.remember("Johnny", subject="User", predicate="Name.", scope="health")
    assert [one.id for one in johnny.conflicts] == [john.id]
    assert contradictions(me, john) == {("Johnny", "John")}

    jon = me.remember("Jon", subject="USER", predicate="name")
    assert jon.replaced is not None
    assert (jon.replaced.id, active(me)) == (john.id, ["Johnny", "Jon"])
    assert [one.content for one in jon.conflicts] == ["Johnny"]
    assert contradictions(me, jon.memory) == {("Johnny", "Jon")}

    assert jon.event is not None
    me.undo(jon.event.id)
    assert contradictions(me, john) == {("Johnny", "John")}
    agreed = me.update(john.id, "Is called Johnny")
    assert (agreed.conflicts, contradictions(me, agreed.memory)) == ((), set())
    assert agreed.event is not None
    me.undo(agreed.event.id)
    assert johnny.event is not None
    me.undo(johnny.event.id)
    assert contradictions(me, john) == set()


def test_M9_a_conflict_is_flagged_among_what_the_caller_can_see(me: Memory) -> None:
    health, finance = me.acting_as("health"), me.acting_as("finance")
    private = health.remember("Vegan", scope="health", **DIET)

    written = finance.remember("Vegetarian", **DIET)

    assert written.conflicts == ()
    assert contradictions(me, written.memory) == set()
    assert health.remember("Vegan, no honey", scope="health", **DIET).conflicts == (written.memory,)
    assert private.conflicts == ()


@pytest.mark.parametrize(
    ("predicate", "other"),
    [("language", "Speaks German"), (".a1", "Something else"), ("diet", "vegetarian!")],
    ids=["several values", "a program's key", "the same value"],
)
def test_M9_what_can_stand_beside_it_is_no_conflict(predicate: str, other: str, me: Memory) -> None:
    me.remember("Vegetarian", subject="user", predicate=predicate)

    assert me.remember(other, subject="user", predicate=predicate, scope="cook").conflicts == ()


@pytest.mark.parametrize(
    ("subject", "predicate"),
    [("User", "diet"), ("user", "Diet"), ("me", "DIET"), ("the user", "dietary preference")],
)
def test_M9_a_key_is_the_same_in_any_spelling_and_by_its_synonyms(
    subject: str, predicate: str, me: Memory
) -> None:
    old = me.remember("Vegetarian", **DIET)
    new = me.remember("Eats fish again", subject=subject, predicate=predicate)

    assert active(me) == ["Eats fish again"]
    assert new.replaced is not None
    assert new.replaced.id == old.memory.id


def test_M9_the_employer_is_one_slot_by_whatever_name(me: Memory) -> None:
    me.remember("Works at Acme", subject="user", predicate="employer")
    me.remember("Works at Globex", subject="user", predicate="works_at")
    me.remember("Works at Initech", subject="Ida", predicate="works_at")

    assert active(me) == ["Works at Globex", "Works at Initech"]


SPELLED_OTHERWISE = {"subject": "User", "predicate": "dietary preference"}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("C", "C++"),
        ("C++", "C#"),
        ("A", "A+"),
        ("A", "A-"),
        ("5", "-5"),
        ("🐶", "🐱"),
        ("team 🐶", "team 🐱"),
        ("+", "/"),
        ("$", "€"),
        ("かき", "がき"),
        ("की", "का"),
        ("user", "Speaker"),
        ("user", "Self"),
        ("user", "owner"),
    ],
)
@pytest.mark.parametrize("predicate", ["price", "plan"])
def test_M9_subjects_that_differ_in_a_telling_sign_are_two(
    first: str, second: str, predicate: str, me: Memory
) -> None:
    me.remember("Cheap", subject=first, predicate=predicate)

    assert me.remember("Dear", subject=second, predicate=predicate).replaced is None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Allergy ", "allergy"),
        ("favourite-tea", "Favourite Tea"),
        ("user’s", "user's"),
        ("c++", "C++"),
        ("−5", "-5"),
        ("Café", "cafe."),
        ("❤️", "❤"),
    ],
)
def test_M9_case_accents_and_punctuation_make_no_other_key(
    first: str, second: str, me: Memory
) -> None:
    me.remember("Cheap", subject="shop", predicate=first)
    me.remember("Cheap", subject=first, predicate="price")

    assert me.remember("Dear", subject="shop", predicate=second).replaced is not None
    assert me.remember("Dear", subject=second, predicate="price").replaced is not None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("full_name", "first_name"),
        ("birthplace", "hometown"),
        ("employer", "work_location"),
        ("monthly_salary", "annual_salary"),
        ("hourly_rate", "day_rate"),
        ("phone", "mobile"),
    ],
)
def test_M9_attributes_that_are_only_related_stand_beside_each_other(
    first: str, second: str, me: Memory
) -> None:
    me.remember("One thing", subject="user", predicate=first)

    assert me.remember("Another one", subject="user", predicate=second).replaced is None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("dietary_restriction", "dietaryRestriction"),
        ("dietary_restriction", "DietaryRestriction"),
        ("current_interest", "currentInterest"),
        ("user_id", "userID"),
        ("github", "GitHub"),
    ],
)
def test_M9_a_key_in_camel_case_is_the_same_key(first: str, second: str, me: Memory) -> None:
    old = me.remember("The first value", subject="user", predicate=first).memory

    replaced = me.remember("Something else", subject="user", predicate=second).replaced

    assert replaced is not None
    assert replaced.id == old.id


@pytest.mark.parametrize(
    ("subject", "predicate"), [("User", "Diet"), ("me", "diet"), ("user", "eating habits")]
)
def test_M9_the_same_words_under_another_spelling_of_the_key_are_a_duplicate(
    subject: str, predicate: str, me: Memory
) -> None:
    old = me.remember("Vegetarian", **DIET).memory

    again = me.remember("Vegetarian", subject=subject, predicate=predicate)

    assert (again.memory.id, again.replaced) == (old.id, None)
    assert [one.id for one in me.history(old.id).versions] == [old.id]


SEVERAL = {"subject": "user", "predicate": "dietary_restriction"}


@pytest.mark.parametrize("subject", ["user", "User"])
@pytest.mark.parametrize(
    "predicate", ["dietary_restriction", "Dietary restriction", "díetary-restriction"]
)
def test_M9_a_key_of_an_attribute_with_several_values_is_the_same_in_any_spelling(
    subject: str, predicate: str, me: Memory
) -> None:
    old = me.remember("No nuts", **SEVERAL).memory

    new = me.remember("Nuts are fine again", subject=subject, predicate=predicate)

    assert active(me) == ["Nuts are fine again"]
    assert new.replaced is not None
    assert new.replaced.id == old.id
    with pytest.raises(Conflict):
        me.restore(old.id)
    assert me.fact(**SEVERAL) == new.memory


def test_M9_synonyms_and_counts_of_an_attribute_with_several_values_stand_beside_it(
    me: Memory,
) -> None:
    me.remember("Has a son, Tom", subject="user", predicate="son")
    me.remember("Has a daughter, Kim", subject="user", predicate="daughter")
    me.remember("Has children", subject="user", predicate="children")
    me.remember("Has two children", subject="user", predicate="number_of_children")

    assert len(active(me)) == 4


def test_M9_another_spelling_is_not_restored_beside_the_value(me: Memory) -> None:
    old = me.remember("Vegetarian", **DIET).memory
    me.forget(old.id)
    me.remember("Eats fish again", **SPELLED_OTHERWISE)

    with pytest.raises(Conflict, match="Eats fish again"):
        me.restore(old.id)
    assert active(me) == ["Eats fish again"]


def test_M9_an_expired_value_is_not_confirmed_beside_another_spelling(
    open_fake: Callable[..., Remembrancer], me: Memory, clock: ManualClock, tenant: str
) -> None:
    old = me.remember("Vegetarian", **DIET, ttl_days=1).memory
    clock.advance(timedelta(days=2))
    open_fake("agents").run_job("decay_sweep", tenant=tenant)
    me.remember("Eats fish again", **SPELLED_OTHERWISE)

    with pytest.raises(Conflict):
        me.confirm(old.id)
    assert active(me) == ["Eats fish again"]


def test_M9_no_update_or_undo_gives_a_slot_a_second_value(me: Memory) -> None:
    sport = me.remember("Rows", subject="user", predicate="sport").memory
    forgotten = me.forget(me.remember("Vegetarian", **DIET).memory.id)
    me.remember("Eats fish again", **SPELLED_OTHERWISE)

    with pytest.raises(Conflict):
        me.update(sport.id, "Rows a lot", **DIET)
    assert forgotten.event is not None
    with pytest.raises(Conflict):
        me.undo(forgotten.event.id)
    assert active(me) == ["Eats fish again", "Rows"]


def test_M9_a_fact_is_asked_for_in_any_spelling(me: Memory) -> None:
    kept = me.remember("Vegetarian", **DIET).memory

    assert me.fact(**SPELLED_OTHERWISE) == kept


def test_M9_a_restored_value_tells_what_it_contradicts(me: Memory) -> None:
    old = me.remember("Vegetarian", **DIET, scope="health").memory
    me.forget(old.id)
    fish = me.remember("Eats fish again", **SPELLED_OTHERWISE).memory

    written = me.restore(old.id)

    assert [one.id for one in written.conflicts] == [fish.id]
    assert contradictions(me, old) == {(old.content, fish.content)}


def test_M9_near_words_under_another_predicate_stay_two_facts(
    open_fake: Callable[..., Remembrancer], fake_embedder: object
) -> None:
    me = open_fake("agents").for_user("ada")
    fake_embedder.set_cosine("user home: Lives in Bern", 1.0)  # type: ignore[attr-defined]
    fake_embedder.set_cosine("user work: Works in Bern", 0.99)  # type: ignore[attr-defined]
    me.remember("Lives in Bern", subject="user", predicate="home")
    me.remember("Works in Bern", subject="user", predicate="work")

    assert active(me) == ["Lives in Bern", "Works in Bern"]


def test_M9_the_same_fact_again_changes_nothing(me: Memory) -> None:
    first = me.remember("Vegetarian", **DIET)
    again = me.remember("  vegetarian ", **DIET)

    assert again.event is None
    assert again.memory.id == first.memory.id


def test_M9_the_same_words_are_one_fact_with_or_without_a_key_or_category(
    open_fake: Callable[..., Remembrancer],
) -> None:
    me = open_fake("advisor").for_user("ada")
    bare = me.remember("Is vegan", category="fact").memory
    assert me.remember("Is vegan", category="profile").event is None

    said = me.remember("Is vegan", **DIET)
    assert said.replaced is not None
    assert said.replaced.id == bare.id
    for details in (DIET, {"category": "profile"}, DIET | {"category": "profile"}, {}):
        again = me.remember("Is vegan", **details)
        assert (again.memory.id, again.event) == (said.memory.id, None)

    item = me.remember("Is vegan", subject="user", predicate=".food")
    assert item.memory.id != said.memory.id


def test_M9_old_words_without_a_key_do_not_keep_a_value_from_coming_back(me: Memory) -> None:
    me.remember("Eats fish")
    me.remember("Eats no animals", **DIET)

    back = me.remember("Eats fish", **DIET)

    assert back.replaced is not None
    assert back.replaced.content == "Eats no animals"


def test_M9_a_chain_of_three_can_be_walked_from_any_of_them(me: Memory) -> None:
    ids = [me.remember(words, **DIET).memory.id for words in ("Meat", "Vegetarian", "Vegan")]

    for one in ids:
        assert [version.id for version in me.history(one).versions] == ids
    assert [me.get(one).status for one in ids] == ["superseded", "superseded", "active"]


@pytest.mark.parametrize("source", [Source.CONSOLIDATED, Source.IMPORTED])
def test_M9_an_inferred_fact_does_not_supersede_what_the_person_said(
    me: Memory, source: Source
) -> None:
    me.remember("Vegetarian", **DIET)
    inferred = me.remember("Eats fish", source=source, confidence=0.6, **DIET)

    assert inferred.event is None
    assert active(me) == ["Vegetarian"]


@pytest.mark.parametrize(("keeps", "left"), [(False, "Eats fish"), (True, "Vegetarian")])
def test_M9_what_a_chat_tells_supersedes_what_was_stated_unless_the_profile_keeps_it(
    open_fake: Callable[..., Remembrancer], keeps: bool, left: str
) -> None:
    store = open_fake("agents", profile_overrides={"learning": {"keep_explicit": keeps}})
    me = store.for_user("ada")
    me.remember("Vegetarian", **DIET)
    me.remember("Eats fish", source=Source.EXTRACTED, confidence=0.6, **DIET)

    assert active(me) == [left]


def test_M9_the_old_fact_was_true_until_the_new_ones_time_began(
    me: Memory, clock: ManualClock
) -> None:
    old = me.remember("Vegetarian", **DIET)
    start = clock.now()
    new = me.remember("Vegan", valid_from=start.replace(hour=18), **DIET)

    assert me.get(old.memory.id).valid_until == new.memory.valid_from
    at_noon = me.list(as_of=AsOf(true=start)).items
    assert [one.content for one in at_noon] == ["Vegetarian"]


def test_M9_a_failure_half_way_leaves_the_old_fact_as_it_was(me: Memory) -> None:
    old = me.remember("Vegetarian", **DIET)

    def fail(connection: object, cursor: object, statement: str, *_: object) -> None:
        if statement.startswith("INSERT INTO links"):
            raise RuntimeError("the power went out")

    sqlalchemy_event.listen(Engine, "before_cursor_execute", fail)
    try:
        with pytest.raises(RuntimeError, match="power"):
            me.remember("Vegan", **DIET)
    finally:
        sqlalchemy_event.remove(Engine, "before_cursor_execute", fail)

    assert active(me) == ["Vegetarian"]
    untouched = me.get(old.memory.id)
    assert (untouched.status, untouched.valid_until) == (Status.ACTIVE, None)
    assert me.stats().by_kind == {"fact": {"active": 1}}
    assert me.stats().events == 1


def test_M9_however_many_store_at_once_one_fact_is_active(me: Memory) -> None:
    def store(number: int) -> None:
        me.remember(f"Diet number {number}", **DIET)

    threads = [threading.Thread(target=store, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    (last,) = me.list().items
    assert isinstance(last, Fact)
    assert len(me.history(last.id).versions) == 8


def test_M9_an_update_cannot_take_the_place_of_another_fact(me: Memory) -> None:
    me.remember("Vegetarian", **DIET)
    sport = me.remember("Rows", subject="user", predicate="sport")

    with pytest.raises(Conflict):
        me.update(sport.memory.id, "Rows a lot", **DIET)

    assert active(me) == ["Rows", "Vegetarian"]


def test_M9_the_fact_in_force_is_found_by_its_subject_and_predicate(
    open_fake: Callable[..., Remembrancer], me: Memory, clock: ManualClock
) -> None:
    assert me.fact(**DIET) is None
    me.remember("Vegetarian", **DIET)
    fish = me.remember("Eats fish again", **DIET, ttl_days=1).memory
    me.remember("Meat", **DIET, scope="health")

    assert me.fact(**DIET) == fish
    elsewhere = me.fact(**DIET, scope="health")
    assert elsewhere is not None
    assert elsewhere.content == "Meat"
    me.fact(**DIET, used=True)
    open_fake("agents").flush()
    clock.advance(timedelta(days=1))
    assert me.fact(**DIET) is None, "its day is over, and by this profile use adds none"


def test_M9_what_has_an_address_is_known_by_it_alone(me: Memory) -> None:
    place = {"subject": "note", "predicate": ".a1"}
    me.remember("Ada drinks green tea")
    noted = me.remember("Ada drinks green tea", **place).memory
    me.remember("Ada drinks green tea", subject="note", predicate=".b2")

    assert active(me) == ["Ada drinks green tea"] * 3
    assert noted.search_text == "Ada drinks green tea"
    assert "note" not in me.context("tea").text


def test_M9_a_fact_without_a_subject_is_about_the_user(me: Memory) -> None:
    me.remember("Is allergic to nuts", subject="Ida", predicate="allergy")
    me.remember("Is allergic to nuts")

    assert active(me) == ["Is allergic to nuts", "Is allergic to nuts"]
    me.remember("Is allergic to nuts")
    assert len(active(me)) == 2


def test_M9_a_fact_that_names_its_subject_in_its_words_is_stored_once(me: Memory) -> None:
    me.remember("Ida is allergic to nuts", subject="Ida", predicate="allergy")
    me.remember("Ida is allergic to nuts")

    assert active(me) == ["Ida is allergic to nuts"]


LOOSE = {
    "a street and a town": ("home", "Lives in Oslo", "address", "The address is Storgata 5"),
    "a town and flatmates": ("home", "Lives in Oslo", "lives_with", "Shares a flat with Kim"),
    "a school and one of the children": (
        "university",
        "Studied at ETH",
        "school",
        "The children's school is Riverside",
    ),
    "a job and its hours": ("occupation", "Is a nurse", "work", "Work starts at seven"),
    "an income and a day": ("salary", "Earns 4000 a month", "pay", "Pay day is the 25th"),
    "two allergies in two spellings": ("allergy", "Nuts", "allergies", "Kiwi"),
}


@pytest.mark.parametrize(("key", "old", "other_key", "new"), LOOSE.values(), ids=LOOSE)
def test_M9_a_wider_attribute_is_not_the_same_slot(
    key: str, old: str, other_key: str, new: str, me: Memory
) -> None:
    me.remember(old, subject="user", predicate=key)
    me.remember(new, subject="user", predicate=other_key)

    assert active(me) == sorted([old, new])
