"""I7: after each reply, the last 15 messages are read in the background; a crash harms nobody."""

from __future__ import annotations

import pytest

from remembrancer.sessions.turns import TurnInput
from remembrancer.testing import ModelEndpoint, fails, says
from remembrancer.types import Fact
from tests.support.opening import Open

pytestmark = pytest.mark.feature("I7")


def exchange(number: int) -> list[TurnInput]:
    return [
        {"role": "user", "content": f"Question {number}: what about row {number}?"},
        {"role": "assistant", "content": f"Row {number} is fine."},
    ]


def test_I7_a_model_sees_the_last_fifteen_messages_and_what_is_new(
    open_memory: Open, model: ModelEndpoint, models: dict[str, object]
) -> None:
    store = open_memory("instances", models=models)
    bot = store.for_user("ada", agent="bot")
    for number in range(12):
        bot.learn(exchange(number), "chat")
        store.flush()

    assert len(model.requests) == 12
    shown = model.requests[-1].json["messages"][-1]["content"]
    lines = [line for line in shown.splitlines() if line.startswith("[t")]
    assert len(lines) == 15 + 2
    assert [line for line in lines if " new, " in line] == [
        "[t16] person new, Mon 2026-03-02 12:00: Question 11: what about row 11?"
    ]


def test_I7_content_category_and_importance_come_back(
    open_memory: Open, model: ModelEndpoint, models: dict[str, object]
) -> None:
    operation = {
        "op": "add",
        "content": "Decided to use PostgreSQL",
        "quote": "we decided to use PostgreSQL",
        "turns": ["t1"],
        "category": "decision",
        "importance": 7,
        "confidence": 0.9,
    }
    model.default = says({"operations": [operation]})
    store = open_memory("instances", models=models)
    bot = store.for_user("ada", agent="bot")

    bot.learn(
        [
            {"role": "user", "content": "By the way, we decided to use PostgreSQL."},
            {"role": "assistant", "content": "Noted."},
        ],
        "chat",
    )
    store.flush()

    (kept,) = bot.list().items
    assert isinstance(kept, Fact)
    assert (kept.content, kept.category, kept.importance, kept.scope) == (
        "Decided to use PostgreSQL",
        "decision",
        7,
        "bot",
    )
    assert not store.for_user("ada", agent="other").list().items


def test_I7_a_failure_never_touches_the_conversation(
    open_memory: Open, model: ModelEndpoint, models: dict[str, object]
) -> None:
    model.default = fails(401)
    store = open_memory("instances", models=models)
    bot = store.for_user("ada", agent="bot")

    bot.learn(exchange(1), "chat")
    store.flush()
    bot.append(exchange(2), "chat")

    assert len(bot.turns("chat")) == 4
    session = bot.session("chat")
    assert session.failure is not None
    assert session.failure.startswith("model_unavailable")
    assert (session.watermark, session.due_at is not None) == (0, True)
