"""Reads Markdown: each paragraph and each list item, with its nested items, is a memory.

The heading above it becomes a prefix. Front matter gives tags, a date and a category.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from remembrancer.errors import InvalidInput
from remembrancer.transfer.formats.files import ImportSource
from remembrancer.transfer.formats.items import FileLocation, ImportItem, MemoryItem, SkippedItem
from remembrancer.transfer.formats.timestamps import parse_timestamp

FILE_PATTERNS = ("*.md", "*.markdown", "*.mdx")
FRONT_MATTER_FENCE = "---"
MAX_FRONT_MATTER_LINES = 200
TAG_KEYS, DATE_KEYS = ("tags", "keywords"), ("date", "created", "created_at", "updated")

_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*$")
_BOLD = re.compile(r"\*\*([^*]+)\*\*:?\s*$")
_ITEM = re.compile(r"(\s*)(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?(.*)$")
_RULE = re.compile(r"\s*(?:-{3,}|\*{3,}|_{3,}|={3,})\s*$")
_FENCE = re.compile(r"\s*(```|~~~)")
_FIELD = re.compile(r"([A-Za-z][\w -]{0,60}):\s*(.*)$")
_LIST_VALUE = re.compile(r"\s*-\s+(.*)$")
BOLD_HEADING_LEVEL = 7
"""A line that is completely bold is a heading below all others."""


def read(source: ImportSource) -> Iterator[ImportItem]:
    for file in source.find_files(*FILE_PATTERNS):
        try:
            front, start, text = _split_front_matter(file.read_text())
        except InvalidInput as error:
            yield SkippedItem(FileLocation(file.name, "the whole file"), str(error))
            continue
        yield from parse_statements(FileLocation(file.name, ""), text, _build_details(front), start)


def parse_statements(
    place: FileLocation, text: str, details: dict[str, Any], first_line: int = 1
) -> Iterator[MemoryItem | SkippedItem]:
    """Yield each paragraph and list item of a text as a memory."""
    for block in _BlockParser(first_line).parse(text):
        where = f"line {block.line}"
        here = place.at(where) if place.where else FileLocation(place.file, where)
        if block.skip_reason is not None:
            yield SkippedItem(here, block.skip_reason)
            continue
        has_heading = block.heading.casefold() in block.text.casefold()
        content = block.text if has_heading else f"{block.heading}: {block.text}"
        yield MemoryItem(here, place.file, content, {**details})  # type: ignore[typeddict-item]


class _Block:
    """A paragraph or list item that is being read; `indent` is None for a paragraph."""

    def __init__(self, line: int, heading: str, indent: int | None, text: str) -> None:
        self.line = line
        self.heading = heading
        self.indent = indent
        self.lines = [text]
        self.skip_reason: str | None = None

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip()

    def contains(self, indent: int) -> bool:
        """True if an item with that indent is nested below this one."""
        return self.indent is not None and indent > self.indent


class _BlockParser:
    def __init__(self, first_line: int) -> None:
        self._line = first_line - 1
        self._headings: dict[int, str] = {}
        self._block: _Block | None = None
        self._fence: str | None = None
        self._after_gap = False

    def parse(self, text: str) -> Iterator[_Block]:
        for line in text.split("\n"):
            self._line += 1
            yield from self._take_line(line.rstrip("\r"))
        yield from self._finish_block()

    def _take_line(self, line: str) -> Iterator[_Block]:
        fence = _FENCE.match(line)
        if self._fence is not None:
            if fence is not None and fence[1] == self._fence:
                self._fence = None
                yield from self._finish_block()
            return
        if fence is not None:
            yield from self._finish_block()
            self._fence = fence[1]
            self._block = _Block(self._line, "", None, "")
            self._block.skip_reason = "code"
        elif not line.strip():
            yield from self._take_blank_line()
        elif (level := self._match_heading(line)) is not None:
            yield from self._finish_block()
            self._headings = {at: one for at, one in self._headings.items() if at < level[0]}
            self._headings[level[0]] = level[1]
        elif _RULE.match(line):
            yield from self._finish_block()
        else:
            yield from self._take_text(line)

    def _match_heading(self, line: str) -> tuple[int, str] | None:
        """Return the level and text of a heading, or None for any other line."""
        if heading := _HEADING.match(line):
            return len(heading[1]), heading[2]
        if self._block is None and (bold := _BOLD.match(line)):
            return BOLD_HEADING_LEVEL, bold[1].strip().rstrip(":")
        return None

    def _take_text(self, line: str) -> Iterator[_Block]:
        item = _ITEM.match(line)
        indent = len(line) - len(line.lstrip())
        nested = self._block is not None and self._block.contains(indent)
        if self._block is not None and (nested or (item is None and not self._after_gap)):
            self._block.lines.append((item[2] if item else line).strip())
        else:
            yield from self._finish_block()
            text = item[2] if item else line.strip().removeprefix("> ")
            self._block = _Block(
                self._line, self._current_heading(), indent if item else None, text
            )
        self._after_gap = False

    def _take_blank_line(self) -> Iterator[_Block]:
        # A blank line ends a paragraph, but a list item can continue with an indent.
        if self._block is not None and self._block.indent is None:
            yield from self._finish_block()
        self._after_gap = True

    def _current_heading(self) -> str:
        return self._headings[max(self._headings)] if self._headings else ""

    def _finish_block(self) -> Iterator[_Block]:
        block, self._block = self._block, None
        if block is None:
            return
        if block.text.startswith("<!--") and block.text.endswith("-->"):
            block.skip_reason = "a comment"
        if block.text or block.skip_reason:
            yield block


def _split_front_matter(text: str) -> tuple[dict[str, list[str]], int, str]:
    """Return the front matter, the number of the line after it, and the remaining text."""
    lines = text.split("\n", MAX_FRONT_MATTER_LINES)
    if lines[0].rstrip() != FRONT_MATTER_FENCE:
        return {}, 1, text
    fields: dict[str, list[str]] = {}
    last: list[str] = []
    for number, line in enumerate(lines[1:], 2):
        if line.rstrip() == FRONT_MATTER_FENCE:
            return fields, number + 1, "\n".join(lines[number:])
        if field := _FIELD.match(line):
            last = fields.setdefault(field[1].strip().lower(), [])
            last += _parse_values(field[2])
        elif listed := _LIST_VALUE.match(line):
            last += _parse_values(listed[1])
    return {}, 1, text


def _parse_values(text: str) -> list[str]:
    """Return one value, or those of a list in brackets."""
    text = text.strip()
    several = text[1:-1].split(",") if text.startswith("[") and text.endswith("]") else [text]
    return [one for one in (each.strip().strip("\"'") for each in several) if one]


def _build_details(front: dict[str, list[str]]) -> dict[str, Any]:
    details: dict[str, Any] = {}
    tags = [
        one.lstrip("#")
        for name in TAG_KEYS
        for value in front.get(name, ())
        for one in _split_commas(value)
    ]
    if tags:
        details["tags"] = list(dict.fromkeys(filter(None, tags)))
    dates = (parse_timestamp(value) for name in DATE_KEYS for value in front.get(name, ()))
    if date := next((one for one in dates if one is not None), None):
        details["valid_from"] = date
    if category := front.get("category"):
        details["category"] = category[0]
    return details


def _split_commas(value: str) -> list[str]:
    return [one.strip() for one in value.split(",")]
