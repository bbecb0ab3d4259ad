"""I7: after each reply, the last 15 messages are read in the background; a crash harms nobody."""

from __future__ import annotations

import pytest

from remembrancer.sessions.turns import TurnInput
from remembrancer.testing import ModelEndpoint, fails, says
from remembrancer.types import Fact
from tests.support.opening import Open
from tests.support.proposals import proposal, proposes

pytestmark = pytest.mark.feature("I7")


def exchange(number: int) -> list[TurnInput]:
    return [
        {"role": "user", "content": f"Question {number}: what about row {number}?"},
        {"role": "assistant", "content": f"Row {number} is fine."},
    ]


def test_I7_a_model_sees_exactly_the_last_fifteen_messages(
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
    assert len(lines) == 15
    assert lines[0].endswith("Row 4 is fine.")
    assert [line for line in lines if " new, " in line] == [
        "[t14] person new, Mon 2026-03-02 12:00: Question 11: what about row 11?"
    ]


def test_I7_what_is_learned_late_is_read_fifteen_messages_at_a_time(
    open_memory: Open, model: ModelEndpoint, models: dict[str, object]
) -> None:
    store = open_memory("instances", models=models)
    bot = store.for_user("ada", agent="bot")
    bot.learn([turn for number in range(20) for turn in exchange(number)], "chat")
    store.flush()

    shown = [one.json["messages"][-1]["content"] for one in model.requests]
    counts = [len([line for line in one.splitlines() if line.startswith("[t")]) for one in shown]
    assert counts == [15, 15, 15]
    assert all(sum(f"Question {number}:" in one for one in shown) >= 1 for number in range(20))
    instructions = str(model.requests[0].json["messages"][0]["content"])
    assert "relationship (A connection between two entities)" in instructions
    assert "decide priority" in instructions


SIX = (
    (
        "general",
        "Acme uses Slack as primary comms tool.",
        "Acme uses Slack as their primary comms tool.",
    ),
    (
        "preference",
        "Alice prefers tables over prose answers.",
        "Alice hates prose, she always wants tables.",
    ),
    ("fact", "Bob's office is in Munich.", "Bob is out, his office is in Munich."),
    (
        "event",
        "Demo with Acme on 2026-05-12 at 15:00 CEST.",
        "We have a demo with Acme on 12 May 2026 at 15:00 CEST.",
    ),
    ("relationship", "Carol manages Dan's team.", "Dan's team is managed by Carol."),
    (
        "decision",
        "Decided to use Postgres for the prototype.",
        "We'll use Postgres for the prototype, that's decided.",
    ),
)


def test_I7_what_is_said_of_a_domain_is_kept_with_its_category(
    open_memory: Open, model: ModelEndpoint, models: dict[str, object]
) -> None:
    """The model gives content, category and importance, and names nobody as the subject."""
    operations = [
        proposal(content, quote, category=category, importance=number)
        for number, (category, content, quote) in enumerate(SIX, 1)
    ]
    model.script = proposes(*operations, about="user")
    bot = open_memory("instances", models=models).for_user("ada", agent="bot")
    for _, _, said in SIX:
        bot.learn(
            [{"role": "user", "content": said}, {"role": "assistant", "content": "Noted."}], "chat"
        )
    bot._learner.drain()

    kept = {one.content: one for one in bot.list().items if isinstance(one, Fact)}
    assert {(one.category, one.content) for one in kept.values()} >= {one[:2] for one in SIX}
    assert [kept[content].importance for _, content, _ in SIX] == [1, 2, 3, 4, 5, 6]
    assert bot.list(status="unconfirmed").items == ()


def test_I7_without_a_model_rules_read_what_is_said_of_a_domain(open_memory: Open) -> None:
    store = open_memory("instances")
    bot = store.for_user("ada", agent="bot")
    said = [
        "Acme uses Slack as primary comms tool.",
        "Alice prefers tables over prose answers.",
        "Bob's office is in Munich.",
        "The demo with Acme is on 2026-05-12 at 15:00 CEST.",
        "Carol manages Dan's team.",
        "Decided to use Postgres for the prototype.",
        "Does Acme use Slack?",
        "Maybe Carol manages the other team, too.",
        "It uses tables.",
    ]
    bot.learn([{"role": "user", "content": one} for one in said], "chat")
    bot.close("chat")
    store.flush()

    kept = {(one.category, one.content) for one in bot.list().items if isinstance(one, Fact)}
    order = ("general", "preference", "fact", "event", "relationship", "decision")
    assert kept == {(name, said[at].rstrip(".")) for at, name in enumerate(order)}


def test_I7_what_two_people_say_of_themselves_is_not_one_fact(open_memory: Open) -> None:
    store = open_memory("instances")
    for user, town in (("ada", "Leeds"), ("ben", "York")):
        me = store.for_user(user, agent="bot")
        turns: list[TurnInput] = [
            {"role": "user", "content": f"I live in {town}."},
            {"role": "assistant", "content": "Noted."},
        ]
        me.learn(turns, f"of-{user}")
        store.flush()

    kept = [one.content for one in store.for_user("ada", agent="bot").list().items]
    assert len(kept) == 2
    assert {"Leeds", "York"} == {one.split()[-1] for one in kept}


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
