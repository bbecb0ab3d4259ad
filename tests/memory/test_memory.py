"""The life of a memory through the verbs of the library, on both engines."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest

from remembrancer.async_memory import AsyncMemory
from remembrancer.clock import ManualClock
from remembrancer.errors import Conflict, InvalidInput, NotUndoable
from remembrancer.memory import Memory
from remembrancer.sessions.turns import TurnInput
from remembrancer.types import Action, Status


def test_what_is_remembered_can_be_recalled_corrected_forgotten_and_brought_back(
    me: Memory,
) -> None:
    first = me.remember("Ada works mostly on the iOS app.")
    assert me.recall("which app does Ada work on?")[0].memory.id == first.memory.id

    second = me.update(first.memory.id, "Ada works on the dashboard.")
    assert [one.memory.content for one in me.recall("Ada's work")] == [
        "Ada works on the dashboard."
    ]

    forgotten = me.forget("dashboard")
    assert forgotten.memory.id == second.memory.id
    assert me.recall("Ada's work") == []

    undone = me.undo()
    assert undone.memory.status is Status.ACTIVE
    history = me.history(second.memory.id)
    assert [version.content for version in history.versions] == [
        "Ada works mostly on the iOS app.",
        "Ada works on the dashboard.",
    ]
    assert [event.action for event in history.events] == [
        Action.REMEMBERED,
        Action.UPDATED,
        Action.FORGOTTEN,
        Action.UNDONE,
    ]


def test_a_version_keeps_its_kind(me: Memory) -> None:
    me.remember("Ada works on the iOS app.")
    with pytest.raises(InvalidInput, match="kind of a memory cannot change"):
        me.update("iOS", "Ask before sending", kind="rule")


def test_undo_goes_back_step_by_step_and_can_itself_be_undone(me: Memory) -> None:
    me.remember("one")
    second = me.remember("Berlin is the capital of Germany")
    first_undo = me.undo()
    assert me.recall("capital of Germany", mode="keyword") == []
    me.undo()
    assert me.list().items == ()

    assert first_undo.event is not None
    me.undo(first_undo.event.id)
    assert [one.id for one in me.list().items] == [second.memory.id]
    with pytest.raises(NotUndoable):
        me.undo(first_undo.event.id)


def test_undo_refuses_what_was_changed_since(me: Memory) -> None:
    first = me.remember("Ada lives in Oslo", subject="ada", predicate="city")
    me.remember("Ada lives in Lima", subject="ada", predicate="city")
    assert first.event is not None
    with pytest.raises(Conflict, match="later change"):
        me.undo(first.event.id)


def test_links_are_kept_once_and_can_be_undone(me: Memory) -> None:
    cause = me.remember("The bridge is closed").memory
    effect = me.remember("Ada takes the ferry").memory
    made = me.link(cause.id, effect.id, "supports")
    assert me.link(cause.id, effect.id, "supports").event is None
    assert [link.relation for link in me.history(effect.id).links] == ["supports"]
    assert made.event is not None
    me.undo(made.event.id)
    assert me.history(effect.id).links == ()
    with pytest.raises(InvalidInput):
        me.link(cause.id, cause.id)


def test_a_relation_is_accepted_by_its_other_name(me: Memory) -> None:
    cause = me.remember("The bridge is closed").memory
    effect = me.remember("Ada takes the ferry").memory

    me.link(cause.id, effect.id, "relates_to")

    assert [link.relation for link in me.links(effect.id)] == ["related_to"]
    me.unlink(cause.id, effect.id, "relates_to")
    assert me.links(effect.id) == ()


def test_pages_of_a_listing_are_complete_and_a_forged_cursor_is_refused(me: Memory) -> None:
    for number in range(7):
        me.remember(f"fact {number}", subject="s", predicate=str(number))
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = me.list(limit=3, cursor=cursor)
        seen += [one.id for one in page.items]
        cursor = page.cursor
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 7
    with pytest.raises(InvalidInput, match="cursor"):
        me.list(cursor="nonsense")


@pytest.mark.parametrize(
    "details",
    [
        {"importance": 11},
        {"importance": 0},
        {"confidence": 1.5},
        {"category": "nonsense"},
        {"permanence": "forever"},
        {"kind": "turn"},
        {"subject": "alone"},
        {"tags": [""]},
        {"metadata": {"x": object()}},
        {"metadata": {"x": float("nan")}},
        {"ttl_days": -1},
        {"summary": "a\x00b"},
    ],
)
def test_bad_input_is_refused_and_nothing_is_stored(me: Memory, details: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        me.remember("some content", **details)
    assert me.list().items == ()
    assert me.stats().events == 0


@pytest.mark.parametrize("content", ["", "   \n", "x" * 20_001, "a\x00b", "half \ud800"])
def test_content_that_cannot_be_kept_is_refused(me: Memory, content: str) -> None:
    with pytest.raises(InvalidInput):
        me.remember(content)


CHAT: list[TurnInput] = [
    {"role": "user", "content": "My sister plays the cello in Oslo.", "speaker": "Ada"},
    {"role": "assistant", "content": "How long has she played?"},
    {"role": "user", "content": "Since she was six."},
]


def test_a_conversation_is_kept_as_it_was_and_can_be_recalled(me: Memory) -> None:
    first = me.append(CHAT[:2], session="music")
    me.append(CHAT[2:], session="music")
    me.append([{"role": "user", "content": "What is for lunch?"}], session="food")

    turns = me.turns("music")
    assert [(one.position, one.role, one.content) for one in turns] == [
        (number, one["role"], one["content"]) for number, one in enumerate(CHAT)
    ]
    assert turns[:2] == first
    assert me.recall("which instrument does the sister play?")[0].memory == first[0]
    assert me.get(first[0].id) == first[0]
    assert me.turns("nothing of the kind") == ()


def test_turns_are_listed_only_when_they_are_asked_for(me: Memory) -> None:
    fact = me.remember("Ada lives in Oslo.").memory
    turns = me.append(CHAT, session="music")

    assert me.list().items == (fact,)
    assert sorted(me.list(kinds=["turn"]).items, key=lambda one: one.id) == list(turns)
    assert me.stats().by_kind["turn"] == {"active": 3}
    assert {one.memory.id for one in me.recall("cello", kinds=["fact"])} == {fact.id}


def test_what_was_heard_can_be_taken_back_and_forgotten(me: Memory) -> None:
    turns = me.append(CHAT, session="music")
    (event,) = me.history(turns[0].id).events
    assert event.action is Action.HEARD

    me.forget(turns[0].id)
    assert turns[0].id not in {one.memory.id for one in me.recall("sister's cello")}
    me.undo()
    assert me.recall("sister's cello")[0].memory.id == turns[0].id

    me.undo(event.id)
    assert me.recall("sister's cello") == []


@pytest.mark.parametrize(
    "turn",
    [
        {"role": "king", "content": "Let there be light."},
        {"content": "Nobody said this."},
        {"role": "user"},
        {"role": "user", "content": "  "},
        {"role": "user", "content": "a\x00b"},
        {"role": "user", "content": "half \ud800"},
        {"role": "user", "content": "x" * 1_000_001},
        {"role": "user", "content": "x", "origin": "heaven"},
        {"role": "user", "content": "x", "speaker": "a\nb"},
        {"role": "user", "content": "x", "metadata": {"x": object()}},
        {"role": "user", "content": "x", "metadata": {"x": float("nan")}},
        {"role": "user", "content": "x", "metadata": {"x": "a\x00b"}},
    ],
)
def test_a_bad_turn_is_refused_and_nothing_of_its_conversation_is_stored(
    me: Memory, turn: Any
) -> None:
    with pytest.raises(InvalidInput):
        me.append([CHAT[0], turn], session="music")
    assert me.turns("music") == ()
    assert me.stats().events == 0


@pytest.mark.parametrize("title", ["a\x00b", "half \ud800"])
def test_a_title_that_cannot_be_kept_is_refused(me: Memory, title: str) -> None:
    with pytest.raises(InvalidInput):
        me.append(CHAT, session="music", title=title)
    assert me.turns("music") == ()


async def verbs_of(memory: AsyncMemory) -> str:
    await memory.remember("Ada plays the cello")
    return (await memory.recall("music"))[0].memory.content


def test_async_code_awaits_the_same_verbs(me: Memory) -> None:
    assert asyncio.run(verbs_of(AsyncMemory(me))) == "Ada plays the cello"


async def look_back(memory: AsyncMemory, then: datetime) -> list[object]:
    (listed,) = (await memory.list(as_of=then)).items
    (recalled,) = await memory.recall("Ada lives", as_of=then)
    got = await memory.get(listed.id, as_of=then)
    fact = await memory.fact("ada", "home", as_of=then)
    (version,) = (await memory.history(listed.id, as_of=then)).versions
    assert listed == recalled.memory == got == fact == version
    return [listed.content, (await memory.stats(as_of=then)).by_scope]


@pytest.mark.feature("X2")
def test_async_code_looks_back(me: Memory, clock: ManualClock) -> None:
    key = {"subject": "ada", "predicate": "home"}
    me.remember("Ada lives in Oslo.", **key)
    then = clock.now()
    clock.advance(timedelta(hours=1))
    me.remember("Ada lives in Lima.", **key)
    answer = asyncio.run(look_back(AsyncMemory(me), then))
    assert answer == ["Ada lives in Oslo.", {"global": 1}]
