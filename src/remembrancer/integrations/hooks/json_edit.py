"""Changing JSON as text: what is put in or taken out changes, and every other byte stays. Pure.

Comments and commas at the end are understood, as some programs allow them in their settings.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from remembrancer.errors import InvalidInput
from remembrancer.types import Json

JsonPath = tuple[str | int, ...]

_WHITESPACE_OR_COMMENTS = re.compile(r"(?:[\s\ufeff]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_TOKEN = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"/]+')
CLOSING_BRACKETS = {"{": "}", "[": "]"}
MAX_DEPTH = 200


@dataclass(slots=True)
class Node:
    """A value and where it stands; `parts` are its members or items, by key or number.

    `begins` is where its own text begins, which for a member is its key.
    """

    value: Json
    entry_start: int
    start: int
    end: int
    children: dict[str | int, Node] = field(default_factory=dict)

    def find(self, path: JsonPath) -> Node | None:
        """What stands at a path."""
        node: Node | None = self
        for step in path:
            node = node.children.get(step) if node is not None else None
        return node


def parse(text: str) -> Node:
    """The text as values that know their places, or an error that names the line."""
    reader = _Parser(text)
    node = reader.parse_value(0)
    if reader.peek_token()[0]:
        raise reader.to_error("nothing can follow the first value")
    return node


def put(text: str, path: JsonPath, value: Json) -> str:
    """The text with a value at a path of keys, whose objects are made where they are missing."""
    root = parse(text)
    known = root.find(path)
    if known is not None:
        shown = _dump_indented(text, value, _indent_at(text, known.entry_start))
        return text if known.value == value else text[: known.start] + shown + text[known.end :]
    depth = next(n for n in range(len(path) - 1, -1, -1) if root.find(path[:n]) is not None)
    holder = root.find(path[:depth])
    assert holder is not None
    for key in reversed(path[depth + 1 :]):
        value = {str(key): value}
    return _append_child(text, holder, value, str(path[depth]))


def append(text: str, path: JsonPath, value: Json) -> str:
    """The text with one more item in the list at a path of keys."""
    holder = parse(text).find(path)
    return put(text, path, [value]) if holder is None else _append_child(text, holder, value)


def remove(text: str, path: JsonPath) -> str:
    """The text without what stands at a path."""
    root = parse(text)
    holder, gone = root.find(path[:-1]), root.find(path)
    if holder is None or gone is None:
        return text
    parts = list(holder.children.values())
    place = parts.index(gone)
    if len(parts) == 1:
        return text[: holder.start + 1] + text[holder.end - 1 :]
    if place:
        return text[: parts[place - 1].end] + text[gone.end :]
    return text[: gone.entry_start] + text[parts[1].entry_start :]


def _append_child(text: str, holder: Node, value: Json, key: str | None = None) -> str:
    """The text with one more part at the end of an object or a list."""
    if not isinstance(holder.value, list if key is None else dict):
        raise InvalidInput("What stands there is of another kind.")
    named = f"{json.dumps(key, ensure_ascii=False)}: " if key is not None else ""
    parts = list(holder.children.values())
    if not parts:
        outer = _indent_at(text, holder.entry_start)
        inner = outer + _detect_indent_unit(text)
        new = _detect_newline(text)
        shown = f"{new}{inner}{named}{_dump_indented(text, value, inner)}{new}{outer}"
        return text[: holder.start + 1] + shown + text[holder.end - 1 :]
    before = text[holder.start + 1 : parts[0].entry_start]
    if "\n" not in before:
        shown = f", {named}{json.dumps(value, ensure_ascii=False)}"
    else:
        inner = before.rpartition("\n")[2]
        shown = f",{_detect_newline(text)}{inner}{named}{_dump_indented(text, value, inner)}"
    return text[: parts[-1].end] + shown + text[parts[-1].end :]


def _dump_indented(text: str, value: Json, indent: str) -> str:
    lines = json.dumps(value, ensure_ascii=False, indent=_detect_indent_unit(text)).splitlines()
    return f"{_detect_newline(text)}{indent}".join(lines)


def _detect_newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent_at(text: str, place: int) -> str:
    """The space at the beginning of the line of a place."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip())]


def _detect_indent_unit(text: str) -> str:
    """The space by which the first indented line is indented."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


class _Parser:
    """Reads one value after the other."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0

    def peek_token(self) -> tuple[str, int]:
        """The next token and its place, without going past it; none at the end."""
        skipped = _WHITESPACE_OR_COMMENTS.match(self._text, self._place)
        self._place = skipped.end() if skipped else self._place
        found = _TOKEN.match(self._text, self._place)
        if found is None and self._place < len(self._text):
            raise self.to_error("this is not JSON")
        return (found[0] if found else ""), self._place

    def parse_value(self, depth: int) -> Node:
        """The value that begins here."""
        first, start = self.peek_token()
        if first in CLOSING_BRACKETS and depth < MAX_DEPTH:
            self._place += 1
            return self._parse_children(start, depth, CLOSING_BRACKETS[first])
        return Node(self._parse_scalar(), start, start, self._place)

    def _parse_children(self, start: int, depth: int, closing: str) -> Node:
        parts: dict[str | int, Node] = {}
        while self.peek_token()[0] != closing:
            begins = self._place
            key: str | int = len(parts) if closing == "]" else self._parse_key()
            node = self.parse_value(depth + 1)
            node.entry_start = begins
            parts[key] = node
            after = self.peek_token()[0]
            if after not in (",", closing):
                raise self.to_error("a comma is missing")
            self._place += after == ","
        self._place += 1
        values = {str(key): one.value for key, one in parts.items()}
        value: Json = list(values.values()) if closing == "]" else values
        return Node(value, start, start, self._place, parts)

    def _parse_key(self) -> str:
        key = self._parse_scalar()
        if not isinstance(key, str) or self.peek_token()[0] != ":":
            raise self.to_error("a name in quotes and a colon are missing")
        self._place += 1
        return key

    def _parse_scalar(self) -> Json:
        token = self.peek_token()[0]
        try:
            value: Json = json.loads(token)
        except ValueError:
            raise self.to_error("this is not JSON") from None
        self._place += len(token)
        return value

    def to_error(self, what: str) -> InvalidInput:
        line = self._text.count("\n", 0, self._place) + 1
        return InvalidInput(f"line {line}: {what}")
