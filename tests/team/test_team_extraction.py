"""A17, A21: what is said for the team becomes a proposal, never a fact; learning can be off."""

from __future__ import annotations

from typing import Any

import pytest

from remembrancer.engine import Remembrancer
from remembrancer.sessions.turns import TurnInput
from remembrancer.testing import ModelEndpoint, says
from remembrancer.types import TeamOrigin, TeamStatus
from tests.support.opening import Open

pytestmark = pytest.mark.feature("A17")


def exchange(words: str, **more: Any) -> list[TurnInput]:
    said: TurnInput = {"role": "user", "content": words, **more}  # type: ignore[typeddict-item]
    return [said, {"role": "assistant", "content": "Noted."}]


def heard(store: Remembrancer, who: str, words: str, **more: Any) -> None:
    store.for_user(who).learn(exchange(words, **more), f"chat of {who}")
    store.flush()


ASKED = "Please remember this for the team: releases are cut from the main branch."
STAGING = {
    "content": "The staging database listens on port 6543.",
    "quote": "the staging database listens on port 6543",
    "turns": ["t1"],
    "kind": "reference",
}


def test_A17_what_is_asked_for_the_team_waits_as_a_proposal(open_memory: Open) -> None:
    store = open_memory("assistant")
    heard(store, "ada", ASKED)

    (entry,) = store.review().queue().items
    assert entry.fact.content == "Releases are cut from the main branch."
    assert (entry.fact.origin, entry.contributors) == (TeamOrigin.USER, 1)
    assert not store.for_user("bob").team("How are releases done?")
    heard(store, "ada", ASKED)
    assert store.review().queue().items[0].contributors == 1
    heard(store, "bob", ASKED)
    assert store.review().list().items[0].fact.status is TeamStatus.APPROVED


def test_A17_what_a_team_says_of_itself_is_kept_in_the_third_person(open_memory: Open) -> None:
    store = open_memory("assistant")
    heard(store, "ada", "Remember this for the team: we store all backups encrypted.")
    heard(store, "bob", "Remember this for the team: you need two approvals to merge.")
    store.for_user("eve").propose("The team stores all backups encrypted.")

    found = {one.fact.content: one.contributors for one in store.review().list().items}
    assert found == {
        "The team stores all backups encrypted.": 2,
        "One needs two approvals to merge.": 1,
    }
    (waiting,) = store.review().queue().items
    edited = store.review().edit(waiting.fact.id, "Tax is included in our prices.")
    assert edited.content == "Tax is included in the team's prices."


@pytest.mark.parametrize(
    ("words", "more"),
    [
        ("Please remember this for the team: Maria Lopez cuts the releases.", {}),
        ("Remember this for the team: the main bmc host is Serebanos-MacBook-Air.", {}),
        (ASKED, {"origin": "document"}),
        ("Releases are cut from the main branch.", {}),
    ],
)
def test_A14_a_person_a_document_or_mere_talk_is_no_proposal(
    open_memory: Open, words: str, more: dict[str, Any]
) -> None:
    store = open_memory("assistant")
    heard(store, "ada", words, **more)

    assert not store.review().list().items


def team_or_person(facts: list[dict[str, Any]]) -> Any:
    """A model that has these facts for the team, and nothing for the person."""

    def answer(request: dict[str, Any]) -> Any:
        asked = request["messages"][0]["content"]
        return says({"facts": facts} if "whole team could use" in asked else {"operations": []})

    return answer


def test_A17_a_model_proposes_what_the_person_said_of_the_project(
    open_memory: Open, model: ModelEndpoint, models: Any
) -> None:
    good = dict(STAGING)
    model.script = team_or_person(
        [
            good,
            good | {"content": "The staging database listens on port 5432."},
            good | {"quote": "nobody said this at all"},
            good | {"turns": ["t2"]},
            {"content": "x"},
        ]
    )
    store = open_memory("assistant", models=models)
    heard(store, "ada", f"It took me an hour to see that {good['quote']}.")

    (entry,) = store.review().queue().items
    assert (entry.fact.content, entry.fact.kind) == (good["content"], "reference")
    assert entry.fact.origin is TeamOrigin.ASSISTANT
    activity = store.review().stats().activity[TeamOrigin.ASSISTANT]
    assert (activity.runs, activity.by_outcome) == (1, {"pending": 1})


def test_A21_learning_can_be_switched_off_for_persons_and_for_the_team(
    open_memory: Open, model: ModelEndpoint, models: Any
) -> None:
    model.script = team_or_person([dict(STAGING)])
    store = open_memory("assistant", models=models)
    store.review().change_settings(personal_learning=False, team_learning=False)
    said = f"I live in Oslo, and {STAGING['quote']}."
    heard(store, "ada", said)
    assert not store.for_user("ada").list().items
    assert not store.review().list().items

    heard(store, "ada", ASKED)
    (asked,) = store.review().queue().items
    assert asked.fact.origin is TeamOrigin.USER

    store.review().change_settings(personal_learning=True, team_learning=True)
    heard(store, "bob", said)
    assert {one.fact.content for one in store.review().queue().items} >= {STAGING["content"]}
