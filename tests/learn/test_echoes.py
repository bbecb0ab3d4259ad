"""X6: every learned memory cites the person's own words; echoes never become memories."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

import pytest

from remembrancer.clock import ManualClock
from remembrancer.memory import Memory
from remembrancer.sessions.turns import TurnInput
from remembrancer.testing import ModelEndpoint, says
from remembrancer.types import Source
from tests.support.opening import Open

pytestmark = [pytest.mark.feature("X6"), pytest.mark.postgres_long]

TOLD = {
    1: "I'm allergic to peanuts.",
    4: "I live in Oslo.",
    9: "My sister is called Ida.",
    15: "I work as a nurse.",
    21: "I moved to Bergen.",
}
CHATTER = (
    "What should I cook tonight?",
    "Thanks, that helps.",
    "How is the weather there?",
    "Tell me a joke.",
    "Yes, exactly.",
)


def day(number: int, me: Memory, rng: random.Random) -> list[TurnInput]:
    """A day's chat, with what is remembered put into every prompt and told back."""
    turns: list[TurnInput] = [{"role": "system", "content": f"You help Ada.\n{me.context('Ada')}"}]
    for words in [TOLD.get(number, rng.choice(CHATTER)), rng.choice(CHATTER)]:
        recalled = me.context(words)
        known = [one.memory.content for one in me.recall(words, limit=3, kinds=("fact",))]
        turns += [
            {"role": "user", "content": f"{recalled}\n\n{words}"},
            {"role": "assistant", "content": f"I remember: {'. '.join(known)}. You enjoy skiing."},
            {"role": "user", "content": f"> I remember: {'. '.join(known)}\nYes, exactly."},
        ]
    return turns


def parrot(request: dict[str, Any]) -> Any:
    """A model that proposes whatever it is shown, injected, remembered or said by anyone."""
    shown = request["messages"][-1]["content"]
    if "<conversation>" not in shown:
        return says({"operations": []})
    remembered = [line.partition(") ")[2] for line in shown.splitlines() if line.startswith("[m")]
    turns = [line for line in shown.splitlines() if line.startswith("[t")]
    operations = []
    for line in turns:
        name, words = line[1 : line.index("]")], line.partition(": ")[2]
        for content in [words, *remembered, "Enjoys skiing"]:
            operations.append(
                {
                    "op": "add",
                    "content": content,
                    "quote": words,
                    "turns": [name],
                    "confidence": 0.9,
                }
            )
    return says({"operations": [one for one in operations if one["content"]][:50]})


@pytest.mark.parametrize("extractor", ["without a model", "with a model that parrots"])
def test_X6_thirty_days_of_chat_with_memory_injected_leave_no_echo(
    open_memory: Open, model: ModelEndpoint, models: Any, clock: ManualClock, extractor: str
) -> None:
    model.script = parrot
    chosen = models if extractor == "with a model that parrots" else {}
    store = open_memory(models=chosen, profile_overrides={"learning": {"when": "after_reply"}})
    me = store.for_user("ada")
    rng = random.Random(30)
    for number in range(1, 31):
        me.learn(day(number, me, rng))
        store.flush()
        clock.advance(timedelta(days=1))

    facts = [one for one in me.list(limit=200).items if one.kind == "fact"]
    own = " ".join(TOLD.values()).casefold()
    for fact in facts:
        assert fact.source is Source.EXTRACTED
        turns = {one.id: one for one in me.turns(fact.session_id or "")}
        assert all(turns[one.turn_id].is_by_user for one in fact.evidence)
        assert fact.evidence[0].quote.rstrip(".").casefold() in own
        assert "skiing" not in fact.content
    assert len(facts) <= len(TOLD)
    assert {"peanuts", "nurse", "Ida"} <= {
        word for word in ("peanuts", "nurse", "Ida") if any(word in one.content for one in facts)
    }
    assert me.audit().rates["junk"] == 0
    assert me.audit().rates["duplicate"] == 0


@pytest.mark.parametrize(
    "echo",
    [
        "You live in Rome and have two cats named Fig and Plum.",
        "you live in rome, and have two cats named Fig and Plum",
    ],
)
def test_X6_what_a_person_only_repeats_of_others_is_not_their_word(
    open_memory: Open, model: ModelEndpoint, models: Any, echo: str
) -> None:
    model.default = says(
        {
            "operations": [
                {
                    "op": "add",
                    "content": "Lives in Rome and has two cats named Fig and Plum",
                    "quote": echo,
                    "turns": ["t2"],
                    "confidence": 0.95,
                }
            ]
        }
    )
    store = open_memory(models=models)
    me = store.for_user("ada")
    me.learn(
        [
            {
                "role": "assistant",
                "content": "You live in Rome and have two cats named Fig and Plum.",
            },
            {"role": "user", "content": f"{echo}\nIs that from another person?"},
        ]
    )
    store.flush()

    assert not me.list().items
    assert [one.reason for one in me.rejected().items] == ["echo"]


def test_X6_what_was_rejected_is_kept_for_some_days_and_then_gone(
    open_memory: Open, model: ModelEndpoint, weak_models: Any, clock: ManualClock, tenant: str
) -> None:
    operation = {"op": "add", "content": "Likes opera", "quote": "Hello", "turns": ["t1"]}
    model.default = says({"operations": [operation | {"confidence": 0.9}]})
    store = open_memory(models=weak_models)
    me = store.for_user("ada")
    me.learn([{"role": "user", "content": "Hello there."}])
    store.flush()

    (rejected,) = me.rejected().items
    assert (rejected.content, rejected.reason) == ("Likes opera", "unsupported")
    clock.advance(timedelta(days=31))
    store.run_job("trash_purge", tenant=tenant)
    assert not me.rejected().items
