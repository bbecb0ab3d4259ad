"""M4: rules rise from candidate to proven, fall by harm, and much harm makes them warnings."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.errors import Conflict, InvalidInput
from remembrancer.memory import Memory
from remembrancer.types import (
    Action,
    ConfidenceBand,
    Maturity,
    Permanence,
    Relation,
    Rule,
    Source,
    Status,
    Verdict,
    Written,
)

pytestmark = pytest.mark.feature("M4")

DAY = timedelta(days=1)


@pytest.fixture
def me(open_fake: Callable[..., Remembrancer]) -> Memory:
    return open_fake("agents").for_user("ada")


def rule(me: Memory, content: str = "Always confirm before sending.") -> Rule:
    written = me.remember(content, kind="rule").memory
    assert isinstance(written, Rule)
    return written


def helped(me: Memory, one: Rule, times: int) -> Rule:
    for _ in range(times):
        me.helpful(one.id)
    found = me.get(one.id)
    assert isinstance(found, Rule)
    return found


def test_M4_five_successes_establish_a_rule_and_four_do_not(me: Memory) -> None:
    one = rule(me)

    assert helped(me, one, 4).maturity is Maturity.CANDIDATE
    assert me.activity().items[0].action is Action.HELPED
    assert helped(me, one, 1).maturity is Maturity.ESTABLISHED
    latest = me.activity().items[0]
    assert (latest.action, latest.note) == (Action.PROMOTED, "candidate to established")


def test_M4_fifteen_successes_prove_it_once_it_is_thirty_days_old(
    me: Memory, clock: ManualClock
) -> None:
    one = rule(me)
    assert helped(me, one, 15).maturity is Maturity.ESTABLISHED

    clock.advance(30 * DAY - timedelta(microseconds=1))
    assert helped(me, one, 1).maturity is Maturity.ESTABLISHED
    clock.advance(timedelta(microseconds=1))
    assert helped(me, one, 1).maturity is Maturity.PROVEN


def test_M4_effectiveness_counts_one_harm_as_four_successes(me: Memory) -> None:
    one = helped(me, rule(me), 6)
    assert me.effectiveness(one) == pytest.approx(6 / 6.01)

    hurt = me.harmful(one.id).memory
    assert isinstance(hurt, Rule)
    assert me.effectiveness(hurt) == pytest.approx(6 / (6 + 4 + 0.01))


def test_M4_harm_takes_trust_away_again(me: Memory) -> None:
    one = helped(me, rule(me), 5)

    hurt = me.harmful(one.id, "It was too late.").memory

    assert isinstance(hurt, Rule)
    assert hurt.maturity is Maturity.CANDIDATE
    latest = me.activity().items[0]
    assert (latest.action, latest.note) == (Action.DEMOTED, "established to candidate")


def test_M4_three_harms_turn_a_rule_into_a_warning_with_the_reasons(me: Memory) -> None:
    one = rule(me)
    me.link(one.id, me.remember("It was asked for.").memory.id, "supports")
    me.harmful(one.id, "It annoyed Ada.")
    me.harmful(one.id, "It annoyed Ada.")

    written = me.harmful(one.id, "A train was missed.")

    assert written.memory.content == (
        "ANTI-PATTERN: Do NOT follow “Always confirm before sending”. "
        "This caused problems because: It annoyed Ada; A train was missed."
    )
    assert isinstance(written.memory, Rule)
    assert written.memory.maturity is Maturity.ANTI_PATTERN
    assert (written.memory.harmful_count, written.memory.applied_count) == (3, 3)
    assert (written.memory.confidence, written.memory.permanence) == (1.0, Permanence.PERMANENT)
    original = me.get(one.id)
    assert (original.status, original.content) == (Status.SUPERSEDED, one.content)
    assert {link.relation for link in me.links(written.memory.id)} == {
        Relation.SUPERSEDES,
        Relation.SUPPORTS,
    }
    recalled = me.recall("confirm before sending", kinds=["rule"])
    assert [found.memory.id for found in recalled] == [written.memory.id]


def test_M4_a_rule_that_mostly_helps_is_not_turned_into_a_warning(me: Memory) -> None:
    one = helped(me, rule(me), 6)
    for _ in range(3):
        me.harmful(one.id)

    hurt = me.get(one.id)

    assert isinstance(hurt, Rule)
    assert hurt.status is Status.ACTIVE
    assert me.effectiveness(hurt) == pytest.approx(6 / 18.01)


def test_M4_every_use_is_in_the_ledger(me: Memory, clock: ManualClock) -> None:
    one = rule(me)
    me.helpful(one.id, session="monday")
    clock.advance(DAY)
    me.harmful(one.id, "It broke.")

    uses = me.history(one.id).applications

    assert [(use.verdict, use.reason, use.session_id) for use in uses] == [
        (Verdict.HELPFUL, None, "monday"),
        (Verdict.HARMFUL, "It broke.", None),
    ]
    assert uses[1].applied_at - uses[0].applied_at == DAY


def test_M4_an_undone_use_counts_no_longer_and_an_undone_undo_brings_it_back(me: Memory) -> None:
    one = rule(me)
    for reason in ("a", "b", "c"):
        last = me.harmful(one.id, reason)
    assert last.event is not None
    assert last.event.action is Action.INVERTED

    undone = me.undo(last.event.id)

    assert undone.event is not None
    restored = me.get(one.id)
    assert isinstance(restored, Rule)
    assert (restored.status, restored.harmful_count) == (Status.ACTIVE, 2)
    assert [use.reason for use in me.history(one.id).applications] == ["a", "b"]
    assert me.get(last.memory.id).status is Status.RETRACTED

    me.undo(undone.event.id)

    assert me.get(one.id).status is Status.SUPERSEDED
    assert me.get(last.memory.id).status is Status.ACTIVE
    assert [use.reason for use in me.history(one.id).applications] == ["a", "b", "c"]


def test_M4_a_rule_that_helps_every_week_is_proven_and_still_told(
    me: Memory, clock: ManualClock
) -> None:
    one = rule(me)
    assert me.confidence(one) == 0.5
    for _ in range(30):
        clock.advance(7 * DAY)
        last = me.helpful(one.id)

    proven = me.get(one.id)
    assert isinstance(proven, Rule)
    assert (proven.maturity, me.confidence(proven)) == (Maturity.PROVEN, 0.5)
    assert [found.memory.id for found in me.recall("confirm before sending")] == [one.id]
    assert "Always confirm before sending. [proven, global]" in me.context().text
    assert last.event is not None
    me.undo(last.event.id)
    assert me.get(one.id).confirmed_at == clock.now() - 7 * DAY


@pytest.mark.feature("M2")
def test_M2_a_rule_that_nobody_uses_fades_after_115_days_and_help_renews_its_ttl(
    me: Memory, clock: ManualClock
) -> None:
    one = rule(me)
    short = me.remember("Ask before deleting.", kind="rule", ttl_days=90).memory
    clock.advance(80 * DAY)
    me.helpful(short.id)
    clock.advance(34 * DAY)
    assert me.standing(one) is ConfidenceBand.RECALLED
    clock.advance(DAY)
    assert me.standing(one) is ConfidenceBand.FADING
    assert me.standing(me.get(short.id)) is ConfidenceBand.RECALLED


def misled(me: Memory, content: str = "Skip the greeting", **details: Any) -> Written:
    """A rule that did harm three times."""
    one = me.remember(content, kind="rule", **details).memory
    return [me.harmful(one.id, "Ada felt snubbed") for _ in range(3)][-1]


def test_M4_a_warning_lasts_and_is_told(
    open_fake: Callable[..., Remembrancer], me: Memory, clock: ManualClock, tenant: str
) -> None:
    warning = misled(me, ttl_days=30).memory
    clock.advance(3000 * DAY)
    open_fake("agents").run_job("decay_sweep", tenant=tenant)

    said = "ANTI-PATTERN: Do NOT skip the greeting. This caused problems because: Ada felt snubbed."
    assert [one.memory.content for one in me.recall("greeting")] == [said]
    assert f"{said} [anti-pattern, global]" in me.context("Write to Bob.").text
    assert me.get(warning.id).expires_at is None


AGAIN = (
    "Skip the greeting",
    "  skip the GREETING. ",
    "Skip greetings",
    "Please skip the greeting",
    "Omit the greeting",
    "Leave out the greeting",
    "The greeting should be skipped",
    "You should skip the greeting",
    "Always skip the greeting",
    "ANTI-PATTERN: Do NOT skip the greeting",
    "Anti-pattern: do not skip the greeting. This caused problems because: Bob left.",
)


@pytest.mark.parametrize("again", AGAIN)
def test_M4_a_rule_that_became_a_warning_does_not_come_back(
    again: str, open_memory: Callable[..., Remembrancer]
) -> None:
    me = open_memory("agents").for_user("ada")
    made = misled(me)

    refused = me.acting_as("mail").remember(again, kind="rule")

    assert (refused.memory.id, refused.event) == (made.memory.id, None)
    assert refused.refusal is not None
    assert made.memory.id in refused.refusal
    assert "forget the warning first" in refused.refusal
    assert [one.id for one in me.list(kinds=["rule"]).items] == [made.memory.id]
    other = me.remember("Begin with a greeting", kind="rule").memory
    with pytest.raises(Conflict, match="has become a warning"):
        me.update(other.id, again)
    opposite = me.remember("Do not skip the greeting", kind="rule")
    assert (opposite.event is not None, opposite.refusal) == (True, None)


@pytest.mark.parametrize(
    "content",
    [
        "Do not skip the greeting",
        "Greet first",
        "Skip the small talk",
        "Skip the greeting for admins only",
    ],
)
def test_M4_a_warning_keeps_out_neither_the_opposite_nor_another_rule(
    content: str, open_memory: Callable[..., Remembrancer]
) -> None:
    me = open_memory("agents").for_user("ada")
    misled(me)

    stored = me.remember(content, kind="rule")

    assert (stored.event is not None, stored.refusal) == (True, None)


def test_M4_a_rule_that_forbids_something_does_not_come_back_in_other_words(
    open_memory: Callable[..., Remembrancer],
) -> None:
    me = open_memory("agents").for_user("ada")
    warning = misled(me, "Never use emojis").memory

    assert warning.content.startswith("ANTI-PATTERN: Do NOT follow “Never use emojis”.")
    for again in ("never use emojis", "Do not use emojis", warning.content.partition(" This")[0]):
        assert me.remember(again, kind="rule").memory.id == warning.id
    assert me.remember("Use emojis", kind="rule").event is not None


def test_M4_a_disabled_rule_does_not_come_back_in_other_words(
    open_memory: Callable[..., Remembrancer],
) -> None:
    me = open_memory("agents").for_user("ada")
    off = me.disable(me.remember("Skip the greeting", kind="rule").memory.id).memory

    assert me.remember("Please omit the greeting", kind="rule").memory.id == off.id
    assert me.remember("ANTI-PATTERN: Do NOT skip the greeting", kind="rule").event is not None


@pytest.mark.parametrize(
    "end", [{"ttl_days": 1}, {"valid_until": datetime(2030, 1, 1, tzinfo=UTC)}]
)
def test_M4_a_warning_is_given_no_end(end: dict[str, Any], me: Memory, clock: ManualClock) -> None:
    warning = misled(me).memory

    with pytest.raises(InvalidInput, match="A warning does not expire"):
        me.update(warning.id, "ANTI-PATTERN: Do NOT skip greetings.", **end)

    clock.advance(3000 * DAY)
    assert [one.id for one in me.list(kinds=["rule"]).items] == [warning.id]


@pytest.mark.parametrize("how", ["undo", "forget"])
def test_M4_what_the_refusal_to_promote_a_warning_advises_works(how: str, me: Memory) -> None:
    made = misled(me)
    assert made.event is not None

    with pytest.raises(Conflict) as refusal:
        me.promote(made.memory.id)

    assert refusal.value.args[0] == (
        "The rule has become a warning. Undo the event that made it, or forget the warning "
        "and store the rule again."
    )
    if how == "undo":
        me.undo(made.event.id)
    else:
        me.forget(made.memory.id)
        me.remember("Skip the greeting", kind="rule")
    (stands,) = me.list(kinds=["rule"]).items
    assert stands.content == "Skip the greeting"


@pytest.mark.parametrize("how", ["undo", "forget", "delete"])
def test_M4_without_its_warning_a_rule_can_return(how: str, me: Memory) -> None:
    made = misled(me)
    assert made.event is not None
    if how == "undo":
        me.undo(made.event.id)
    else:
        getattr(me, how)(made.memory.id)

    stored = me.remember("Skip the greeting", kind="rule")

    assert stored.refusal is None
    assert isinstance(stored.memory, Rule)
    assert (stored.memory.maturity, stored.memory.status) == (Maturity.CANDIDATE, Status.ACTIVE)


REFUSALS = {"disabled": "is disabled", "warning": "has become a warning"}


def refuse(me: Memory, lost: str, content: str = "Skip greetings") -> None:
    """A rule that is disabled or has become a warning."""
    if lost == "disabled":
        me.disable(me.remember(content, kind="rule").memory.id)
    else:
        misled(me, content)


@pytest.mark.parametrize("lost", REFUSALS)
@pytest.mark.parametrize("ended", ["forget", "delete"])
def test_M4_a_refused_rule_returns_neither_by_restore_nor_by_undo(
    lost: str, ended: str, open_memory: Callable[..., Remembrancer]
) -> None:
    me = open_memory("agents").for_user("ada")
    old = me.remember("Skip the greeting", kind="rule").memory
    event = getattr(me, ended)(old.id).event
    refuse(me, lost)

    with pytest.raises(Conflict, match=REFUSALS[lost]):
        me.restore(old.id)
    with pytest.raises(Conflict, match=REFUSALS[lost]):
        me.undo(event.id)

    assert me.get(old.id).status is not Status.ACTIVE


@pytest.mark.parametrize("lost", REFUSALS)
def test_M4_a_refused_rule_does_not_return_by_confirm(
    lost: str,
    open_fake: Callable[..., Remembrancer],
    me: Memory,
    clock: ManualClock,
    tenant: str,
) -> None:
    old = me.remember("Skip the greeting", kind="rule", ttl_days=1).memory
    clock.advance(2 * DAY)
    open_fake("agents").run_job("decay_sweep", tenant=tenant)
    assert me.get(old.id).status is Status.EXPIRED
    refuse(me, lost, "Skip the greeting")

    with pytest.raises(Conflict, match=REFUSALS[lost]):
        me.confirm(old.id)

    assert me.get(old.id).status is Status.EXPIRED


def test_M4_disabled_rules_in_like_words_are_enabled_each_by_itself(
    open_memory: Callable[..., Remembrancer],
) -> None:
    me = open_memory("agents").for_user("ada")
    first = me.remember("Skip the greeting", kind="rule").memory
    second = me.remember("Skip greetings", kind="rule").memory
    disabled = [me.disable(one.id) for one in (first, second)]
    assert disabled[1].event is not None

    me.restore(first.id)
    me.undo(disabled[1].event.id)

    assert {one.id for one in me.list(kinds=["rule"]).items} == {first.id, second.id}


def test_M4_a_warning_of_one_agent_does_not_bind_another(me: Memory) -> None:
    misled(me, scope="health")

    assert me.remember("Skip the greeting", kind="rule", scope="health").refusal is not None
    assert me.remember("Skip the greeting", kind="rule").refusal is not None
    assert me.remember("Skip the greeting", kind="rule", scope="cook").refusal is None


def test_M4_editing_a_rule_returns_it_to_candidate(me: Memory) -> None:
    one = helped(me, rule(me), 5)

    new = me.update(one.id, "Confirm before sending, except to family.").memory

    assert isinstance(new, Rule)
    assert (new.maturity, new.applied_count) == (Maturity.CANDIDATE, 0)


def test_M4_a_proven_rule_that_is_stored_again_in_the_same_words_stays_proven(
    me: Memory, clock: ManualClock
) -> None:
    concluded = {"kind": "rule", "source": "consolidated", "confidence": 0.9}
    one = me.remember("Always confirm before sending.", **concluded).memory
    assert isinstance(one, Rule)
    helped(me, one, 29)
    clock.advance(30 * DAY)
    used = helped(me, one, 1)
    clock.advance(DAY)

    health = me.acting_as("health")
    said = "ALWAYS confirm  before sending."
    again = health.remember(said, kind="rule", scope="global").memory

    assert isinstance(again, Rule)
    assert (again.supersedes, again.source, again.agent) == (one.id, Source.EXPLICIT, "health")
    assert (again.maturity, again.success_count) == (Maturity.PROVEN, 30)
    assert (again.applied_count, again.applied_at) == (30, used.applied_at)
    assert again.confidence == 0.9
    assert helped(me, again, 1).success_count == 31


def test_M4_storing_a_rule_again_does_not_clear_the_harm_that_it_did(me: Memory) -> None:
    one = me.remember("Always confirm before sending.", kind="rule", source="imported").memory
    for reason in ("It annoyed Ada.", "A train was missed."):
        me.harmful(one.id, reason)
    again = me.remember("Always confirm before sending.", kind="rule").memory
    assert again.id != one.id

    warning = me.harmful(again.id, "The shop had closed.").memory

    assert isinstance(warning, Rule)
    assert (warning.maturity, warning.harmful_count) == (Maturity.ANTI_PATTERN, 3)
    assert warning.content.endswith(
        "because: It annoyed Ada; A train was missed; The shop had closed."
    )


def test_M4_a_person_may_promote_demote_and_disable_by_hand(me: Memory) -> None:
    one = rule(me)
    steps = [me.promote(one.id), me.promote(one.id), me.demote(one.id)]

    assert [step.memory.maturity for step in steps if isinstance(step.memory, Rule)] == [
        Maturity.ESTABLISHED,
        Maturity.PROVEN,
        Maturity.ESTABLISHED,
    ]
    me.demote(one.id)
    with pytest.raises(Conflict, match="Disable it"):
        me.demote(one.id)
    assert me.disable(one.id).memory.status is Status.DISABLED
    assert me.recall("confirm before sending") == []
    with pytest.raises(Conflict):
        me.helpful(one.id)
    assert me.restore(one.id).memory.status is Status.ACTIVE


def test_M4_only_rules_are_applied_and_secrets_stay_out_of_reasons(me: Memory) -> None:
    fact = me.remember("Ada likes tea.").memory
    with pytest.raises(InvalidInput, match="not a rule"):
        me.helpful(fact.id)
    one = rule(me)
    me.harmful(one.id, "It printed sk-proj-" + "a1B2c3D4" * 6)

    (use,) = me.history(one.id).applications

    assert use.reason is not None
    assert "sk-proj" not in use.reason


def test_M4_what_another_agent_may_not_see_it_cannot_judge(
    open_fake: Callable[..., Remembrancer],
) -> None:
    store = open_fake("default")
    own = rule(store.for_user("ada", agent="cook"))
    with pytest.raises(Exception, match="no memory"):
        store.for_user("ada", agent="driver").harmful(own.id, "no")
    assert store.for_user("bob").list().items == ()
