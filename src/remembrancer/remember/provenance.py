"""Where a memory comes from: on whose word, and from which conversation or episodes. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from remembrancer.text_format import pluralize
from remembrancer.types import (
    Episode,
    Json,
    Kind,
    Link,
    Provenance,
    ProvenanceKind,
    Record,
    Relation,
    Source,
    Turn,
    kind_of,
    looks_like_id,
)

EPISODES_KEY = "episodes"
"""Metadata key of the ids of the episodes that a memory was concluded from; they may be gone."""

IMPORT_KEY = "imported"
"""Metadata key of the product, the file and the place that a memory was imported from."""

REQUEST_KEY = "requested"
"""Metadata key of what a model saved by a tool: true if the person asked for it."""

MODEL_SURFACES = frozenset({"mcp"})
"""Surfaces on which only models write."""

PERSONAL_SURFACES = frozenset({"web"})
"""Surfaces on which a person writes, even about the memory of an agent."""

OWN_WORD_KINDS = frozenset(
    {
        ProvenanceKind.DIRECT,
        ProvenanceKind.SAID,
        ProvenanceKind.REQUESTED,
        ProvenanceKind.BOOKMARKED,
    }
)

VOUCHED_KEY = "vouched"
"""Key beside the place of an import: true if the person vouches for the file."""

UNVERIFIED_ORIGINS = {
    ProvenanceKind.STORED: "saved by an assistant",
    ProvenanceKind.NOTED: "saved by an assistant",
    ProvenanceKind.IMPORTED: "imported",
    ProvenanceKind.OUTSIDE: "from a tool or a document",
}
"""What a prompt says of memories that are not on the person's word."""

RUN_TAG = "run"
SESSION_TAGS = frozenset({RUN_TAG, "claude-code", "codex", "cursor", "vscode"})
"""Tags of the episodes that are recorded at the end of a session with a program."""

LABELS = {
    ProvenanceKind.DIRECT: "saved directly",
    ProvenanceKind.SAID: "you said so",
    ProvenanceKind.SPOKEN: "said in a conversation",
    ProvenanceKind.REQUESTED: "saved by the assistant because you asked",
    ProvenanceKind.NOTED: "saved by the assistant",
    ProvenanceKind.BOOKMARKED: "a reply that you bookmarked",
    ProvenanceKind.LEARNED: "learned from a conversation",
    ProvenanceKind.OUTSIDE: "from a tool or a document",
}


def trace_provenance(record: Record, links: Iterable[Link] = ()) -> Provenance:
    """Where a memory comes from; its links name episodes that its own row does not."""
    kind = _classify(record)
    return Provenance(
        kind=kind,
        agent=record.agent,
        surface=record.surface,
        session_id=record.session_id,
        turns=tuple(one.turn_id for one in record.evidence),
        episodes=_list_episodes(record, links) if kind is ProvenanceKind.CONCLUDED else (),
        product=_read_product(record) if kind is ProvenanceKind.IMPORTED else None,
    )


def is_own_word(record: Record) -> bool:
    """True if the person stated a memory themselves, or asked a model to store it.

    That holds also on the page of an agent and in a chat with one.
    """
    return record.source is Source.EXPLICIT and _classify(record) in OWN_WORD_KINDS


def name_unverified_origin(record: Record) -> str:
    """Where a memory comes from that is not on the person's word; "" if nothing is to be said."""
    if record.tainted:
        return UNVERIFIED_ORIGINS[ProvenanceKind.OUTSIDE]
    kind = _classify(record)
    if isinstance(record, Turn) and not record.is_by_user and IMPORT_KEY in record.metadata:
        kind = ProvenanceKind.IMPORTED
    if kind is not ProvenanceKind.IMPORTED:
        return UNVERIFIED_ORIGINS.get(kind, "")
    place = record.metadata.get(IMPORT_KEY)
    if not isinstance(place, dict):
        return UNVERIFIED_ORIGINS[ProvenanceKind.STORED]
    return "" if place.get(VOUCHED_KEY) is True else UNVERIFIED_ORIGINS[kind]


def is_by_agent(record: Record) -> bool:
    """True if an agent saved a memory in its own words."""
    is_own = _classify(record) in (ProvenanceKind.STORED, ProvenanceKind.NOTED)
    return record.agent is not None and is_own and not record.tainted


def drop_voucher(metadata: Mapping[str, Json]) -> Mapping[str, Json]:
    """The metadata of a caller: only an import that the person vouches for says so."""
    place = metadata.get(IMPORT_KEY)
    if not isinstance(place, dict) or VOUCHED_KEY not in place:
        return metadata
    kept = {name: value for name, value in place.items() if name != VOUCHED_KEY}
    return {**metadata, IMPORT_KEY: kept}


def drop_request(metadata: Mapping[str, Json]) -> dict[str, Json]:
    """The metadata that a new version takes over: it is not what the person asked for then."""
    return {name: value for name, value in metadata.items() if name != REQUEST_KEY}


def describe_provenance(provenance: Provenance) -> str:
    """`you said so`, `stored by health`, `concluded from 2 episodes of health`."""
    agent = provenance.agent
    match provenance.kind:
        case ProvenanceKind.STORED:
            return f"stored by {agent}" if agent else "stored by an assistant"
        case ProvenanceKind.RECORDED:
            return f"recorded in a session of {agent}" if agent else "recorded in a session"
        case ProvenanceKind.CONCLUDED:
            number = len(provenance.episodes)
            episodes = pluralize(number, "episode") if number else "several memories"
            return f"concluded from {episodes}" + (f" of {agent}" if agent else "")
        case ProvenanceKind.IMPORTED:
            return f"imported from {provenance.product}" if provenance.product else "imported"
        case ProvenanceKind.OUTSIDE if agent:
            return f"{LABELS[ProvenanceKind.OUTSIDE]}, stored by {agent}"
        case ProvenanceKind.LEARNED if agent:
            return f"{LABELS[ProvenanceKind.LEARNED]} with {agent}"
        case ProvenanceKind.DIRECT if provenance.session_id:
            return "saved in a conversation"
        case kind:
            return LABELS[kind]


def does_name_agent(provenance: Provenance) -> bool:
    """True if the phrase names the agent."""
    nameless = replace(provenance, agent=None)
    return describe_provenance(provenance) != describe_provenance(nameless)


def _classify(record: Record) -> ProvenanceKind:
    if isinstance(record, Turn):
        return ProvenanceKind.OUTSIDE if record.tainted else ProvenanceKind.SPOKEN
    if isinstance(record, Episode) and record.is_note:
        return ProvenanceKind.BOOKMARKED
    match record.source:
        case Source.CONSOLIDATED:
            return ProvenanceKind.CONCLUDED
        case Source.EXTRACTED:
            return ProvenanceKind.LEARNED
        case Source.IMPORTED:
            is_file = IMPORT_KEY in record.metadata or not record.tainted
            return ProvenanceKind.IMPORTED if is_file else ProvenanceKind.OUTSIDE
        case Source.EXPLICIT:
            return _classify_explicit(record)


def _classify_explicit(record: Record) -> ProvenanceKind:
    if isinstance(record, Episode) and SESSION_TAGS.intersection(record.tags):
        return ProvenanceKind.RECORDED
    if record.evidence:
        return _classify_cited(record.metadata.get(REQUEST_KEY))
    if REQUEST_KEY in record.metadata:
        return ProvenanceKind.STORED
    if record.surface in PERSONAL_SURFACES:
        return ProvenanceKind.DIRECT
    by_model = record.agent is not None or record.surface in MODEL_SURFACES
    return ProvenanceKind.STORED if by_model else ProvenanceKind.DIRECT


def _classify_cited(is_requested: Json) -> ProvenanceKind:
    """The kind of a memory that cites the person's message, by what a model noted about it."""
    if is_requested is None:
        return ProvenanceKind.SAID
    return ProvenanceKind.REQUESTED if is_requested is True else ProvenanceKind.NOTED


def _list_episodes(record: Record, links: Iterable[Link]) -> tuple[str, ...]:
    named = record.metadata.get(EPISODES_KEY)
    ids = [str(one) for one in named] if isinstance(named, list) else []
    linked = (
        link.target
        for link in links
        if link.relation is Relation.DERIVED_FROM and link.source == record.id
    )
    ids += [one for one in linked if kind_of(one) is Kind.EPISODE]
    return tuple(dict.fromkeys(filter(looks_like_id, ids)))


def _read_product(record: Record) -> str | None:
    place = record.metadata.get(IMPORT_KEY)
    return str(place["from"]) if isinstance(place, dict) and "from" in place else None
