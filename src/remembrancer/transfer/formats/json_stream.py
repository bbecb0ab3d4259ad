"""JSON out of files of any size: the entries of a list one by one, or what is on each line."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Mapping
from typing import IO, Any

from remembrancer.errors import InvalidInput
from remembrancer.transfer.formats.files import SourceFile

MAX_ENTRY_CHARS = 256 * 1024**2
"""How many characters one entry of a list may have."""

MAX_LINE_BYTES = 16 * 1024**2
CHUNK_BYTES = 256 * 1024
WHITESPACE = " \t\r\n"
NDJSON_SUFFIXES = (".jsonl", ".ndjson")
ENTRY_DELIMITERS = (",", "]", *WHITESPACE)
"""What may follow after an entry."""


def read_array(file: SourceFile, *keys: str) -> Iterator[tuple[int, Any]]:
    """The entries of the list in a file, numbered from 1.

    The list is the document itself, or in a document that is an object the first list that is
    under one of the keys; an object that has none is the only entry.
    """
    with file.open_limited() as stream:
        text = _JsonStream(stream, file.name)
        if text.peek() == "[":
            yield from enumerate(_read_elements(text), 1)
            return
        whole = text.read_value()
        text.expect_end()
    yield from enumerate(_extract_list(whole, keys), 1)


def read_ndjson(file: SourceFile) -> Iterator[tuple[int, Any]]:
    """What is on each line that is not empty, with its number; None if that is not JSON."""
    with file.open_limited() as stream:
        numbered = enumerate(iter(lambda: stream.readline(MAX_LINE_BYTES), b""), 1)
        for number, line in numbered:
            if not line.endswith(b"\n") and len(line) >= MAX_LINE_BYTES:
                raise InvalidInput(f"{file.name}, line {number}: the line has no end.")
            if line.strip():
                yield number, try_parse_json(line.removeprefix(codecs.BOM_UTF8))


def is_ndjson(file: SourceFile) -> bool:
    """Whether each line is an object of its own, rather than all of it one document."""
    with file.open_limited() as stream:
        first, second = (stream.readline(MAX_LINE_BYTES) for _ in range(2))
    first = first.removeprefix(codecs.BOM_UTF8).lstrip()
    if file.name.lower().endswith(NDJSON_SUFFIXES):
        return not first.startswith(b"[")
    return bool(second) and isinstance(try_parse_json(first), dict)


def read_entries(file: SourceFile, *keys: str) -> Iterator[tuple[str, Any]]:
    """The entries of a file in either form, each with where it stands."""
    if is_ndjson(file):
        yield from ((f"line {number}", one) for number, one in read_ndjson(file))
    else:
        yield from ((f"entry {number}", one) for number, one in read_array(file, *keys))


def try_parse_json(text: bytes | str) -> Any:
    """A JSON value, or None if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def first_text(value: object, *keys: str) -> str | None:
    """The first of these that is a text with something in it."""
    if isinstance(value, Mapping):
        for key in keys:
            found = value.get(key)
            if isinstance(found, str) and found.strip():
                return found
    return None


def _extract_list(whole: Any, keys: tuple[str, ...]) -> list[Any]:
    if isinstance(whole, dict):
        found = (whole[key] for key in keys if isinstance(whole.get(key), list))
        return next(found, [whole])
    return [whole]


def _read_elements(text: _JsonStream) -> Iterator[Any]:
    text.expect_char("[")
    if text.peek() == "]":
        text.expect_char("]")
    else:
        yield text.read_value()
        while text.peek() == ",":
            text.expect_char(",")
            yield text.read_value()
        text.expect_char("]")
    text.expect_end()


class _JsonStream:
    """A text that is read as far as it is needed, and forgotten as far as it is done with."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._stream = stream
        self._name = name
        self._decode = codecs.getincrementaldecoder("utf-8-sig")()
        self._json = json.JSONDecoder()
        self._text = ""
        self._at = 0
        self._line = 1
        self._has_ended = False

    def peek(self) -> str:
        """The next character that is no space; nothing at the end."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in WHITESPACE:
                    return self._text[self._at]
                self._at += 1
            if self._has_ended:
                return ""
            self._read_more()

    def expect_char(self, char: str) -> None:
        """Go past the next sign, which must be this one."""
        if self.peek() != char:
            raise self._error(f"there should be a {char}")
        self._at += 1

    def read_value(self) -> Any:
        """The next value. A number at the end of what was read may go on after it."""
        self.peek()
        while True:
            try:
                found, end = self._json.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if self._has_ended:
                    raise self._error(error.msg) from None
            except (ValueError, RecursionError) as error:
                raise self._error(f"a value cannot be read ({type(error).__name__})") from None
            else:
                if self._text[end : end + 1] in ENTRY_DELIMITERS or self._has_ended:
                    self._at = end
                    return found
            self._read_more()

    def expect_end(self) -> None:
        """Complain if anything follows."""
        if self.peek():
            raise self._error("something follows after the end")

    def _read_more(self) -> None:
        self._line += self._text.count("\n", 0, self._at)
        rest = self._text[self._at :]
        if len(rest) > MAX_ENTRY_CHARS:
            raise self._error(f"an entry has more than {MAX_ENTRY_CHARS} characters")
        # As much again as there is, so that trying once more costs no more than reading did.
        piece = self._stream.read(max(CHUNK_BYTES, len(rest)))
        self._has_ended = not piece
        try:
            self._text = rest + self._decode.decode(piece, final=not piece)
        except UnicodeDecodeError:
            raise InvalidInput(f"{self._name} cannot be read as UTF-8 text.") from None
        self._at = 0

    def _error(self, what: str) -> InvalidInput:
        return InvalidInput(
            f"{self._name} is not the JSON it should be, or not all of it, from line "
            f"{self._line + self._text.count(chr(10), 0, self._at)} on: {what}."
        )
