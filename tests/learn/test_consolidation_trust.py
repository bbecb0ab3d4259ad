"""What consolidation may conclude, correct and merge, and for whom."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from remembrancer.assistant.chat import Chat
from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.learn.consolidation.run import BATCH_SIZE
from remembrancer.memory import Memory
from remembrancer.testing import ModelEndpoint
from remembrancer.types import Action, Evidence, Fact, Kind, Relation, Rule, Source, Status
from tests.assistant.talk import say
from tests.mcp.talk import inside, principal
from tests.support.opening import Open
from tests.support.plans import asks_for, name_of, plans, shown_in

pytestmark = [pytest.mark.feature("M11", "X7"), pytest.mark.postgres_long]

FISH = {
    "subject": "user",
    "predicate": "diet",
    "content": "Eats fish again",
    "permanence": "stable",
    "episodes": ["e1"],
}


@pytest.fixture
def store(open_memory: Open, models: dict[str, Any]) -> Remembrancer:
    return open_memory("agents", models=models)


@pytest.fixture
def health(store: Remembrancer) -> Memory:
    return store.for_user("ada", agent="health")


def diet(me: Memory, **details: Any) -> Fact:
    fact = me.remember(
        "User is vegetarian", subject="user", predicate="diet", permanence="stable", **details
    ).memory
    assert isinstance(fact, Fact)
    return fact


def happened(me: Memory, content: str, **details: Any) -> None:
    me.remember(content, kind="episode", **details)


def fish(me: Memory) -> None:
    happened(me, "They stopped being vegetarian and eat fish again.", session_id="tuesday")


def update(target: str, **more: Any) -> Any:
    """A plan that corrects one memory."""

    def plan(shown: str) -> dict[str, Any]:
        entry = {"target": name_of(shown, target), "content": "Eats fish again"}
        return {"updates": [entry | {"episodes": ["e1"]} | more]}

    return plan


def in_force(me: Memory) -> dict[str, Any]:
    return {one.content: one for one in me.list(kinds=("fact", "rule")).items}


def unconfirmed(me: Memory) -> list[Any]:
    return list(me.list(kinds=("fact",), status=Status.UNCONFIRMED).items)


def questions(model: ModelEndpoint) -> list[str]:
    return [asks_for(one.json) for one in model.requests]


def test_what_an_agent_stored_itself_is_corrected(health: Memory, model: ModelEndpoint) -> None:
    old = diet(health)
    fish(health)
    model.script = plans(update(old.content))

    health.consolidate()

    new = in_force(health)["Eats fish again"]
    assert health.get(old.id).status is Status.SUPERSEDED
    assert (new.subject, new.predicate, new.permanence) == ("user", "diet", "stable")
    assert (new.source, new.agent, new.session_id) == (Source.CONSOLIDATED, "health", "tuesday")


def test_what_an_assistant_stored_over_mcp_without_a_name_is_corrected(
    store: Remembrancer, health: Memory, model: ModelEndpoint
) -> None:
    with inside(store, principal(store)) as assistant:
        stored = assistant.call(
            "memory_store_fact", subject="user", predicate="diet", content="User is vegetarian"
        )
    fish(health)
    model.script = plans(update("User is vegetarian"))

    health.consolidate()

    assert set(in_force(health)) == {"Eats fish again"}
    assert health.get(stored["id"]).status is Status.SUPERSEDED
    assert "stored by an assistant) User is vegetarian" in shown_in(model.requests[0].json)


def test_a_new_fact_under_the_same_key_corrects_it_too(
    health: Memory, model: ModelEndpoint
) -> None:
    old = diet(health)
    fish(health)
    model.script = plans({"facts": [FISH]})

    (batch,) = health.consolidate().batches

    assert set(in_force(health)) == {"Eats fish again"}
    assert batch.event is not None
    health.undo(batch.event.id)
    assert in_force(health)[old.content].id == old.id


@pytest.mark.parametrize("by_job", [False, True])
@pytest.mark.parametrize("by_person", [False, True])
def test_a_fact_without_a_key_gets_the_key_of_the_same_words(
    store: Remembrancer,
    health: Memory,
    model: ModelEndpoint,
    clock: ManualClock,
    tenant: str,
    by_job: bool,
    by_person: bool,
) -> None:
    keyless = (store.for_user("ada") if by_person else health).remember("Eats fish again").memory
    clock.advance(timedelta(days=3))
    fish(health)
    model.script = plans({"facts": [FISH]})

    if by_job:
        store.run_job("consolidate", tenant=tenant)
    else:
        health.consolidate()

    (kept,) = health.list(kinds=("fact",)).items
    assert isinstance(kept, Fact)
    assert (kept.subject, kept.predicate, kept.permanence) == ("user", "diet", "stable")
    assert (kept.supersedes, kept.source, kept.agent) == (
        *(keyless.id, Source.EXPLICIT),
        keyless.agent,
    )
    told = [one.id for one in health.session_memories("tuesday") if one.kind == "fact"]
    assert told == ([] if by_person else [kept.id]), "the person's own word comes from no episode"
    (event,) = (one for one in health.activity().items if one.action is Action.CONSOLIDATED)
    health.undo(event.id)
    assert [one.id for one in health.list(kinds=("fact",)).items] == [keyless.id]


def test_merging_keeps_the_fact_that_has_a_key(health: Memory, clock: ManualClock) -> None:
    bare = health.remember("Eats fish again").memory
    health.forget(bare.id)
    clock.advance(timedelta(days=1))
    keyed = health.remember("Eats fish again", subject="user", predicate="diet").memory
    health.restore(bare.id)
    assert len(in_force(health)) < len(health.list(kinds=("fact",)).items)

    health.consolidate()

    assert [one.id for one in health.list(kinds=("fact",)).items] == [keyed.id]


def test_a_new_fact_under_another_spelling_of_the_key_corrects_it(
    health: Memory, model: ModelEndpoint
) -> None:
    old = diet(health)
    fish(health)
    model.script = plans({"facts": [FISH | {"subject": "User", "predicate": "Diet"}]})

    health.consolidate()

    assert set(in_force(health)) == {"Eats fish again"}
    assert health.get(old.id).status is Status.SUPERSEDED


def test_what_a_person_said_stands_under_another_spelling_of_its_key(
    store: Remembrancer, health: Memory, model: ModelEndpoint
) -> None:
    old = diet(store.for_user("ada"))
    fish(health)
    model.script = plans({"facts": [FISH | {"subject": "User", "predicate": "Diet"}]})

    health.consolidate()

    assert set(in_force(health)) == {old.content}
    assert [one.content for one in unconfirmed(health)] == ["Eats fish again"]


@pytest.mark.parametrize("lost", ["disabled", "warning"])
def test_a_rule_that_is_disabled_or_did_harm_is_not_proposed_into_force(
    health: Memory, model: ModelEndpoint, lost: str
) -> None:
    rule = health.remember("List ingredients as bullet points", kind="rule", scope="global").memory
    if lost == "disabled":
        health.disable(rule.id)
    else:
        for _ in range(3):
            health.harmful(rule.id, "It could not be read aloud")
    before = set(in_force(health))
    happened(health, "Corrected me: ingredients of a recipe as a list of bullet points")
    happened(health, "Listed ingredients as bullet points, as asked")
    proposed = {"content": "List ingredients as bullet points", "episodes": ["e1", "e2"]}
    model.script = plans({"rules": [proposed | {"permanence": "stable"}]})

    health.consolidate()

    assert set(in_force(health)) == before
    note = str(health.activity().items[0].note)
    assert "1 left out: a rule that is disabled or has become a warning" in note


def test_the_log_says_why_proposals_were_refused_but_not_their_words(
    store: Remembrancer, health: Memory, model: ModelEndpoint, tenant: str
) -> None:
    stated = store.for_user("ada").remember("Log weights in kilograms", kind="rule").memory
    happened(health, "Corrected me: from now on log weights in pounds.")
    moved = FISH | {"content": "Moved to Bergen"}

    def plan(shown: str) -> dict[str, Any]:
        entry = {"target": name_of(shown, stated.content), "content": "Log weights in pounds"}
        return {"updates": [entry | {"episodes": ["e1"]}], "facts": [moved, moved]}

    model.script = plans(plan)
    store.run_job("consolidate", tenant=tenant)

    note = str(health.activity().items[0].note)
    assert note == (
        "1 episode consolidated, 3 refused: it has a name or a number that the episodes do not "
        "have; a memory that the user stated is not changed"
    )


def test_the_log_counts_in_english(health: Memory, model: ModelEndpoint) -> None:
    fish(health)
    model.script = plans({"facts": [FISH]})

    health.consolidate()

    notes = [one.note for one in health.activity().items[:2]]
    assert notes == ["1 episode consolidated", "1 memory from 1 episode"]


def test_every_one_of_many_episodes_brings_its_nearest_memory(
    health: Memory, model: ModelEndpoint
) -> None:
    places = [f"city{number}" for number in range(BATCH_SIZE)]
    for place in places:
        health.remember(f"Has a flat in {place}")
    for place in places:
        happened(health, f"They sold the flat in {place}")
    model.script = plans({})

    health.consolidate()

    known = "\n".join(str(one.json["messages"][-1]["content"]) for one in model.requests)
    missing = [place for place in places if f"Has a flat in {place}\n" not in known]
    assert not missing


def test_a_second_step_about_a_memory_is_left_out_with_the_reason(
    health: Memory, model: ModelEndpoint
) -> None:
    old = diet(health)
    fish(health)

    def plan(shown: str) -> dict[str, Any]:
        return {**update(old.content)(shown), "confirmations": [name_of(shown, old.content)]}

    model.script = plans(plan)

    health.consolidate()

    assert set(in_force(health)) == {"Eats fish again"}
    note = str(health.activity().items[0].note)
    assert note.endswith("1 left out: changed by another step already")


def test_steps_about_memories_that_are_gone_are_left_out_with_the_reason(
    health: Memory, model: ModelEndpoint
) -> None:
    old = diet(health)
    ham = health.remember("Likes smoked ham", subject="user", predicate="ham").memory
    fish(health)

    def plan(shown: str) -> dict[str, Any]:
        ends = {"source": name_of(shown, old.content), "target": name_of(shown, ham.content)}
        return {
            **update(old.content)(shown),
            "confirmations": [name_of(shown, ham.content)],
            "links": [ends | {"relation": "related_to"}],
        }

    model.script = plans(plan)
    (proposed,) = health.plan_consolidation()
    health.forget(old.id)
    health.forget(ham.id)

    health.consolidate(proposed)

    assert not in_force(health)
    note = str(health.activity().items[0].note)
    assert "3 left out: no longer active; a link to a memory that is not active" in note


def test_the_model_sees_rules_and_warnings_however_many_facts_are_nearer(
    health: Memory, model: ModelEndpoint
) -> None:
    for number in range(7):
        health.remember(f"Gets {number} emails a day from colleague {number}")
    health.remember("Ask before you plan a meal", kind="rule")
    skip = health.remember("Skip the greeting", kind="rule").memory
    for _ in range(3):
        health.harmful(skip.id, "Ada felt snubbed")
    happened(health, "Sorted the emails of all colleagues by day")
    model.script = plans({})

    health.consolidate()

    shown = shown_in(model.requests[0].json)
    assert shown.count(" emails a day from colleague ") == 5
    assert "Ask before you plan a meal" in shown
    assert shown.count("ANTI-PATTERN: Do NOT skip the greeting") == 1


@pytest.mark.parametrize("proposal", ["facts", "updates"])
@pytest.mark.parametrize("learned", [False, True])
def test_what_a_person_said_stands_and_the_news_waits_for_them(
    store: Remembrancer, health: Memory, model: ModelEndpoint, proposal: str, learned: bool
) -> None:
    quoted = (Evidence("monday", "turn_x", "I am vegetarian"),)
    said = {"source": "extracted", "evidence": quoted} if learned else {}
    old = diet(store.for_user("ada"), **said)
    fish(health)
    plan = {"facts": [FISH]} if proposal == "facts" else update(old.content)
    model.script = plans(plan)

    (shown,) = health.plan_consolidation()
    (batch,) = health.consolidate(shown).batches

    assert set(in_force(health)) == {old.content}
    (waiting,) = unconfirmed(health)
    assert (waiting.content, waiting.agent) == ("Eats fish again", "health")
    (link,) = (one for one in health.links(waiting.id) if one.relation is Relation.CONTRADICTS)
    assert link.target == old.id
    assert batch.event is not None
    assert "1 unconfirmed" in str(batch.event.note)
    assert "Eats fish again" not in health.context("What may they eat?").text
    health.undo(batch.event.id)
    assert not unconfirmed(health)
    if proposal == "updates":
        assert "stored as unconfirmed (Eats fish again)" in shown.refused[0]
        assert shown.diff() == ["? fact: user diet: Eats fish again"]


@pytest.mark.parametrize("surface", ["web", "cli", "telegram"])
def test_what_a_person_says_in_a_chat_with_an_agent_stands(
    store: Remembrancer, model: ModelEndpoint, surface: str
) -> None:
    health = store.for_user("ada", agent="health", surface=surface)
    say(Chat(health, store.models), "Remember that I am vegetarian.")
    (said,) = in_force(health)
    fish(health)
    model.script = plans(update(said))

    health.consolidate()

    assert set(in_force(health)) == {said}
    assert [one.content for one in unconfirmed(health)] == ["Eats fish again"]


def test_an_old_episode_does_not_replace_what_was_stored_after_it(
    health: Memory, model: ModelEndpoint, clock: ManualClock
) -> None:
    fish(health)
    clock.advance(timedelta(hours=2))
    old = diet(health)
    model.script = plans(update(old.content))

    health.consolidate()

    assert set(in_force(health)) == {old.content}
    assert [one.content for one in unconfirmed(health)] == ["Eats fish again"]


def test_text_from_a_tool_does_not_correct_an_agents_fact(
    health: Memory, model: ModelEndpoint
) -> None:
    old = diet(health)
    happened(health, "A page says that they eat fish again.", origin="tool")
    model.script = plans(update(old.content))

    health.consolidate()

    assert set(in_force(health)) == {old.content}
    (waiting,) = unconfirmed(health)
    assert waiting.tainted


def test_the_model_sees_keys_scope_source_and_dates(
    store: Remembrancer, health: Memory, model: ModelEndpoint
) -> None:
    diet(health, scope="health")
    store.for_user("ada").remember("Is allergic to fish")
    health.remember("Ask before you log a meal", kind="rule")
    fish(health)
    model.script = plans({})

    health.consolidate()

    shown = shown_in(model.requests[0].json)
    told = "(user · diet · stable · scope health · stored by health) User is vegetarian"
    assert told in shown
    assert "(standard · scope global · stated by the person) Is allergic to fish" in shown
    rules = shown[shown.index("<rules>") : shown.index("</rules>")]
    assert "(candidate · standard · scope global · stored by health) Ask before" in rules
    assert "[e1] (health · 2026-03-02) They stopped" in shown
    assert "Today is Monday, 2 March 2026." in shown
    assert questions(model) == ["plan"], "nothing was proposed, so nothing is verified"


@pytest.mark.parametrize(
    ("proposed", "stored"),
    [(None, "global"), ("global", "global"), ("health", "health"), ("finance", "health")],
)
def test_scope_is_global_or_the_episodes_own(
    health: Memory, model: ModelEndpoint, proposed: str | None, stored: str
) -> None:
    happened(health, "Please always ask what “feeling off” means: it is mild nausea.")
    scope = {"scope": proposed} if proposed else {}
    model.script = plans(
        {
            "facts": [FISH | {"content": "“Feeling off” means mild nausea"} | scope],
            "rules": [{"content": "Ask what “feeling off” means", "episodes": ["e1"]} | scope],
        }
    )

    health.consolidate()

    found = in_force(health).values()
    assert {one.kind for one in found} == {Kind.FACT, Kind.RULE}
    assert {(one.scope, one.agent) for one in found} == {(stored, "health")}


def test_a_rule_of_one_agent_is_not_told_to_another(
    store: Remembrancer, health: Memory, model: ModelEndpoint
) -> None:
    happened(health, "Please always answer in kilograms.")
    rule = {"content": "Answer in kilograms", "episodes": ["e1"], "scope": "health"}
    model.script = plans({"rules": [rule | {"permanence": "stable"}]})

    health.consolidate()

    (found,) = in_force(health).values()
    assert isinstance(found, Rule)
    assert found.permanence == "stable"
    assert "kilograms" in health.context("Log my weight").text
    assert "kilograms" not in store.for_user("ada", agent="finance").context("Log my weight").text


def test_a_new_fact_supports_a_new_rule(health: Memory, model: ModelEndpoint) -> None:
    happened(health, "Cannot read small print. Please always write in large letters.")
    model.script = plans(
        {
            "facts": [FISH | {"content": "Cannot read small print", "name": "n1"}],
            "rules": [{"content": "Write in large letters", "episodes": ["e1"], "name": "n2"}],
            "links": [{"source": "n1", "target": "n2", "relation": "supports"}],
        }
    )

    health.consolidate()

    found = in_force(health)
    fact, rule = found["Cannot read small print"], found["Write in large letters"]
    (link,) = (one for one in health.links(rule.id) if one.relation is Relation.SUPPORTS)
    assert (link.source, link.target) == (fact.id, rule.id)


def test_importance_is_set(health: Memory, model: ModelEndpoint) -> None:
    fish(health)
    model.script = plans({"facts": [FISH | {"importance": 8}]})

    health.consolidate()

    assert in_force(health)["Eats fish again"].importance == 8


def test_other_words_for_the_same_are_accepted(health: Memory, model: ModelEndpoint) -> None:
    happened(health, "Told me over lunch that their sister got married in PORTO last year.")
    content = "Has a sibling with a husband in Porto"
    model.script = plans({"facts": [FISH | {"content": content}]})

    health.consolidate()

    assert set(in_force(health)) == {content}


@pytest.mark.parametrize("manner", ["hypothetical", "ironic", "quoted"])
def test_what_was_not_meant_waits_for_the_person(
    health: Memory, model: ModelEndpoint, manner: str
) -> None:
    fish(health)
    model.script = plans({"facts": [FISH]}, manner=manner)

    health.consolidate()

    assert not in_force(health)
    assert [one.content for one in unconfirmed(health)] == ["Eats fish again"]


def test_what_was_said_of_another_is_no_fact_about_the_user(
    health: Memory, model: ModelEndpoint
) -> None:
    happened(health, "Their brother Tom stopped being vegetarian and eats fish again.")
    model.script = plans({"facts": [FISH]}, about="Tom")

    health.consolidate()

    assert not in_force(health)
    assert len(unconfirmed(health)) == 1


def test_what_the_second_answer_denies_is_unconfirmed_or_refused(
    health: Memory, model: ModelEndpoint
) -> None:
    old = diet(health)
    twin = health.remember("Does without ham", source="extracted").memory
    happened(health, "Please always weigh the fish first.")
    happened(health, "Talked about the weather in June.")

    def plan(shown: str) -> dict[str, Any]:
        vegetarian, ham = name_of(shown, old.content), name_of(shown, twin.content)
        return {
            "facts": [FISH | {"content": "Owns a boat", "predicate": "boat"}],
            "updates": [{"target": vegetarian, "content": "Eats fish again", "episodes": ["e1"]}],
            "rules": [{"content": "Weigh the fish twice", "episodes": ["e1", "e2"]}],
            "confirmations": [ham],
        }

    model.script = plans(plan, unsupported=("boat", "fish", "ham"))

    (shown,) = health.plan_consolidation()
    health.consolidate(shown)

    assert set(in_force(health)) == {old.content, twin.content}
    assert {one.content for one in unconfirmed(health)} == {"Owns a boat", "Eats fish again"}
    assert [one.partition(":")[0] for one in shown.refused] == [
        "facts",
        "updates",
        "rules",
        "confirmations",
    ]
    assert questions(model) == ["plan", "verification"], "all claims are asked at once"


def test_a_second_answer_without_verdicts_changes_nothing(
    health: Memory, model: ModelEndpoint
) -> None:
    from remembrancer.testing import says

    fish(health)
    script = plans({"facts": [FISH]})
    model.script = lambda request: (
        says({"facts": []}) if asks_for(request) == "verification" else script(request)
    )

    result = health.consolidate()

    assert "model_misspoke" in result.failures[0]
    assert not in_force(health)
    assert not unconfirmed(health)


def test_verification_can_be_switched_off(
    open_memory: Open, models: dict[str, Any], model: ModelEndpoint
) -> None:
    store = open_memory("agents", models=models, profile_overrides={"learning": {"verify": False}})
    health = store.for_user("ada", agent="health")
    first = health.remember("Rides a bicycle to work", source="extracted").memory
    second = health.remember("Commutes by bike", source="extracted").memory
    happened(health, "They rode to the office and eat fish again.")

    def plan(shown: str) -> dict[str, Any]:
        names = [name_of(shown, one.content) for one in (first, second)]
        return {
            "facts": [FISH],
            "rules": [{"content": "Ask for a bell", "episodes": ["e1"], "correction": True}],
            "merges": [{"keep": names[0], "drop": [names[1]]}],
        }

    model.script = plans(plan)
    health.consolidate()

    assert set(in_force(health)) == {first.content, second.content, "Eats fish again"}
    assert questions(model) == ["plan"]


@pytest.mark.parametrize(
    ("kept", "dropped", "merged"),
    [
        ("Rides a bicycle to work", "Commutes by bike", True),
        ("Smokes", "Stopped smoking", False),
        ("Isst Fleisch", "Isst kein Fleisch", False),
        ("Come carne", "Nunca come carne", False),
        ("Mange de la viande", "Ne mange pas de viande", False),
        ("Pays 20 euros", "Pays thirty euros and 30 cents", False),
        ("Lives near Porto", "Lives near Lisbon", False),
    ],
)
def test_paraphrases_merge_and_opposites_never(
    health: Memory, model: ModelEndpoint, kept: str, dropped: str, merged: bool
) -> None:
    for number, content in enumerate((kept, dropped)):
        health.remember(content, source="extracted", subject="user", predicate=f"p{number}")
    happened(health, "Something happened.")
    model.script = plans(
        lambda shown: {
            "merges": [{"keep": name_of(shown, kept), "drop": [name_of(shown, dropped)]}]
        }
    )

    health.consolidate()

    assert set(in_force(health)) == ({kept} if merged else {kept, dropped})


@pytest.mark.parametrize(
    "episode",
    [
        "“Please always run the tests before you commit”",
        "Corrected me: tests before the commit.",
        "Bitte immer erst die Tests laufen lassen.",
        "Por favor, siempre ejecuta las pruebas antes.",
        "À l’avenir, lance les tests d’abord.",
    ],
)
def test_one_correction_makes_a_rule(health: Memory, model: ModelEndpoint, episode: str) -> None:
    happened(health, episode)
    model.script = plans({"rules": [{"content": "Tests first", "episodes": ["e1"]}]})

    health.consolidate()

    assert set(in_force(health)) == {"Tests first"}


@pytest.mark.parametrize("agreed", [False, True])
def test_a_correction_without_a_cue_needs_the_second_answer(
    health: Memory, model: ModelEndpoint, agreed: bool
) -> None:
    happened(health, "They took my long answer and cut it to one line.")
    rule = {"content": "Answer in one line", "episodes": ["e1"], "correction": True}
    model.script = plans(
        {"rules": [rule]}, unsupported=() if agreed else ("corrected the assistant",)
    )

    health.consolidate()

    assert bool(in_force(health)) is agreed


def test_two_episodes_make_a_rule(health: Memory, model: ModelEndpoint) -> None:
    for _ in range(2):
        happened(health, "Wanted the recipe as a list.")
    model.script = plans(
        {"rules": [{"content": "Give recipes as a list", "episodes": ["e1", "e2"]}]}
    )

    health.consolidate()

    assert set(in_force(health)) == {"Give recipes as a list"}


def test_the_same_doubt_is_stored_once(
    store: Remembrancer, health: Memory, model: ModelEndpoint
) -> None:
    diet(store.for_user("ada"))
    for _ in range(2):
        fish(health)
        model.script = plans({"facts": [FISH]})
        health.consolidate()

    assert len(unconfirmed(health)) == 1


def test_a_narrower_scope_does_not_get_around_the_persons_word(
    store: Remembrancer, health: Memory, model: ModelEndpoint
) -> None:
    old = diet(store.for_user("ada"))
    fish(health)
    model.script = plans({"facts": [FISH | {"scope": "health"}]})

    health.consolidate()

    assert set(in_force(health)) == {old.content}
    (waiting,) = unconfirmed(health)
    assert waiting.scope == "health"


def test_what_is_shown_again_is_no_longer_in_doubt(health: Memory, model: ModelEndpoint) -> None:
    fish(health)
    model.script = plans({"facts": [FISH]}, unsupported=("fish",))
    health.consolidate()
    assert len(unconfirmed(health)) == 1

    fish(health)
    model.script = plans({"facts": [FISH]})
    health.consolidate()

    assert not unconfirmed(health)
    assert set(in_force(health)) == {"Eats fish again"}
