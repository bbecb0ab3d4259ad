"""Parses a conversation from text, JSON or JSON Lines; `append`, `learn` and `import` share it.

In plain text a line such as `User: …` or `Assistant: …` begins a turn, and lines without a speaker
continue it. Any other name, as in `Ada: I moved to Hamburg.`, is a user turn with that `speaker`.
Names count only if the file begins with one or labels nobody as the user: where people are called
`User:`, a line such as `Note: …` belongs to the turn before it.

In JSON a message has a `role` and a `content`, and optionally a `speaker` or `name`, a time
(`said_at`, `created_at`, `timestamp`, `time` or `date`), an `origin` and `metadata`. Other keys are
ignored. A message without words, such as a tool call, is no turn.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any

from remembrancer.errors import InvalidInput
from remembrancer.sessions.message_text import extract_text

if TYPE_CHECKING:
    from remembrancer.sessions.turns import TurnInput

ROLE_BY_LABEL = {
    **dict.fromkeys(("user", "you", "me", "human"), "user"),
    **dict.fromkeys(
        ("assistant", "ai", "bot", "model", "chatgpt", "claude", "gemini"), "assistant"
    ),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function"), "tool"),
}
"""Roles by the label of a line or the `role` of a message, in lower case."""

NOT_NAMES = frozenset(
    "answer attention date example from hint important nb note ps question re remark result "
    "source sources subject summary time tip title to todo translation update warning".split()
)
"""Labels that introduce a remark, in lower case; they never name a speaker."""

TIME_KEYS = ("created_at", "timestamp", "time", "date")
"""Other products' names for `said_at`."""

LIST_KEYS = ("messages", "turns")
MAX_NAME_WORDS = 4
MIN_YEAR, MAX_YEAR = 1000, 2200
MILLISECOND_THRESHOLD = 100_000_000_000
"""From this number on, a timestamp counts milliseconds instead of seconds."""

_LABEL = re.compile(r"(?:\*\*)?([^\W\d_][^:*]{0,59}?)(?: said)?(?::\*\*|\*\*:|:)(?:\s+|$)")
_NAME_WORD = re.compile(r"[^\W\d_][\w.'’-]*")
_UTC_SUFFIX = re.compile(r"\s*(?:UTC|Z)$")


@dataclass(frozen=True, slots=True)
class ParsedTurn:
    """A turn, where it stands (`line 3`, `message 2`) and its number among the messages."""

    where: str
    number: int
    turn: TurnInput


@dataclass(frozen=True, slots=True)
class Unparsed:
    """A part of the file that is not a message, and why."""

    where: str
    reason: str


def read_turns(name: str, text: str, zone: tzinfo) -> list[TurnInput]:
    """Parse a conversation, or raise an error that names the file and the line.

    Times without a zone are in `zone`.
    """
    from remembrancer.guard.redaction import validate_text
    from remembrancer.sessions.turns import MAX_TURN_CHARS

    turns: list[TurnInput] = []
    for found in parse_conversation(text, zone):
        place = f"{name}, {found.where}"
        if isinstance(found, Unparsed):
            raise InvalidInput(f"{place}: {found.reason}")
        validate_text(found.turn["content"], place, MAX_TURN_CHARS)
        turns.append(found.turn)
    if not turns:
        raise no_messages(name)
    return turns


def no_messages(name: str) -> InvalidInput:
    """The error for a file in which nobody says anything."""
    return InvalidInput(f"{name} contains no messages.")


def parse_conversation(text: str, zone: tzinfo) -> Iterator[ParsedTurn | Unparsed]:
    """Yield the turns in order, and the parts that are not messages."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if text.lstrip().startswith(("[", "{")):
        yield from _parse_json(text, zone)
    else:
        yield from _parse_lines(text.split("\n"))


def parse_message(message: Any, zone: tzinfo) -> TurnInput | None:
    """The turn of one JSON message, None if it has no words; raises if it is not a message."""
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise InvalidInput("a message is an object with role and content.")
    role = ROLE_BY_LABEL.get(message["role"].casefold())
    if role is None:
        raise InvalidInput("the role must be user, assistant, system or tool.")
    content = message.get("content")
    if content is not None and not isinstance(content, str | list):
        raise InvalidInput("content is a text or a list of parts.")
    words = extract_text(content).strip()
    if not words:
        return None
    return _with_details({"role": role, "content": words}, message, zone)


def parse_time(value: object, zone: tzinfo) -> datetime | None:
    """Parse ISO 8601 text, or seconds or milliseconds since 1970; None for anything else."""
    try:
        if isinstance(value, datetime):
            found = value
        elif isinstance(value, str):
            found = datetime.fromisoformat(_UTC_SUFFIX.sub("+00:00", value.strip()))
        elif isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value / 1000 if abs(value) >= MILLISECOND_THRESHOLD else value
            found = datetime.fromtimestamp(seconds, UTC)
        else:
            return None
        found = (found if found.tzinfo else found.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return found if MIN_YEAR <= found.year < MAX_YEAR else None


def _parse_lines(lines: Sequence[str]) -> Iterator[ParsedTurn | Unparsed]:
    has_names = _names_people(lines)
    turn: TurnInput | None = None
    number, where, words = 0, "", [""]
    for at, line in enumerate(lines, 1):
        speaker = _match_speaker(line, has_names=has_names)
        if speaker is None:
            if turn is None and line.strip() and not where:
                where = f"line {at}"
            words.append(line)
            continue
        yield from _finish_turn(where, number, turn, words)
        turn, rest = speaker
        number, where, words = number + 1, f"line {at}", [rest]
    yield from _finish_turn(where, number, turn, words)


def _finish_turn(
    where: str, number: int, turn: TurnInput | None, words: Sequence[str]
) -> Iterator[ParsedTurn | Unparsed]:
    content = "\n".join(words).strip()
    if content and turn is None:
        yield Unparsed(
            where, "no speaker is named; begin with a line such as “User: I moved to Hamburg.”"
        )
    elif content and turn is not None:
        yield ParsedTurn(where, number, {**turn, "content": content})


def _names_people(lines: Sequence[str]) -> bool:
    """True if the file begins with a name, or labels nobody as the user."""
    first = next((line for line in lines if line.strip()), "")
    label = _find_label(first)
    if label is not None and label.casefold() not in ROLE_BY_LABEL and _is_name(label):
        return True
    labels = (_find_label(line) for line in lines)
    return all(ROLE_BY_LABEL.get((label or "").casefold()) != "user" for label in labels)


def _match_speaker(line: str, *, has_names: bool) -> tuple[TurnInput, str] | None:
    """The turn that a line begins, still without content, and the rest of the line."""
    found = _LABEL.match(line)
    if found is None:
        return None
    label, rest = found[1].strip(), line[found.end() :]
    if role := ROLE_BY_LABEL.get(label.casefold()):
        return {"role": role, "content": ""}, rest
    if has_names and _is_name(label):
        return {"role": "user", "content": "", "speaker": label}, rest
    return None


def _find_label(line: str) -> str | None:
    found = _LABEL.match(line)
    return found[1].strip() if found else None


def _is_name(label: str) -> bool:
    """True for one word such as `ada`, or a few that begin and end in capitals: `Ada Lovelace`."""
    words = label.split()
    if label.casefold().replace(".", "") in NOT_NAMES or len(words) > MAX_NAME_WORDS:
        return False
    if len(words) > 1 and (words[0][0].islower() or words[-1][0].islower()):
        return False
    return all(_NAME_WORD.fullmatch(word) for word in words)


def _parse_json(text: str, zone: tzinfo) -> Iterator[ParsedTurn | Unparsed]:
    for number, found in enumerate(_split_messages(text), 1):
        if isinstance(found, Unparsed):
            yield found
            continue
        where, message = found
        try:
            turn = parse_message(message, zone)
        except InvalidInput as error:
            yield Unparsed(where, str(error))
            continue
        if turn is not None:
            yield ParsedTurn(where, number, turn)


def _split_messages(text: str) -> Iterator[tuple[str, Any] | Unparsed]:
    """The messages of one JSON document, or one on each line."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if len(lines) > 1 and isinstance(_load_json(lines[0][1]), dict):
        for number, line in lines:
            found = _load_json(line)
            where = f"line {number}"
            yield Unparsed(where, found.reason) if isinstance(found, Unparsed) else (where, found)
        return
    document = _load_json(text)
    if isinstance(document, Unparsed):
        yield document
        return
    if isinstance(document, dict):
        lists = (document[key] for key in LIST_KEYS if key in document)
        document = [document] if "role" in document else next(lists, None)
    if not isinstance(document, list):
        yield Unparsed("line 1", "there is no list of messages, nor a key “messages”.")
        return
    yield from ((f"message {number}", one) for number, one in enumerate(document, 1))


def _load_json(text: str) -> Any:
    """The JSON value, or an Unparsed that names the line of the mistake."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        return Unparsed(f"line {error.lineno}", f"this is not JSON ({error.msg}).")
    except (ValueError, RecursionError):
        return Unparsed("line 1", "this is not JSON.")


def _with_details(turn: TurnInput, message: dict[str, Any], zone: tzinfo) -> TurnInput:
    """Add the speaker, the time, the origin and the metadata that a message has."""
    from remembrancer.types import Origin, parse_enum, validate_name

    if speaker := message.get("speaker") or message.get("name"):
        turn["speaker"] = validate_name(speaker, "speaker")
    if (said_at := _find_time(message, zone)) is not None:
        turn["said_at"] = said_at
    if message.get("origin"):
        turn["origin"] = parse_enum(Origin, str(message["origin"]), "origin")
    if metadata := message.get("metadata"):
        if not isinstance(metadata, dict):
            raise InvalidInput("metadata is an object.")
        turn["metadata"] = metadata
    return turn


def _find_time(message: dict[str, Any], zone: tzinfo) -> datetime | None:
    """The message's time. Only a wrong `said_at` is an error: the other keys are not ours."""
    if value := message.get("said_at"):
        said_at = parse_time(value, zone)
        if said_at is None:
            raise InvalidInput(
                f"said_at: give a date such as 2026-03-02 or 2026-03-02T14:30, not {value!r}."
            )
        return said_at
    times = (parse_time(message[key], zone) for key in TIME_KEYS if message.get(key))
    return next((time for time in times if time is not None), None)
