"""Changing JSON as text: what is put in or taken out changes, and every other byte stays. Pure.

Comments and commas at the end are understood, as some programs allow them in their settings.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from remembrancer.errors import InvalidInput
from remembrancer.types import Json

Path = tuple[str | int, ...]

_SKIPPED = re.compile(r"(?:[\s\ufeff]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_TOKEN = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"/]+')
CLOSING = {"{": "}", "[": "]"}
DEEPEST = 200


@dataclass(slots=True)
class Node:
    """A value and where it stands; `parts` are its members or items, by key or number.

    `begins` is where its own text begins, which for a member is its key.
    """

    value: Json
    begins: int
    start: int
    end: int
    parts: dict[str | int, Node] = field(default_factory=dict)

    def at(self, path: Path) -> Node | None:
        """What stands at a path."""
        node: Node | None = self
        for step in path:
            node = node.parts.get(step) if node is not None else None
        return node


def parsed(text: str) -> Node:
    """The text as values that know their places, or an error that names the line."""
    reader = _Reader(text)
    node = reader.value(0)
    if reader.token()[0]:
        raise reader.wrong("nothing can follow the first value")
    return node


def put(text: str, path: Path, value: Json) -> str:
    """The text with a value at a path of keys, whose objects are made where they are missing."""
    root = parsed(text)
    known = root.at(path)
    if known is not None:
        shown = _dumped(text, value, _indent(text, known.begins))
        return text if known.value == value else text[: known.start] + shown + text[known.end :]
    depth = next(n for n in range(len(path) - 1, -1, -1) if root.at(path[:n]) is not None)
    holder = root.at(path[:depth])
    assert holder is not None
    for key in reversed(path[depth + 1 :]):
        value = {str(key): value}
    return _added(text, holder, value, str(path[depth]))


def append(text: str, path: Path, value: Json) -> str:
    """The text with one more item in the list at a path of keys."""
    holder = parsed(text).at(path)
    return put(text, path, [value]) if holder is None else _added(text, holder, value)


def remove(text: str, path: Path) -> str:
    """The text without what stands at a path."""
    root = parsed(text)
    holder, gone = root.at(path[:-1]), root.at(path)
    if holder is None or gone is None:
        return text
    parts = list(holder.parts.values())
    place = parts.index(gone)
    if len(parts) == 1:
        return text[: holder.start + 1] + text[holder.end - 1 :]
    if place:
        return text[: parts[place - 1].end] + text[gone.end :]
    return text[: gone.begins] + text[parts[1].begins :]


def _added(text: str, holder: Node, value: Json, key: str | None = None) -> str:
    """The text with one more part at the end of an object or a list."""
    if not isinstance(holder.value, list if key is None else dict):
        raise InvalidInput("What stands there is of another kind.")
    named = f"{json.dumps(key, ensure_ascii=False)}: " if key is not None else ""
    parts = list(holder.parts.values())
    if not parts:
        outer = _indent(text, holder.begins)
        inner = outer + _unit(text)
        new = _newline(text)
        shown = f"{new}{inner}{named}{_dumped(text, value, inner)}{new}{outer}"
        return text[: holder.start + 1] + shown + text[holder.end - 1 :]
    before = text[holder.start + 1 : parts[0].begins]
    if "\n" not in before:
        shown = f", {named}{json.dumps(value, ensure_ascii=False)}"
    else:
        inner = before.rpartition("\n")[2]
        shown = f",{_newline(text)}{inner}{named}{_dumped(text, value, inner)}"
    return text[: parts[-1].end] + shown + text[parts[-1].end :]


def _dumped(text: str, value: Json, indent: str) -> str:
    lines = json.dumps(value, ensure_ascii=False, indent=_unit(text)).splitlines()
    return f"{_newline(text)}{indent}".join(lines)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent(text: str, place: int) -> str:
    """The space at the beginning of the line of a place."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip())]


def _unit(text: str) -> str:
    """The space by which the first indented line is indented."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


class _Reader:
    """Reads one value after the other."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0

    def token(self) -> tuple[str, int]:
        """The next token and its place, without going past it; none at the end."""
        skipped = _SKIPPED.match(self._text, self._place)
        self._place = skipped.end() if skipped else self._place
        found = _TOKEN.match(self._text, self._place)
        if found is None and self._place < len(self._text):
            raise self.wrong("this is not JSON")
        return (found[0] if found else ""), self._place

    def value(self, depth: int) -> Node:
        """The value that begins here."""
        first, start = self.token()
        if first in CLOSING and depth < DEEPEST:
            self._place += 1
            return self._parts(start, depth, CLOSING[first])
        return Node(self._scalar(), start, start, self._place)

    def _parts(self, start: int, depth: int, closing: str) -> Node:
        parts: dict[str | int, Node] = {}
        while self.token()[0] != closing:
            begins = self._place
            key: str | int = len(parts) if closing == "]" else self._key()
            node = self.value(depth + 1)
            node.begins = begins
            parts[key] = node
            after = self.token()[0]
            if after not in (",", closing):
                raise self.wrong("a comma is missing")
            self._place += after == ","
        self._place += 1
        values = {str(key): one.value for key, one in parts.items()}
        value: Json = list(values.values()) if closing == "]" else values
        return Node(value, start, start, self._place, parts)

    def _key(self) -> str:
        key = self._scalar()
        if not isinstance(key, str) or self.token()[0] != ":":
            raise self.wrong("a name in quotes and a colon are missing")
        self._place += 1
        return key

    def _scalar(self) -> Json:
        token = self.token()[0]
        try:
            value: Json = json.loads(token)
        except ValueError:
            raise self.wrong("this is not JSON") from None
        self._place += len(token)
        return value

    def wrong(self, what: str) -> InvalidInput:
        line = self._text.count("\n", 0, self._place) + 1
        return InvalidInput(f"line {line}: {what}")
