"""Where a memory comes from, as its page shows it: a sentence, quotes, episodes and a session."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from remembrancer.remember.provenance import describe_provenance, trace_provenance
from remembrancer.server.pages.cards import Card
from remembrancer.server.pages.page_context import PageContext
from remembrancer.text_format import describe_surface, pluralize
from remembrancer.types import Link, ProvenanceKind, Record, Turn

TAINTED = "A tool or a document has a part in it, so nobody vouches for it."


@dataclass(frozen=True, slots=True)
class SourceQuote:
    """A turn that supports a memory, split around the quoted evidence."""

    turn: Turn
    before: str
    quote: str
    after: str


@dataclass(frozen=True, slots=True)
class MemorySource:
    """The source of a memory; `gone` counts what supports it and is no longer stored."""

    sentence: str
    quotes: tuple[SourceQuote, ...]
    episodes: tuple[Card, ...]
    gone: str = ""


def build_source(context: PageContext, record: Record, links: Iterable[Link]) -> MemorySource:
    provenance = trace_provenance(record, links)
    episodes = context.load_memories(provenance.episodes)
    if len({one.agent for one in episodes.values()}) > 1:
        provenance = replace(provenance, agent=None)
    quotes = _load_quotes(context, record)
    phrase, surface = describe_provenance(provenance), describe_surface(record.surface)
    missing = {
        "message": len(provenance.turns) - len(quotes),
        "episode": len(provenance.episodes) - len(episodes),
    }
    gone = [pluralize(count, noun) for noun, count in missing.items() if count]
    sentence = (
        f"{phrase[0].upper()}{phrase[1:]} {context.format_age(record.recorded_at)}, {surface}."
    )
    if record.tainted and provenance.kind is not ProvenanceKind.OUTSIDE:
        sentence += f" {TAINTED}"
    return MemorySource(
        sentence,
        quotes,
        tuple(context.build_card(episodes[one]) for one in provenance.episodes if one in episodes),
        " and ".join(gone),
    )


def _load_quotes(context: PageContext, record: Record) -> tuple[SourceQuote, ...]:
    """The turns that support a memory and are still stored."""
    turns = context.load_memories(evidence.turn_id for evidence in record.evidence)
    quotes = []
    for evidence in record.evidence:
        turn = turns.get(evidence.turn_id)
        if not isinstance(turn, Turn):
            continue
        before, quote, after = turn.content, "", ""
        if evidence.quote:
            before, quote, after = turn.content.partition(evidence.quote)
        quotes.append(SourceQuote(turn, before, quote, after))
    return tuple(quotes)
