"""A conversation in a file: JSON, JSON Lines or plain text, as turns. An error names the line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

from remembrancer.cli.options import parse_moment, read_words
from remembrancer.errors import InvalidInput
from remembrancer.sessions.message_text import extract_text
from remembrancer.transfer.formats.items import FileLocation
from remembrancer.transfer.formats.roles import ROLE_BY_SPEAKER, SPEAKER_PATTERN

if TYPE_CHECKING:
    from remembrancer.sessions.turns import TurnInput


def read_conversation(file: str, zone: tzinfo) -> list[TurnInput]:
    """The turns in a file, or on stdin if it is a dash; times without a zone are in `zone`."""
    name = "stdin" if file == "-" else file
    text = read_words(["-"]) if file == "-" else _read_file(Path(file).expanduser())
    text = text.removeprefix("\ufeff")
    is_json = text.lstrip().startswith(("[", "{"))
    turns = list(_parse_json(name, text, zone) if is_json else _parse_text(name, text))
    if not turns:
        raise InvalidInput(f"{name}: nobody says anything in it.")
    return turns


def _read_file(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InvalidInput(f"{path}: there is no such file.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read as UTF-8 text.") from error


def _parse_text(file: str, text: str) -> Iterator[TurnInput]:
    """Turns from lines that begin with who speaks; other lines go on with what was said."""
    place, role, content = FileLocation(file, ""), "", [""]
    for number, line in enumerate(text.split("\n"), 1):
        spoken = SPEAKER_PATTERN.match(line)
        if spoken is not None:
            yield from _build_turn(place, role, "\n".join(content).strip())
            place, role = (
                FileLocation(file, f"line {number}"),
                ROLE_BY_SPEAKER[spoken[1].casefold()],
            )
            content = [line[spoken.end() :]]
        elif role:
            content.append(line)
        elif line.strip():
            raise FileLocation(file, f"line {number}").to_error(
                "nobody says this; begin with a line such as “User: I moved to Hamburg.”"
            )
    yield from _build_turn(place, role, "\n".join(content).strip())


def _build_turn(place: FileLocation, role: str, content: str) -> Iterator[TurnInput]:
    """A turn that can be stored; one without words, such as a call of a tool, is none."""
    from remembrancer.guard.redaction import validate_text
    from remembrancer.sessions.turns import MAX_TURN_CHARS

    if content.strip():
        yield {"role": role, "content": validate_text(content, str(place), MAX_TURN_CHARS)}


def _parse_json(file: str, text: str, zone: tzinfo) -> Iterator[TurnInput]:
    for place, message in _split_messages(file, text):
        yield from _parse_message(place, message, zone)


def _split_messages(file: str, text: str) -> Iterator[tuple[FileLocation, Any]]:
    """The messages of one JSON document, or one on each line."""
    lines = [(number, one) for number, one in enumerate(text.split("\n"), 1) if one.strip()]
    if len(lines) > 1 and isinstance(_try_load_json(lines[0][1]), dict):
        for number, line in lines:
            place = FileLocation(file, f"line {number}")
            yield place, _load_json(place, line)
        return
    found = _load_json(FileLocation(file, ""), text)
    if isinstance(found, dict):
        found = [found] if "role" in found else found.get("messages", found.get("turns"))
    if not isinstance(found, list):
        raise FileLocation(file, "line 1").to_error(
            "there is no list of messages, nor a key “messages”."
        )
    for number, one in enumerate(found, 1):
        yield FileLocation(file, f"message {number}"), one


def _try_load_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _load_json(place: FileLocation, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = place.where or f"line {error.lineno}"
        raise FileLocation(place.file, where).to_error(f"this is not JSON ({error.msg}).") from None
    except (ValueError, RecursionError):
        raise FileLocation(place.file, place.where or "line 1").to_error(
            "this is not JSON."
        ) from None


def _parse_message(place: FileLocation, message: Any, zone: tzinfo) -> Iterator[TurnInput]:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise place.to_error("a message is an object with role and content.")
    role = ROLE_BY_SPEAKER.get(message["role"].casefold())
    if role is None:
        raise place.to_error("the role must be user, assistant, system or tool.")
    for turn in _build_turn(place, role, _extract_text(place, message.get("content"))):
        yield _add_optional_fields(place, turn, message, zone)


def _add_optional_fields(
    place: FileLocation, turn: TurnInput, message: dict[str, Any], zone: tzinfo
) -> TurnInput:
    """The turn with who said it, when, and where the words came from, if the message tells."""
    from remembrancer.types import Origin, parse_enum, validate_name

    speaker = message.get("speaker") or message.get("name")
    if speaker:
        turn["speaker"] = validate_name(speaker, f"speaker of {place}")
    if message.get("said_at"):
        turn["said_at"] = parse_moment(str(message["said_at"]), zone, f"{place}: said_at")
    if message.get("origin"):
        turn["origin"] = parse_enum(Origin, str(message["origin"]), f"{place}: origin")
    return turn


def _extract_text(place: FileLocation, content: Any) -> str:
    """The words of a message; parts that are images, calls or results of tools are left out."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise place.to_error("content is a text or a list of parts.")
    return extract_text(content)
