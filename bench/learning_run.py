"""Lets a memory learn one person's conversations and notes what it kept and put into prompts.

Knows the library only as its users do; counts and shares are made elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

import remembrancer
from bench.learning_data import (
    AskedQuestion,
    Conversation,
    GoldRow,
    Person,
    Proposal,
    SpokenTurn,
    split_exchanges,
)
from bench.learning_model import ProposalScript, contains_text
from bench.processes import Failed
from remembrancer.clock import ManualClock
from remembrancer.config import Settings
from remembrancer.embed import Embedder
from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from remembrancer.sessions.turns import TurnInput
from remembrancer.testing import ModelEndpoint
from remembrancer.types import Kind, Record, Rejection, Status, kind_of

REPLY_DELAY = timedelta(seconds=10)
CLOSE_DELAY = timedelta(minutes=5)
"""How long after its last turn an exchange is handed over, and a conversation closed."""

LISTED_STATUSES = tuple(one for one in Status if one is not Status.TRASHED)
TOLD = frozenset({"kept", "kept in other words", "retracted"})
LINE_START = "- "

_PAST = re.compile(
    r"(?<!\w)(?:until|till|formerly|former|previously|used to|no longer|any ?more|ended"
    r"|bis|früher\w*|ehemal\w*|nicht mehr|kein\w* mehr|hasta|anteriormente|ya no"
    r"|jusqu\w*|auparavant|autrefois|ne \w+ plus|n['’]\w+ plus)(?!\w)"
    r"|(?:\bto|–|—|→|\.\.|/)\s*\d{4}-\d\d",
    re.IGNORECASE,
)
"""An end date, or words for what is over."""

_ANNOTATION = re.compile(r"^- \[[^\]]*\]\s*|\s*\[[^\]]*\]$")
"""The date of a turn before its words; how sure and how old a memory is, after its content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """One way to run a person; without a style there is no model."""

    profile: str
    style: str | None
    verify: str = "off"
    wrong: bool = True


@dataclass(slots=True)
class ProposalOutcome:
    """What became of a proposal: kept, rejected and why, or its memory's status."""

    conversation: str
    proposal: Proposal
    outcome: str
    reason: str = ""

    @property
    def is_told(self) -> bool:
        return self.outcome in TOLD


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeOutcome:
    """A row that replaces another: which are current, and whether their valid times are right."""

    row: str
    replaced: str
    is_new_current: bool
    still_current: str | None
    is_start_right: bool | None = None
    is_end_right: bool | None = None
    dates: str = ""

    @property
    def is_right(self) -> bool:
        return self.is_new_current and self.still_current is None


@dataclass(frozen=True, slots=True)
class CoexistOutcome:
    """A pair that must both stay: the rows that are not current, and those that were once."""

    rows: tuple[str, str]
    missing: tuple[str, ...]
    lost: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BlockLine:
    """A line of a block and the rows it states; `is_past` if it is marked as no longer true."""

    text: str
    states: frozenset[str]
    is_past: bool = False
    is_turn: bool = False


@dataclass(frozen=True, slots=True)
class BlockOutcome:
    """The block for a question."""

    question: AskedQuestion
    lines: tuple[BlockLine, ...]
    tokens: int
    instructions: frozenset[str]

    @property
    def missing(self) -> list[str]:
        """The needed rows that no line states."""
        return self._list_missing(self.lines)

    @property
    def missing_without_turns(self) -> list[str]:
        """The needed rows that no line states but those of conversations."""
        return self._list_missing([one for one in self.lines if not one.is_turn])

    def _list_missing(self, lines: Sequence[BlockLine]) -> list[str]:
        stated = {row for line in lines for row in line.states}
        return [one for one in self.question.needed if one not in stated]

    @property
    def counted_lines(self) -> list[BlockLine]:
        """The lines other than standing instructions."""
        return [one for one in self.lines if not one.states & self.instructions]

    @property
    def relevant_lines(self) -> list[BlockLine]:
        return [one for one in self.counted_lines if one.states & {*self.question.relevant}]

    @property
    def irrelevant_lines(self) -> list[BlockLine]:
        return [one for one in self.counted_lines if not one.states & {*self.question.relevant}]

    @property
    def stale_lines(self) -> list[BlockLine]:
        stale = {*self.question.stale}
        return [one for one in self.lines if one.states & stale and not one.is_past]


@dataclass(frozen=True, slots=True)
class Find:
    """A memory, and the rows known by then that it states."""

    content: str
    conversation: str
    states: tuple[str, ...]


@dataclass(slots=True)
class PersonOutcome:
    """Everything that was noted in one run of a person."""

    person: Person
    settings: RunSettings
    proposals: list[ProposalOutcome] = field(default_factory=list)
    changes: list[ChangeOutcome] = field(default_factory=list)
    pairs: list[CoexistOutcome] = field(default_factory=list)
    blocks: list[BlockOutcome] = field(default_factory=list)
    finds: dict[str, Find] = field(default_factory=dict)
    ever_current: set[str] = field(default_factory=set)
    claims: int = 0
    targets: list[bool] = field(default_factory=list)


def run_person(
    place: str, person: Person, settings: RunSettings, embedder: Embedder
) -> PersonOutcome:
    """Hold all conversations, ask all questions, and note what comes of it."""
    script = ProposalScript(settings.style or "", wrong=settings.wrong)
    clock = ManualClock(person.conversations[0].turns[0].said_at)
    with ModelEndpoint(script) as endpoint:
        values = _build_settings(person, settings, endpoint.openai)
        with remembrancer.open(place, settings=values, clock=clock, embedder=embedder) as store:
            return _Run(person, settings, script, clock, store).hold()


def _build_settings(person: Person, settings: RunSettings, url: str) -> Settings:
    """A tenant of its own for each run, so that it starts empty."""
    name = "-".join(
        (person.id, settings.profile, settings.style or "none", settings.verify)
        + (("wrong",) if settings.wrong else ())
    )
    models = {"fast": {"url": url, "model": "scripted"}} if settings.style else {}
    overrides = {"learning": {"verify": settings.verify != "off"}}
    return Settings.model_validate(
        {
            "tenant": name,
            "user": person.id,
            "profile": settings.profile,
            "profile_overrides": overrides,
            "models": models,
        }
    )


class _Run:
    """One run of a person on an open store."""

    def __init__(
        self,
        person: Person,
        settings: RunSettings,
        script: ProposalScript,
        clock: ManualClock,
        store: Remembrancer,
    ) -> None:
        self._person = person
        self._script = script
        self._clock = clock
        self._store = store
        self._me = open_memory(store)
        self._memories: list[Record] = []
        self._right = {
            one.content for some in person.conversations for one in some.proposals if one.right
        }
        self._outcome = PersonOutcome(person, settings)

    def hold(self) -> PersonOutcome:
        for conversation in self._person.conversations:
            self._learn(conversation)
            self._note(conversation)
            for question in self._person.questions:
                if question.after == conversation.id:
                    self._outcome.blocks.append(self._ask(question))
        self._outcome.pairs = [self._check_pair(one) for one in self._person.coexisting]
        self._outcome.claims = self._script.claims
        self._outcome.targets = self._script.targets
        return self._outcome

    def _learn(self, conversation: Conversation) -> None:
        self._script.start(conversation)
        for exchange in split_exchanges(conversation.turns):
            self._set_clock(exchange[-1].said_at + REPLY_DELAY)
            self._me.learn([_to_input(one) for one in exchange], conversation.id)
            self._store.flush()
        self._set_clock(conversation.turns[-1].said_at + CLOSE_DELAY)
        self._me.close(conversation.id)
        self._store.flush()
        self._check_learned(conversation)

    def _check_learned(self, conversation: Conversation) -> None:
        if self._script.error is not None:
            raise self._script.error
        session = self._me.session(conversation.id)
        if session.failure or session.watermark < len(conversation.turns):
            raise Failed(f"{conversation.id} was not learned from: {session.failure}")

    def _set_clock(self, moment: datetime) -> None:
        self._clock.advance(moment - self._clock.now())

    def _note(self, conversation: Conversation) -> None:
        self._memories = load_memories(self._me)
        rows = self._person.rows_known_after(conversation.id)
        self._note_finds(conversation, rows)
        for row in rows:
            self._script.kept[row.id] = [one.content for one in self._find_active(row)]
        self._outcome.ever_current |= {row.id for row in rows if self._find_active(row)}
        if self._outcome.settings.style is None:
            return
        self._note_proposals(conversation)
        new = [one for one in rows if one.conversation == conversation.id and one.replaces]
        self._outcome.changes += [self._check_change(one) for one in new]

    def _note_finds(self, conversation: Conversation, rows: Sequence[GoldRow]) -> None:
        for one in self._memories:
            if one.status is Status.ACTIVE and one.id not in self._outcome.finds:
                states = tuple(row.id for row in rows if row.is_stated_by(one.content))
                self._outcome.finds[one.id] = Find(one.content, conversation.id, states)

    def _note_proposals(self, conversation: Conversation) -> None:
        rejected = load_rejections(self._me)
        for past in self._outcome.proposals:
            if not past.proposal.right and self._judge_wrong(past.proposal, ())[0] == "kept":
                past.outcome, past.reason = "kept", ""
        settings = self._outcome.settings
        assert settings.style is not None
        for one in conversation.choose_proposals(settings.style, wrong=settings.wrong):
            judge = self._judge_right if one.right else self._judge_wrong
            outcome, reason = judge(one, rejected)
            self._outcome.proposals.append(ProposalOutcome(conversation.id, one, outcome, reason))

    def _judge_right(self, one: Proposal, rejected: Sequence[Rejection]) -> tuple[str, str]:
        """What became of a right proposal; a confirmation is kept if its row is current."""
        row = self._person.gold[one.gold or ""]
        told = self._find_active(row)
        if told and (one.op == "confirm" or any(_is_worded(one, memory) for memory in told)):
            return "kept", ""
        if told:
            return "kept in other words", told[0].content
        if one.op == "retract" and self._is_gone(one.target or "", row):
            return "retracted", ""
        return self._judge_missing(one, rejected)

    def _is_gone(self, target: str, row: GoldRow) -> bool:
        """True if a row was current once and is not any more."""
        gone = not self._find_current(self._person.gold[target], row)
        return gone and target in self._outcome.ever_current

    def _judge_wrong(self, one: Proposal, rejected: Sequence[Rejection]) -> tuple[str, str]:
        active = [memory for memory in self._list_active() if memory.content not in self._right]
        if any(_is_worded(one, memory) for memory in active):
            return "kept", ""
        return self._judge_missing(one, rejected)

    def _judge_missing(self, one: Proposal, rejected: Sequence[Rejection]) -> tuple[str, str]:
        """Why no active memory states a proposal."""
        stored = next((memory for memory in self._memories if _is_worded(one, memory)), None)
        if stored is not None:
            return str(stored.status), self._find_successor(stored)
        if one.id not in self._script.handed_over:
            return "not shown", "the model was not shown all turns it rests on"
        for rejection in rejected:
            if contains_text(rejection.content, one.content):
                return "rejected", rejection.reason
        return "not stored", "the same words or the same fact may be stored in other words"

    def _find_successor(self, stored: Record) -> str:
        later = next((one for one in self._memories if one.supersedes == stored.id), None)
        return f"by: {later.content}" if later else ""

    def _list_active(self) -> list[Record]:
        return [one for one in self._memories if one.status is Status.ACTIVE]

    def _find_active(self, row: GoldRow) -> list[Record]:
        """The active memories that state a row."""
        return [one for one in self._list_active() if row.is_stated_by(one.content)]

    def _find_current(self, row: GoldRow, but: GoldRow | None = None) -> list[Record]:
        """The active memories that state a row as still true, and do not state the other one."""
        now = self._clock.now()
        return [
            one
            for one in self._find_active(row)
            if all(end is None or end > now for end in (one.valid_until, one.expires_at))
            and not (but and but.is_stated_by(one.content))
        ]

    def _check_change(self, row: GoldRow) -> ChangeOutcome:
        old = self._person.gold[row.replaces or ""]
        new, still = self._find_active(row), self._find_current(old, row)
        start, end, dates = self._check_dates(row, old, new)
        return ChangeOutcome(
            row=row.id,
            replaced=old.id,
            is_new_current=bool(new),
            still_current=still[0].content if still else None,
            is_start_right=start,
            is_end_right=end,
            dates=dates,
        )

    def _check_dates(
        self, row: GoldRow, old: GoldRow, new: Sequence[Record]
    ) -> tuple[bool | None, bool | None, str]:
        """Whether the valid times are right, where the proposal has one and both are stored."""
        proposal = self._find_proposal(row)
        past = [
            one
            for one in self._memories
            if old.is_stated_by(one.content) and not row.is_stated_by(one.content)
        ]
        if proposal is None or not proposal.when or not new or not past:
            return None, None, ""
        last = min(past, key=lambda one: one.valid_until or datetime.max.replace(tzinfo=UTC))
        start = is_same_day(new[0].valid_from, row.start) if proposal.when["from"] else None
        end = is_same_day(last.valid_until, old.until) if old.until else None
        said = (
            f"old until {last.valid_until} (gold {old.until}), "
            f"new from {new[0].valid_from} (gold {row.start})"
        )
        return start, end, said

    def _find_proposal(self, row: GoldRow) -> Proposal | None:
        """The resolved proposal of a row in this run; the other styles have no dates."""
        told = (one.proposal for one in self._outcome.proposals)
        return next((one for one in told if one.gold == row.id and one.style == "resolved"), None)

    def _check_pair(self, pair: tuple[str, str]) -> CoexistOutcome:
        """Which rows of a pair are not current; those that were replaced or are over may go."""
        replaced = {one.replaces for one in self._person.gold.values()}
        today = self._clock.now().date()
        rows = [self._person.gold[one] for one in pair if one not in replaced]
        missing = tuple(
            one.id
            for one in rows
            if not self._find_current(one) and not (one.until and one.until <= today)
        )
        lost = tuple(one for one in missing if one in self._outcome.ever_current)
        return CoexistOutcome(pair, missing, lost)

    def _ask(self, question: AskedQuestion) -> BlockOutcome:
        self._set_clock(question.asked_at)
        block = self._me.context(question.text)
        texts = [one for one in block.text.splitlines() if one.startswith(LINE_START)]
        # The lines of the team follow those of the memories.
        kinds = [kind_of(one) for one in block.memories] + [None] * len(texts)
        lines = tuple(
            self._read_line(one, kind is Kind.TURN) for one, kind in zip(texts, kinds, strict=False)
        )
        return BlockOutcome(question, lines, block.tokens, self._person.instructions)

    def _read_line(self, text: str, is_turn: bool) -> BlockLine:
        said = _ANNOTATION.sub("", text)
        states = frozenset(self._person.find_stated(said, self._person.gold))
        return BlockLine(text, states, bool(_PAST.search(text)), is_turn)


def open_memory(store: Remembrancer) -> Memory:
    """The user's memory, through an agent where the profile isolates agents."""
    is_isolated = store.settings.profile_for().scopes.visibility == "isolated"
    return store.for_user(agent="assistant" if is_isolated else None)


def load_memories(me: Memory) -> list[Record]:
    """All memories of whatever status, oldest first."""
    found = {one.id: one for status in LISTED_STATUSES for one in _list_status(me, status)}
    return sorted(found.values(), key=lambda one: (one.recorded_at, one.id))


def load_rejections(me: Memory) -> list[Rejection]:
    page = me.rejected(limit=1000)
    return list(page.items)


def _list_status(me: Memory, status: Status) -> Iterator[Record]:
    cursor = None
    while True:
        page = me.list(status=status, limit=500, cursor=cursor)
        yield from page.items
        cursor = page.cursor
        if cursor is None:
            return


def is_same_day(moment: datetime | None, day: date | None) -> bool:
    """True for a moment on that day, or at the midnight that ends it."""
    if moment is None or day is None:
        return False
    return day in (moment.date(), (moment - timedelta(microseconds=1)).date())


def _is_worded(one: Proposal, memory: Record) -> bool:
    return contains_text(memory.content, one.content)


def _to_input(turn: SpokenTurn) -> TurnInput:
    return {
        "role": turn.role,
        "content": turn.text,
        "speaker": turn.speaker,
        "said_at": turn.said_at,
    }
