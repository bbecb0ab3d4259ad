"""What a model proposes is verified by a second question; what is doubted waits to be confirmed."""

from __future__ import annotations

from typing import Any

import pytest

from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from remembrancer.testing import ModelEndpoint, ScriptedReply, says
from remembrancer.types import Status
from tests.support.opening import Open
from tests.support.plans import asks_for, shown_in
from tests.support.proposals import contents, proposal, proposes, second_answer, tell

SAID = "Walnuts give me a rash, so the bakery on the corner is off my list."
REPEATED = proposal("Walnuts give the user a rash", "Walnuts give me a rash")
CONCLUDED = proposal("Is allergic to tree pollen", "Walnuts give me a rash")


@pytest.fixture
def store(open_memory: Open, model: ModelEndpoint, models: dict[str, Any]) -> Remembrancer:
    return open_memory(models=models)


def test_the_second_question_shows_the_claims_and_no_quotes_of_the_first_answer(
    store: Remembrancer, me: Memory, model: ModelEndpoint
) -> None:
    model.script = proposes(REPEATED)
    tell(me, "chat", SAID)
    store.flush()

    first, second = [one.json for one in model.requests]
    assert (asks_for(first), asks_for(second)) == ("memory", "verification")
    claims = shown_in(second).partition("<claims>")[2]
    assert "[c1] (about user) Walnuts give the user a rash" in claims
    assert "give me a rash" not in claims
    assert contents(me) == ["Walnuts give the user a rash"]


@pytest.mark.parametrize(
    ("verdict", "doubt"),
    [
        ({"supported": False}, "unsupported"),
        ({"supported": True, "manner": "hypothetical"}, "hypothetical"),
        ({"supported": True, "manner": "ironic"}, "ironic"),
        ({"supported": False, "manner": "planned"}, "planned"),
        ({"supported": False, "manner": "past"}, "past"),
        ({"supported": True, "about": "Ida"}, "other_person"),
    ],
)
def test_what_the_second_answer_doubts_waits_and_says_why(
    store: Remembrancer, me: Memory, model: ModelEndpoint, verdict: dict[str, Any], doubt: str
) -> None:
    model.script = second_answer(says({"verdicts": [{"claim": "c1", **verdict}]}), REPEATED)
    tell(me, "chat", SAID)
    store.flush()

    assert contents(me) == []
    (waiting,) = me.list(status="unconfirmed").items
    assert (waiting.content, waiting.metadata["doubt"]) == (REPEATED["content"], doubt)
    assert REPEATED["content"] not in me.context("Can I bake with walnuts?").text
    assert not me.rejected().items


def test_what_the_person_only_quoted_is_rejected(
    store: Remembrancer, me: Memory, model: ModelEndpoint
) -> None:
    model.script = proposes(REPEATED, manner="quoted")
    tell(me, "chat", SAID)
    store.flush()

    assert contents(me) == contents(me, status="unconfirmed") == []
    (rejected,) = me.rejected().items
    assert (rejected.content, rejected.reason) == (REPEATED["content"], "not_by_the_person")


INVALID = {
    "no object": says("It is fine."),
    "no verdicts": says({"operations": []}),
    "a verdict on one of two": says({"verdicts": [{"claim": "c1", "supported": True}]}),
    "a verdict without an answer": says({"verdicts": [{"claim": "c1"}, {"claim": "c2"}]}),
    "cut off": says('{"verdicts": [', finish="length"),
}


@pytest.mark.parametrize("reply", INVALID.values(), ids=INVALID)
def test_without_a_valid_second_answer_only_what_repeats_the_words_is_kept(
    store: Remembrancer, me: Memory, model: ModelEndpoint, reply: ScriptedReply
) -> None:
    model.script = second_answer(reply, REPEATED, CONCLUDED)
    tell(me, "chat", SAID)
    store.flush()

    assert contents(me) == [REPEATED["content"]]
    (waiting,) = me.list(status="unconfirmed").items
    assert (waiting.content, waiting.metadata["doubt"]) == (CONCLUDED["content"], "unsupported")
    assert me.session("chat").failure is None


@pytest.mark.parametrize("doubted_by", ["supported", "manner"])
def test_what_is_said_again_later_is_no_longer_in_doubt(
    store: Remembrancer, me: Memory, model: ModelEndpoint, doubted_by: str
) -> None:
    doubt = {"supported": doubted_by != "supported"}
    manner = {"manner": "hypothetical"} if doubted_by == "manner" else {}
    verdict = {"claim": "c1", **doubt, **manner}
    model.script = second_answer(says({"verdicts": [verdict]}), REPEATED)
    tell(me, "first", SAID)
    store.flush()
    (waiting,) = me.list(status="unconfirmed").items

    model.script = proposes(REPEATED)
    tell(me, "second", "As I said: Walnuts give me a rash.")
    store.flush()

    (known,) = me.list().items
    assert (known.content, known.status) == (REPEATED["content"], Status.ACTIVE)
    assert "doubt" not in known.metadata
    assert contents(me, status="unconfirmed") == []
    assert me.get(waiting.id).status is not Status.UNCONFIRMED
    assert "Walnuts give the user a rash" in me.context("Can I bake with walnuts?").text


def test_what_is_known_already_is_not_doubted(
    store: Remembrancer, me: Memory, model: ModelEndpoint
) -> None:
    model.script = proposes(REPEATED)
    tell(me, "first", SAID)
    store.flush()
    model.script = proposes(REPEATED, unsupported=["rash"])
    tell(me, "second", SAID)
    store.flush()

    assert contents(me) == [REPEATED["content"]]
    assert contents(me, status="unconfirmed") == []


def test_without_verification_the_model_is_asked_once(
    open_memory: Open, model: ModelEndpoint, models: dict[str, Any]
) -> None:
    store = open_memory(models=models, profile_overrides={"learning": {"verify": False}})
    me = store.for_user("ada")
    model.script = proposes(REPEATED)
    tell(me, "chat", SAID)
    store.flush()

    assert [asks_for(one.json) for one in model.requests] == ["memory"]
    assert contents(me) == [REPEATED["content"]]
