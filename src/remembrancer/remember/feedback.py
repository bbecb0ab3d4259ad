"""Feedback on rules: each use is recorded and changes the trust in the rule."""

from __future__ import annotations

from dataclasses import replace

from remembrancer.call import Call
from remembrancer.errors import Conflict, InvalidInput, NotFound
from remembrancer.guard.redaction import redact_text, refuse_secret_name, validate_text
from remembrancer.ids import new_id
from remembrancer.remember.embedding import TextVectors, write_with_vectors
from remembrancer.remember.inversion import (
    INVERSION_NOTE,
    build_warning,
    list_uses,
    plan_inversion,
)
from remembrancer.remember.rule_trust import COUNTS, MATURITY_ORDER, apply_verdict, is_misleading
from remembrancer.store.contract import AddApplication, Patch, Write, Writer
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

MAX_REASON_CHARS = 2000
TRUST_FIELDS = (*COUNTS, "maturity", "confirmed_at", "expires_at")


def record_verdict(
    call: Call,
    rule: Record,
    verdict: Verdict,
    reason: str | None = None,
    session_id: str | None = None,
) -> Written:
    """Record a use of a rule; a harmful rule is superseded by a warning."""
    refuse_secret_name(session_id)
    if reason is not None:
        reason = redact_text(validate_text(reason, "The reason", MAX_REASON_CHARS))
    now = call.now()

    def write(writer: Writer, vectors: TextVectors) -> Written:
        old = _load_rule(writer, rule)
        used = RuleApplication(
            id=new_id("use", now),
            rule_id=old.id,
            verdict=verdict,
            reason=reason,
            agent=call.principal.agent,
            session_id=session_id,
            applied_at=now,
        )
        new = apply_verdict(old, verdict, call.profile.rules, now)
        writes: list[Write] = [AddApplication(used), Patch(old.id, _changed_fields(old, new))]
        if is_misleading(new, call.profile.rules):
            warning = build_warning(call, new, [*list_uses(writer, old), used])
            vector = vectors.get(warning.search_text)
            writes = [AddApplication(used), *plan_inversion(call, writer, new, warning, vector)]
            new = warning
        event = call.new_event(_name_action(old, new, verdict), now, note=_maturity_note(old, new))
        event = writer.apply(event, writes)
        return Written(new, event, replaced=old if new.id != old.id else None)

    return write_with_vectors(call, TextVectors(call), write)


def _name_action(old: Rule, new: Rule, verdict: Verdict) -> Action:
    """The change of maturity if there is one, else the verdict."""
    if new.maturity is old.maturity:
        return Action.HELPED if verdict is Verdict.HELPFUL else Action.HARMED
    if new.maturity is Maturity.ANTI_PATTERN:
        return Action.INVERTED
    return Action.PROMOTED if verdict is Verdict.HELPFUL else Action.DEMOTED


def shift_maturity(call: Call, rule: Record, steps: int) -> Written:
    """Promote or demote a rule by hand."""
    with call.open_writer() as writer:
        old = _load_rule(writer, rule)
        if old.maturity is Maturity.ANTI_PATTERN:
            raise Conflict(
                "The rule has become a warning. Undo the event that made it, or forget the warning "
                "and store the rule again."
            )
        place = MATURITY_ORDER.index(old.maturity) + steps
        if not 0 <= place < len(MATURITY_ORDER):
            hint = (
                "the lowest maturity. Disable it instead" if steps < 0 else "the highest maturity"
            )
            raise Conflict(f"The rule is {old.maturity} already, {hint}.")
        new = replace(old, maturity=MATURITY_ORDER[place])
        action = Action.PROMOTED if steps > 0 else Action.DEMOTED
        event = call.new_event(action, call.now(), note=_maturity_note(old, new))
        event = writer.apply(event, [Patch(old.id, {"maturity": new.maturity})])
    return Written(new, event)


def disable(call: Call, rule: Record) -> Written:
    """Keep a rule but do not apply it; `restore` enables it again."""
    now = call.now()
    with call.open_writer() as writer:
        old = _load_rule(writer, rule)
        values = {"status": Status.DISABLED, "retired_at": now}
        event = writer.apply(call.new_event(Action.DISABLED, now), [Patch(old.id, values)])
        new = writer.get(old.id)
    assert new is not None
    return Written(new, event)


def _load_rule(writer: Writer, seen: Record) -> Rule:
    rule = writer.get(seen.id)
    if rule is None:
        raise NotFound(f"There is no memory {seen.id}.")
    if not isinstance(rule, Rule):
        raise InvalidInput(f"{rule.id} is a {rule.kind}, not a rule.")
    if rule.status is not Status.ACTIVE:
        raise Conflict(f"The rule is {rule.status}. See its history.")
    return rule


def _changed_fields(old: Rule, new: Rule) -> dict[str, object]:
    return {
        name: getattr(new, name)
        for name in TRUST_FIELDS
        if getattr(new, name) != getattr(old, name)
    }


def _maturity_note(old: Rule, new: Rule) -> str | None:
    """Describes a change of maturity for the activity feed."""
    if new.maturity is old.maturity:
        return None
    if new.maturity is Maturity.ANTI_PATTERN:
        return INVERSION_NOTE
    return f"{old.maturity} to {new.maturity}"
