"""What comes of rules: each use goes into a ledger, and moves the trust in the rule."""

from __future__ import annotations

from dataclasses import replace

from remembrancer.call import Call
from remembrancer.errors import Conflict, InvalidInput, NotFound
from remembrancer.guard.redaction import checked_text, refuse_secret_name, without_secrets
from remembrancer.ids import new_id
from remembrancer.remember.pipeline import superseding
from remembrancer.remember.rule_trust import LADDER, after, misleads, warning
from remembrancer.store.contract import Apply, Patch, Write, Writer
from remembrancer.types import (
    Action,
    Maturity,
    Record,
    Rule,
    RuleApplication,
    Status,
    Verdict,
    Written,
)

REASON_LIMIT = 2000
COUNTED = ("applied_count", "success_count", "harmful_count", "applied_at", "maturity")


def report(
    call: Call,
    rule: Record,
    verdict: Verdict,
    reason: str | None = None,
    session_id: str | None = None,
) -> Written:
    """Enter a use of a rule; much harm turns it into a warning of itself."""
    refuse_secret_name(session_id)
    if reason is not None:
        reason = without_secrets(checked_text(reason, "The reason", REASON_LIMIT))
    now = call.now()
    with call.writing() as writer:
        old = _standing(writer, rule)
        used = RuleApplication(
            id=new_id("use", now),
            rule_id=old.id,
            verdict=verdict,
            reason=reason,
            agent=call.principal.agent,
            session_id=session_id,
            applied_at=now,
        )
        new = after(old, verdict, call.profile.rules, now)
        writes: list[Write] = [Apply(used), Patch(old.id, _changed(old, new))]
        if misleads(new, call.profile.rules):
            reasons = [each.reason for each in (*writer.applications([old.id]), used)]
            inverted = _inverted(new, [each for each in reasons if each], call)
            writes = [Apply(used), *_taking_over(call, writer, new, inverted)]
            new = inverted
        event = call.event(ACTIONS[verdict], now, note=_noted(old, new))
        event = writer.apply(event, writes)
    return Written(new, event, replaced=old if new.id != old.id else None)


ACTIONS = {Verdict.HELPFUL: Action.HELPED, Verdict.HARMFUL: Action.HARMED}


def promote(call: Call, rule: Record, steps: int) -> Written:
    """Trust a rule more or less, by hand."""
    with call.writing() as writer:
        old = _standing(writer, rule)
        if old.maturity is Maturity.ANTI_PATTERN:
            raise Conflict("It is a warning by now; undo what made it one, or say it anew.")
        place = LADDER.index(old.maturity) + steps
        if not 0 <= place < len(LADDER):
            most = "least: disable it instead" if steps < 0 else "most"
            raise Conflict(f"It is {old.maturity} already, which is the {most}.")
        new = replace(old, maturity=LADDER[place])
        action = Action.PROMOTED if steps > 0 else Action.DEMOTED
        event = call.event(action, call.now(), note=_noted(old, new))
        event = writer.apply(event, [Patch(old.id, {"maturity": new.maturity})])
    return Written(new, event)


def disable(call: Call, rule: Record) -> Written:
    """Keep a rule without following it; `restore` brings it back."""
    now = call.now()
    with call.writing() as writer:
        old = _standing(writer, rule)
        values = {"status": Status.DISABLED, "retired_at": now}
        event = writer.apply(call.event(Action.DISABLED, now), [Patch(old.id, values)])
        new = writer.get(old.id)
    assert new is not None
    return Written(new, event)


def _standing(writer: Writer, seen: Record) -> Rule:
    """The rule as it is now, if it is in force."""
    rule = writer.get(seen.id)
    if rule is None:
        raise NotFound(f"There is no memory {seen.id}.")
    if not isinstance(rule, Rule):
        raise InvalidInput(f"That is a {rule.kind}; only rules are applied and trusted.")
    if rule.status is not Status.ACTIVE:
        raise Conflict(f"It is {rule.status}; its history says what took its place.")
    return rule


def _inverted(rule: Rule, reasons: list[str], call: Call) -> Rule:
    """The warning that takes the place of a harmful rule, with its record."""
    now = call.now()
    return replace(
        rule,
        id=new_id("rule", now),
        content=warning(rule.content, reasons),
        maturity=Maturity.ANTI_PATTERN,
        supersedes=rule.id,
        valid_from=now,
        recorded_at=now,
        confirmed_at=now,
    )


def _taking_over(call: Call, writer: Writer, rule: Rule, inverted: Rule) -> list[Write]:
    """The warning in the place of the rule, which keeps the counts that led to it."""
    writes = superseding(writer, rule, inverted, call.embed(inverted.searchable))
    counts = {name: getattr(rule, name) for name in COUNTED if name != "maturity"}
    return [
        Patch(one.id, {**one.values, **counts})
        if isinstance(one, Patch) and one.id == rule.id
        else one
        for one in writes
    ]


def _changed(old: Rule, new: Rule) -> dict[str, object]:
    return {
        name: getattr(new, name) for name in COUNTED if getattr(new, name) != getattr(old, name)
    }


def _noted(old: Rule, new: Rule) -> str | None:
    """What a change of trust is called in the feed."""
    if new.maturity is old.maturity:
        return None
    if new.maturity is Maturity.ANTI_PATTERN:
        return "turned into a warning"
    return f"{old.maturity} to {new.maturity}"
