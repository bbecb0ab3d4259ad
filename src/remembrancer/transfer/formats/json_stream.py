"""Reads JSON arrays and NDJSON of any size, one entry at a time."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Mapping
from typing import IO, Any

from remembrancer.errors import InvalidInput
from remembrancer.transfer.formats.files import SourceFile

MAX_ENTRY_CHARS = 256 * 1024**2

MAX_LINE_BYTES = 16 * 1024**2
CHUNK_BYTES = 256 * 1024
WHITESPACE = " \t\r\n"
NDJSON_SUFFIXES = (".jsonl", ".ndjson")
ENTRY_DELIMITERS = (",", "]", *WHITESPACE)


def read_array(file: SourceFile, *keys: str) -> Iterator[tuple[int, Any]]:
    """Yield the entries of the array in a file, numbered from 1.

    The array is the document itself, or the first array under one of `keys` if the document is an
    object. An object without such an array is the only entry.
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
    """Yield the number and value of each line that is not empty; invalid JSON yields None."""
    with file.open_limited() as stream:
        numbered = enumerate(iter(lambda: stream.readline(MAX_LINE_BYTES), b""), 1)
        for number, line in numbered:
            if not line.endswith(b"\n") and len(line) >= MAX_LINE_BYTES:
                raise InvalidInput(f"{file.name}, line {number}: the line is too long.")
            if line.strip():
                yield number, try_parse_json(line.removeprefix(codecs.BOM_UTF8))


def is_ndjson(file: SourceFile) -> bool:
    """True if each line of a file is an object of its own."""
    with file.open_limited() as stream:
        first = stream.readline(MAX_LINE_BYTES).removeprefix(codecs.BOM_UTF8).lstrip()
        while not first and (line := stream.readline(MAX_LINE_BYTES)):
            first = line.lstrip()
        second = stream.readline(MAX_LINE_BYTES)
    if file.name.lower().endswith(NDJSON_SUFFIXES):
        return not first.startswith(b"[")
    return bool(second) and isinstance(try_parse_json(first), dict)


def read_entries(file: SourceFile, *keys: str) -> Iterator[tuple[str, Any]]:
    """Yield the entries of an array or of NDJSON, each with its position."""
    if is_ndjson(file):
        yield from ((f"line {number}", one) for number, one in read_ndjson(file))
    else:
        yield from ((f"entry {number}", one) for number, one in read_array(file, *keys))


def try_parse_json(text: bytes | str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def first_text(value: object, *keys: str) -> str | None:
    """Return the first value under these keys that is a string and not blank."""
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
    """An incremental JSON parser that keeps only the unread part of the text in memory."""

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
        """Skip whitespace and return the next character, or "" at the end."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in WHITESPACE:
                    return self._text[self._at]
                self._at += 1
            if self._has_ended:
                return ""
            self._read_more()

    def expect_char(self, char: str) -> None:
        if self.peek() != char:
            raise self._error(f"expected {char}")
        self._at += 1

    def read_value(self) -> Any:
        # A number at the end of the buffer can continue in the next chunk.
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
        if self.peek():
            raise self._error("unexpected text after the end")

    def _read_more(self) -> None:
        self._line += self._text.count("\n", 0, self._at)
        rest = self._text[self._at :]
        if len(rest) > MAX_ENTRY_CHARS:
            raise self._error(f"an entry has more than {MAX_ENTRY_CHARS} characters")
        # Doubling the buffer keeps the cost of parsing again linear.
        chunk = self._stream.read(max(CHUNK_BYTES, len(rest)))
        self._has_ended = not chunk
        try:
            self._text = rest + self._decode.decode(chunk, final=not chunk)
        except UnicodeDecodeError:
            raise InvalidInput(f"{self._name} cannot be read as UTF-8 text.") from None
        self._at = 0

    def _error(self, what: str) -> InvalidInput:
        return InvalidInput(
            f"{self._name} is not valid JSON, line "
            f"{self._line + self._text.count(chr(10), 0, self._at)}: {what}."
        )
