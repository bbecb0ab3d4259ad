"""The view model of a memory card: its text and the labels of its details."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from remembrancer.decay import effective_confidence, standing_at
from remembrancer.guard.quarantine import explain_quarantine
from remembrancer.maintenance.stats import confidence_step
from remembrancer.memory import Memory
from remembrancer.remember.doubt import describe_doubt
from remembrancer.remember.lifecycle import RESTORABLE
from remembrancer.remember.provenance import (
    describe_provenance,
    does_name_agent,
    trace_provenance,
)
from remembrancer.server.pages import text
from remembrancer.text_format import pluralize
from remembrancer.types import ConfidenceBand, Episode, Fact, Maturity, Record, Rule, Status, Turn

if TYPE_CHECKING:
    from remembrancer.server.pages.page_context import PageContext


@dataclass(frozen=True, slots=True)
class Card:
    """A memory as pages show it; `old` is the version that it replaced.

    `doubt` says why an unconfirmed memory is in doubt, and `quote` is what it was learned from.
    """

    id: str
    kind: str
    content: str
    href: str
    topic: str
    step: int
    word: str
    percent: int
    state: str
    permanence: str
    source: str
    scope: str
    agent: str
    recorded_at: datetime
    session: str | None
    session_href: str
    importance: float
    active: bool
    fading: bool
    warning: bool
    held_back: str
    window: str
    category: str = ""
    subject: str = ""
    body: str = ""
    maturity: Maturity | None = None
    helps: int = 0
    counts: str = ""
    backlog: str = ""
    names_agent: bool = False
    old: Record | None = None
    old_href: str = ""
    restorable: bool = False
    removed: bool = False
    disabled: bool = False
    can_promote: bool = False
    can_demote: bool = False
    doubt: str = ""
    quote: str = ""


def build_card(context: PageContext, record: Record, old: Record | None) -> Card:
    """The card of a memory at the moment that the page shows."""
    me, now, zone = context.me, context.moment, context.zone
    band = standing_at(record, me.profile.decay, now)
    confidence = effective_confidence(record, me.profile.decay, now)
    step, word = text.describe_confidence(confidence)
    session = record.session_id
    provenance = trace_provenance(record)
    return Card(
        id=record.id,
        kind=str(record.kind),
        content=record.content,
        href=context.memory_url(record.id),
        topic=text.format_topic(record),
        step=step,
        word=word,
        percent=round(confidence * 100),
        state=text.describe_state(record, band, now, zone),
        permanence=str(record.permanence),
        source=describe_provenance(provenance),
        names_agent=does_name_agent(provenance),
        scope=record.scope,
        agent=record.agent or "",
        recorded_at=record.recorded_at,
        session=session,
        session_href=context.session_url(session) if session else "",
        importance=record.importance,
        active=record.status is Status.ACTIVE,
        fading=band is not ConfidenceBand.RECALLED,
        warning=isinstance(record, Rule) and record.maturity is Maturity.ANTI_PATTERN,
        held_back=explain_quarantine(record),
        window=text.format_validity(record, now, zone),
        old=old,
        old_href=context.memory_url(old.id) if old else "",
        restorable=record.status in RESTORABLE,
        removed=record.status in (Status.FORGOTTEN, Status.TRASHED),
        disabled=record.status is Status.DISABLED,
        doubt=describe_doubt(record),
        quote=" … ".join(one.quote for one in record.evidence if one.quote),
        **_build_kind_fields(me, record),  # type: ignore[arg-type]
    )


def _build_kind_fields(me: Memory, record: Record) -> dict[str, object]:
    """The fields of a card that only this kind of memory has."""
    match record:
        case Fact():
            return {
                "category": record.category,
                "subject": text.humanize(record.subject or ""),
                "body": record.body or "",
            }
        case Rule():
            score = me.effectiveness(record) if record.applied_count else 0.0
            return {
                "maturity": record.maturity,
                "can_promote": record.maturity in (Maturity.CANDIDATE, Maturity.ESTABLISHED),
                "can_demote": record.maturity in (Maturity.ESTABLISHED, Maturity.PROVEN),
                "helps": confidence_step(score) if score else 0,
                "counts": _describe_uses(record),
            }
        case Episode():
            return {"backlog": "" if record.is_note else text.BACKLOG_LABELS[record.backlog]}
        case Turn():
            return {"subject": record.speaker or record.role}
    return {}


def _describe_uses(rule: Rule) -> str:
    if not rule.applied_count:
        return "not used yet"
    uses = pluralize(rule.applied_count, "use")
    return f"{uses}: {rule.success_count} helpful, {rule.harmful_count} harmful"
