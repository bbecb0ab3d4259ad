"""Which memories go into a prompt, and in which order: one function for each style of a profile."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from remembrancer.call import Call
from remembrancer.decay import effective_confidence
from remembrancer.errors import InvalidInput
from remembrancer.guard.redaction import refuse_secret_name
from remembrancer.profiles import Profile
from remembrancer.recall.filters import QUERY_LIMIT, moment, narrowed
from remembrancer.recall.pipeline import recall
from remembrancer.recall.prompt_block import Context, Entry, Layout, as_data, block, tokens
from remembrancer.recall.prompt_lines import described, titled, words
from remembrancer.recall.usage import References
from remembrancer.team.service import told_to
from remembrancer.types import (
    AsOf,
    Fact,
    Kind,
    Owner,
    Record,
    Session,
    Source,
    checked_name,
)

SECTIONS = {
    Kind.FACT: "What You Know (Facts)",
    Kind.RULE: "How To Behave (Rules)",
    Kind.EPISODE: "Recent Context (Episodes)",
    Kind.TURN: "What Was Said (Conversations)",
}
READ_AT_MOST = 10_000
FROZEN_AT = "memory_frozen_at"
"""The key in a session's metadata; its start may move when earlier turns are added."""
DAY = 86_400


@dataclass(frozen=True, slots=True)
class Occasion:
    """For whom, about what, and at which moment a context is put together."""

    call: Call
    query: str | None
    as_of: AsOf | None
    now: datetime
    session: str | None = None

    @property
    def profile(self) -> Profile:
        """The choices to follow."""
        return self.call.profile

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What may be told; of conversations, only what was asked for."""
        kinds = [kind for kind in SECTIONS if kind in self.profile.recall.kinds]
        return tuple(kind for kind in kinds if kind is not Kind.TURN or self.query is not None)


Draft = tuple[Layout, list[Entry]]
"""What would be said if there were room for all of it, in the order in which to try."""


@dataclass(frozen=True, slots=True)
class Style:
    """A way to tell, and whether a conversation keeps to what was known when it first asked."""

    draft: Callable[[Occasion], Draft]
    lasts: bool


@dataclass(frozen=True, slots=True)
class Weighed:
    """A memory and how much it matters here."""

    memory: Record
    score: float


class Uncounted(References):
    """Counts nothing: a block that is asked for again must not find its own traces."""

    def note(self, owner: Owner, ids: Iterable[str], at: datetime, *, extend: bool = False) -> None:
        """Let it pass."""


def compose(
    call: Call,
    prompt: str | None,
    *,
    budget: int | None = None,
    session: str | None = None,
    as_of: AsOf | datetime | None = None,
    style: str | None = None,
) -> Context:
    """Memory for a prompt in the profile's style, never over the budget."""
    settings = call.profile.context
    budget = settings.budget_tokens if budget is None else budget
    if budget < 0:
        raise InvalidInput("The budget must be a number of tokens, 0 or more.")
    chosen = _style(style or settings.style)
    if session is not None and as_of is None and chosen.lasts:
        as_of = _asked_first(call, session)
    occasion = _occasion(call, prompt, as_of, session)
    layout, entries = chosen.draft(occasion)
    return _with_team(occasion, block(layout, entries, budget), budget)


def _with_team(occasion: Occasion, own: Context, budget: int) -> Context:
    """What the team knows after what is known of the person: they meet here and nowhere before.

    What stands in a cached prefix is left alone, and the past of a team is not told.
    """
    if occasion.query is None or own.frozen or occasion.as_of is not None:
        return own
    known = told_to(occasion.call, occasion.query)
    entries = [Entry("", f"{as_data(one.content)} [{one.kind}]") for one in known]
    shared = block(Layout("## What The Team Knows"), entries, budget - own.tokens)
    if not shared.text:
        return own
    text = f"{own.text}\n\n{shared.text}" if own.text else shared.text
    return Context(text, own.memories, tokens(text))


def sections(occasion: Occasion) -> Draft:
    """Facts, rules and recent episodes: the best of each kind compete for the room by score."""
    quiet = replace(occasion.call, references=Uncounted(occasion.call.store))
    found = [
        one for kind in occasion.kinds for one in _found(replace(occasion, call=quiet), (kind,))
    ]
    entries = [
        Entry(one.memory.id, line, SECTIONS[one.memory.kind])
        for one in _best_first(found)
        if (line := described(one.memory, occasion.now))
    ]
    return Layout("## Your Memory", dict.fromkeys(SECTIONS.values())), entries


def note(occasion: Occasion) -> Draft:
    """What is recalled for this prompt, as a short list for the part that is not cached.

    What was said in the conversation that asks is left out: it is in the prompt already.
    """
    found = [
        one
        for one in _found(occasion, occasion.kinds)
        if one.memory.kind is not Kind.TURN or one.memory.session_id != occasion.session
    ]
    entries = [Entry(one.memory.id, line) for one in found if (line := words(one.memory))]
    return Layout("## What you remember about this user"), entries


def hot_set(occasion: Occasion) -> Draft:
    """The facts in force by category, whatever the prompt; the rest is left to recall."""
    categories = occasion.profile.categories
    facts = [
        one
        for one in _in_force(occasion, (Kind.FACT,))
        if isinstance(one, Fact) and _may_be_injected(occasion, one)
    ]
    # A category of another profile, in which this memory was once kept, has no budget of its own.
    names = [*categories, *sorted({one.category for one in facts} - categories.keys())]
    budgets = {
        titled(name): categories[name].budget_tokens if name in categories else None
        for name in names
    }
    entries = [
        Entry(one.id, line, titled(one.category))
        for one in sorted(facts, key=lambda one: (names.index(one.category), *_standing(one)))
        if (line := words(one))
    ]
    is_frozen = occasion.as_of is not None and occasion.as_of.known is not None
    return Layout("## Your stored preferences", budgets, is_frozen), entries


STYLES: Mapping[str, Style] = {
    "sections": Style(sections, lasts=True),
    "note": Style(note, lasts=False),
    "hot_set": Style(hot_set, lasts=True),
}


def _style(name: str) -> Style:
    if name not in STYLES:
        raise InvalidInput(f"style: use one of {', '.join(STYLES)}, not {name!r}.")
    return STYLES[name]


def _asked_first(call: Call, name: str) -> datetime:
    """When this conversation first asked for memory; it begins with that if it has not yet."""
    refuse_secret_name(name)
    name = checked_name(name, "session")
    with call.store.reading(call.owner) as reader:
        known = reader.session(name)
    if known is not None and not call.reaches(known.scope, Kind.TURN):
        raise InvalidInput("That conversation belongs to another scope.")
    if known is None or FROZEN_AT not in known.metadata:
        known = _frozen(call, name)
    return datetime.fromisoformat(str(known.metadata[FROZEN_AT]))


def _frozen(call: Call, name: str) -> Session:
    with call.writing() as writer:
        now = call.now()
        fresh = Session(
            id=name,
            scope=call.writable(),
            surface=call.principal.surface,
            started_at=now,
            active_at=now,
        )
        known = writer.session(name) or fresh
        # Someone else may have been faster: the first moment stands.
        known = replace(known, metadata={FROZEN_AT: now.isoformat(), **known.metadata})
        writer.keep_session(known)
    return known


def _occasion(
    call: Call, prompt: str | None, as_of: AsOf | datetime | None, session: str | None
) -> Occasion:
    then = moment(as_of)
    now = call.now() if then is None or then.known is None else then.known
    return Occasion(call, (prompt or "").strip()[:QUERY_LIMIT] or None, then, now, session)


def _found(occasion: Occasion, kinds: tuple[Kind, ...]) -> list[Weighed]:
    """What recall brings back for the prompt; without one, what matters most in itself."""
    if occasion.query is not None:
        wanted = recall(occasion.call, occasion.query, {"kinds": kinds, "as_of": occasion.as_of})
        return [Weighed(one.memory, one.score) for one in wanted]
    believed = [
        one
        for one in _in_force(occasion, kinds)
        if _belief(occasion, one) >= occasion.profile.decay.recall_at
    ]
    weighed = [Weighed(one, _weight(occasion, one)) for one in believed]
    return _best_first(weighed)[: occasion.profile.recall.limit]


def _in_force(occasion: Occasion, kinds: tuple[Kind, ...]) -> list[Record]:
    """The memories of these kinds that are, or at the moment asked for were, in force."""
    call = occasion.call
    passing = narrowed(call, {"kinds": kinds, "as_of": occasion.as_of})
    with call.store.reading(call.owner) as reader:
        found = reader.find(passing, READ_AT_MOST)
        if passing.known_at is not None:
            found = reader.as_known(found, passing.known_at)
    # A confirmation may have brought it back later; and when it was used is not part of the past.
    alive = [one for one in found if one.expires_at is None or one.expires_at > occasion.now]
    return [replace(one, recalled_at=None) for one in alive]


def _may_be_injected(occasion: Occasion, fact: Fact) -> bool:
    """What a person said goes in unless it faded; what software concluded must be believed."""
    settings = occasion.profile.context
    decay = occasion.profile.decay
    if fact.source is not Source.EXPLICIT:
        return _belief(occasion, fact) >= max(settings.inject_extracted_at, decay.recall_at)
    return decay.applies_to != "all" or _belief(occasion, fact) >= decay.recall_at


def _belief(occasion: Occasion, record: Record) -> float:
    return effective_confidence(record, occasion.profile.decay, occasion.now)


def _weight(occasion: Occasion, record: Record) -> float:
    """The composite score without its relevance, as nothing was asked."""
    profile = occasion.profile
    weights = profile.recall.weights
    days = max(0.0, (occasion.now - record.confirmed_at).total_seconds() / DAY)
    return (
        weights.importance * record.importance / profile.importance.max
        + weights.recency * math.exp(-days / profile.recall.nudges.recency_days)
        + weights.confidence * _belief(occasion, record)
    )


def _best_first(found: Iterable[Weighed]) -> list[Weighed]:
    return sorted(found, key=lambda one: (-one.score, one.memory.id))


def _standing(record: Record) -> tuple[float, float, str]:
    """The order within a category: what matters most, what was affirmed last, the id."""
    return -record.importance, -record.confirmed_at.timestamp(), record.id
