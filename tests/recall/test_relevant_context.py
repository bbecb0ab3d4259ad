"""The block of a prompt holds the facts that it needs, those of the past and of the future too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from remembrancer.types import Evidence, Status

DAY = timedelta(days=1)

Open = Callable[..., Remembrancer]


@pytest.fixture
def me(open_memory: Open) -> Memory:
    return open_memory("default").for_user("ada")


def entries(text: str) -> list[str]:
    return [line[2:] for line in text.splitlines() if line.startswith("- ")]


def state(me: Memory, content: str, predicate: str, subject: str = "user", **more: object) -> str:
    details = {"subject": subject, "predicate": predicate, "source": "extracted", **more}
    return me.remember(content, **details).memory.id  # type: ignore[arg-type]


def settle(me: Memory) -> None:
    state(me, "Rents a flat in Ghent for 900 euros", "home")
    state(me, "Works as a printer at a small press", "job")
    state(me, "Rows every Tuesday at 18:00 on the canal", "rowing")
    state(me, "Eats no gluten since a diagnosis", "diet")
    state(me, "My sister Noor is allergic to eggs", "allergy", "Noor")


def test_a_prompt_gets_what_it_needs_and_nothing_else(me: Memory) -> None:
    settle(me)

    assert entries(me.context("Where do I live?").text) == ["Rents a flat in Ghent for 900 euros"]
    for prompt in ("What is the capital of Mongolia?", "Good night!", "What's 17 times 23?"):
        assert me.context(prompt).text == ""


def test_what_a_conversation_was_given_is_not_told_again(me: Memory) -> None:
    prompt = "When and by whom is the shop deployed?"
    thursdays = me.remember("The shop is deployed on Thursdays.").memory
    grace = me.remember("The shop is deployed by Grace.").memory
    assert "Thursdays; The shop" in me.context(prompt).text

    again = me.context(prompt, exclude=[thursdays.id])

    assert again.memories == (grace.id,)
    assert "Thursdays" not in again.text
    assert me.context(prompt, exclude=[thursdays.id, grace.id]).text == ""


def test_a_person_who_is_asked_about_is_told_with_all_that_is_known(me: Memory) -> None:
    me.remember("Greta turns 80 on 4 May", subject="Greta", predicate="birthday")
    me.remember("Mother Greta is diabetic", subject="Greta", predicate="health")
    me.remember("Greta loves brass bands", subject="Greta", predicate="likes")

    (line,) = entries(me.context("What shall I bring mum for her birthday?").text)

    assert "80" in line
    assert "diabetic" in line
    assert "brass bands" in line


def test_a_common_word_is_not_taken_for_a_name(me: Memory) -> None:
    me.remember("Brother Will lives in Leeds", subject="Will", predicate="home")
    me.remember("Boss Mark plays chess", subject="Mark", predicate="hobby")

    assert me.context("will it rain in Rome tomorrow?").text == ""
    assert "chess" not in me.context("mark my task as done").text
    assert "Leeds" in me.context("Where does Will live?").text


def test_all_that_is_known_can_be_asked_for(me: Memory) -> None:
    me.remember("Rents a flat in Ghent", subject="user", predicate="home")
    me.remember("Is allergic to nuts", subject="user", predicate="allergy")

    told = me.context("Was weißt du über mich?").text

    assert "Ghent" in told
    assert "nuts" in told


def test_a_question_in_another_language_finds_an_english_fact(me: Memory) -> None:
    me.remember("Booked the guesthouse Alpenblick for the trip in August")
    me.remember("Keeps six hens in the yard")

    assert "Alpenblick" in me.context("Wo übernachten wir auf der Reise im August?").text
    assert "hens" in me.context("¿Cuántas gallinas tengo?").text


def test_a_question_for_a_week_gets_what_is_on_then(me: Memory, clock: ManualClock) -> None:
    day = clock.now() + timedelta(days=7)
    me.remember(f"Cataract surgery at the clinic on {day.day} {day:%B}")

    assert "surgery" in me.context("Is there anything on my calendar next week?").text


def test_there_is_no_bookkeeping_unless_the_profile_asks_for_it(me: Memory) -> None:
    settle(me)

    assert "confirmed" not in me.context("Where do I live?").text


def test_what_begins_later_is_told_with_its_start(me: Memory, clock: ManualClock) -> None:
    settle(me)
    start = clock.now() + 30 * DAY
    state(me, "Moves to a house in Lier", "next_home", valid_from=start)

    (line,) = (one for one in entries(me.context("Where do I live?").text) if "Lier" in one)

    assert line.endswith(f"Moves to a house in Lier (from {start.day} {start:%b %Y})")


def test_a_question_about_the_past_gets_what_was_true_then(me: Memory, clock: ManualClock) -> None:
    settle(me)
    told_at = clock.now()
    clock.advance(200 * DAY)
    me.update("Rents a flat in Ghent", "Lives in a house in Lier")

    now = entries(me.context("Where do I live?").text)
    then = entries(me.context(f"Where did I live in {told_at:%B %Y}?").text)

    assert now == ["Lives in a house in Lier"]
    assert any("Ghent" in line and "until" in line for line in then)


def test_what_ended_is_not_told_of_the_present(me: Memory, clock: ManualClock) -> None:
    settle(me)
    state(me, "Stays at a hotel in Mol", "lodging", valid_until=clock.now() + 5 * DAY)
    clock.advance(10 * DAY)

    assert "Mol" not in me.context("Where do I stay and live?").text
    assert "Mol" in me.context("Where did I stay before?").text


def test_standing_instructions_go_with_a_request(me: Memory) -> None:
    settle(me)
    state(me, "Write British spelling", "spelling", category="instruction")

    assert "British" in me.context("Draft a letter to my landlord.").text
    assert "British" not in me.context("Where do I live?").text


def test_an_unconfirmed_fact_is_never_told(me: Memory) -> None:
    settle(me)
    doubtful = me.get(state(me, "Lives on a boat in Mol", "second_home"))
    with me._call.open_writer() as writer:
        from remembrancer.store.contract import Patch
        from remembrancer.types import Action

        event = me._call.new_event(Action.UPDATED, me._call.now())
        writer.apply(event, [Patch(doubtful.id, {"status": Status.UNCONFIRMED})])

    assert "boat" not in me.context("Where do I live?").text
    assert "boat" not in me.context("Where did I live before?").text


def append(me: Memory, at: datetime) -> list[str]:
    said = ["I rent a flat in Ghent.", "My boat is called Nina and lies in Mol."]
    turns = [{"role": "user", "content": one, "said_at": at} for one in said]
    return [one.id for one in me.append(turns, "monday")]  # type: ignore[arg-type]


def mark_learned(me: Memory, count: int) -> None:
    with me._call.open_writer() as writer:
        session = writer.get_session("monday")
        assert session is not None
        writer.save_session(replace(session, watermark=count))


def test_the_source_of_a_fact_that_is_told_is_left_out(me: Memory, clock: ManualClock) -> None:
    flat, _ = append(me, clock.now())
    state(me, "Rents a flat in Ghent", "home", evidence=(Evidence("monday", flat),))

    assert flat not in me.context("Where do I rent a flat?").memories


def test_turns_that_were_learned_from_are_told_only_if_no_fact_answers(
    me: Memory, clock: ManualClock
) -> None:
    flat, boat = append(me, clock.now())
    mark_learned(me, 2)
    state(me, "Rents a flat in Ghent", "home")

    assert flat not in me.context("Where do I rent a flat?").memories
    assert boat in me.context("What is the name of my boat?").memories
    assert flat in me.context("What did I say about the flat that I rent?").memories


def test_a_hot_set_outside_a_session_has_what_the_prompt_needs(open_memory: Open) -> None:
    me = open_memory("advisor").for_user("ada")
    settle(me)

    assert entries(me.context("Where do I live?").text) == ["Rents a flat in Ghent for 900 euros"]
    assert len(me.context().memories) == 5
    assert me.context("Where do I live?", session="monday").memories == me.context().memories
