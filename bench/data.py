"""Histories with questions, read from JSON lines; knows no system and no metric."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

UNANSWERABLE = frozenset({"adversarial", "abstention"})
"""Categories whose answer is not in the history, even where a look-alike is marked as gold."""

DATES = ("%I:%M %p on %d %B, %Y", "%Y/%m/%d (%a) %H:%M", "%B-%d-%Y")


@dataclass(frozen=True, slots=True)
class Turn:
    id: str
    role: str
    speaker: str
    text: str

    @property
    def line(self) -> str:
        """The unit that every system stores: who said it, and what."""
        return f"{self.speaker}: {self.text}"


@dataclass(frozen=True, slots=True)
class Session:
    id: str
    date: datetime | None
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question, with the turns and sessions that hold the evidence for its answer."""

    id: str
    text: str
    category: str
    date: datetime | None
    answer: str
    turns: tuple[str, ...]
    sessions: tuple[str, ...]

    @property
    def unanswerable(self) -> bool:
        return self.category in UNANSWERABLE

    @property
    def answerable(self) -> bool:
        """Whether the evidence is there and known; some questions are neither."""
        return bool(self.turns) and not self.unanswerable


@dataclass(frozen=True, slots=True)
class History:
    """One person's sessions; an id of a turn or of a session stands for one only."""

    id: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]

    @property
    def turns(self) -> tuple[Turn, ...]:
        return tuple(turn for session in self.sessions for turn in session.turns)

    def session_of(self) -> dict[str, str]:
        """The session's id of each turn's id."""
        return {turn.id: session.id for session in self.sessions for turn in session.turns}


def load(path: Path) -> tuple[History, ...]:
    """The histories of a `.jsonl` or `.jsonl.gz` file."""
    with _opened(path) as lines:
        return tuple(history_from(json.loads(line)) for line in lines if line.strip())


def history_from(row: Mapping[str, Any]) -> History:
    """A history from its JSON object; fails when two turns or two sessions share an id."""
    sessions = tuple(_session(one) for one in row["sessions"])
    history = History(row["id"], sessions, tuple(_question(one) for one in row["questions"]))
    _must_differ(history, "turn", (turn.id for turn in history.turns))
    _must_differ(history, "session", (session.id for session in sessions))
    return history


def parse_date(text: str | None) -> datetime | None:
    """An aware datetime, read as UTC where no zone is given; None for what is not a date."""
    if not text:
        return None
    with suppress(ValueError):
        return _aware(datetime.fromisoformat(text))
    for form in DATES:
        with suppress(ValueError):
            return _aware(datetime.strptime(text, form))  # noqa: DTZ007
    return None


def _opened(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")


def _session(row: Mapping[str, Any]) -> Session:
    turns = tuple(
        Turn(str(turn["id"]), turn["role"], turn["speaker"], turn["text"]) for turn in row["turns"]
    )
    return Session(str(row["id"]), parse_date(row.get("date")), turns)


def _question(row: Mapping[str, Any]) -> Question:
    return Question(
        id=row["id"],
        text=row["text"],
        category=row["category"],
        date=parse_date(row.get("date")),
        answer=str(row.get("answer", "")),
        turns=tuple(map(str, row["turns"])),
        sessions=tuple(map(str, row["sessions"])),
    )


def _must_differ(history: History, what: str, ids: Iterator[str]) -> None:
    repeated = [id for id, count in Counter(ids).items() if count > 1]
    if repeated:
        raise ValueError(f"history {history.id}: two {what}s have the id {repeated[0]}")


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
