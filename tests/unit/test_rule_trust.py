"""M4: how rules earn and lose trust, to the digit; arithmetic on values, no store."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.ids import new_id
from remembrancer.profiles import RulePolicy
from remembrancer.remember.rule_trust import (
    MATURITY_ORDER,
    apply_verdict,
    earned_maturity,
    effectiveness,
    is_misleading,
)
from remembrancer.types import Maturity, Rule, Verdict

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
DAY = timedelta(days=1)
TICK = timedelta(microseconds=1)
RULES = RulePolicy()

counts = st.integers(0, 200)
ages = st.floats(0, 400).map(lambda days: timedelta(days=days))
steps = st.sampled_from(MATURITY_ORDER)


def a_rule(successes: int = 0, harms: int = 0, maturity: Maturity = Maturity.CANDIDATE) -> Rule:
    return Rule(
        id=new_id("rule", NOW),
        content="Use tabs.",
        importance=5.0,
        valid_from=NOW,
        recorded_at=NOW,
        confirmed_at=NOW,
        maturity=maturity,
        applied_count=successes + harms,
        success_count=successes,
        harmful_count=harms,
    )


rules = st.builds(a_rule, counts, counts, steps)


def applied(rule: Rule, *verdicts: Verdict, at: datetime = NOW) -> Rule:
    for verdict in verdicts:
        rule = apply_verdict(rule, verdict, RULES, at)
    return rule


@pytest.mark.parametrize(
    ("successes", "harms", "expected"),
    [
        (0, 0, 0.0),
        (1, 0, 1 / 1.01),
        (5, 0, 5 / 5.01),
        (4, 1, 4 / 8.01),
        (0, 3, 0.0),
        (15, 0, 15 / 15.01),
        (100, 10, 100 / 140.01),
    ],
)
def test_M4_effectiveness_weighs_one_harm_as_four_successes(
    successes: int, harms: int, expected: float
) -> None:
    rule = a_rule(successes, harms)
    assert effectiveness(rule, RULES) == pytest.approx(expected, rel=1e-12)
    assert effectiveness(rule, RULES) == successes / (successes + 4 * harms + 0.01)


@pytest.mark.parametrize(
    ("successes", "harms", "deserves"),
    [
        (4, 0, Maturity.CANDIDATE),
        (5, 0, Maturity.ESTABLISHED),
        (5, 1, Maturity.CANDIDATE),  # 0.555
        (6, 1, Maturity.CANDIDATE),  # 0.599: six would do but for the hundredth
        (7, 1, Maturity.ESTABLISHED),  # 0.636
        (12, 2, Maturity.CANDIDATE),  # 0.5997
        (13, 2, Maturity.ESTABLISHED),
    ],
)
def test_M4_five_successes_at_six_tenths_establish(
    successes: int, harms: int, deserves: Maturity
) -> None:
    assert earned_maturity(a_rule(successes, harms), RULES, NOW) is deserves


@pytest.mark.parametrize(
    ("successes", "harms", "age", "deserves"),
    [
        (15, 0, 30 * DAY, Maturity.PROVEN),
        (14, 0, 30 * DAY, Maturity.ESTABLISHED),
        (15, 0, 30 * DAY - TICK, Maturity.ESTABLISHED),
        (15, 0, 29.99 * DAY, Maturity.ESTABLISHED),
        (100, 0, 0 * DAY, Maturity.ESTABLISHED),
        (15, 1, 30 * DAY, Maturity.ESTABLISHED),  # 0.789
        (16, 1, 30 * DAY, Maturity.ESTABLISHED),  # 0.7996: sixteen would do but for the hundredth
        (17, 1, 30 * DAY, Maturity.PROVEN),  # 0.809
    ],
)
def test_M4_fifteen_at_eight_tenths_and_thirty_days_prove(
    successes: int, harms: int, age: timedelta, deserves: Maturity
) -> None:
    assert earned_maturity(a_rule(successes, harms), RULES, NOW + age) is deserves


def test_M4_a_candidate_is_promoted_by_its_fifth_success_not_its_fourth() -> None:
    four = applied(a_rule(), *[Verdict.HELPFUL] * 4)
    assert (four.maturity, four.applied_count, four.success_count) == ("candidate", 4, 4)
    assert applied(four, Verdict.HELPFUL).maturity is Maturity.ESTABLISHED


def test_M4_a_success_after_thirty_days_proves_and_one_before_does_not() -> None:
    fourteen = a_rule(14, maturity=Maturity.ESTABLISHED)
    early = applied(fourteen, Verdict.HELPFUL, at=NOW + 29.99 * DAY)
    assert early.maturity is Maturity.ESTABLISHED
    assert applied(early, Verdict.HELPFUL, at=NOW + 30 * DAY).maturity is Maturity.PROVEN
    assert applied(fourteen, Verdict.HELPFUL, at=NOW + 30 * DAY).maturity is Maturity.PROVEN


def test_M4_harm_demotes_to_what_the_record_still_deserves() -> None:
    proven = a_rule(15, maturity=Maturity.PROVEN)
    assert applied(proven, Verdict.HARMFUL, at=NOW + 40 * DAY).maturity is Maturity.ESTABLISHED
    established = a_rule(5, maturity=Maturity.ESTABLISHED)
    assert applied(established, Verdict.HARMFUL).maturity is Maturity.CANDIDATE
    solid = a_rule(40, maturity=Maturity.PROVEN)
    assert applied(solid, Verdict.HARMFUL, at=NOW + 40 * DAY).maturity is Maturity.PROVEN


@pytest.mark.parametrize(
    ("successes", "harms", "inverts"),
    [
        (0, 2, False),
        (0, 3, True),
        (5, 3, True),  # 0.294
        (6, 3, False),  # 0.333
        (1, 2, False),
        (6, 4, True),  # 0.273
        (7, 4, False),  # 0.304
        (0, 0, False),
    ],
)
def test_M4_three_harms_below_three_tenths_turn_a_rule_into_a_warning(
    successes: int, harms: int, inverts: bool
) -> None:
    assert is_misleading(a_rule(successes, harms), RULES) is inverts
    assert not is_misleading(a_rule(successes, harms, Maturity.ANTI_PATTERN), RULES)


def test_a_warning_counts_on_but_is_never_trusted_again() -> None:
    rule = applied(a_rule(0, 3, Maturity.ANTI_PATTERN), *[Verdict.HELPFUL] * 50, at=NOW + 90 * DAY)
    assert rule.maturity is Maturity.ANTI_PATTERN
    assert (rule.applied_count, rule.success_count, rule.harmful_count) == (53, 50, 3)


@given(rules, ages)
def test_a_success_never_lowers_and_a_harm_never_raises(rule: Rule, age: timedelta) -> None:
    now = NOW + age
    helped, harmed = (applied(rule, one, at=now) for one in (Verdict.HELPFUL, Verdict.HARMFUL))
    before = MATURITY_ORDER.index(rule.maturity)
    assert MATURITY_ORDER.index(helped.maturity) >= before >= MATURITY_ORDER.index(harmed.maturity)
    assert effectiveness(helped, RULES) >= effectiveness(rule, RULES)
    assert effectiveness(harmed, RULES) <= effectiveness(rule, RULES)
    assert is_misleading(harmed, RULES) or not is_misleading(rule, RULES)
    assert is_misleading(rule, RULES) or not is_misleading(helped, RULES)


@given(rules, st.lists(st.sampled_from(Verdict), max_size=40), ages)
def test_every_use_is_counted_once(rule: Rule, verdicts: list[Verdict], age: timedelta) -> None:
    used = applied(rule, *verdicts, at=NOW + age)
    assert used.applied_count == rule.applied_count + len(verdicts)
    assert used.success_count == rule.success_count + verdicts.count(Verdict.HELPFUL)
    assert used.harmful_count == rule.harmful_count + verdicts.count(Verdict.HARMFUL)
    assert used.applied_at == (NOW + age if verdicts else rule.applied_at)
    assert 0 <= effectiveness(used, RULES) < 1
    assert used.content == rule.content


@given(rules, ages, ages)
def test_age_alone_never_takes_trust_away(rule: Rule, age: timedelta, more: timedelta) -> None:
    young, old = (earned_maturity(rule, RULES, NOW + span) for span in (age, age + more))
    assert MATURITY_ORDER.index(old) >= MATURITY_ORDER.index(young)


@given(counts, counts, ages)
def test_what_is_earned_meets_every_condition(successes: int, harms: int, age: timedelta) -> None:
    rule = replace(a_rule(successes, harms))
    share = successes / (successes + 4 * harms + 0.01)
    proven = successes >= 15 and share >= 0.8 and age >= 30 * DAY
    established = successes >= 5 and share >= 0.6
    expected = "proven" if proven else "established" if established else "candidate"
    assert earned_maturity(rule, RULES, NOW + age) == expected
