"""The life of a memory through the verbs of the library, on both engines."""

from __future__ import annotations

from remembrancer.memory import Memory
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
