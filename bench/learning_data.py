"""Persons with conversations, proposals, gold rows and questions, read from JSON lines."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, TextIO

Json = Mapping[str, Any]

STYLES = ("literal", "natural", "resolved")


@dataclass(frozen=True, slots=True)
class SpokenTurn:
    """One turn of a conversation."""

    role: str
    speaker: str | None
    text: str
    said_at: datetime


@dataclass(frozen=True, slots=True)
class Cited:
    """Words of a turn, which is given by its index in the conversation."""

    turn: int
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What a model proposes; `gold` is the row that a right one states, `fault` what is wrong."""

    id: str
    style: str
    op: str
    target: str | None
    content: str
    about: str
    subject: str
    predicate: str
    category: str
    when: Json | None
    said_as: str | None
    evidence: tuple[Cited, ...]
    right: bool
    fault: str | None
    gold: str | None


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns in order of time, and what is proposed after them."""

    id: str
    turns: tuple[SpokenTurn, ...]
    proposals: tuple[Proposal, ...]

    def choose_proposals(self, style: str, *, wrong: bool) -> list[Proposal]:
        """The right proposals of a style and, if wanted, the wrong ones of all styles."""
        return [one for one in self.proposals if (one.style == style if one.right else wrong)]


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldRow:
    """One version of a fact; a text states it if every pattern is found in it."""

    id: str
    content: str
    conversation: str
    start: date | None
    until: date | None
    replaces: str | None
    must: tuple[re.Pattern[str], ...]

    def is_stated_by(self, text: str) -> bool:
        return all(one.search(text) for one in self.must)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """A question, with the rows that its prompt needs, may contain and must not contain."""

    id: str
    asked_at: datetime
    after: str
    text: str
    needed: tuple[str, ...]
    relevant: tuple[str, ...]
    stale: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """One person; `instructions` are rows, `coexisting` pairs of rows that must both stay."""

    id: str
    language: str
    conversations: tuple[Conversation, ...]
    gold: Mapping[str, GoldRow]
    questions: tuple[AskedQuestion, ...]
    instructions: frozenset[str]
    coexisting: tuple[tuple[str, str], ...]

    def rows_known_after(self, conversation: str) -> list[GoldRow]:
        """The rows of this conversation and of those before it."""
        names = [one.id for one in self.conversations]
        known = names[: names.index(conversation) + 1]
        return [one for one in self.gold.values() if one.conversation in known]

    def find_stated(self, text: str, among: Iterable[str]) -> list[str]:
        """The rows that a text states."""
        return [one for one in among if self.gold[one].is_stated_by(text)]


def load_persons(path: Path) -> list[Person]:
    """The persons of a file, compressed if its name ends in .gz."""
    with _open_text(path) as lines:
        return [parse_person(json.loads(line)) for line in lines if line.strip()]


def parse_person(value: Json) -> Person:
    features = value["features"]
    return Person(
        id=value["id"],
        language=value["language"],
        conversations=tuple(map(_parse_conversation, value["conversations"])),
        gold={one["id"]: _parse_row(one) for one in value["gold"]},
        questions=tuple(map(_parse_question, value["questions"])),
        instructions=frozenset(features.get("instruction", ())),
        coexisting=tuple((one, other) for one, other in features.get("coexist", ())),
    )


def _open_text(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")


def _parse_conversation(value: Json) -> Conversation:
    turns = (
        SpokenTurn(one["role"], one["speaker"], one["text"], _parse_moment(one["said_at"]))
        for one in value["turns"]
    )
    return Conversation(value["id"], tuple(turns), tuple(map(_parse_proposal, value["proposals"])))


def _parse_proposal(value: Json) -> Proposal:
    evidence = tuple(Cited(one["turn"], one["quote"]) for one in value["evidence"])
    return Proposal(**{**value, "evidence": evidence})


def _parse_row(value: Json) -> GoldRow:
    return GoldRow(
        id=value["id"],
        content=value["content"],
        conversation=value["conversation"],
        start=_parse_day(value["from"]),
        until=_parse_day(value["until"]),
        replaces=value["replaces"],
        must=tuple(re.compile(one, re.IGNORECASE) for one in value["must"]),
    )


def _parse_question(value: Json) -> AskedQuestion:
    return AskedQuestion(
        id=value["id"],
        asked_at=_parse_moment(value["asked_at"]),
        after=value["after"],
        text=value["text"],
        **{name: tuple(value[name]) for name in ("needed", "relevant", "stale")},
    )


def _parse_day(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text[:10])


def _parse_moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def split_exchanges(turns: Sequence[SpokenTurn]) -> list[list[SpokenTurn]]:
    """The turns up to each reply of the assistant, as an application hands them over."""
    exchanges: list[list[SpokenTurn]] = [[]]
    for turn in turns:
        exchanges[-1].append(turn)
        if turn.role == "assistant":
            exchanges.append([])
    return [one for one in exchanges if one]
