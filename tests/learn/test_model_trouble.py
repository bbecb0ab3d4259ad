"""A model that is cut off, wrong or refused costs nobody what was said plainly."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.learn.queue import MAX_ATTEMPTS
from remembrancer.memory import Memory
from remembrancer.testing import ModelEndpoint, ScriptedReply, fails, says
from tests.support.opening import Open
from tests.support.plans import asks_for, shown_in
from tests.support.proposals import NEW_TURN, proposal, proposes, second_answer, tell

PAST_EVERY_PAUSE = timedelta(hours=2)
CUT_OFF = says('{"operations": [', finish="length")
PEANUTS = "I'm allergic to peanuts. My bicycle has a basket in front."


@pytest.fixture
def store(open_memory: Open, models: dict[str, Any]) -> Remembrancer:
    return open_memory(models=models)


def contents(me: Memory) -> list[str]:
    return sorted(one.content for one in me.list(limit=100).items)


def drawer(number: int) -> str:
    return f"The seeds of bed {number} are in drawer {number}"


def thinks_long(most: int, *operations: dict[str, Any]) -> Any:
    """A model whose thinking leaves no room for an answer on more new turns than that."""
    answer = proposes(*operations)

    def reply(request: dict[str, Any]) -> ScriptedReply:
        is_first = asks_for(request) == "memory"
        return CUT_OFF if is_first and count_new_turns(request) > most else answer(request)

    return reply


def count_new_turns(request: dict[str, Any]) -> int:
    """Of the person; each is followed by one of the assistant."""
    return len(NEW_TURN.findall(shown_in(request)))


@pytest.mark.parametrize("talked_before", [0, 12])
def test_a_model_that_runs_out_of_tokens_is_asked_about_fewer_turns(
    store: Remembrancer, me: Memory, model: ModelEndpoint, talked_before: int
) -> None:
    if talked_before:
        tell(me, "garden", *("What grows in the shade?" for _ in range(talked_before)))
        store.flush()
    numbers = range(1, 21)
    proposals = [proposal(drawer(one), drawer(one)) for one in numbers]
    model.script = thinks_long(5, *proposals)

    tell(me, "garden", *(f"{drawer(one)}." for one in numbers))
    store.flush()

    assert contents(me) == sorted(drawer(one) for one in numbers)
    session = me.session("garden")
    assert (session.watermark, session.due_at) == (2 * (20 + talked_before), None)
    assert (session.failure, session.attempts, session.leased_until) == (None, 0, None)
    asked = [count_new_turns(one.json) for one in model.requests if asks_for(one.json) == "memory"]
    assert max(asked) == 20
    assert any(one <= 5 for one in asked)


def test_a_model_that_runs_out_of_tokens_for_a_single_turn_is_tried_again_and_given_up(
    store: Remembrancer, me: Memory, model: ModelEndpoint, clock: ManualClock, tenant: str
) -> None:
    model.script = thinks_long(0)
    tell(me, "chat", PEANUTS)
    give_up(store, clock, tenant)

    assert contents(me) == ["Is allergic to peanuts"]
    assert (me.session("chat").failure or "").startswith("model_misspoke: ")


def give_up(store: Remembrancer, clock: ManualClock, tenant: str) -> None:
    """Let as many attempts pass as there are."""
    store.flush()
    for _ in range(MAX_ATTEMPTS - 1):
        clock.advance(PAST_EVERY_PAUSE)
        store.run_job("learn", tenant=tenant)


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (fails(401), "model_unavailable"),
        (fails(404), "model_unavailable"),
        (says("Sorry, I cannot do that."), "model_misspoke"),
        (says({"memories": []}), "model_misspoke"),
    ],
    ids=["key refused", "unknown", "prose", "another object"],
)
def test_what_was_said_plainly_is_kept_without_a_model_that_fails_for_good(
    store: Remembrancer,
    me: Memory,
    model: ModelEndpoint,
    clock: ManualClock,
    tenant: str,
    reply: ScriptedReply,
    code: str,
) -> None:
    model.default = reply
    tell(me, "chat", PEANUTS)
    store.flush()
    assert contents(me) == []
    waiting = me.session("chat")
    assert (waiting.watermark, waiting.due_at is not None) == (0, True)

    give_up(store, clock, tenant)

    assert contents(me) == ["Is allergic to peanuts"]
    session = me.session("chat")
    assert (session.watermark, session.due_at, session.leased_until) == (0, None, None)
    assert (session.failure or "").startswith(f"{code}: ")
    asked = len(model.requests)
    clock.advance(PAST_EVERY_PAUSE)
    store.run_job("learn", tenant=tenant)
    assert len(model.requests) == asked


def test_a_conversation_that_goes_on_is_learned_by_a_model_that_works_again(
    store: Remembrancer, me: Memory, model: ModelEndpoint, clock: ManualClock, tenant: str
) -> None:
    model.default = fails(401)
    tell(me, "chat", PEANUTS)
    give_up(store, clock, tenant)

    model.script = proposes(proposal("Keeps seeds in the attic", "the seeds are in the attic"))
    tell(me, "chat", "By the way, the seeds are in the attic.")
    store.flush()

    assert contents(me) == ["Is allergic to peanuts", "Keeps seeds in the attic"]
    assert me.session("chat").failure is None


def test_without_the_second_answer_nothing_is_learned_until_the_model_is_back(
    store: Remembrancer, me: Memory, model: ModelEndpoint, clock: ManualClock, tenant: str
) -> None:
    seeds = proposal("Keeps seeds in the attic", "the seeds are in the attic")
    model.script = second_answer(fails(401), seeds)
    tell(me, "chat", "By the way, the seeds are in the attic.")
    store.flush()

    assert contents(me) == []
    assert not me.list(status="unconfirmed").items
    waiting = me.session("chat")
    assert (waiting.watermark, waiting.due_at is not None) == (0, True)
    assert (waiting.failure or "").startswith("model_unavailable: ")

    model.script = proposes(seeds)
    clock.advance(PAST_EVERY_PAUSE)
    store.run_job("learn", tenant=tenant)

    assert contents(me) == ["Keeps seeds in the attic"]
    session = me.session("chat")
    assert (session.watermark, session.due_at, session.failure) == (2, None, None)
