"""P6: update, forget and confirm go by id, then by a unique substring; a write returns an event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from remembrancer.engine import Remembrancer
from remembrancer.errors import Ambiguous, Conflict, InvalidInput, NotFound
from remembrancer.memory import Memory
from remembrancer.types import Action, Written

pytestmark = pytest.mark.feature("P6")

BY_REFERENCE: dict[str, tuple[Callable[[Memory, str], Written], Action]] = {
    "update": (lambda me, which: me.update(which, "Retires at 70"), Action.UPDATED),
    "forget": (lambda me, which: me.forget(which), Action.FORGOTTEN),
    "confirm": (lambda me, which: me.confirm(which), Action.CONFIRMED),
    "delete": (lambda me, which: me.delete(which), Action.TRASHED),
}
verbs = pytest.mark.parametrize("verb", BY_REFERENCE)


@pytest.fixture
def me(open_memory: Callable[..., Remembrancer]) -> Memory:
    me = open_memory("advisor").for_user("ada")
    me.remember("401k at Fidelity", category="finance_context")
    me.remember("Roth account at Fidelity", category="finance_context")
    me.remember("Wants to retire at 60", category="profile")
    return me


def by_words(me: Memory, words: str) -> Any:
    return next(one for one in me.list().items if words in one.content)


@verbs
def test_P6_an_id_names_a_memory(verb: str, me: Memory) -> None:
    act, action = BY_REFERENCE[verb]
    retire = by_words(me, "retire")

    written = act(me, retire.id)

    assert written.event is not None
    assert written.event.action is action
    assert retire.id in {change.memory_id for change in written.event.changes}


@verbs
@pytest.mark.parametrize("words", ["retire at 60", "RETIRE AT", "  wants   to retire ", "60"])
def test_P6_words_that_occur_in_one_memory_only_name_it(verb: str, words: str, me: Memory) -> None:
    act, _ = BY_REFERENCE[verb]
    retire = by_words(me, "retire")

    written = act(me, words)

    assert written.event is not None
    assert retire.id in {change.memory_id for change in written.event.changes}


@verbs
def test_P6_words_that_occur_in_several_are_answered_with_the_candidates(
    verb: str, me: Memory
) -> None:
    act, _ = BY_REFERENCE[verb]
    before = me.list().items

    with pytest.raises(Ambiguous) as refused:
        act(me, "at Fidelity")

    assert {one.content for one in refused.value.candidates} == {
        "401k at Fidelity",
        "Roth account at Fidelity",
    }
    assert me.list().items == before


def test_P6_the_whole_text_of_one_names_it_even_if_others_contain_it(me: Memory) -> None:
    me.remember("401k at Fidelity since 2019", category="finance_context")

    assert me.forget("401k at Fidelity").memory.content == "401k at Fidelity"


@pytest.mark.parametrize("verb", ["update", "confirm", "delete"])
def test_P6_words_that_occur_nowhere_name_nothing(verb: str, me: Memory) -> None:
    act, _ = BY_REFERENCE[verb]

    with pytest.raises(NotFound):
        act(me, "cryptocurrency")


@verbs
@pytest.mark.parametrize("which", ["", "   "])
def test_P6_no_words_are_no_reference(verb: str, which: str, me: Memory) -> None:
    act, _ = BY_REFERENCE[verb]

    with pytest.raises(InvalidInput):
        act(me, which)


@verbs
def test_P6_an_unknown_id_names_nothing(verb: str, me: Memory) -> None:
    act, _ = BY_REFERENCE[verb]

    with pytest.raises(NotFound):
        act(me, "fact_" + "0" * 26)


@verbs
@pytest.mark.parametrize("words", ["%", "_", "4_1k"])
def test_P6_words_are_words_and_no_pattern(verb: str, words: str, me: Memory) -> None:
    act, _ = BY_REFERENCE[verb]

    with pytest.raises(NotFound):
        act(me, words)


def test_P6_words_of_what_is_gone_name_it_no_more(me: Memory) -> None:
    me.forget("retire")

    with pytest.raises(NotFound):
        me.update("retire", "Wants to work forever")
    with pytest.raises(Conflict):
        me.forget(by_status(me, "forgotten"))


def test_P6_forgetting_goes_by_the_sense_when_the_words_occur_nowhere(me: Memory) -> None:
    me.remember("Prefers short and concise answers", category="response_style")

    assert "concise" in me.forget("keep replies brief and short").memory.content


def test_P6_every_write_returns_an_event_that_undo_takes(me: Memory) -> None:
    saved = me.remember("Thai tax resident", category="finance_context")
    other = by_words(me, "retire")
    writes = [
        saved,
        me.link(saved.memory.id, other.id, "related_to"),
        me.confirm(saved.memory.id),
        me.update(saved.memory.id, "Lao tax resident"),
        me.forget("Lao"),
        me.restore("Lao"),
        me.delete("Lao"),
    ]
    assert all(written.event for written in writes)

    for written in reversed(writes):
        assert written.event is not None
        undone = me.undo(written.event.id).event
        assert undone is not None
        assert undone.undoes == written.event.id

    assert {one.content for one in me.list().items} == {
        "401k at Fidelity",
        "Roth account at Fidelity",
        "Wants to retire at 60",
    }


def test_P6_an_event_says_what_was_done_when_from_where_and_to_what(
    open_memory: Callable[..., Remembrancer], clock: Any
) -> None:
    me = open_memory("advisor").for_user("ada", agent="advisor", surface="web")
    written = me.remember("Funds only")

    event = written.event
    assert event is not None
    assert (event.action, event.at, event.surface, event.agent) == (
        Action.REMEMBERED,
        clock.now(),
        "web",
        "advisor",
    )
    assert [change.memory_id for change in event.changes] == [written.memory.id]
    assert me.history(written.memory.id).events == (event,)


def test_P6_saving_the_same_again_says_that_nothing_was_done(me: Memory) -> None:
    again = me.remember("401K at  fidelity", category="finance_context")

    assert again.event is None
    assert again.memory.content == "401k at Fidelity"


def test_P6_listing_goes_by_category(me: Memory) -> None:
    finance = me.list(categories=["finance_context"]).items

    assert {one.content for one in finance} == {"401k at Fidelity", "Roth account at Fidelity"}


def by_status(me: Memory, status: str) -> str:
    (only,) = me.list(status=status).items
    return only.id
