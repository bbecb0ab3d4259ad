"""Input of a write: validated, redacted, and made into a record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, TypedDict

from remembrancer.call import Call, Citation
from remembrancer.clock import as_utc
from remembrancer.errors import InvalidInput
from remembrancer.guard.quarantine import find_reasons
from remembrancer.guard.redaction import (
    redact_value,
    refuse_complex_metadata,
    refuse_nul,
    refuse_secret_name,
)
from remembrancer.ids import new_id
from remembrancer.options import check_options, check_value
from remembrancer.profiles import Category, Profile
from remembrancer.remember.doubt import DOUBT_KEY
from remembrancer.remember.provenance import (
    REQUEST_KEY,
    drop_voucher,
    name_unverified_origin,
)
from remembrancer.types import (
    Backlog,
    Episode,
    Evidence,
    Fact,
    Json,
    Kind,
    Origin,
    Permanence,
    Record,
    Rule,
    Source,
    Status,
    parse_enum,
)

MAX_CONTENT_CHARS = 20_000
MAX_NAME_CHARS = 200
MAX_TAGS = 100
MAX_QUOTE_CHARS = 500
"""A longer message is cited without a quote."""

INSTRUCTION_CATEGORIES = ("instruction", "response_style")
"""Categories that instruct an assistant. Like rules, they never come from outside."""


ENUM_FIELDS: Mapping[str, type[StrEnum]] = {
    "kind": Kind,
    "permanence": Permanence,
    "source": Source,
    "origin": Origin,
}


class FactFields(TypedDict, total=False):
    """Optional fields of a new memory."""

    kind: Kind | str
    category: str
    subject: str
    predicate: str
    importance: float
    permanence: Permanence | str
    confidence: float
    source: Source | str
    origin: Origin | str
    scope: str
    tags: tuple[str, ...] | list[str]
    metadata: Mapping[str, Json]
    summary: str
    body: str
    valid_from: datetime
    valid_until: datetime
    ttl_days: float
    session_id: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One memory to store, before it has an id and defaults.

    `said_at` is when a person said it, for a memory that was learned from a conversation. A
    `doubt` says why it must be confirmed first.
    """

    content: str
    kind: Kind = Kind.FACT
    category: str | None = None
    subject: str | None = None
    predicate: str | None = None
    importance: float | None = None
    permanence: Permanence | None = None
    confidence: float | None = None
    source: Source = Source.EXPLICIT
    origin: Origin = Origin.USER
    scope: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict)
    summary: str | None = None
    body: str | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    ttl_days: float | None = None
    session_id: str | None = None
    evidence: tuple[Evidence, ...] = ()
    agent: str | None = None
    surface: str | None = None
    author: str | None = None
    id: str | None = None
    said_at: datetime | None = None
    doubt: str | None = None


def validate_statement(content: str, details: FactFields, profile: Profile) -> Statement:
    """Parse and validate; raises InvalidInput."""
    check_value("content", content, str)
    check_options(details, FactFields)
    values = dict(details)
    for name, enum in ENUM_FIELDS.items():
        if name in values:
            values[name] = parse_enum(enum, str(values[name]), name)
    for name in ("valid_from", "valid_until"):
        if isinstance(moment := values.get(name), datetime):
            values[name] = as_utc(moment)
    values["tags"] = tuple(details.get("tags", ()))
    if isinstance(metadata := values.get("metadata"), Mapping):
        values["metadata"] = drop_voucher(metadata)
    statement = Statement(content=content, **values)  # type: ignore[arg-type]
    _check_text(statement)
    _check_numbers(statement, profile)
    if statement.kind is Kind.TURN:
        raise InvalidInput("Turns are stored with their session. Remember a fact, rule or episode.")
    if (statement.subject is None) != (statement.predicate is None):
        raise InvalidInput("Give both a subject and a predicate, or neither.")
    start, end = statement.valid_from, statement.valid_until
    if start and end and end <= start:
        raise InvalidInput("valid_until must be after valid_from.")
    return statement


def redact_statement(
    statement: Statement, topic: tuple[str | None, ...] = ()
) -> tuple[Statement, tuple[str, ...]]:
    """The statement with every secret replaced by a placeholder, and the kind of each.

    `topic` is the subject and predicate of the memory if the statement has none.
    """
    for name in _list_references(statement):
        refuse_secret_name(name)
    found: list[str] = []
    clean = {
        name: redact_value(getattr(statement, name), found)
        for name in ("subject", "predicate", "summary", "body", "tags", "metadata")
    }
    about = " ".join(filter(None, (statement.subject, statement.predicate, *topic)))
    clean["content"] = redact_value(statement.content, found, field_name=about)
    turns = tuple(
        replace(turn, quote=redact_value(turn.quote, found)) for turn in statement.evidence
    )
    return replace(statement, **clean, evidence=turns), tuple(found)


def _list_references(statement: Statement) -> list[str | None]:
    turns = [part for turn in statement.evidence for part in (turn.session_id, turn.turn_id)]
    return [statement.scope, statement.session_id, statement.category, *turns]


def build_record(call: Call, statement: Statement, now: datetime) -> Record:
    """The new record, with the profile's defaults for fields that are not given."""
    profile = call.profile
    if call.citation is not None:
        statement = _cite_message(statement, call.citation)
    kind = statement.kind
    if statement.category is None:
        statement = replace(statement, category=profile.find_category(statement.content))
    category_name, category = profile.resolve_category(statement.category)
    if kind is not Kind.FACT:
        category = Category()
    importance = statement.importance or category.importance or profile.importance.default
    common: dict[str, Any] = {
        "id": statement.id or new_id(kind, now),
        "content": statement.content,
        "scope": call.resolve_write_scope(statement.scope),
        "importance": float(importance),
        "permanence": statement.permanence or category.permanence,
        "confidence": _initial_confidence(statement, profile),
        "source": _effective_source(statement),
        "status": _initial_status(statement),
        "tainted": statement.origin.is_untrusted,
        "agent": statement.agent or call.principal.agent,
        "surface": statement.surface or call.principal.surface,
        "author": statement.author or call.author,
        "session_id": statement.session_id or _current_session(call, statement),
        "evidence": statement.evidence,
        "tags": statement.tags,
        "metadata": _build_metadata(statement),
        "valid_from": statement.valid_from or now,
        "valid_until": statement.valid_until,
        "recorded_at": now,
        "confirmed_at": now,
        "ttl_days": (days := _ttl_days(statement, category, profile)),
        "expires_at": now + timedelta(days=days) if days else None,
    }
    return _screen(_build_of_kind(call, statement, category_name, common), statement)


def _build_of_kind(
    call: Call, statement: Statement, category: str, common: dict[str, Any]
) -> Record:
    match statement.kind:
        case Kind.RULE:
            return Rule(**common)
        case Kind.EPISODE:
            scope = statement.scope or call.principal.agent or common["scope"]
            episode = Episode(**{**common, "scope": call.resolve_write_scope(scope)})
            return replace(episode, backlog=Backlog.DONE) if episode.is_note else episode
        case _:
            return Fact(
                **common,
                category=category,
                subject=statement.subject,
                predicate=statement.predicate,
                summary=statement.summary,
                body=statement.body,
            )


def _screen(record: Record, statement: Statement) -> Record:
    """The record, in quarantine if it reads like an instruction and is not the person's word."""
    if record.status is Status.QUARANTINED or not name_unverified_origin(record):
        return record
    about = ".".join(filter(None, (statement.subject, statement.predicate)))
    told = " ".join(filter(None, (statement.content, statement.summary, statement.body)))
    reasons = find_reasons(f"{about}: {told}" if about else told, tainted=record.tainted)
    return replace(record, status=Status.QUARANTINED) if reasons else record


def _cite_message(statement: Statement, citation: Citation) -> Statement:
    """The statement of a model, with the message as its evidence, unless it has some."""
    turn = citation.turn
    if statement.evidence:
        return statement
    metadata = {**statement.metadata, REQUEST_KEY: citation.is_requested}
    if turn is None or turn.session_id is None:
        return replace(statement, metadata=metadata)
    quote = turn.content if len(turn.content) <= MAX_QUOTE_CHARS else ""
    return replace(
        statement,
        session_id=turn.session_id,
        evidence=(Evidence(turn.session_id, turn.id, quote),),
        metadata=metadata,
    )


def _current_session(call: Call, statement: Statement) -> str | None:
    """The caller's session, for what they state themselves."""
    return call.principal.session if statement.source is Source.EXPLICIT else None


def _build_metadata(statement: Statement) -> dict[str, Json]:
    return {**statement.metadata, **({DOUBT_KEY: statement.doubt} if statement.doubt else {})}


def _effective_source(statement: Statement) -> Source:
    """Explicit text of anyone but the person counts as imported: they did not state it."""
    is_of_other = statement.origin is not Origin.USER
    is_explicit = statement.source is Source.EXPLICIT
    return Source.IMPORTED if is_explicit and is_of_other else statement.source


def _initial_status(statement: Statement) -> Status:
    if statement.origin.is_untrusted and (
        statement.kind is Kind.RULE or statement.category in INSTRUCTION_CATEGORIES
    ):
        return Status.QUARANTINED
    return Status.UNCONFIRMED if statement.doubt else Status.ACTIVE


def _initial_confidence(statement: Statement, profile: Profile) -> float:
    """The confidence that is given; a rule must earn more than its profile starts it with."""
    if statement.confidence is not None:
        return statement.confidence
    return profile.rules.confidence if statement.kind is Kind.RULE else 1.0


def _ttl_days(statement: Statement, category: Category, profile: Profile) -> float | None:
    days = statement.ttl_days or category.ttl_days
    return days or (profile.episodes.ttl_days if statement.kind is Kind.EPISODE else None)


def _check_text(statement: Statement) -> None:
    if not statement.content.strip():
        raise InvalidInput("The content is empty.")
    limits = {"content": MAX_CONTENT_CHARS, "summary": MAX_CONTENT_CHARS}
    for name, limit in {**limits, "body": 10 * MAX_CONTENT_CHARS}.items():
        if len(getattr(statement, name) or "") > limit:
            raise InvalidInput(f"The {name} is too long: at most {limit} characters.")
    for name in ("subject", "predicate", "category", "scope", "session_id"):
        value = getattr(statement, name)
        if value is not None and not 0 < len(value.strip()) <= len(value) <= MAX_NAME_CHARS:
            raise InvalidInput(f"The {name} must have 1 to {MAX_NAME_CHARS} characters.")
    if len(statement.tags) > MAX_TAGS:
        raise InvalidInput(f"At most {MAX_TAGS} tags.")
    if any(not tag.strip() or len(tag) > MAX_NAME_CHARS for tag in statement.tags):
        raise InvalidInput(f"A tag must have 1 to {MAX_NAME_CHARS} characters.")
    refuse_complex_metadata(statement.metadata, "The memory")
    try:
        everything = json.dumps(
            [statement.metadata, *_list_texts(statement)], ensure_ascii=False, allow_nan=False
        )
        everything.encode()
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            "The text contains an unpaired surrogate, or the metadata is not JSON."
        ) from error
    refuse_nul(everything)


def _list_texts(statement: Statement) -> list[str | None]:
    names = ("content", "subject", "predicate", "category", "scope", "summary", "body")
    quotes = [turn.quote for turn in statement.evidence]
    return [*(getattr(statement, name) for name in names), *statement.tags, *quotes]


def _check_numbers(statement: Statement, profile: Profile) -> None:
    top = profile.importance.max
    if statement.importance is not None and not 1 <= statement.importance <= top:
        raise InvalidInput(f"The importance must be from 1 to {top}.")
    if statement.confidence is not None and not 0 <= statement.confidence <= 1:
        raise InvalidInput("The confidence must be from 0 to 1.")
    if statement.ttl_days is not None and not 0 < statement.ttl_days <= 36_500:
        raise InvalidInput("ttl_days must be more than 0 and at most 36500.")
