"""An agent that is confined to its own scope learns nothing of another agent's, by any detour."""

from __future__ import annotations

import base64

import pytest

from remembrancer.errors import Conflict, InvalidInput, NotFound
from remembrancer.ids import new_id
from remembrancer.learn.consolidation.plan import AddStep, AffirmStep, ConsolidationPlan
from remembrancer.memory import Memory
from remembrancer.types import Evidence, Rejection
from tests.support.opening import Open


@pytest.fixture
def pair(open_memory: Open) -> tuple[Memory, Memory]:
    """Two agents in one person's store, so that only the scope keeps them apart."""
    store = open_memory("instances", profile_overrides={"scopes": {"owner": "person"}})
    return store.for_user("ada", agent="cook"), store.for_user("ada", agent="spy")


def test_counts_are_of_what_one_sees(pair: tuple[Memory, Memory]) -> None:
    cook, spy = pair
    cook.remember("The stew needs thyme", category="preference")
    spy.remember("The fence is green")

    assert spy.stats().by_scope == {"spy": 1}
    assert "preference" not in spy.stats().by_category


def test_what_another_destroyed_is_not_in_the_feed(pair: tuple[Memory, Memory]) -> None:
    cook, spy = pair
    gone = cook.remember("The stew needs thyme").memory.id
    event = cook.delete(gone).event
    assert event is not None

    assert gone not in repr(spy.activity())
    assert gone in repr(cook.activity())
    with pytest.raises(NotFound):
        spy.undo(event.id)


def test_a_cursor_names_nothing_of_another(pair: tuple[Memory, Memory]) -> None:
    cook, spy = pair
    for words in ("The fence is green", "The dog is called Bo", "Trains leave at noon"):
        spy.remember(words)
        cook.remember(f"{words}, says the cook")
        session = cook.append([{"role": "user", "content": words}])[0].session_id
        _reject(cook, session or "")
        _reject(spy, spy.append([{"role": "user", "content": words}])[0].session_id or "")

    for own, listing in (
        ({one.id for one in spy.activity().items}, spy.activity),
        ({one.id for one in spy.rejected().items}, spy.rejected),
    ):
        found, page = set(), listing(limit=1)
        while page.cursor is not None:
            assert base64.urlsafe_b64decode(page.cursor).decode().split()[1] in own
            found |= {one.id for one in page.items}
            page = listing(limit=1, cursor=page.cursor)
        assert found | {one.id for one in page.items} == own


def _reject(me: Memory, session: str) -> None:
    call = me._call
    at = call.now()
    one = Rejection(
        id=new_id("rejection", at), at=at, session_id=session, reason="echo", content="Nothing"
    )
    with call.store.open_writer(call.owner) as writer:
        writer.save_rejections([one])


def test_the_conversation_of_another_is_not_frozen(pair: tuple[Memory, Memory]) -> None:
    cook, spy = pair
    cook.append([{"role": "user", "content": "The stew needs thyme"}], "kitchen")
    before = cook.session("kitchen")

    with pytest.raises(InvalidInput):
        spy.context("stew", session="kitchen", style="sections")

    assert cook.session("kitchen") == before


def test_an_audit_does_not_tell_whether_another_heard_those_words(
    pair: tuple[Memory, Memory],
) -> None:
    cook, spy = pair
    (turn,) = cook.append([{"role": "user", "content": "The stew needs thyme"}], "kitchen")
    for number, quote in enumerate(("needs thyme", "needs salt")):
        cited = (Evidence("kitchen", turn.id, quote),)
        spy.remember(
            f"A guess about {('a stew', 'the weather')[number]}", source="extracted", evidence=cited
        )

    told = [one.message.partition(" was ")[2] for one in spy.audit(["unsupported"]).findings]
    assert len(told) == 2
    assert len(set(told)) == 1


def test_a_plan_concludes_nothing_from_the_episodes_of_another(
    pair: tuple[Memory, Memory],
) -> None:
    cook, spy = pair
    theirs = cook.remember("The stew burned", kind="episode").memory
    missing = new_id("episode", theirs.recorded_at)

    answers = []
    for episode in (theirs.id, missing):
        add = AddStep(kind="fact", content="Something burned", episodes=(episode,))
        plan = ConsolidationPlan(scope="spy", made_at=theirs.recorded_at, steps=(add,))
        assert spy.consolidate(plan).batches[0].ids == ()
        with pytest.raises(Conflict) as caught:
            spy.consolidate(
                ConsolidationPlan(scope="spy", made_at=theirs.recorded_at, episodes=(episode,))
            )
        answers.append(str(caught.value))
    assert answers[0] == answers[1]
    assert spy.list().items == ()


def test_a_plan_with_what_is_no_id_does_nothing(pair: tuple[Memory, Memory]) -> None:
    _, spy = pair
    at = spy.remember("The fence is green").memory.recorded_at
    steps = (AffirmStep(target="../fact", content=""),)

    assert (
        spy.consolidate(ConsolidationPlan(scope="spy", made_at=at, steps=steps)).batches[0].ids
        == ()
    )
    with pytest.raises(Conflict):
        spy.consolidate(ConsolidationPlan(scope="spy", made_at=at, episodes=("%",)))


def test_a_memory_that_was_moved_out_of_sight_stays_there(open_memory: Open) -> None:
    store = open_memory("agents")
    me, spy = store.for_user("ada"), store.for_user("ada", agent="spy")
    old = me.remember("Ada owes 5000", subject="ada", predicate="debt").memory
    hidden = me.update(old.id, "Ada owes 7000 to Zoe", scope="finance").memory
    other = me.remember("Zoe lives in Bonn", scope="finance").memory
    note = me.remember("Debts are paid on Fridays").memory
    me.link(note.id, other.id)

    assert hidden.id not in repr(spy.history(old.id))
    assert "7000" not in repr(spy.history(old.id))
    assert spy.history(note.id).links == ()
    with pytest.raises(Conflict):
        spy.update(old.id, "Ada owes nothing")
    assert me.get(hidden.id).status == "active"
