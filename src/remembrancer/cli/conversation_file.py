"""A conversation in a file: JSON, JSON Lines or plain text, as turns. An error names the line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

from remembrancer.cli.options import moment, said
from remembrancer.errors import InvalidInput
from remembrancer.sessions.message_text import words_in
from remembrancer.transfer.formats.items import Place
from remembrancer.transfer.formats.roles import SPEAKERS, SPOKEN

if TYPE_CHECKING:
    from remembrancer.sessions.turns import Said


def read(file: str, zone: tzinfo) -> list[Said]:
    """The turns in a file, or on stdin if it is a dash; times without a zone are in `zone`."""
    name = "stdin" if file == "-" else file
    text = said(["-"]) if file == "-" else _text(Path(file).expanduser())
    text = text.removeprefix("\ufeff")
    is_json = text.lstrip().startswith(("[", "{"))
    turns = list(_messages(name, text, zone) if is_json else _lines(name, text))
    if not turns:
        raise InvalidInput(f"{name}: nobody says anything in it.")
    return turns


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InvalidInput(f"{path}: there is no such file.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read as UTF-8 text.") from error


def _lines(file: str, text: str) -> Iterator[Said]:
    """Turns from lines that begin with who speaks; other lines go on with what was said."""
    place, role, content = Place(file, ""), "", [""]
    for number, line in enumerate(text.split("\n"), 1):
        spoken = SPOKEN.match(line)
        if spoken is not None:
            yield from _turn(place, role, "\n".join(content).strip())
            place, role = Place(file, f"line {number}"), SPEAKERS[spoken[1].casefold()]
            content = [line[spoken.end() :]]
        elif role:
            content.append(line)
        elif line.strip():
            raise Place(file, f"line {number}").wrong(
                "nobody says this; begin with a line such as “User: I moved to Hamburg.”"
            )
    yield from _turn(place, role, "\n".join(content).strip())


def _turn(place: Place, role: str, content: str) -> Iterator[Said]:
    """A turn that can be stored; one without words, such as a call of a tool, is none."""
    from remembrancer.guard.redaction import checked_text
    from remembrancer.sessions.turns import TURN_LIMIT

    if content.strip():
        yield {"role": role, "content": checked_text(content, str(place), TURN_LIMIT)}


def _messages(file: str, text: str, zone: tzinfo) -> Iterator[Said]:
    for place, message in _listed(file, text):
        yield from _message(place, message, zone)


def _listed(file: str, text: str) -> Iterator[tuple[Place, Any]]:
    """The messages of one JSON document, or one on each line."""
    lines = [(number, one) for number, one in enumerate(text.split("\n"), 1) if one.strip()]
    if len(lines) > 1 and isinstance(_parsed(lines[0][1]), dict):
        for number, line in lines:
            place = Place(file, f"line {number}")
            yield place, _json(place, line)
        return
    found = _json(Place(file, ""), text)
    if isinstance(found, dict):
        found = [found] if "role" in found else found.get("messages", found.get("turns"))
    if not isinstance(found, list):
        raise Place(file, "line 1").wrong("there is no list of messages, nor a key “messages”.")
    for number, one in enumerate(found, 1):
        yield Place(file, f"message {number}"), one


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _json(place: Place, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = place.where or f"line {error.lineno}"
        raise Place(place.file, where).wrong(f"this is not JSON ({error.msg}).") from None
    except (ValueError, RecursionError):
        raise Place(place.file, place.where or "line 1").wrong("this is not JSON.") from None


def _message(place: Place, message: Any, zone: tzinfo) -> Iterator[Said]:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise place.wrong("a message is an object with role and content.")
    role = SPEAKERS.get(message["role"].casefold())
    if role is None:
        raise place.wrong("the role must be user, assistant, system or tool.")
    for turn in _turn(place, role, _content(place, message.get("content"))):
        yield _particulars(place, turn, message, zone)


def _particulars(place: Place, turn: Said, message: dict[str, Any], zone: tzinfo) -> Said:
    """The turn with who said it, when, and where the words came from, if the message tells."""
    from remembrancer.types import Origin, checked_name, member

    speaker = message.get("speaker") or message.get("name")
    if speaker:
        turn["speaker"] = checked_name(speaker, f"speaker of {place}")
    if message.get("said_at"):
        turn["said_at"] = moment(str(message["said_at"]), zone, f"{place}: said_at")
    if message.get("origin"):
        turn["origin"] = member(Origin, str(message["origin"]), f"{place}: origin")
    return turn


def _content(place: Place, content: Any) -> str:
    """The words of a message; parts that are images, calls or results of tools are left out."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise place.wrong("content is a text or a list of parts.")
    return words_in(content)
