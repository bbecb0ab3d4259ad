"""P12: an extracted memory never overwrites an explicit one; only extracted memories decay, and
only affirmation resets that (this profile)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from math import exp

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from remembrancer.tools.caller import Caller
from remembrancer.tools.preferences import save_preference
from remembrancer.types import Source, Status
from tests.assistant.talk import chat_of, say

pytestmark = pytest.mark.feature("P12")

DAY = timedelta(days=1)


@pytest.fixture
def store(open_fake: Callable[..., Remembrancer]) -> Remembrancer:
    return open_fake("advisor")


@pytest.fixture
def me(store: Remembrancer) -> Memory:
    return store.for_user("ada")


def test_P12_what_was_extracted_loses_confidence_and_stays_searchable(
    store: Remembrancer, me: Memory, clock: ManualClock, tenant: str
) -> None:
    said = me.remember("I retire at 60.").memory
    guessed = me.remember("Seems to like bonds.", source="extracted", confidence=0.8).memory
    assert "bonds" in me.context().text

    clock.advance(200 * DAY)
    assert me.confidence(said) == 1.0
    assert me.confidence(guessed) == pytest.approx(0.8 * exp(-0.002 * 200))
    assert "bonds" not in me.context().text

    clock.advance(2000 * DAY)
    assert me.confidence(guessed) < 0.01
    assert store.run_job("decay_sweep", tenant=tenant).changed == 0
    assert me.get(guessed.id).status is Status.ACTIVE
    assert guessed.id in [one.memory.id for one in me.recall("What about bonds?")]
    assert "I retire at 60." in me.context().text


def test_P12_a_chat_without_a_model_tells_what_is_hardly_believed(
    open_memory: Callable[..., Remembrancer],
) -> None:
    store = open_memory("advisor")
    me = store.for_user("ada")
    me.remember("Seems to like bonds.", source="extracted", confidence=0.1)

    assert "Seems to like bonds." in say(chat_of(store), "What do you know about bonds?").text


def test_P12_recall_does_not_reset_decay_and_confirmation_does(
    store: Remembrancer, me: Memory, clock: ManualClock
) -> None:
    guessed = me.remember("Seems to like bonds.", source="extracted", confidence=0.8).memory
    clock.advance(50 * DAY)
    assert me.recall("bonds")
    store.flush()

    assert me.confidence(me.get(guessed.id)) == pytest.approx(0.8 * exp(-0.002 * 50))

    me.confirm(guessed.id)
    assert me.confidence(me.get(guessed.id)) == 0.8


def test_P12_where_use_resets_decay_recall_does(
    open_fake: Callable[..., Remembrancer], clock: ManualClock, tenant: str
) -> None:
    store = open_fake("default", profile_overrides={"decay": {"reset_by": "use"}})
    me = store.for_user("ada")
    lunch = me.remember("Lunch was pea soup.", permanence="ephemeral").memory
    clock.advance(10 * DAY)
    assert me.recall("pea soup")
    store.flush()
    clock.advance(25 * DAY)

    assert me.confidence(me.get(lunch.id)) == pytest.approx(exp(-2.5))
    assert store.run_job("decay_sweep", tenant=tenant).changed == 0


def test_P12_an_extracted_memory_never_overwrites_an_explicit_one(me: Memory) -> None:
    said = me.remember("I retire at 60.", subject="Ada", predicate="retires_at").memory

    guess = me.remember("Retires at 67.", subject="Ada", predicate="retires_at", source="extracted")

    assert (guess.memory.id, guess.event) == (said.id, None)
    assert [one.content for one in me.list().items] == ["I retire at 60."]


@pytest.mark.parametrize(
    ("saved", "said"),
    [
        ("Lives in Oslo", "I live in Oslo."),
        ("Lives in Oslo", "I live in Rome."),
        ("Only does funds", "As I said, I only do funds."),
        ("Dislikes gold", "I like gold."),
    ],
)
def test_P12_what_a_tool_saved_stands_when_a_chat_repeats_or_contradicts_it(
    saved: str, said: str, store: Remembrancer, me: Memory
) -> None:
    arguments = {"category": "profile", "content": saved}
    save_preference.call(Caller(me), arguments)

    me.learn([{"role": "user", "content": said}, {"role": "assistant", "content": "Ok."}], "x")
    me.close("x")
    store.flush()

    assert [one.content for one in me.list().items] == [saved]


def test_P12_what_was_saved_without_a_key_is_not_learned_again(
    store: Remembrancer, me: Memory
) -> None:
    said = me.remember("Likes tea", category="profile").memory

    me.learn([{"role": "user", "content": "I like tea."}], "x")
    me.close("x")
    store.flush()

    assert [one.id for one in me.list().items] == [said.id]


def test_P12_saying_it_oneself_takes_the_place_of_what_was_extracted(me: Memory) -> None:
    guess = me.remember("Retires at 60.", source="extracted", confidence=0.7).memory

    said = me.remember("Retires at 60.")

    assert said.memory.source is Source.EXPLICIT
    assert me.get(guess.id).status is Status.SUPERSEDED


def test_P12_an_identical_save_returns_the_row_there_is(me: Memory) -> None:
    first = me.remember("I retire at 60.")

    again = me.remember("I retire at 60.")

    assert (again.memory, again.event) == (first.memory, None)
