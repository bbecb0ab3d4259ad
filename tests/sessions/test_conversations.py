"""What people can rely on when they hand over conversations."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidInput, NotFound
from remembrancer.memory import Memory
from remembrancer.sessions.turns import TurnInput
from remembrancer.types import Kind, Turn

CHAT: list[TurnInput] = [
    {"role": "user", "speaker": "Ada", "content": "Do you remember what we did with the boat?"},
    {"role": "user", "speaker": "Bo", "content": "Yes, it went to the harbour master for a song."},
    {"role": "user", "speaker": "Ada", "content": "The garden needs water this week."},
    {"role": "user", "speaker": "Bo", "content": "I can do it on Friday."},
]


@pytest.fixture
def me(open_memory: Callable[..., Remembrancer]) -> Memory:
    return open_memory().for_user("ada")


def said(me: Memory, query: str, **wanted: object) -> list[str]:
    found = me.recall(query, kinds=["turn"], **wanted)  # type: ignore[arg-type]
    return [one.memory.content for one in found]


def test_turns_come_back_in_order_with_their_speakers_and_dates(me: Memory) -> None:
    day = datetime(2025, 5, 3, 9, tzinfo=UTC)
    kept = me.append([{**turn, "said_at": day} for turn in CHAT], session="boat", title="The boat")

    read = me.turns("boat")

    assert read == kept
    assert [turn.position for turn in read] == [0, 1, 2, 3]
    assert {turn.said_at for turn in read} == {day}
    assert [turn.speaker for turn in read] == ["Ada", "Bo", "Ada", "Bo"]
    assert isinstance(me.get(kept[0].id), Turn)


def test_a_conversation_goes_on_where_it_stopped(me: Memory) -> None:
    me.append(CHAT[:2], session="boat")
    me.append(CHAT[2:], session="boat")
    assert [turn.content for turn in me.turns("boat")] == [turn["content"] for turn in CHAT]


def test_without_a_name_it_is_a_new_conversation(me: Memory) -> None:
    first, second = me.append(CHAT[:1]), me.append(CHAT[1:2])
    assert first[0].session_id != second[0].session_id


def test_the_answer_is_found_beside_the_question_it_answers(me: Memory) -> None:
    me.append(CHAT, session="boat")
    assert "harbour master" in " ".join(said(me, "What happened to the boat?")[:2])


def test_who_is_named_in_the_question_is_preferred(me: Memory) -> None:
    same = "I am going to learn the violin."
    me.append(
        [
            {"role": "user", "speaker": "Bo", "content": same},
            {"role": "user", "speaker": "Ada", "content": same},
        ]
    )
    best = me.recall("What is Ada going to learn?", kinds=["turn"])[0].memory
    assert isinstance(best, Turn)
    assert best.speaker == "Ada"


def test_what_the_person_said_comes_before_what_the_assistant_said(me: Memory) -> None:
    me.append(
        [
            {"role": "assistant", "content": "A nut allergy means avoiding cashews."},
            {"role": "user", "content": "A nut allergy means I avoid cashews."},
        ]
    )
    assert said(me, "nut allergy and cashews")[0].startswith("A nut allergy means I")
    asked = me.recall("What did you say about a nut allergy and cashews?", kinds=["turn"])
    assert all("assistant" not in one.why.parts for one in asked)


def test_a_date_in_the_question_finds_what_was_said_then(me: Memory) -> None:
    for year in (2023, 2024, 2025):
        day = datetime(year, 5, 10, tzinfo=UTC)
        me.append([{"role": "user", "content": f"We went sailing, trip {year}.", "said_at": day}])
    assert said(me, "Where did we go in May 2024?")[0] == "We went sailing, trip 2024."
    now = datetime(2026, 3, 2, tzinfo=UTC)
    assert said(me, "Where did we go last May?", now=now)[0] == "We went sailing, trip 2025."


def test_what_is_excluded_does_not_come_first(me: Memory) -> None:
    me.append(
        [
            {"role": "user", "content": "I play the violin every day."},
            {"role": "user", "content": "I play the cello on Sundays."},
        ]
    )
    assert "cello" in said(me, "Which instruments do I play besides the violin?")[0]


def test_secrets_do_not_get_in(me: Memory) -> None:
    (turn,) = me.append([{"role": "user", "content": "my wifi password is hunter2, by the way"}])
    assert "hunter2" not in turn.content
    assert "hunter2" not in " ".join(said(me, "wifi password"))


def test_turns_are_recalled_beside_facts_and_listed_only_when_asked_for(me: Memory) -> None:
    me.remember("Ada's boat is called Minna.")
    me.append(CHAT, session="boat")

    kinds = {one.memory.kind for one in me.recall("boat")}

    assert kinds == {Kind.FACT, Kind.TURN}
    assert [one.kind for one in me.list().items] == [Kind.FACT]
    assert len(me.list(kinds=["turn"]).items) == len(CHAT)


def test_a_turn_can_be_forgotten_and_brought_back(me: Memory) -> None:
    kept = me.append(CHAT, session="boat")
    me.forget(kept[1].id)
    assert kept[1].content not in said(me, "harbour master")
    me.undo()
    assert kept[1].content in said(me, "harbour master")


def test_another_person_finds_nothing_of_it(open_memory: Callable[..., Remembrancer]) -> None:
    store = open_memory()
    kept = store.for_user("ada").append(CHAT, session="boat")
    bob = store.for_user("bob")
    assert bob.recall("boat") == []
    assert bob.turns("boat") == ()
    with pytest.raises(NotFound):
        bob.get(kept[0].id)


def test_two_writers_of_one_conversation_both_get_their_turns_in(me: Memory) -> None:
    turn: TurnInput = {"role": "user", "content": "One of many."}
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: me.append([turn, turn], session="busy"), range(8)))
    assert [one.position for one in me.turns("busy")] == list(range(16))


@pytest.mark.parametrize(
    ("turn", "complaint"),
    [
        ({"role": "robot", "content": "x"}, "role"),
        ({"role": "user", "content": "  "}, "empty"),
        ({"role": "user", "content": "a\x00b"}, "NUL"),
        ({"role": "user", "content": "\ud800"}, "unpaired surrogate"),
        ({"role": "user", "content": "x" * 1_000_001}, "too long"),
    ],
)
def test_one_bad_turn_is_refused_with_its_number_and_nothing_is_stored(
    me: Memory, turn: TurnInput, complaint: str
) -> None:
    with pytest.raises(InvalidInput, match=f"Turn 2.*{complaint}"):
        me.append([CHAT[0], turn], session="bad")
    assert me.turns("bad") == ()


def test_a_deadline_is_kept_by_going_without_the_meaning(
    me: Memory,
) -> None:
    me.remember("The kettle is violet.")
    found = me.recall(f"violet kettle {secrets.token_hex(4)}", deadline_ms=0.001)
    assert found.late == ("meaning",)
    assert found[0].memory.content == "The kettle is violet."
    assert found[0].why.similarity is None
    assert me.recall("violet kettle", deadline_ms=60_000).late == ()


def test_how_sure_it_is_tells_something_from_nothing(me: Memory) -> None:
    me.append(CHAT, session="boat")
    known = me.recall("what did we do with the boat?").sure
    unknown = me.recall("which vaccine did the veterinarian choose?").sure
    assert 0 <= unknown < known <= 1
    assert me.recall("boat", kinds=["rule"]).sure == 0


def test_a_long_turn_is_found_by_one_sentence_of_it(me: Memory) -> None:
    filler = "The weather was mild and the trains were on time all week long. "
    me.append(
        [
            {"role": "user", "content": filler * 3 + "My sister is a beekeeper. " + filler * 3},
            {"role": "user", "content": "Someone keeps an eye on insects in the museum."},
        ]
    )
    assert "beekeeper" in said(me, "Who keeps bees?")[0]
