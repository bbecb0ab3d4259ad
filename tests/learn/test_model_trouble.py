"""A model that is cut off, wrong or refused costs nobody what was said plainly."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.errors import EmbeddingFailed
from remembrancer.learn.queue import MAX_ATTEMPTS
from remembrancer.memory import Memory
from remembrancer.testing import FakeEmbedder, ModelEndpoint, ScriptedReply, fails, says
from remembrancer.types import Status
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


POEM = "I'm allergic to peanuts. The silver tide was high this morning."
ATTIC = proposal("Keeps seeds in the attic", "the seeds are in the attic")
NO_ANSWERS = {
    "cut off": CUT_OFF,
    "refused": fails(400),
    "prose": says("What a lovely poem!"),
    "withheld": says("", finish="content_filter"),
}


def stumbles(reply: ScriptedReply, *operations: dict[str, Any], words: str = "silver tide") -> Any:
    """A model that gives no answer wherever it is shown these words."""
    answer = proposes(*operations)
    return lambda request: reply if words in shown_in(request) else answer(request)


@pytest.mark.parametrize("reply", NO_ANSWERS.values(), ids=NO_ANSWERS)
@pytest.mark.parametrize("before", [0, 3])
def test_a_turn_that_the_model_cannot_answer_is_skipped_and_noted(
    store: Remembrancer,
    me: Memory,
    model: ModelEndpoint,
    clock: ManualClock,
    tenant: str,
    reply: ScriptedReply,
    before: int,
) -> None:
    model.script = stumbles(reply, ATTIC)
    earlier = ["What grows in the shade?"] * before
    tell(me, "chat", *earlier, POEM, "By the way, the seeds are in the attic.")
    give_up(store, clock, tenant)

    assert contents(me) == ["Is allergic to peanuts", "Keeps seeds in the attic"]
    session = me.session("chat")
    assert (session.watermark, session.due_at) == (2 * before + 4, None)
    assert (session.attempts, session.leased_until) == (0, None)
    assert list(session.metadata["unread"]) == [str(2 * before)]  # type: ignore[arg-type]
    assert "1 turn could be read by rules only" in (session.failure or "")
    assert any("not read by the model" in (one.note or "") for one in me.activity().items)


@pytest.mark.parametrize("reply", NO_ANSWERS.values(), ids=NO_ANSWERS)
def test_turns_after_one_that_was_given_up_reach_the_model_at_once(
    store: Remembrancer,
    me: Memory,
    model: ModelEndpoint,
    clock: ManualClock,
    tenant: str,
    reply: ScriptedReply,
) -> None:
    model.script = stumbles(reply, ATTIC)
    tell(me, "chat", POEM)
    give_up(store, clock, tenant)
    assert me.session("chat").watermark == 0

    tell(me, "chat", "By the way, the seeds are in the attic.")
    store.flush()

    assert contents(me) == ["Is allergic to peanuts", "Keeps seeds in the attic"]
    assert me.session("chat").watermark == 4
    asked = len(model.requests)
    tell(me, "chat", "What grows in the shade?")
    store.flush()
    assert len(model.requests) == asked + 1, "the poem is shown again"


def test_several_turns_in_a_row_are_skipped_but_not_a_whole_conversation(
    store: Remembrancer, me: Memory, model: ModelEndpoint, clock: ManualClock, tenant: str
) -> None:
    model.script = stumbles(CUT_OFF, ATTIC)
    tell(me, "poems", *[POEM] * 5, "By the way, the seeds are in the attic.")
    tell(me, "only poems", *[POEM] * 30)
    give_up(store, clock, tenant)

    assert me.session("poems").watermark == 12
    assert len(me.session("poems").metadata["unread"]) == 5  # type: ignore[arg-type]
    waiting = me.session("only poems")
    assert (waiting.watermark, waiting.due_at, waiting.attempts) == (0, None, MAX_ATTEMPTS)
    assert "unread" not in waiting.metadata


def test_a_request_that_is_refused_does_not_keep_the_other_conversations_waiting(
    store: Remembrancer, me: Memory, model: ModelEndpoint
) -> None:
    model.script = stumbles(fails(400), ATTIC)
    for session, words in (("poem", POEM), ("chat", "By the way, the seeds are in the attic.")):
        me.append([{"role": "user", "content": words}], session)
    me.close("poem")
    me.close("chat")
    store.flush()

    assert contents(me) == ["Keeps seeds in the attic"]
    assert me.session("poem").due_at is not None


def dismiss(me: Memory, how: str) -> None:
    (known,) = me.list().items
    if how == "corrected":
        me.update(known.id, "Tolerates peanuts")
    else:
        getattr(me, how)(known.id)


PEANUT_ALLERGY = proposal(
    "The user has a peanut allergy", "I'm allergic to peanuts", predicate="health_condition"
)


@pytest.mark.parametrize("profile", ["default", "instances"])
@pytest.mark.parametrize("how", ["forget", "delete", "corrected"])
@pytest.mark.parametrize("finds", [[], [PEANUT_ALLERGY]], ids=["rules", "model"])
def test_what_was_forgotten_is_not_learned_again_from_the_same_words(
    open_memory: Open,
    models: dict[str, Any],
    model: ModelEndpoint,
    clock: ManualClock,
    tenant: str,
    profile: str,
    how: str,
    finds: list[Any],
) -> None:
    store = open_memory(profile, models=models)
    me = store.for_user("ada", agent="bot" if profile == "instances" else None)
    model.default = fails(401)
    tell(me, "chat", PEANUTS)
    give_up(store, clock, tenant)
    assert contents(me) == ["Is allergic to peanuts"]
    dismiss(me, how)
    left = contents(me)

    model.script = proposes(*finds)
    me.close("chat")
    store.flush()
    assert contents(me) == left
    assert not me.list(status="unconfirmed").items
    assert me.session("chat").watermark == 2
    assert [one.reason for one in me.rejected().items][:1] in ([], ["dismissed"])

    tell(me, "chat", "Mind you, I'm allergic to peanuts.")
    store.flush()
    assert any("peanut" in one and "Tolerates" not in one for one in contents(me))


def test_a_model_that_is_back_words_anew_what_rules_found(
    store: Remembrancer, me: Memory, model: ModelEndpoint, clock: ManualClock, tenant: str
) -> None:
    model.default = fails(401)
    tell(me, "chat", PEANUTS)
    give_up(store, clock, tenant)
    (by_rules,) = me.list().items

    model.script = proposes(PEANUT_ALLERGY)
    me.close("chat")
    store.flush()

    assert contents(me) == ["The user has a peanut allergy"]
    assert me.get(by_rules.id).status is Status.SUPERSEDED


@pytest.mark.parametrize("period", [{"until": "9999-12-31"}, {"from": "0001-01-01"}])
@pytest.mark.parametrize(
    ("said", "quote"),
    [
        ("Asun tällä hetkellä Tampereella kissani kanssa.", "Asun tällä hetkellä Tampereella"),
        ("The seeds are in the attic for good.", "The seeds are in the attic"),
    ],
)
def test_a_date_at_the_end_of_the_calendar_is_no_date(
    store: Remembrancer,
    me: Memory,
    model: ModelEndpoint,
    said: str,
    quote: str,
    period: dict[str, str],
) -> None:
    model.script = proposes(proposal(quote, quote, when=period))
    tell(me, "chat", said)
    store.flush()

    (known,) = me.list().items
    assert (known.content, known.valid_until) == (quote, None)
    assert known.valid_from.year == 2026


class PickyEmbedder(FakeEmbedder):
    """Fails for every request with some word."""

    refused = ""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.refused and any(self.refused in one for one in texts):
            raise EmbeddingFailed("The embedding endpoint rejected the request (400).")
        return super().embed(texts)


@pytest.fixture
def fake_embedder() -> PickyEmbedder:
    return PickyEmbedder()


def test_one_text_that_cannot_be_embedded_does_not_keep_the_others(
    open_fake: Any, models: dict[str, Any], model: ModelEndpoint, fake_embedder: PickyEmbedder
) -> None:
    store = open_fake(models=models)
    me = store.for_user("ada")
    model.script = proposes(ATTIC, proposal("Owns a zither", "I own a zither"))
    fake_embedder.refused = "Owns a zither"
    tell(me, "chat", "By the way, the seeds are in the attic. I own a zither.")
    store.flush()

    assert contents(me) == ["Keeps seeds in the attic"]
    assert [one.reason for one in me.rejected().items] == ["refused"]
    assert me.session("chat").failure is None
