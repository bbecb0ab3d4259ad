"""What a model proposes is verified by a second question; what is doubted waits to be confirmed."""

from __future__ import annotations

from typing import Any

import pytest

from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from remembrancer.testing import ModelEndpoint, ScriptedReply, fails, says
from remembrancer.types import Fact, Status
from tests.support.opening import Open
from tests.support.plans import asks_for, shown_in
from tests.support.proposals import contents, proposal, proposes, second_answer, tell

pytestmark = pytest.mark.postgres_long

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
    "refused": fails(400),
    "too large": fails(413),
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


@pytest.mark.parametrize(
    ("about", "subject"),
    [
        ("user's sister", "Ida"),
        ("the user's sister Ida", "Ida"),
        ("die Schwester des Nutzers", "Ida"),
        ("la hermana del usuario", "Ida"),
        ("la sœur de l'utilisateur", "Ida"),
        ("Ida", "user's sister"),
        ("the user (Ada)", "user"),
        ("Ada (the user)", "user"),
        ("the user and her husband", "user"),
        ("the speaker", "user"),
        ("user", "Speaker"),
    ],
)
def test_another_description_of_the_same_person_is_no_doubt(
    store: Remembrancer, me: Memory, model: ModelEndpoint, about: str, subject: str
) -> None:
    model.script = proposes({**REPEATED, "subject": subject}, about=about)
    tell(me, "chat", SAID)
    store.flush()

    assert contents(me) == [REPEATED["content"]]


@pytest.mark.parametrize("subject", ["Speaker", "the person", "self"])
def test_a_fact_about_the_speaker_of_a_conversation_is_about_the_user(
    store: Remembrancer, me: Memory, model: ModelEndpoint, subject: str
) -> None:
    model.script = proposes({**REPEATED, "subject": subject})
    tell(me, "chat", SAID)
    store.flush()

    assert [one.subject for one in me.list().items if isinstance(one, Fact)] == ["user"]


@pytest.mark.parametrize(
    ("about", "subject"),
    [
        ("user's sister", "user"),
        ("user's sister (Ida)", "user"),
        ("the user's brother Tom", "Ida"),
        ("the user (Ada)", "Ida"),
        ("user", "Ida"),
    ],
)
def test_a_description_of_somebody_else_is_a_doubt(
    store: Remembrancer, me: Memory, model: ModelEndpoint, about: str, subject: str
) -> None:
    model.script = proposes({**REPEATED, "subject": subject}, about=about)
    tell(me, "chat", SAID)
    store.flush()

    (waiting,) = me.list(status="unconfirmed").items
    assert waiting.metadata["doubt"] == "other_person"


HOME = "I live in Oslo."
BOTH = "I'm vegan and my sister Ida lives in Bergen."


@pytest.mark.parametrize("verify", [True, False])
def test_a_doubtful_proposal_does_not_hide_what_was_said_plainly(
    open_memory: Open, model: ModelEndpoint, models: dict[str, Any], verify: bool
) -> None:
    store = open_memory(models=models, profile_overrides={"learning": {"verify": verify}})
    me = store.for_user("ada")
    embellished = proposal(
        "The user lives in Oslo in 12 Storgata", "I live in Oslo", predicate="home"
    )
    model.script = proposes(embellished)
    tell(me, "chat", HOME)
    store.flush()

    assert contents(me) == ["Lives in Oslo"]
    assert contents(me, status="unconfirmed") == [embellished["content"]]


def test_what_the_second_answer_does_not_support_does_not_hide_what_it_supports(
    store: Remembrancer, me: Memory, model: ModelEndpoint
) -> None:
    embellished = proposal("The user lives in Oslo by the sea", "I live in Oslo", predicate="home")
    model.script = proposes(embellished, unsupported=["by the sea"])
    tell(me, "chat", HOME)
    store.flush()

    assert contents(me) == ["Lives in Oslo"]
    assert contents(me, status="unconfirmed") == [embellished["content"]]


@pytest.mark.parametrize("predicate", ["diet", ""])
def test_a_proposal_from_one_part_of_its_quote_does_not_hide_the_other_part(
    store: Remembrancer, me: Memory, model: ModelEndpoint, predicate: str
) -> None:
    model.script = proposes(proposal("The user is vegan", BOTH[:-1], predicate=predicate))
    tell(me, "chat", BOTH)
    store.flush()

    assert contents(me) == ["Sister Ida lives in Bergen", "The user is vegan"]
    assert me.fact("Ida", "home").content == "Sister Ida lives in Bergen"
    assert me.fact("user", "diet").content == "The user is vegan"


def test_what_both_found_is_one_claim_and_one_memory(
    store: Remembrancer, me: Memory, model: ModelEndpoint
) -> None:
    model.script = proposes(proposal("The user lives in Oslo", "I live in Oslo"))
    tell(me, "chat", HOME)
    store.flush()

    assert contents(me) == ["The user lives in Oslo"]
    assert "[c2]" not in shown_in(model.requests[-1].json)


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("Ich bin nicht gegen Penicillin allergisch.", "Ist gegen Penicillin allergisch"),
        ("Ich esse gar kein Fleisch.", "Isst Fleisch"),
        ("Je ne mange jamais de viande.", "Mange de la viande"),
        ("Nunca como carne de cerdo.", "Come carne de cerdo"),
        ("I am not allergic to penicillin.", "Is allergic to penicillin"),
    ],
)
def test_a_weak_model_cannot_turn_a_denial_into_a_fact(
    open_memory: Open, model: ModelEndpoint, weak_models: dict[str, Any], said: str, content: str
) -> None:
    store = open_memory(models=weak_models)
    me = store.for_user("ada")
    model.script = proposes(proposal(content, said.rstrip(".")))
    tell(me, "chat", said)
    store.flush()

    assert content not in contents(me)
    assert content not in contents(me, status="unconfirmed")
    assert [one.reason for one in me.rejected().items] == ["unsupported"]
