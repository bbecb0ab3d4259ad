"""P13: past 80 % of its budget a chat is summarised for the model; no message is deleted."""

from __future__ import annotations

import pytest

from remembrancer.memory import Memory
from remembrancer.sessions.turns import TurnInput
from remembrancer.testing import ModelEndpoint, fails, says
from tests.support.opening import Open

pytestmark = pytest.mark.feature("P13")

BUDGET = 1000
WORDS = 200


def long_chat(count: int) -> list[TurnInput]:
    """Turns of 50 tokens each."""
    roles = ("user", "assistant")
    return [
        {"role": roles[n % 2], "content": f"Point {n}. ".ljust(WORDS, "x")} for n in range(count)
    ]


def test_P13_a_chat_within_its_budget_is_shown_as_it_is(me: Memory) -> None:
    me.append(long_chat(16), "chat")  # 800 tokens, exactly 80 %

    view = me.view("chat", budget=BUDGET)

    assert (len(view.turns), view.summary, view.compressed) == (16, None, False)


def test_P13_beyond_it_the_beginning_is_told_in_brief_and_nothing_is_deleted(me: Memory) -> None:
    turns = me.append(long_chat(17), "chat")

    view = me.view("chat", budget=BUDGET)

    assert view.compressed
    assert [one.id for one in view.turns] == [one.id for one in turns[-10:]]
    assert view.hidden == 7
    assert view.summary is not None
    assert view.summary.startswith("- Point 0.")
    assert me.turns("chat") == turns


def test_P13_a_model_tells_it_better_and_is_asked_once(
    open_memory: Open, model: ModelEndpoint, models: dict[str, object]
) -> None:
    model.default = says({"summary": "They went through some points."})
    me = open_memory(models=models).for_user("ada")
    me.append(long_chat(17), "chat")

    first, second = me.view("chat", budget=BUDGET), me.view("chat", budget=BUDGET)

    assert first == second
    assert first.summary == "They went through some points."
    assert len(model.requests) == 1
    me.append(long_chat(17), "chat")
    me.view("chat", budget=BUDGET)
    later = model.requests[1].json["messages"][-1]["content"]
    assert "They went through some points." in later
    assert "Point 0." in later  # of the second seventeen; those told already are not read again
    assert later.count("Point 3.") == 1


def test_P13_a_model_that_is_down_takes_nothing_away(
    open_memory: Open, model: ModelEndpoint, models: dict[str, object]
) -> None:
    model.default = fails(401)
    me = open_memory(models=models).for_user("ada")
    me.append(long_chat(17), "chat")

    view = me.view("chat", budget=BUDGET)

    assert view.summary is not None
    assert view.summary.startswith("- Point 0.")


def test_P13_the_summary_of_a_long_chat_survives_close_and_resume(
    open_memory: Open, model: ModelEndpoint, models: dict[str, object]
) -> None:
    store = open_memory("advisor", models=models)
    me = store.for_user("ada")
    me.append(long_chat(17), "chat")
    model.script = [says({"summary": "A thorough summary."})]
    model.default = says({"operations": [], "summary": "Three sentences."})
    thorough = me.view("chat", budget=BUDGET)

    me.close("chat")
    store.flush()

    assert me.session("chat").summary == "Three sentences."
    assert me.view("chat", budget=BUDGET) == thorough
    assert thorough.summary == "A thorough summary."
    me.append(long_chat(1), "chat")
    me.view("chat", budget=BUDGET)
    told = model.requests[-1].json["messages"][-1]["content"]
    assert "A thorough summary." in told
    assert "Three sentences." not in told


def test_P13_what_learning_notes_of_a_chat_is_not_its_beginning(
    open_memory: Open, model: ModelEndpoint, models: dict[str, object]
) -> None:
    store = open_memory("advisor", models=models)
    me = store.for_user("ada")
    me.append(long_chat(10), "chat")
    model.default = says({"operations": [], "summary": "Three sentences."})
    me.close("chat")
    store.flush()
    assert me.session("chat").summary == "Three sentences."
    me.append(long_chat(7), "chat")
    model.default = says({"summary": "A thorough summary."})

    assert me.view("chat", budget=BUDGET).summary == "A thorough summary."
    assert "Three sentences." not in str(model.requests[-1].json["messages"])


def test_P13_the_default_is_32k_tokens_at_four_characters_each(me: Memory) -> None:
    me.append([{"role": "user", "content": "x" * 4 * 25_600}], "fits")
    me.append([{"role": "user", "content": "x" * 4 * 12_800}] * 2, "fits too")
    me.append([{"role": "user", "content": "x" * 4 * 12_801}] * 2, "too long")

    assert not me.view("fits").compressed
    assert not me.view("fits too").compressed
    assert me.view("too long").compressed
