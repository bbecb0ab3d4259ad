"""Edits JSON as text and keeps every byte outside of the change.

It accepts comments and trailing commas, which some programs allow in their settings.
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
    """A value with its position; `children` are its members or items, by key or index.

    `entry_start` is the position of the key of a member, or of the value itself.
    """

    value: Json
    entry_start: int
    start: int
    end: int
    children: dict[str | int, Node] = field(default_factory=dict)

    def find(self, path: JsonPath) -> Node | None:
        node: Node | None = self
        for step in path:
            node = node.children.get(step) if node is not None else None
        return node


def parse(text: str) -> Node:
    """Parse a text into nodes; raises `InvalidInput` with the number of the line."""
    parser = _Parser(text)
    node = parser.parse_value(0)
    if parser.peek_token()[0]:
        raise parser.to_error("unexpected text after the first value")
    return node


def put(text: str, path: JsonPath, value: Json) -> str:
    """Set the value at a path of keys, and create the objects that are missing."""
    root = parse(text)
    known = root.find(path)
    if known is not None:
        rendered = _dump_indented(text, value, _indent_at(text, known.entry_start))
        return text if known.value == value else text[: known.start] + rendered + text[known.end :]
    depth = next(n for n in range(len(path) - 1, -1, -1) if root.find(path[:n]) is not None)
    parent = root.find(path[:depth])
    assert parent is not None
    for key in reversed(path[depth + 1 :]):
        value = {str(key): value}
    return _append_child(text, parent, value, str(path[depth]))


def append(text: str, path: JsonPath, value: Json) -> str:
    """Append an item to the list at a path of keys."""
    parent = parse(text).find(path)
    return put(text, path, [value]) if parent is None else _append_child(text, parent, value)


def remove(text: str, path: JsonPath) -> str:
    """Remove the value at a path."""
    root = parse(text)
    parent, removed = root.find(path[:-1]), root.find(path)
    if parent is None or removed is None:
        return text
    children = list(parent.children.values())
    index = children.index(removed)
    if len(children) == 1:
        return text[: parent.start + 1] + text[parent.end - 1 :]
    if index:
        return text[: children[index - 1].end] + text[removed.end :]
    return text[: removed.entry_start] + text[children[1].entry_start :]


def _append_child(text: str, parent: Node, value: Json, key: str | None = None) -> str:
    if not isinstance(parent.value, list if key is None else dict):
        raise InvalidInput("the existing value has another type")
    prefix = f"{json.dumps(key, ensure_ascii=False)}: " if key is not None else ""
    children = list(parent.children.values())
    if not children:
        outer = _indent_at(text, parent.entry_start)
        inner = outer + _detect_indent_unit(text)
        newline = _detect_newline(text)
        rendered = f"{newline}{inner}{prefix}{_dump_indented(text, value, inner)}{newline}{outer}"
        return text[: parent.start + 1] + rendered + text[parent.end - 1 :]
    before = text[parent.start + 1 : children[0].entry_start]
    if "\n" not in before:
        rendered = f", {prefix}{json.dumps(value, ensure_ascii=False)}"
    else:
        inner = before.rpartition("\n")[2]
        rendered = f",{_detect_newline(text)}{inner}{prefix}{_dump_indented(text, value, inner)}"
    return text[: children[-1].end] + rendered + text[children[-1].end :]


def _dump_indented(text: str, value: Json, indent: str) -> str:
    lines = json.dumps(value, ensure_ascii=False, indent=_detect_indent_unit(text)).splitlines()
    return f"{_detect_newline(text)}{indent}".join(lines)


def _detect_newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent_at(text: str, position: int) -> str:
    """Return the indentation of the line at a position."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip())]


def _detect_indent_unit(text: str) -> str:
    """Return the indentation of the first indented line."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0

    def peek_token(self) -> tuple[str, int]:
        """Return the next token and its position without consuming it; "" at the end."""
        skipped = _WHITESPACE_OR_COMMENTS.match(self._text, self._position)
        self._position = skipped.end() if skipped else self._position
        found = _TOKEN.match(self._text, self._position)
        if found is None and self._position < len(self._text):
            raise self.to_error("this is not JSON")
        return (found[0] if found else ""), self._position

    def parse_value(self, depth: int) -> Node:
        first, start = self.peek_token()
        if first in CLOSING_BRACKETS and depth < MAX_DEPTH:
            self._position += 1
            return self._parse_children(start, depth, CLOSING_BRACKETS[first])
        return Node(self._parse_scalar(), start, start, self._position)

    def _parse_children(self, start: int, depth: int, closing: str) -> Node:
        children: dict[str | int, Node] = {}
        while self.peek_token()[0] != closing:
            entry_start = self._position
            key: str | int = len(children) if closing == "]" else self._parse_key()
            node = self.parse_value(depth + 1)
            node.entry_start = entry_start
            children[key] = node
            after = self.peek_token()[0]
            if after not in (",", closing):
                raise self.to_error("a comma is missing")
            self._position += after == ","
        self._position += 1
        values = {str(key): one.value for key, one in children.items()}
        value: Json = list(values.values()) if closing == "]" else values
        return Node(value, start, start, self._position, children)

    def _parse_key(self) -> str:
        key = self._parse_scalar()
        if not isinstance(key, str) or self.peek_token()[0] != ":":
            raise self.to_error("a key in quotes and a colon are missing")
        self._position += 1
        return key

    def _parse_scalar(self) -> Json:
        token = self.peek_token()[0]
        try:
            value: Json = json.loads(token)
        except ValueError:
            raise self.to_error("this is not JSON") from None
        self._position += len(token)
        return value

    def to_error(self, message: str) -> InvalidInput:
        line = self._text.count("\n", 0, self._position) + 1
        return InvalidInput(f"line {line}: {message}")
