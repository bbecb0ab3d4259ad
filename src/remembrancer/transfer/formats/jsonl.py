"""JSON of no product in particular: an object for each memory, or for each message.

A message has a role and a content; an object with a list of messages is a conversation; whatever
else has a content is a memory, and may say about itself what `remember` takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from remembrancer.sessions.message_text import words_in
from remembrancer.transfer.formats.files import File, Source
from remembrancer.transfer.formats.items import LeftOut, Piece, Place, Spoken, Stated, conversation
from remembrancer.transfer.formats.json_stream import listed, words
from remembrancer.transfer.formats.roles import SPEAKERS
from remembrancer.transfer.formats.timestamps import moment

FILES = ("*.jsonl", "*.ndjson", "*.json")
CONTENT = ("content", "memory", "text", "fact")
TALK = ("session", "session_id", "conversation", "conversation_id", "thread_id")
WHEN = ("said_at", "created_at", "timestamp", "time", "date")
LISTS = ("messages", "turns", "memories", "facts")
PLAIN = "kind category subject predicate permanence origin summary body".split()
NUMBERS = "importance confidence ttl_days".split()

Talks = dict[str, list[Spoken | LeftOut]]


def read(source: Source) -> Iterator[Piece]:
    """The memories and conversations in each file."""
    for file in source.named(*FILES) or source.files:
        yield from _pieces(file)


def _pieces(file: File) -> Iterator[Piece]:
    talks: Talks = {}
    for where, talk, one in _unfolded(listed(file)):
        place = Place(file.name, where)
        if isinstance(one, dict) and isinstance(one.get("role"), str):
            talks.setdefault(words(one, *TALK) or talk, []).append(_message(place, one))
        else:
            yield _memory(place, one)
    for name, turns in talks.items():
        first = next((one.said["content"] for one in turns if isinstance(one, Spoken)), "")
        key = f"{file.name}\n{name or first}"
        yield from conversation(turns[0].place, key, turns, title=name or None)


def _unfolded(entries: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, str, Any]]:
    """What is in a list within an entry, as one that holds a whole conversation, or the entry."""
    for where, one in entries:
        lists = [one[key] for key in LISTS if _is_list(one, key)]
        if not lists:
            yield where, "", one
            continue
        talk = words(one, *TALK, "id", "title") or where
        for number, inner in enumerate(lists[0], 1):
            yield f"{where}, number {number}", talk, inner


def _is_list(one: Any, key: str) -> bool:
    return isinstance(one, dict) and isinstance(one.get(key), list)


def _message(place: Place, message: dict[str, Any]) -> Spoken | LeftOut:
    role = SPEAKERS.get(message["role"].casefold())
    if role is None:
        return LeftOut(place, "a role that is not known")
    said = words_in(message.get("content")).strip()
    if not said:
        return LeftOut(place, "without words")
    at = moment(next((message[name] for name in WHEN if message.get(name)), None))
    key = words(message, "id", "uuid") or f"{place.where} {said}"
    turn: Any = {"role": role, "content": said, "said_at": at}
    turn |= {"speaker": speaker} if (speaker := words(message, "speaker", "name")) else {}
    turn |= {"origin": origin} if (origin := words(message, "origin")) else {}
    return Spoken(place, key, turn)


def _memory(place: Place, found: Any) -> Stated | LeftOut:
    content = words(found, *CONTENT)
    if content is None:
        return LeftOut(place, "neither a memory nor a message")
    details: Any = {name: text for name in PLAIN if (text := words(found, name)) is not None}
    details |= {name: found[name] for name in NUMBERS if _is_number(found.get(name))}
    if isinstance(tags := found.get("tags"), list):
        details["tags"] = [one for one in tags if isinstance(one, str)]
    if isinstance(metadata := found.get("metadata"), dict):
        details["metadata"] = metadata
    since = next((found[name] for name in ("valid_from", *WHEN) if found.get(name)), None)
    for name, value in (("valid_from", since), ("valid_until", found.get("valid_until"))):
        if (at := moment(value)) is not None:
            details[name] = at
    return Stated(place, words(found, "id") or place.file, content, details)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
