"""Trust in rules: effectiveness and maturity. Pure functions."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from remembrancer.profiles import Promotion, RulePolicy
from remembrancer.types import Maturity, Record, Rule, Verdict

MATURITY_ORDER = (Maturity.CANDIDATE, Maturity.ESTABLISHED, Maturity.PROVEN)
COUNTS = ("applied_count", "success_count", "harmful_count", "applied_at")
EFFECTIVENESS_PRIOR = 0.01
"""Avoids a division by zero for a rule that was never applied."""


def effectiveness(rule: Rule, rules: RulePolicy) -> float:
    """From 0 to 1; one harm weighs as much as several successes."""
    harm = rules.harm_weight * rule.harmful_count
    return rule.success_count / (rule.success_count + harm + EFFECTIVENESS_PRIOR)


def earned_maturity(rule: Rule, rules: RulePolicy, now: datetime) -> Maturity:
    """The maturity that a rule's record justifies."""
    if _meets_promotion(rule, rules, rules.proven, now):
        return Maturity.PROVEN
    if _meets_promotion(rule, rules, rules.established, now):
        return Maturity.ESTABLISHED
    return Maturity.CANDIDATE


def apply_verdict(rule: Rule, verdict: Verdict, rules: RulePolicy, now: datetime) -> Rule:
    """The rule after one use: success can only raise its maturity, harm only lower it.

    Success renews its confidence and its TTL too, like a confirmation.
    """
    applied = replace(
        rule,
        applied_count=rule.applied_count + 1,
        success_count=rule.success_count + (verdict is Verdict.HELPFUL),
        harmful_count=rule.harmful_count + (verdict is Verdict.HARMFUL),
        applied_at=now,
    )
    if verdict is Verdict.HELPFUL:
        applied = replace(applied, confirmed_at=now, expires_at=extend_expiry(rule, now))
    if rule.maturity is Maturity.ANTI_PATTERN:
        return applied
    choose = max if verdict is Verdict.HELPFUL else min
    deserved = choose(rule.maturity, earned_maturity(applied, rules, now), key=MATURITY_ORDER.index)
    return replace(applied, maturity=deserved)


def extend_expiry(record: Record, now: datetime) -> datetime | None:
    """When a memory expires whose TTL starts over now; never sooner than before."""
    if record.expires_at is None or record.ttl_days is None:
        return record.expires_at
    return max(record.expires_at, now + timedelta(days=record.ttl_days))


def is_misleading(rule: Rule, rules: RulePolicy) -> bool:
    """True if a rule has done so much harm that it should become a warning."""
    return (
        rule.maturity is not Maturity.ANTI_PATTERN
        and rule.harmful_count >= rules.invert_at_harms
        and effectiveness(rule, rules) < rules.invert_below
    )


def _meets_promotion(rule: Rule, rules: RulePolicy, step: Promotion, now: datetime) -> bool:
    return (
        rule.success_count >= step.successes
        and effectiveness(rule, rules) >= step.effectiveness
        and now - rule.recorded_at >= timedelta(days=step.age_days)
    )
