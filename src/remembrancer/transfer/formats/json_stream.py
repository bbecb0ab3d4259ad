"""JSON out of files of any size: the entries of a list one by one, or what is on each line."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Mapping
from typing import IO, Any

from remembrancer.errors import InvalidInput
from remembrancer.transfer.formats.files import File

LONGEST = 256 * 1024**2
"""How many characters one entry of a list may have."""

LONGEST_LINE = 16 * 1024**2
PIECE = 256 * 1024
SPACE = " \t\r\n"
BY_LINE = (".jsonl", ".ndjson")
AFTER = (",", "]", *SPACE)
"""What may follow after an entry."""


def entries(file: File, *keys: str) -> Iterator[tuple[int, Any]]:
    """The entries of the list in a file, numbered from 1.

    The list is the document itself, or in a document that is an object the first list that is
    under one of the keys; an object that has none is the only entry.
    """
    with file.reading() as stream:
        text = _Growing(stream, file.name)
        if text.sign() == "[":
            yield from enumerate(_elements(text), 1)
            return
        whole = text.value()
        text.expect_end()
    yield from enumerate(_listed(whole, keys), 1)


def lines(file: File) -> Iterator[tuple[int, Any]]:
    """What is on each line that is not empty, with its number; None if that is not JSON."""
    with file.reading() as stream:
        numbered = enumerate(iter(lambda: stream.readline(LONGEST_LINE), b""), 1)
        for number, line in numbered:
            if not line.endswith(b"\n") and len(line) >= LONGEST_LINE:
                raise InvalidInput(f"{file.name}, line {number}: the line has no end.")
            if line.strip():
                yield number, parsed(line.removeprefix(codecs.BOM_UTF8))


def is_by_line(file: File) -> bool:
    """Whether each line is an object of its own, rather than all of it one document."""
    with file.reading() as stream:
        first, second = (stream.readline(LONGEST_LINE) for _ in range(2))
    first = first.removeprefix(codecs.BOM_UTF8).lstrip()
    if file.name.lower().endswith(BY_LINE):
        return not first.startswith(b"[")
    return bool(second) and isinstance(parsed(first), dict)


def listed(file: File, *keys: str) -> Iterator[tuple[str, Any]]:
    """The entries of a file in either form, each with where it stands."""
    if is_by_line(file):
        yield from ((f"line {number}", one) for number, one in lines(file))
    else:
        yield from ((f"entry {number}", one) for number, one in entries(file, *keys))


def parsed(text: bytes | str) -> Any:
    """A JSON value, or None if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def words(value: object, *keys: str) -> str | None:
    """The first of these that is a text with something in it."""
    if isinstance(value, Mapping):
        for key in keys:
            found = value.get(key)
            if isinstance(found, str) and found.strip():
                return found
    return None


def _listed(whole: Any, keys: tuple[str, ...]) -> list[Any]:
    if isinstance(whole, dict):
        found = (whole[key] for key in keys if isinstance(whole.get(key), list))
        return next(found, [whole])
    return [whole]


def _elements(text: _Growing) -> Iterator[Any]:
    text.take("[")
    if text.sign() == "]":
        text.take("]")
    else:
        yield text.value()
        while text.sign() == ",":
            text.take(",")
            yield text.value()
        text.take("]")
    text.expect_end()


class _Growing:
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

    def sign(self) -> str:
        """The next character that is no space; nothing at the end."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in SPACE:
                    return self._text[self._at]
                self._at += 1
            if self._has_ended:
                return ""
            self._grow()

    def take(self, sign: str) -> None:
        """Go past the next sign, which must be this one."""
        if self.sign() != sign:
            raise self._wrong(f"there should be a {sign}")
        self._at += 1

    def value(self) -> Any:
        """The next value. A number at the end of what was read may go on after it."""
        self.sign()
        while True:
            try:
                found, end = self._json.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if self._has_ended:
                    raise self._wrong(error.msg) from None
            except (ValueError, RecursionError) as error:
                raise self._wrong(f"a value cannot be read ({type(error).__name__})") from None
            else:
                if self._text[end : end + 1] in AFTER or self._has_ended:
                    self._at = end
                    return found
            self._grow()

    def expect_end(self) -> None:
        """Complain if anything follows."""
        if self.sign():
            raise self._wrong("something follows after the end")

    def _grow(self) -> None:
        self._line += self._text.count("\n", 0, self._at)
        rest = self._text[self._at :]
        if len(rest) > LONGEST:
            raise self._wrong(f"an entry has more than {LONGEST} characters")
        # As much again as there is, so that trying once more costs no more than reading did.
        piece = self._stream.read(max(PIECE, len(rest)))
        self._has_ended = not piece
        try:
            self._text = rest + self._decode.decode(piece, final=not piece)
        except UnicodeDecodeError:
            raise InvalidInput(f"{self._name} cannot be read as UTF-8 text.") from None
        self._at = 0

    def _wrong(self, what: str) -> InvalidInput:
        return InvalidInput(
            f"{self._name} is not the JSON it should be, or not all of it, from line "
            f"{self._line + self._text.count(chr(10), 0, self._at)} on: {what}."
        )
