"""Chooses the memories for a prompt and their order; one function per style of a profile."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from remembrancer.call import Call
from remembrancer.clock import as_utc
from remembrancer.decay import effective_confidence
from remembrancer.errors import InvalidInput
from remembrancer.guard.redaction import refuse_secret_name
from remembrancer.profiles import Profile
from remembrancer.recall.fact_lines import MAX_LINE_CHARS, build_fact_entries, word_fact
from remembrancer.recall.fact_search import find_facts, find_instructions
from remembrancer.recall.filters import MAX_QUERY_CHARS, RecallOptions, build_filter
from remembrancer.recall.pipeline import recall
from remembrancer.recall.prompt_block import (
    CHARS_PER_TOKEN,
    BlockLayout,
    Context,
    PromptEntry,
    build_block,
    count_free_chars,
    count_tokens,
    escape_for_prompt,
)
from remembrancer.recall.prompt_lines import format_heading, render_plainly, render_with_trust
from remembrancer.recall.recipes import maturity_weight
from remembrancer.recall.relevance import FactChoice
from remembrancer.recall.turn_choice import select_turns
from remembrancer.recall.turn_lines import build_focus, draft_turns
from remembrancer.search.prompt import PromptReading, read_prompt
from remembrancer.team.service import recall_for_call
from remembrancer.types import (
    AsOf,
    Fact,
    Kind,
    Record,
    Session,
    Source,
    Turn,
    validate_name,
)

SECTION_TITLES = {
    Kind.FACT: "What You Know (Facts)",
    Kind.RULE: "How To Behave (Rules)",
    Kind.EPISODE: "Recent Context (Episodes)",
    Kind.TURN: "What Was Said (Conversations)",
}
MAX_RECORDS = 10_000
MIN_LINES = 6
"""How many lines of facts the whole budget must hold at least: in a small one, lines are short."""

MIN_TURN_SHARE = 0.5
"""The share of the budget that turns can have whatever else is remembered."""

FROZEN_AT_KEY = "memory_frozen_at"
"""The key in a session's metadata. Its start cannot serve: adding earlier turns moves it."""
SECONDS_PER_DAY = 86_400


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """The caller, the query and the point in time of a context."""

    call: Call
    query: str | None
    as_of: AsOf | None
    now: datetime
    question: PromptReading
    budget: int
    zone: tzinfo
    session: str | None = None
    exclude: frozenset[str] = frozenset()
    """The ids of memories that the conversation has been given already."""

    has_snapshot: bool = False
    """True in a session that keeps the memory of its first request."""

    @property
    def local_now(self) -> datetime:
        """The present where the person is, whose days the dates in the block are."""
        return self.now.astimezone(self.zone)

    @property
    def selects_facts(self) -> bool:
        """True if the prompt decides which facts are told."""
        return self.query is not None and self.profile.context.relevant_only

    @property
    def profile(self) -> Profile:
        return self.call.profile

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds to include; turns only when there is a query."""
        kinds = [kind for kind in SECTION_TITLES if kind in self.profile.recall.kinds]
        return tuple(kind for kind in kinds if kind is not Kind.TURN or self.query is not None)


Draft = tuple[BlockLayout, list[PromptEntry]]
"""A layout, and all entries in the order in which they are tried against the budget."""


@dataclass(frozen=True, slots=True)
class ContextStyle:
    """How entries are chosen, and whether a session keeps its first snapshot of memory."""

    draft: Callable[[ContextRequest], Draft]
    frozen_per_session: bool


@dataclass(frozen=True, slots=True)
class ScoredMemory:
    memory: Record
    score: float


def build_context(
    call: Call,
    prompt: str | None,
    *,
    budget: int | None = None,
    session: str | None = None,
    as_of: AsOf | datetime | None = None,
    style: str | None = None,
    now: datetime | None = None,
    exclude: Iterable[str] = (),
) -> Context:
    """Prompt text in the profile's style that never exceeds the token budget."""
    settings = call.profile.context
    budget = settings.budget_tokens if budget is None else budget
    if budget < 0:
        raise InvalidInput("The budget must be a number of tokens, 0 or more.")
    context_style, as_of = _get_style(style or settings.style), call.read_as_of(as_of)
    has_snapshot = session is not None and context_style.frozen_per_session
    if session is not None and has_snapshot and as_of is None:
        as_of = _load_snapshot(call, session)
    request = _build_request(call, prompt, as_of, session, now, budget)
    request = replace(request, exclude=frozenset(exclude), has_snapshot=has_snapshot)
    layout, drafted = (
        context_style.draft(request) if call.is_memory_enabled else (BlockLayout(""), [])
    )
    entries = [one for one in drafted if not request.exclude.issuperset(one.ids)]
    return _append_team_block(request, build_block(layout, entries, budget), budget)


def _append_team_block(request: ContextRequest, own: Context, budget: int) -> Context:
    """Append the team's facts. Personal and team memory meet only here, as text.

    The block of a session stays as it is.
    """
    if request.query is None or request.has_snapshot:
        return own
    facts = recall_for_call(request.call, request.query, as_of=request.as_of)
    entries = [PromptEntry("", f"{escape_for_prompt(one.content)} [{one.kind}]") for one in facts]
    shared = build_block(BlockLayout("## What The Team Knows"), entries, budget - own.tokens)
    if not shared.text:
        return own
    text = f"{own.text}\n\n{shared.text}" if own.text else shared.text
    return Context(text, own.memories, count_tokens(text))


def draft_sections(request: ContextRequest) -> Draft:
    """Facts, rules, recent episodes and turns, each kind under its heading.

    Recalls are not counted: a repeated request must not see its own effect.
    """
    layout = BlockLayout("## Your Memory", dict.fromkeys(SECTION_TITLES.values()))
    if request.selects_facts:
        return layout, _build_relevant_entries(request, layout, SECTION_TITLES)
    kinds = [kind for kind in request.kinds if kind is not Kind.TURN]
    found = [one for kind in kinds for one in _select_memories(request, (kind,))]
    entries = _build_ranked_entries(request, _sort_by_score(found), SECTION_TITLES)
    unchosen = FactChoice((), is_personal=True)
    return layout, _add_turns(request, layout, entries, unchosen, SECTION_TITLES)


def draft_note(request: ContextRequest) -> Draft:
    """The memories that this prompt needs, as a short list for its uncached part."""
    layout = BlockLayout("## What you remember about this user")
    if request.selects_facts:
        entries = _build_relevant_entries(request, layout, {})
        if request.as_of is None:
            request.call.count_recalls(memory_id for one in entries for memory_id in one.ids)
        return layout, entries
    return layout, _build_ranked_entries(
        request, _select_memories(request, request.kinds, used=True), {}
    )


def draft_hot_set(request: ContextRequest) -> Draft:
    """The facts in force by category; for a prompt outside a session, those that it needs."""
    categories = request.profile.categories
    facts = _list_hot_facts(request)
    # A category of another profile that this store once used has no budget of its own.
    names = [*categories, *sorted({one.category for one in facts} - categories.keys())]
    budgets = {
        format_heading(name): categories[name].budget_tokens if name in categories else None
        for name in names
    }
    entries = [
        PromptEntry(one.id, line, format_heading(one.category))
        for one in sorted(facts, key=lambda one: (names.index(one.category), *_sort_key(one)))
        if (line := word_fact(one, request.local_now))
    ]
    is_past = request.as_of is not None and request.as_of.known is not None
    is_frozen = is_past and (request.has_snapshot or request.query is None)
    return BlockLayout("## Your stored preferences", budgets, is_frozen), entries


def _list_hot_facts(request: ContextRequest) -> list[Fact]:
    """All facts that go into a prompt; for one outside a session, those that it needs."""
    if request.selects_facts and not request.has_snapshot:
        needed = [*(one.fact for one in _find_facts(request).facts), *_find_orders(request)]
        by_id = {one.id: one for one in needed}
        return [one for one in by_id.values() if _was_trusted(request, one)]
    found = _load_in_force(request, (Kind.FACT,))
    return [one for one in found if isinstance(one, Fact) and _can_inject(request, one)]


def _build_relevant_entries(
    request: ContextRequest, layout: BlockLayout, headings: Mapping[Kind, str]
) -> list[PromptEntry]:
    """Standing instructions, then what the prompt needs; nothing for small talk."""
    if request.question.is_small_talk:
        return []
    chosen = _find_facts(request)
    orders = _find_orders(request)
    unknown = [one for one in chosen.facts if one.fact.id not in request.exclude]
    facts = [one for one in unknown if one.fact not in orders]
    entries = [
        PromptEntry(one.id, line, headings.get(Kind.RULE, ""))
        for one in orders
        if (line := word_fact(one, request.local_now, is_own=True))
    ]
    extras = [one for one in chosen.extras if one.fact.id not in request.exclude]
    max_chars = min(MAX_LINE_CHARS, request.budget * CHARS_PER_TOKEN // MIN_LINES)
    heading = headings.get(Kind.FACT, "")
    entries += build_fact_entries(facts, request.local_now, heading, extras, max_chars)
    others = (Kind.RULE, Kind.EPISODE) if chosen.is_personal else (Kind.RULE,)
    entries += _build_entries(request, others, headings)
    return _add_turns(request, layout, entries, chosen, headings)


def _build_ranked_entries(
    request: ContextRequest, found: Iterable[ScoredMemory], headings: Mapping[Kind, str]
) -> list[PromptEntry]:
    """The memories as they are ranked. Turns of the same session are in the prompt already."""
    return [
        PromptEntry(one.memory.id, line, headings.get(one.memory.kind, ""))
        for one in found
        if one.memory.kind is not Kind.TURN or one.memory.session_id != request.session
        if (line := _render(request, one.memory, bool(headings)))
    ]


def _render(request: ContextRequest, memory: Record, has_headings: bool) -> str:
    if request.profile.context.details and has_headings:
        return render_with_trust(memory, request.local_now)
    return (
        word_fact(memory, request.local_now)
        if isinstance(memory, Fact)
        else render_plainly(memory, request.local_now)
    )


def _find_facts(request: ContextRequest) -> FactChoice:
    """The facts that the prompt needs, if the profile recalls facts."""
    if request.query is None or Kind.FACT not in request.kinds:
        return FactChoice((), is_personal=True)
    return find_facts(request.call, request.query, request.question, request.as_of, request.now)


def _find_orders(request: ContextRequest) -> list[Fact]:
    """The standing instructions, if the prompt asks for something to be done."""
    if not request.question.is_request or Kind.FACT not in request.kinds:
        return []
    return find_instructions(request.call, request.as_of, request.now)


def _build_entries(
    request: ContextRequest, kinds: Sequence[Kind], headings: Mapping[Kind, str]
) -> list[PromptEntry]:
    """The best memories of some kinds, whatever their relevance."""
    wanted = tuple(kind for kind in kinds if kind in request.kinds)
    found = _select_memories(request, wanted) if wanted else []
    return [
        PromptEntry(one.memory.id, line, headings.get(one.memory.kind, ""))
        for one in found
        if (line := render_plainly(one.memory, request.local_now))
    ]


def _add_turns(
    request: ContextRequest,
    layout: BlockLayout,
    entries: list[PromptEntry],
    chosen: FactChoice,
    headings: Mapping[Kind, str],
) -> list[PromptEntry]:
    """Add the turns that say what no fact says, in the room that the other entries leave."""
    if Kind.TURN not in request.kinds or request.query is None:
        return entries
    heading = headings.get(Kind.TURN, "")
    others = build_block(layout, entries, int(request.budget * (1 - MIN_TURN_SHARE)))
    room = count_free_chars(layout, others, heading, request.budget)
    options: RecallOptions = {
        "kinds": (Kind.TURN,),
        "as_of": request.as_of,
        "used": False,
        "now": request.now,
    }
    found = select_turns(request.call, request.query, request.question, chosen, options)
    if found is None or room <= 0:
        return entries
    turns = [one.memory for one in found.recollection if isinstance(one.memory, Turn)]
    others_turns = [one for one in turns if one.session_id != request.session]
    unseen = [one for one in others_turns if one.id not in request.exclude]
    lines = draft_turns(unseen, build_focus(found), room, heading, request.zone)
    # Tried first, because their room is reserved; layout and headings decide the order shown.
    return [*lines, *entries] if heading else [*entries, *lines]


STYLES: Mapping[str, ContextStyle] = {
    "sections": ContextStyle(draft_sections, frozen_per_session=True),
    "note": ContextStyle(draft_note, frozen_per_session=False),
    "hot_set": ContextStyle(draft_hot_set, frozen_per_session=True),
}


def _get_style(name: str) -> ContextStyle:
    if name not in STYLES:
        raise InvalidInput(f"style: use one of {', '.join(STYLES)}, not {name!r}.")
    return STYLES[name]


def _load_snapshot(call: Call, name: str) -> AsOf | None:
    """The time of the session's first request for context; stored now if there was none.

    None while changes are dated ahead of a clock that went back: no moment has them all.
    """
    refuse_secret_name(name)
    name = validate_name(name, "session")
    with call.store.open_reader(call.owner) as reader:
        known, last = reader.get_session(name), reader.last_moment()
    if known is not None and not call.can_read_scope(known.scope, Kind.TURN):
        raise InvalidInput("The session belongs to another scope.")
    if known is None or FROZEN_AT_KEY not in known.metadata:
        if last is not None and last > call.now():
            return None
        known = _store_snapshot_time(call, name)
    frozen_at = datetime.fromisoformat(str(known.metadata[FROZEN_AT_KEY]))
    return AsOf(known=frozen_at) if frozen_at <= call.now() else None


def _store_snapshot_time(call: Call, name: str) -> Session:
    with call.open_writer() as writer:
        now = call.now()
        fresh = Session(
            id=name,
            scope=call.resolve_write_scope(),
            surface=call.principal.surface,
            started_at=now,
            active_at=now,
        )
        known = writer.get_session(name) or fresh
        # Another process may have stored one meanwhile: the first one stays.
        known = replace(known, metadata={FROZEN_AT_KEY: now.isoformat(), **known.metadata})
        writer.save_session(known)
    return known


def _build_request(
    call: Call,
    prompt: str | None,
    as_of: AsOf | None,
    session: str | None,
    now: datetime | None,
    budget: int,
) -> ContextRequest:
    asked_at = as_utc(now) if now is not None else (as_of and as_of.known) or call.now()
    if now is not None:
        call = call.at(asked_at)
    query = (prompt or "").strip()[:MAX_QUERY_CHARS] or None
    question, zone = read_prompt(query or ""), call.load_zone()
    return ContextRequest(call, query, as_of, asked_at, question, budget, zone, session)


def _select_memories(
    request: ContextRequest, kinds: tuple[Kind, ...], used: bool = False
) -> list[ScoredMemory]:
    """The memories recalled for the query; without one, those with the highest score."""
    if request.query is not None:
        options: RecallOptions = {
            "kinds": kinds,
            "as_of": request.as_of,
            "used": used,
            "now": request.now,
        }
        found = recall(request.call, request.query, options)
        return [ScoredMemory(one.memory, one.score) for one in found]
    believed = [
        one
        for one in _load_in_force(request, kinds)
        if _confidence(request, one) >= request.profile.decay.recall_at
    ]
    scored = [ScoredMemory(one, _score_without_query(request, one)) for one in believed]
    return _sort_by_score(scored)[: request.profile.recall.limit]


def _load_in_force(request: ContextRequest, kinds: tuple[Kind, ...]) -> list[Record]:
    """The memories of these kinds that are in force, or were at the requested time."""
    call = request.call
    record_filter = build_filter(call, {"kinds": kinds, "as_of": request.as_of})
    with call.store.open_reader(call.owner) as reader:
        found = reader.find(record_filter, MAX_RECORDS)
        if record_filter.known_at is not None:
            found = reader.as_of(found, record_filter.known_at)
    # A later confirmation may have revived a memory, and usage has no history.
    alive = [one for one in found if one.expires_at is None or one.expires_at > request.now]
    return [replace(one, recalled_at=None) for one in alive]


def _can_inject(request: ContextRequest, fact: Fact) -> bool:
    """True for an explicit fact that has not faded, or an extracted one above the threshold."""
    settings = request.profile.context
    decay = request.profile.decay
    if fact.source is not Source.EXPLICIT:
        return _confidence(request, fact) >= max(settings.inject_extracted_at, decay.recall_at)
    return decay.applies_to != "all" or _confidence(request, fact) >= decay.recall_at


def _was_trusted(request: ContextRequest, fact: Fact) -> bool:
    """True for an explicit fact, or an extracted one that was learned above the threshold."""
    is_explicit = fact.source is Source.EXPLICIT
    return is_explicit or fact.confidence >= request.profile.context.inject_extracted_at


def _confidence(request: ContextRequest, record: Record) -> float:
    return effective_confidence(record, request.profile.decay, request.now)


def _score_without_query(request: ContextRequest, record: Record) -> float:
    """The composite score without its relevance term, weighted by maturity."""
    profile = request.profile
    weights = profile.recall.weights
    days = max(0.0, (request.now - record.confirmed_at).total_seconds() / SECONDS_PER_DAY)
    return maturity_weight(record, profile.recall) * (
        weights.importance * record.importance / profile.importance.max
        + weights.recency * math.exp(-days / profile.recall.nudges.recency_days)
        + weights.confidence * _confidence(request, record)
    )


def _sort_by_score(found: Iterable[ScoredMemory]) -> list[ScoredMemory]:
    return sorted(found, key=lambda one: (-one.score, one.memory.id))


def _sort_key(record: Record) -> tuple[float, float, str]:
    """Sorts by importance, then by the latest confirmation, then by id."""
    return -record.importance, -record.confirmed_at.timestamp(), record.id
