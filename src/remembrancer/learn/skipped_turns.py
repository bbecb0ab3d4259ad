"""Turns that a model cannot answer about: rules read them, and the session notes which and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from remembrancer.call import Call
from remembrancer.errors import RemembrancerError
from remembrancer.llm import InvalidModelResponse, ModelUnavailable, TruncatedAnswer
from remembrancer.text_format import pluralize
from remembrancer.types import Json, Session

MAX_SKIPPED = 10
"""Turns in a row that are skipped before the model, not the turns, counts as what fails."""

READ_BY_RULES_KEY = "read_by_rules"
"""The metadata key of the position up to which rules have read turns that wait for a model."""

UNREAD_KEY = "unread"
"""The metadata key of the turns that the model did not read: the reasons by position."""

ModelFailure = InvalidModelResponse | ModelUnavailable


@dataclass(frozen=True, slots=True)
class Stretch:
    """How many new turns to read at a time, and how many earlier turns to show before them."""

    size: int
    window: int

    def narrow(self) -> Stretch | None:
        """Half of the turns, or a single turn on its own; None if there is nothing less."""
        if self.size > 1:
            return Stretch(self.size // 2, self.window)
        return Stretch(1, 0) if self.window else None


@dataclass(slots=True)
class SkippedTurns:
    """Turns in a row that rules read because the model gave no answer about them.

    They are taken back, for the model to read them later, if it answers about none of the turns
    after them either: then it may be the model that fails.
    """

    call: Call
    before: Session | None = None
    error: ModelFailure | None = None
    count: int = 0

    @property
    def is_full(self) -> bool:
        return self.count >= MAX_SKIPPED

    def add(self, before: Session, error: ModelFailure) -> None:
        self.before, self.error = self.before or before, error
        self.count += 1

    def accept(self) -> None:
        """The model answers about other turns: these stay skipped."""
        self.before, self.error, self.count = None, None, 0

    def take_back(self) -> None:
        if self.before is not None:
            rewind(self.call, self.before)

    def finish(self) -> None:
        """Raise what kept the model from reading the last turns of a session."""
        self.take_back()
        if self.error is not None:
            raise self.error


def can_narrow(error: ModelFailure, *, skip_unanswered: bool) -> bool:
    """True if the model may answer about fewer turns."""
    is_too_much = isinstance(error, TruncatedAnswer) or _is_refused(error)
    return is_too_much or (skip_unanswered and is_about_turns(error))


def is_about_turns(error: Exception) -> bool:
    """True if the model may well answer about other turns."""
    return isinstance(error, InvalidModelResponse) or _is_refused(error)


def _is_refused(error: Exception) -> bool:
    return isinstance(error, ModelUnavailable) and error.refused


def rewind(call: Call, before: Session) -> None:
    """Make the turns that rules have read since then unlearned again."""
    with call.open_writer() as writer:
        current = writer.get_session(before.id)
        if current is not None and current.watermark > before.watermark:
            noted = {
                READ_BY_RULES_KEY: max(current.watermark, find_read_by_rules(current)),
                UNREAD_KEY: before.metadata.get(UNREAD_KEY, {}),
            }
            writer.save_session(
                replace(
                    current,
                    watermark=before.watermark,
                    attempts=before.attempts,
                    failure=before.failure,
                    metadata=_drop_empty({**current.metadata, **noted}),
                )
            )


def find_read_by_rules(session: Session) -> int:
    """The position up to which rules have read a session; not past the watermark if 0."""
    position = session.metadata.get(READ_BY_RULES_KEY)
    return position if isinstance(position, int) else 0


def list_unread(session: Session) -> Mapping[int, str]:
    """The positions of the turns that the model did not read, with the reasons."""
    noted = session.metadata.get(UNREAD_KEY)
    return {int(at): str(why) for at, why in noted.items()} if isinstance(noted, dict) else {}


def note_learned(session: Session, watermark: int, unread: Mapping[int, str]) -> Session:
    """The session up to a new watermark, with the turns that the model did not read."""
    everything = {**list_unread(session), **unread}
    noted: dict[str, Json] = {
        **session.metadata,
        READ_BY_RULES_KEY: find_read_by_rules(session),
        UNREAD_KEY: {str(at): why for at, why in everything.items()},
    }
    if find_read_by_rules(session) <= watermark:
        noted[READ_BY_RULES_KEY] = 0
    return replace(
        session,
        watermark=watermark,
        failure=describe_unread(everything),
        metadata=_drop_empty(noted),
    )


def describe_unread(unread: Mapping[int, str]) -> str | None:
    """What to show of the turns that the model did not read; None if it has read all."""
    if not unread:
        return None
    code, _, why = unread[max(unread)].partition(": ")
    turns = pluralize(len(unread), "turn")
    return f"{code}: {turns} could be read by rules only, not by the model. {why}".strip()


def describe_error(error: Exception) -> str:
    if isinstance(error, RemembrancerError):
        return f"{error.code}: {error}"
    return type(error).__name__


def _drop_empty(metadata: Mapping[str, Json]) -> dict[str, Json]:
    noted = (READ_BY_RULES_KEY, UNREAD_KEY)
    return {name: value for name, value in metadata.items() if value or name not in noted}
