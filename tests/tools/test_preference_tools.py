"""P6: seven tools for preferences; a write returns the event that an Undo button takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.tools.preferences import MAX_LISTED
from remembrancer.types import Fact
from tests.mcp.talk import Talk, contents, inside, principal
from tests.support.unconfirmed import learn_in_doubt

pytestmark = [pytest.mark.feature("P6"), pytest.mark.postgres_long]

ARGUMENTS = {
    "save_preference": "category content detail?",
    "update_preference": "id_or_substring new_content detail?",
    "forget_preference": "id_or_substring",
    "confirm_preference": "id_or_substring",
    "link_preferences": "from_id to_id relation",
    "list_preferences": "category? unconfirmed? as_of? true_at?",
    "recall_preferences": "query limit? as_of? true_at?",
}
BY_REFERENCE: dict[str, dict[str, Any]] = {
    "update_preference": {"new_content": "Changed."},
    "forget_preference": {},
    "confirm_preference": {},
}
verbs = pytest.mark.parametrize("verb", BY_REFERENCE)


@pytest.fixture
def engine(open_memory: Callable[..., Remembrancer]) -> Remembrancer:
    return open_memory("advisor")


@pytest.fixture
def talk(engine: Remembrancer) -> Iterator[Talk]:
    with inside(engine, principal(engine)) as talk:
        yield talk


def saved(talk: Talk, content: str, category: str = "finance_context", **details: str) -> Any:
    return talk.call("save_preference", category=category, content=content, **details)


def test_P6_tools_the_seven_and_their_arguments_are_these(talk: Talk) -> None:
    tools = talk.tools()
    assert set(tools) == set(ARGUMENTS)
    for name, arguments in ARGUMENTS.items():
        schema = tools[name].input_schema
        assert set(schema["properties"]) == {one.rstrip("?") for one in arguments.split()}
        needed = {one for one in arguments.split() if not one.endswith("?")}
        assert set(schema.get("required", ())) == needed, name
    categories = tools["save_preference"].input_schema["properties"]["category"]["enum"]
    assert categories == ["profile", "finance_context", "response_style", "fact"]


@verbs
@pytest.mark.parametrize("by", ["id", "words"])
def test_P6_tools_a_memory_is_named_by_its_id_or_by_words_of_it(
    verb: str, by: str, talk: Talk
) -> None:
    kept = saved(talk, "401k at Fidelity")
    which = kept["id"] if by == "id" else "401K"

    done = talk.call(verb, id_or_substring=which, **BY_REFERENCE[verb])

    assert kept["id"] in (done["id"], done.get("replaced"))
    assert done["event"]


@verbs
def test_P6_tools_ambiguous_words_are_answered_with_the_candidates(verb: str, talk: Talk) -> None:
    kept = {saved(talk, content)["id"] for content in ("401k at Fidelity", "Roth at Fidelity")}

    error = talk.fails(verb, id_or_substring="at Fidelity", **BY_REFERENCE[verb])

    assert error["code"] == "ambiguous"
    assert {one["id"] for one in error["candidates"]} == kept
    assert len(talk.call("list_preferences")["items"]) == 2


@verbs
def test_P6_tools_words_name_preferences_alone(verb: str, talk: Talk, engine: Remembrancer) -> None:
    """The same words in a bookmarked reply are no rival, and near words are no match."""
    me = engine.for_user("ada")
    note = me.remember("You said: funds only, no single stocks.", kind="episode").memory
    kept = saved(talk, "Funds only")

    assert contents(talk.call("list_preferences")) == ["Funds only"]
    done = talk.call(verb, id_or_substring="funds only", **BY_REFERENCE[verb])
    assert kept["id"] in (done["id"], done.get("replaced"))

    saved(talk, "Has an account at Fidelity")
    for which in ("brokerage with Fidelity Investments", "You said", note.id):
        error = talk.fails(verb, id_or_substring=which, **BY_REFERENCE[verb])
        assert error["code"] == "not_found"
        assert "candidates" not in error
    assert "Has an account at Fidelity" in contents(talk.call("list_preferences"))


def test_P6_tools_a_save_has_the_attribute_that_its_words_call_for(
    talk: Talk, engine: Remembrancer
) -> None:
    oslo = saved(talk, "Lives in Oslo", "profile")
    rome = saved(talk, "Lives in Rome", "profile")
    both = saved(talk, "Lives in Rome and works in Oslo", "profile")

    assert rome["replaced"] == oslo["id"]
    me = engine.for_user("ada")
    kept, unread = (me.get(one["id"]) for one in (rome, both))
    assert isinstance(kept, Fact)
    assert isinstance(unread, Fact)
    assert (kept.subject, kept.predicate, kept.category) == ("user", "home", "profile")
    assert unread.key is None
    assert len(me.list().items) == 2


def test_P6_tools_recall_finds_what_the_profile_would_leave_out(
    open_memory: Callable[..., Remembrancer],
) -> None:
    engine = open_memory("advisor", profile_overrides={"decay": {"recall_at": 0.2}})
    me = engine.for_user("ada")
    me.remember("Seems to like bonds", source="extracted", confidence=0.1)
    assert me.recall("bonds") == []

    with inside(engine, principal(engine)) as talk:
        assert contents(talk.call("recall_preferences", query="bonds")) == ["Seems to like bonds"]


def test_P6_tools_each_relation_that_is_offered_is_accepted(
    talk: Talk, engine: Remembrancer
) -> None:
    why, limit = saved(talk, "Lost money on stocks"), saved(talk, "Funds only")
    relation = talk.tools()["link_preferences"].input_schema["properties"]["relation"]

    assert relation["enum"][0] == "relates_to"
    for one in relation["enum"]:
        talk.call("link_preferences", from_id=limit["id"], to_id=why["id"], relation=one)

    links = engine.for_user("ada").links(limit["id"])
    assert {one.relation for one in links} == {
        "related_to",
        "supports",
        "contradicts",
        "derived_from",
    }


def test_P6_tools_a_relation_is_accepted_by_its_other_name(
    talk: Talk, engine: Remembrancer
) -> None:
    why, limit = saved(talk, "Lost money on stocks"), saved(talk, "Funds only")

    talk.call("link_preferences", from_id=limit["id"], to_id=why["id"], relation="related_to")

    (made,) = engine.for_user("ada").links(limit["id"])
    assert made.relation == "related_to"


def test_P6_tools_each_write_returns_an_event_that_undo_takes(
    talk: Talk, engine: Remembrancer
) -> None:
    other = saved(talk, "Thai tax resident", category="profile")
    one = saved(talk, "Funds only")
    two = talk.call("update_preference", id_or_substring="Funds", new_content="Funds and gold")
    writes = [
        one,
        two,
        talk.call("confirm_preference", id_or_substring=two["id"]),
        talk.call("link_preferences", from_id=two["id"], to_id=other["id"], relation="relates_to"),
        talk.call("forget_preference", id_or_substring="gold"),
    ]

    me = engine.for_user("ada")
    for done in reversed(writes):
        me.undo(done["event"])

    assert contents(talk.call("list_preferences")) == ["Thai tax resident"]


def test_P6_tools_saving_the_same_again_returns_what_is_there(talk: Talk) -> None:
    kept = saved(talk, "Funds only")
    again = saved(talk, "funds  ONLY")

    assert (again["id"], again["done"]) == (kept["id"], "unchanged")
    assert "event" not in again


def test_P6_tools_list_tells_what_is_in_force_by_category(talk: Talk) -> None:
    saved(talk, "Funds only")
    saved(talk, "Be concise.", category="response_style")
    talk.call("update_preference", id_or_substring="Funds", new_content="Funds and gold")

    assert set(contents(talk.call("list_preferences"))) == {"Funds and gold", "Be concise."}
    found = talk.call("list_preferences", category="response_style")
    assert contents(found) == ["Be concise."]
    assert talk.fails("list_preferences", category="hobbies")["code"] == "bad_setting"


def test_P6_tools_a_long_list_says_that_there_is_more(talk: Talk, engine: Remembrancer) -> None:
    me = engine.for_user("ada")
    for number in range(MAX_LISTED + 1):
        me.remember(f"Fund {number}", subject="fund", predicate=str(number))

    listed = talk.call("list_preferences")

    assert (len(listed["items"]), listed["more"]) == (MAX_LISTED, True)


def test_P6_tools_recall_reaches_the_long_tail_with_its_details(
    talk: Talk, engine: Remembrancer
) -> None:
    saved(talk, "Has a mortgage.", detail="Fixed at two percent until 2031.")
    guess = {"source": "extracted", "confidence": 0.3, "category": "finance_context"}
    engine.for_user("ada").remember("May want to sell the mortgaged house.", **guess)

    found = talk.call("recall_preferences", query="mortgage")["items"]

    assert {one["content"] for one in found} == {
        "Has a mortgage.",
        "May want to sell the mortgaged house.",
    }
    assert "Fixed at two percent until 2031." in {one.get("detail") for one in found}
    assert "sell" not in engine.for_user("ada").context().text
    assert "Fixed at" not in engine.for_user("ada").context().text


def test_what_is_in_doubt_is_listed_on_request_only_and_confirmed_by_id(
    engine: Remembrancer, talk: Talk
) -> None:
    me = engine.for_user("ada")
    doubtful = learn_in_doubt(me, "Banks in Lisbon", "planned", category="finance_context")

    assert talk.call("list_preferences")["items"] == []
    assert talk.call("recall_preferences", query="bank in Lisbon")["items"] == []
    (listed,) = talk.call("list_preferences", unconfirmed=True)["items"]
    assert (listed["id"], listed["status"]) == (doubtful.id, "unconfirmed")
    assert listed["doubt"] == "This may be a plan that has not happened yet."
    told = talk.says("list_preferences", unconfirmed=True)
    assert "not confirmed: This may be a plan that has not happened yet." in told

    talk.call("confirm_preference", id_or_substring=doubtful.id)

    assert contents(talk.call("list_preferences")) == ["Banks in Lisbon"]
    assert talk.call("list_preferences", unconfirmed=True)["items"] == []


@pytest.mark.feature("X2")
def test_P6_tools_look_back(talk: Talk, clock: ManualClock) -> None:
    kept = saved(talk, "Lives in Oslo")
    clock.advance(timedelta(days=1))
    talk.call("update_preference", id_or_substring=kept["id"], new_content="Lives in Lima")
    clock.advance(timedelta(days=1))
    for day, content in (("2026-03-02", "Lives in Oslo"), ("2026-03-03", "Lives in Lima")):
        for moment in ("as_of", "true_at"):
            assert contents(talk.call("list_preferences", **{moment: day})) == [content]
            found = talk.call("recall_preferences", query="Where do I live?", **{moment: day})
            assert contents(found) == [content]
    assert contents(talk.call("list_preferences", as_of="2026-03-01")) == []


@pytest.mark.feature("X2")
@pytest.mark.parametrize("moment", ["as_of", "true_at"])
def test_P6_tools_what_is_in_doubt_is_listed_of_today_alone(talk: Talk, moment: str) -> None:
    error = talk.fails("list_preferences", unconfirmed=True, **{moment: "2026-03-02"})
    assert error["code"] == "bad_input"
    assert "omit unconfirmed or the date" in str(error)
