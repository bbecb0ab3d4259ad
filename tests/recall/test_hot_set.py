"""P3: active memories by category at the start of a chat, byte-identical as long as it lasts."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidInput
from remembrancer.memory import Memory
from remembrancer.recall.prompt_block import BLOCK_END, BLOCK_START, PREAMBLE

pytestmark = [pytest.mark.feature("P3"), pytest.mark.postgres_long]

MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)
PREFIX = "You are an advisor.\n"

Open = Callable[..., Remembrancer]


@pytest.fixture
def me(open_fake: Open) -> Memory:
    return open_fake("advisor").for_user("ada")


def entries(text: str) -> list[str]:
    return [line[2:] for line in text.splitlines() if line.startswith("- ")]


def fill(me: Memory, clock: ManualClock) -> None:
    """Something of every sort; a minute passes after each."""
    for content, details in {
        "risk tolerance: moderate": {"category": "profile"},
        "time horizon: 10 to 15 years": {"category": "profile", "importance": 8},
        "no individual stocks (funds only)": {"category": "finance_context"},
        "be concise": {"category": "response_style"},
        "retires at 50": {"category": "fact", "subject": "user", "predicate": "retirement"},
        "has a dog": {"source": "extracted", "confidence": 0.75},
        "visits Oslo": {"ttl_days": 3},
        "lives in Rome": {"valid_until": clock.now() + 2 * DAY},
    }.items():
        me.remember(content, **details)
        clock.advance(MINUTE)


def test_P3_the_hot_set_has_the_given_format(me: Memory, clock: ManualClock) -> None:
    fill(me, clock)

    context = me.context()

    assert context.text == (
        f"{BLOCK_START}\n{PREAMBLE}\n\n"
        "## Your stored preferences\n"
        "\n"
        "### Profile\n"
        "- time horizon: 10 to 15 years\n"
        "- risk tolerance: moderate\n"
        "\n"
        "### Finance context\n"
        "- no individual stocks (funds only)\n"
        "\n"
        "### Response style\n"
        "- be concise\n"
        "\n"
        "### Fact\n"
        "- lives in Rome (until 4 Mar 2026)\n"
        "- visits Oslo\n"
        "- has a dog\n"
        "- retires at 50\n"
        f"{BLOCK_END}"
    )
    assert len(context.memories) == 8


def test_P3_lines_are_sentences_and_a_bare_value_has_its_key_in_words(me: Memory) -> None:
    for predicate, content in {
        "habit_do_funds": "Only does funds",
        "likes_gold": "Dislikes gold",
        "home": "Moved to Oslo",
        "favourite_tea": "Earl Grey",
    }.items():
        me.remember(content, subject="user", predicate=predicate)

    assert sorted(entries(me.context().text)) == [
        "Dislikes gold",
        "Favourite tea: Earl Grey",
        "Moved to Oslo",
        "Only does funds",
    ]


def test_P3_empty_categories_and_an_empty_memory_leave_no_heading(me: Memory) -> None:
    assert (me.context().text, me.context().tokens) == ("", 0)

    me.remember("be concise", category="response_style")

    assert me.context().text.count("###") == 1


def test_P3_in_a_session_the_prompt_does_not_matter(me: Memory, clock: ManualClock) -> None:
    fill(me, clock)

    dog, taxes = (
        me.context(prompt, session="monday") for prompt in ("what about my dog?", "taxes")
    )

    assert dog == taxes == me.context(session="monday")


def test_P3_outside_a_session_a_prompt_gets_what_it_needs(me: Memory, clock: ManualClock) -> None:
    fill(me, clock)

    assert entries(me.context("What does my dog eat?").text) == ["has a dog"]


def test_P3_the_order_is_importance_then_last_affirmed_then_id(
    me: Memory, clock: ManualClock
) -> None:
    first, second = (me.remember(f"said {word}").memory for word in ("first", "second"))
    clock.advance(MINUTE)
    third = me.remember("said third").memory
    major = me.remember("major", importance=9).memory
    assert me.context().memories == (major.id, third.id, *sorted((first.id, second.id)))

    clock.advance(MINUTE)
    me.confirm(second.id)

    assert me.context().memories == (major.id, second.id, third.id, first.id)


WRITES: dict[str, Callable[[Memory], object]] = {
    "save": lambda me: me.remember("new and important", importance=10),
    "update": lambda me: me.update("retires at 50", "retires at 55"),
    "supersede": lambda me: me.remember("at 60", subject="user", predicate="retirement"),
    "forget": lambda me: me.forget("be concise"),
    "confirm": lambda me: me.confirm("risk tolerance"),
    "confirm what decays": lambda me: me.confirm("has a dog"),
    "link": lambda me: me.link("Rome", "Oslo"),
    "undo": lambda me: me.undo(),
    "recall": lambda me: me.recall("dog"),
    "forget and restore": lambda me: (me.forget("be concise"), me.restore("be concise")),
}


@pytest.mark.parametrize("write", WRITES)
def test_P3_it_is_byte_identical_for_the_whole_session_and_after_a_restart(
    write: str, me: Memory, clock: ManualClock, open_fake: Open
) -> None:
    fill(me, clock)
    start = me.context(session="monday")
    assert start.text == me.context().text

    clock.advance(MINUTE)
    WRITES[write](me)
    assert me.context(session="monday") == start
    clock.advance(400 * DAY)
    elsewhere = open_fake("advisor").for_user("ada")

    assert elsewhere.context(session="monday") == start


def test_P3_turns_of_an_earlier_time_do_not_move_the_moment(me: Memory, clock: ManualClock) -> None:
    me.append([{"role": "user", "content": "Hello."}], "monday")
    fill(me, clock)
    start = me.context(session="monday")
    clock.advance(MINUTE)
    me.remember("wife's name is Sarah")

    earlier = clock.now() - 900 * DAY
    me.append([{"role": "user", "content": "Before.", "said_at": earlier}], "monday")

    assert me.context(session="monday") == start
    assert len(start.memories) == 8


def test_P3_of_many_who_ask_first_one_sets_the_moment(
    me: Memory, open_fake: Open, clock: ManualClock
) -> None:
    fill(me, clock)
    handles = [open_fake("advisor").for_user("ada") for _ in range(3)]

    with ThreadPoolExecutor(6) as pool:
        told = list(pool.map(lambda n: handles[n % 3].context(session="monday"), range(24)))
    clock.advance(MINUTE)
    me.remember("wife's name is Sarah")

    assert {one.text for one in told} == {me.context(session="monday").text}


def test_P3_sessions_of_two_people_have_nothing_to_do_with_each_other(
    open_fake: Open, clock: ManualClock
) -> None:
    store = open_fake("advisor")
    store.for_user("grace").context(session="monday")
    clock.advance(MINUTE)
    ada = store.for_user("ada")
    ada.remember("likes tea")

    assert entries(ada.context(session="monday").text) == ["likes tea"]


@pytest.mark.parametrize(
    "name", ["", "  ", "x" * 201, "a\x00b", "ghp_k7Qz2mXv9LpR4tWn8BcY6dHs3JfG5aEu1iMo"]
)
def test_P3_a_session_has_a_proper_name(name: str, me: Memory) -> None:
    with pytest.raises(InvalidInput):
        me.context(session=name)


def test_P3_a_note_is_of_this_moment_even_in_a_session(me: Memory, clock: ManualClock) -> None:
    me.context(session="monday", style="note")
    clock.advance(MINUTE)
    me.remember("likes tea")

    assert entries(me.context(session="monday", style="note").text) == ["likes tea"]


def test_P3_time_passing_changes_nothing_in_it(me: Memory, clock: ManualClock) -> None:
    fill(me, clock)
    started = clock.now()
    start = me.context(as_of=started)

    clock.advance(100 * DAY)

    assert entries(me.context().text)[-1:] == ["retires at 50"]
    assert me.context(as_of=started) == start


def test_P3_writes_show_up_in_the_next_chat(me: Memory, clock: ManualClock) -> None:
    fill(me, clock)
    me.context(session="monday")
    clock.advance(MINUTE)
    me.update("retires at 50", "retires at 55")
    me.forget("be concise")
    me.remember("wife's name is Sarah")

    running, following = (me.context(session=day).text for day in ("monday", "tuesday"))

    assert "retires at 50" in running
    assert "be concise" in running
    assert "Sarah" not in running
    assert "retires at 55" in following
    assert "retires at 50" not in following
    assert "be concise" not in following
    assert "Sarah" in following


def test_P3_what_had_expired_and_was_confirmed_later_stays_out_of_it(
    me: Memory, clock: ManualClock
) -> None:
    fill(me, clock)
    started = clock.advance(10 * DAY)
    start = me.context(as_of=started)
    assert "Oslo" not in start.text

    clock.advance(DAY)
    me.confirm("visits Oslo")

    assert me.context(as_of=started) == start


def test_P3_only_a_deletion_takes_something_out_of_a_running_chat(
    me: Memory, clock: ManualClock
) -> None:
    fill(me, clock)
    started = clock.now()
    clock.advance(MINUTE)

    me.delete("has a dog")

    assert "dog" not in me.context(as_of=started).text


def test_P3_a_frozen_hot_set_may_be_cached_with_the_prefix(me: Memory, clock: ManualClock) -> None:
    fill(me, clock)
    context = me.context(session="monday")

    assert context.frozen
    assert context.split(PREFIX) == (f"{PREFIX}\n\n{context.text}", "")
    assert me.context().split(PREFIX) == (PREFIX, me.context().text), "not frozen: not cached"
    assert me.context(session="monday", budget=0).split(PREFIX) == (PREFIX, "")


def test_P3_the_summary_is_told_if_there_is_one_and_the_body_never(me: Memory) -> None:
    me.remember("The whole of it.", summary="In short.\n# Heading", body="At length.")
    me.remember("Without a summary.", body="At greater length.")

    text = me.context().text

    assert sorted(entries(text)) == ["In short. \\# Heading", "Without a summary."]


def test_P3_a_category_of_another_profile_comes_last(open_fake: Open) -> None:
    default = open_fake("default").for_user("ada")
    default.remember("moved to Lima", category="decision", importance=10)
    me = open_fake("advisor").for_user("ada")
    me.remember("likes tea")

    text = me.context().text

    assert text.index("### Fact\n- likes tea") < text.index("### Decision\n- moved to Lima")


def test_P3_only_what_the_agent_may_see_is_loaded(open_fake: Open) -> None:
    store = open_fake("advisor")
    store.for_user("ada").remember("of health", scope="health")
    store.for_user("grace").remember("of Grace")

    assert store.for_user("ada", agent="tax").context().text == ""
