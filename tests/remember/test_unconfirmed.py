"""A memory that was learned in doubt is listed for review and told to nobody until confirmed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.errors import Conflict, NotFound
from remembrancer.memory import Memory
from remembrancer.remember.doubt import DOUBT_SENTENCES, UNKNOWN_DOUBT_SENTENCE, describe_doubt
from remembrancer.types import Action, AsOf, Origin, Relation, Source, Status
from tests.support.proposals import contents
from tests.support.records import make_fact
from tests.support.unconfirmed import learn_in_doubt

HOME = {"subject": "user", "predicate": "home"}


@pytest.fixture
def me(open_fake: Callable[..., Remembrancer]) -> Memory:
    return open_fake().for_user("ada")


def test_it_is_listed_by_its_status_only_and_never_told(me: Memory) -> None:
    me.remember("Drinks tea")
    doubtful = learn_in_doubt(me, "Lives in Lisbon", said="I would move to Lisbon at once!", **HOME)

    assert contents(me) == ["Drinks tea"]
    assert contents(me, status="unconfirmed") == ["Lives in Lisbon"]
    assert doubtful.id not in [one.memory.id for one in me.recall("lives in Lisbon")]
    assert "Lives in Lisbon" not in me.context("Where does she live?").text
    assert "Lives in Lisbon" not in me.context().text
    assert "Lives in Lisbon" not in me.markdown()
    assert me.fact("user", "home") is None
    (listed,) = me.list(status=Status.UNCONFIRMED).items
    assert describe_doubt(listed) == "You may have meant this hypothetically."
    assert [one.quote for one in listed.evidence] == ["I would move to Lisbon at once!"]
    assert listed.id == doubtful.id


def test_it_was_never_told_of_the_past_either(me: Memory, clock: ManualClock) -> None:
    doubtful = learn_in_doubt(me, "Lives in Lisbon", **HOME)
    before = clock.now()
    clock.advance(timedelta(days=1))
    me.update(doubtful.id, "Lives in Porto")

    for as_of in (before, AsOf(true=before), AsOf(known=before)):
        assert "Lives in Lisbon" not in contents(me, as_of=as_of)
    assert contents(me) == ["Lives in Porto"]


def test_it_is_no_neighbour_of_what_is_remembered(me: Memory) -> None:
    doubtful = learn_in_doubt(me, "Lives in Lisbon", **HOME)

    written = me.remember("Lives in Porto", **HOME)

    assert written.event is not None
    assert written.event.action is Action.REMEMBERED
    assert written.replaced is None
    assert me.get(doubtful.id).status is Status.UNCONFIRMED
    assert contents(me) == ["Lives in Porto"]


@pytest.mark.parametrize("certain", ["Lives in Lisbon", "Lives in Lisbon by the river"])
def test_it_is_dropped_once_it_is_known_for_certain(me: Memory, certain: str) -> None:
    doubtful = learn_in_doubt(me, "Lives in Lisbon", **HOME)

    written = me.remember(certain, **HOME)

    assert written.event is not None
    assert me.get(doubtful.id).status is Status.FORGOTTEN
    assert contents(me) == [certain]
    assert contents(me, status="unconfirmed") == []

    me.undo(written.event.id)

    assert contents(me) == []
    assert contents(me, status="unconfirmed") == ["Lives in Lisbon"]


def test_it_stays_in_doubt_if_something_else_is_known(me: Memory) -> None:
    learn_in_doubt(me, "Lives in Lisbon", **HOME)
    learn_in_doubt(me, "Ida lives in Lisbon", subject="Ida", predicate="home")

    me.remember("Does not live in Lisbon", **HOME)

    assert contents(me, status="unconfirmed") == ["Ida lives in Lisbon", "Lives in Lisbon"]


def test_it_is_not_consolidated_or_merged(me: Memory) -> None:
    me.remember("Lives in Lisbon")
    learn_in_doubt(me, "Lives in Lisbon")

    assert me.plan_consolidation() == []
    assert me.audit(["duplicate"]).findings == ()


def test_confirming_makes_it_a_fact_with_new_confidence(me: Memory, clock: ManualClock) -> None:
    doubtful = learn_in_doubt(me, "Lives in Lisbon", **HOME)
    clock.advance(timedelta(days=90))

    confirmed = me.confirm(doubtful.id).memory

    assert (confirmed.status, confirmed.confidence) == (Status.ACTIVE, 1.0)
    assert me.confidence(confirmed) == 1.0
    assert describe_doubt(confirmed) == ""
    assert contents(me) == ["Lives in Lisbon"]
    assert [one.memory.id for one in me.recall("lives in Lisbon")] == [doubtful.id]
    assert contents(me, status="unconfirmed") == []


def test_undoing_a_confirmation_puts_it_back_in_doubt(me: Memory) -> None:
    doubtful = learn_in_doubt(me, "Lives in Lisbon", **HOME)
    me.confirm(doubtful.id)

    me.undo()

    again = me.get(doubtful.id)
    assert (again.status, again.confidence) == (Status.UNCONFIRMED, 0.4)
    assert contents(me) == []


def test_confirming_supersedes_the_fact_with_the_same_key_in_one_event(me: Memory) -> None:
    old = me.remember("Lives in Bergen", **HOME).memory
    doubtful = learn_in_doubt(me, "Lives in Lisbon", **HOME)

    confirmed = me.confirm(doubtful.id)

    assert contents(me) == ["Lives in Lisbon"]
    assert confirmed.replaced is not None
    assert (confirmed.replaced.id, confirmed.replaced.status) == (old.id, Status.SUPERSEDED)
    assert confirmed.event is not None
    assert {one.memory_id for one in confirmed.event.changes} == {old.id, doubtful.id}
    assert [(one.source, one.target, one.relation) for one in me.links(old.id)] == [
        (doubtful.id, old.id, Relation.SUPERSEDES)
    ]
    assert me.audit(["orphan"]).findings == ()

    me.undo(confirmed.event.id)

    assert contents(me) == ["Lives in Bergen"]
    assert contents(me, status="unconfirmed") == ["Lives in Lisbon"]
    assert me.links(old.id) == ()

    me.confirm(doubtful.id)
    assert contents(me) == ["Lives in Lisbon"]


def test_confirming_supersedes_an_expired_fact_and_one_with_the_same_words(
    me: Memory, clock: ManualClock
) -> None:
    me.remember("Rents a bike", ttl_days=1, subject="user", predicate="bike")
    me.remember("Owns a dog")
    clock.advance(timedelta(days=2))
    bike = learn_in_doubt(me, "Owns a bike", subject="user", predicate="bike")
    dog = learn_in_doubt(me, "owns a dog")

    me.confirm(bike.id)
    me.confirm(dog.id)

    assert contents(me) == ["Owns a bike", "owns a dog"]


def test_other_scopes_keep_their_fact(open_fake: Callable[..., Remembrancer]) -> None:
    me = open_fake("agents").for_user("ada")
    me.remember("Lives in Bergen", scope="travel", **HOME)
    doubtful = learn_in_doubt(me, "Lives in Lisbon", **HOME)

    assert me.confirm(doubtful.id).replaced is None
    assert contents(me, scope="travel") == ["Lives in Bergen", "Lives in Lisbon"]


def test_an_agent_cannot_confirm_a_document_over_the_words_of_a_person(
    open_fake: Callable[..., Remembrancer],
) -> None:
    me = open_fake().for_user("ada")
    me.remember("Lives in Bergen", **HOME)
    doubtful = learn_in_doubt(me, "Lives in Lisbon", origin=Origin.DOCUMENT, **HOME)

    with pytest.raises(Conflict, match="cannot replace what a person said"):
        me.acting_as("helper").confirm(doubtful.id)
    assert contents(me) == ["Lives in Bergen"]

    me.confirm(doubtful.id)
    assert contents(me) == ["Lives in Lisbon"]


@pytest.mark.parametrize("verb", ["forget", "delete"])
def test_forgetting_dismisses_it_and_restoring_brings_back_the_doubt(me: Memory, verb: str) -> None:
    doubtful = learn_in_doubt(me, "Lives in Lisbon", **HOME)

    getattr(me, verb)(doubtful.id)
    assert contents(me, status="unconfirmed") == []

    me.restore(doubtful.id)
    assert me.get(doubtful.id).status is Status.UNCONFIRMED
    me.undo()
    me.undo()
    assert contents(me, status="unconfirmed") == ["Lives in Lisbon"]
    assert contents(me) == []


def test_a_correction_confirms_it_and_replaces_the_fact_with_the_same_key(me: Memory) -> None:
    me.remember("Lives in Bergen", **HOME)
    doubtful = learn_in_doubt(me, "Lives in Lisbon", **HOME)

    updated = me.update(doubtful.id, "Lives in Porto")

    assert contents(me) == ["Lives in Porto"]
    assert contents(me, status="unconfirmed") == []
    assert (updated.memory.status, updated.memory.source) == (Status.ACTIVE, Source.EXPLICIT)
    assert "doubt" not in updated.memory.metadata
    assert [one.content for one in me.history(doubtful.id).versions] == [
        "Lives in Lisbon",
        "Lives in Porto",
    ]

    me.undo()
    assert contents(me) == ["Lives in Bergen"]
    assert contents(me, status="unconfirmed") == ["Lives in Lisbon"]


def test_a_correction_keeps_the_dates_and_the_same_words_confirm_too(
    me: Memory, clock: ManualClock
) -> None:
    starts = clock.now() + timedelta(days=30)
    job = learn_in_doubt(me, "Works at the harbour", valid_from=starts)
    home = learn_in_doubt(me, "Lives in Lisbon")

    assert me.update(job.id, "Works at the lighthouse").memory.valid_from == starts
    assert me.update(home.id, "Lives in Lisbon").memory.status is Status.ACTIVE


def test_words_name_it_only_if_no_other_memory_has_them(me: Memory) -> None:
    known = me.remember("Went to Lisbon in May").memory
    doubtful = learn_in_doubt(me, "Lives in Lisbon now")

    assert me.confirm("lisbon").memory.id == known.id
    assert me.forget("lives in lisbon").memory.id == doubtful.id
    with pytest.raises(NotFound):
        me.promote("lives in lisbon")


def test_forgetting_everything_includes_it(me: Memory) -> None:
    me.remember("Drinks tea")
    learn_in_doubt(me, "Lives in Lisbon")

    assert len(me.forget_all().ids) == 2
    assert contents(me, status="unconfirmed") == []
    me.undo()
    assert contents(me) == ["Drinks tea"]
    assert contents(me, status="unconfirmed") == ["Lives in Lisbon"]


def test_every_doubt_has_a_sentence_and_so_has_an_unknown_one() -> None:
    sentences = {
        describe_doubt(make_fact(status=Status.UNCONFIRMED, metadata={"doubt": code}))
        for code in DOUBT_SENTENCES
    }
    assert len(sentences) == len(DOUBT_SENTENCES) == 12
    for metadata in ({}, {"doubt": "new"}, {"doubt": ["past"]}):
        one = make_fact(status=Status.UNCONFIRMED, metadata=metadata)
        assert describe_doubt(one) == UNKNOWN_DOUBT_SENTENCE
    assert describe_doubt(make_fact(metadata={"doubt": "past"})) == ""


def test_an_export_keeps_its_status_and_a_hard_deletion_destroys_it(
    open_fake: Callable[..., Remembrancer],
) -> None:
    store = open_fake("instances")
    ada, bob = store.for_user("ada", agent="bot"), store.for_user("bob", agent="bot")
    doubtful = learn_in_doubt(ada, "Lives in Lisbon", "past")

    store.import_("bob", list(store.export("ada")))

    (copied,) = bob.list(status="unconfirmed").items
    assert (copied.content, describe_doubt(copied)) == (
        "Lives in Lisbon",
        "This may have been true only in the past.",
    )
    assert contents(bob) == []
    assert ada.profile.deletion.mode == "hard"
    ada.delete(doubtful.id)
    with pytest.raises(NotFound):
        ada.get(doubtful.id)


def test_a_list_of_memories_from_elsewhere_does_not_import_what_is_not_confirmed(
    me: Memory, tmp_path: Path
) -> None:
    lines = ['{"content": "Drinks tea"}', '{"content": "Lives in Rome", "status": "unconfirmed"}']
    (tmp_path / "memories.jsonl").write_text("\n".join(lines))

    me.import_from(tmp_path / "memories.jsonl")

    assert contents(me) == ["Drinks tea"]
    assert contents(me, status="unconfirmed") == []


SEVERAL = {
    "allergies": ("allergy", "Is allergic to nuts", "Is allergic to kiwi"),
    "medicines": ("medication", "Takes metoprolol", "Takes cetirizine"),
    "Haustiere": ("haustier", "Hat eine Katze", "Hat einen Hund"),
    "idiomas": ("idioma", "Habla gallego", "Habla vasco"),
}


@pytest.mark.parametrize(("predicate", "known", "doubtful"), SEVERAL.values(), ids=SEVERAL)
@pytest.mark.parametrize("by_update", [True, False], ids=["update", "confirm"])
def test_one_of_several_values_leaves_the_others(
    me: Memory, predicate: str, known: str, doubtful: str, by_update: bool
) -> None:
    in_doubt = learn_in_doubt(me, doubtful, subject="user", predicate=predicate)
    me.remember(known, subject="user", predicate=predicate)

    written = me.update(in_doubt.id, doubtful) if by_update else me.confirm(in_doubt.id)

    assert contents(me) == sorted([known, doubtful])
    assert written.event is not None
    me.undo(written.event.id)
    assert contents(me) == [known]
    assert contents(me, status="unconfirmed") == [doubtful]


def test_one_of_several_values_leaves_the_others_in_another_spelling(me: Memory) -> None:
    in_doubt = learn_in_doubt(me, "Takes cetirizine", subject="User", predicate="Medication")
    me.remember("Takes metoprolol", subject="user", predicate="medication")

    me.confirm(in_doubt.id)

    assert contents(me) == ["Takes cetirizine", "Takes metoprolol"]
    kept = me.fact("user", "medication")
    assert kept is not None
    assert kept.content == "Takes metoprolol"


@pytest.mark.parametrize("spelling", ["city", "Home", "wohnort", "vive_en", "habite"])
def test_it_replaces_the_value_of_its_attribute_in_any_spelling(me: Memory, spelling: str) -> None:
    in_doubt = learn_in_doubt(me, "Lives in Lisbon", **HOME)
    known = me.remember("Lives in Porto", subject="user", predicate=spelling)

    written = me.confirm(in_doubt.id)

    assert contents(me) == ["Lives in Lisbon"]
    assert written.replaced is not None
    assert written.replaced.id == known.memory.id
