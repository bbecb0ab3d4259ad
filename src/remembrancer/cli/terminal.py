"""Prints text and dates on the terminal, with control characters escaped."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, TypeVar

import typer

if TYPE_CHECKING:
    from remembrancer.types import Event

Item = TypeVar("Item")

MAX_WIDTH = 88
MAX_EXCERPT_CHARS = 72

_UNSAFE = (
    {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\n\t"}
    | {0x7F: "\u2421"}
    | dict.fromkeys(range(0x80, 0xA0), "\ufffd")
    | dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), "\ufffd")
)


class Terminal:
    """Prints a verb's result. `zone` is called only when there is a date to print."""

    def __init__(self, zone: Callable[[], tzinfo] = lambda: UTC) -> None:
        self._zone = zone
        self.is_terminal = sys.stdout.isatty()
        columns = shutil.get_terminal_size().columns if self.is_terminal else MAX_WIDTH
        self.width = max(20, min(columns, MAX_WIDTH))

    def say(self, text: str) -> None:
        """Print text, wrapped on a terminal and as it is in a pipe."""
        for line in self._wrap_lines(text, self.width):
            typer.echo(line)

    def note(self, text: str, indent: int = 0) -> None:
        """Print a dim line about the text above it."""
        for line in self._wrap_lines(text, self.width - indent):
            typer.echo(" " * indent + typer.style(line, dim=True))

    def print_heading(self, text: str) -> None:
        typer.echo()
        typer.echo(typer.style(text, bold=True))

    def print_blank_line(self) -> None:
        typer.echo()

    def separate(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items, with a blank line printed before each but the first."""
        for number, item in enumerate(items):
            if number:
                self.print_blank_line()
            yield item

    def print_more_hint(self, cursor: str | None) -> None:
        """Name the option that shows the next page, if there is one."""
        if cursor is not None:
            self.print_blank_line()
            self.note(f"There is more: the same command with --cursor {cursor}")

    def print_undo_hint(self, event: Event | None) -> None:
        """Name the command that undoes an event."""
        if event is not None:
            self.note(f"Undo: rem undo {event.id}")

    def format_date(self, moment: datetime) -> str:
        """The day, as `2 Mar 2026`."""
        local = moment.astimezone(self._zone())
        return f"{local.day} {local:%b} {local.year}"

    def format_time(self, moment: datetime) -> str:
        """The day and time, as `2 Mar 2026, 14:30`."""
        local = moment.astimezone(self._zone())
        return f"{self.format_date(moment)}, {local:%H:%M}"

    def _wrap_lines(self, text: str, width: int) -> Iterable[str]:
        lines = escape_controls(text).splitlines() or [""]
        if not self.is_terminal:
            return lines
        return [piece for line in lines for piece in textwrap.wrap(line, width) or [""]]


def escape_controls(text: str) -> str:
    """Replace the characters that control a terminal by visible ones."""
    return text.translate(_UNSAFE)


def shorten(text: str, width: int = MAX_EXCERPT_CHARS) -> str:
    """The beginning of the text, on one line."""
    line = " ".join(escape_controls(text).split())
    return line if len(line) <= width else line[: width - 1].rstrip() + "…"


def format_count(count: int, one: str, many: str | None = None) -> str:
    """A number with its noun: `1 turn`, `2 turns`, `1,200 memories`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def quote(text: str) -> str:
    """The beginning of the text in quotation marks."""
    return f"“{shorten(text)}”"
