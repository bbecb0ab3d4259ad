"""Finds secrets without a name: by their format, their position or their randomness."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import re2

from remembrancer.guard.obfuscation import decode_base64
from remembrancer.guard.patterns import compile_pattern
from remembrancer.guard.secrets.ascii_view import Span, group_span
from remembrancer.guard.secrets.token_formats import TOKEN_FORMATS, FormatPart, Run, TokenFormat
from remembrancer.guard.secrets.value_shape import (
    has_digit,
    is_password,
    is_unfilled,
    looks_random,
    surprise,
)


def find_vendor_tokens(data: bytes) -> Iterator[Span]:
    """Tokens in a format that a vendor publishes."""
    for match in _format_pattern().finditer(data):
        shape = TOKEN_FORMATS[match.lastindex - 1]
        if _is_plausible(match[0].decode("latin-1"), shape):
            yield Span(match.start(), match.end(), shape.kind)


def _is_plausible(token: str, shape: TokenFormat) -> bool:
    # Example values such as AKIAIOSFODNN7EXAMPLE count too: nobody needs to store them.
    if is_unfilled(token) or len(set(token[-24:])) < 6:
        return False
    if not shape.requires_randomness and has_digit(token):
        return True
    return (has_digit(token) or not shape.requires_randomness) and surprise(token) >= 0.4


@cache
def _format_pattern() -> Any:
    return compile_pattern("|".join(f"({_format_source(shape)})" for shape in TOKEN_FORMATS))


def _format_source(shape: TokenFormat) -> str:
    source = "".join(map(_part_source, shape.parts))
    return source if source.startswith((r"\.", r"\$", "_")) else rf"\b{source}"


def _part_source(part: FormatPart) -> str:
    if isinstance(part, str):
        return str(re2.escape(part))
    if isinstance(part, Run):
        most = "" if part.max_chars is None else part.max_chars
        return f"[{part.alphabet}]{{{part.min_chars},{most}}}"
    return f"(?:{'|'.join(map(re2.escape, part))})"


_CHUNK = r"[A-Za-z0-9_+/.=\-]"
_CHUNKS = rf"(?:{_CHUNK}{{14,}}(?:[ \t]+|[ \t]*\r?\n[ \t>]*))+{_CHUNK}{{4,}}"
_JOINED_STARTS = (
    *("eyJ", "ZXlK", "MII", "LS0tLS1CRUdJTi"),
    *(
        start
        for token in TOKEN_FORMATS
        for start in (token.parts[0] if isinstance(token.parts[0], tuple) else token.parts[:1])
        if isinstance(start, str) and len(start) >= 4
    ),
)


def find_chopped_tokens(data: bytes) -> Iterator[Span]:
    """Tokens that were broken into pieces of one length by spaces or line ends."""
    for match in compile_pattern(_CHUNKS).finditer(data):
        pieces = list(compile_pattern(r"[^\s]+").finditer(data, match.start(), match.end()))
        first = 0
        while first < len(pieces) - 1:
            last = _end_of_chunks(pieces, first)
            joined = b"".join(piece[0] for piece in pieces[first:last]).decode("latin-1")
            if last - first > 1 and _is_chopped_token(joined):
                yield Span(pieces[first].start(), pieces[last - 1].end(), "generic-token")
            first = last


def _end_of_chunks(pieces: list[Any], first: int) -> int:
    """The end of the pieces that are as long as the first, and of the shorter one after them."""
    if pieces[first][0].decode("latin-1").startswith(_JOINED_STARTS):
        return _end_of_token_pieces(pieces, first)
    length = len(pieces[first][0])
    last = first + 1
    while last < len(pieces) and len(pieces[last][0]) == length:
        last += 1
    if length < 14 or last == first + 1:
        return first + 1
    ends = last < len(pieces) and len(pieces[last][0]) < length
    return last + (ends and has_digit(pieces[last][0].decode("latin-1")))


def _end_of_token_pieces(pieces: list[Any], first: int) -> int:
    last = first + 1
    while last < len(pieces) and _is_token_piece(pieces[last][0].decode("latin-1")):
        last += 1
    return last


def _is_token_piece(piece: str) -> bool:
    return len(piece) >= 8 and (has_digit(piece) or surprise(piece) >= 0.27)


def _is_chopped_token(joined: str) -> bool:
    if is_unfilled(joined):
        return False
    return joined.startswith(_JOINED_STARTS) or looks_random(joined)


_ARMOUR_END = r"-----END[ A-Z0-9]{0,60}(?:-----)?"


def find_private_keys(data: bytes) -> Iterator[Span]:
    """Armoured private keys, complete or truncated."""
    done = 0
    for match in _armour_pattern().finditer(data):
        if match.start() < done:
            continue
        close = data.find(b"-----END", match.end(), match.end() + 20_000)
        if close >= 0 and data.find(b"-----BEGIN", match.end(), close) < 0:
            done = compile_pattern(_ARMOUR_END).match(data, close).end()
        else:
            done = match.end()
        if done > match.end(1):
            yield Span(match.start(), done, "private-key")


@cache
def _armour_pattern() -> Any:
    gap = r"(?:\s|\\+[nr]|[\"',+>#|])*"
    return compile_pattern(
        r"(-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----)"
        rf"{gap}(?:[A-Za-z0-9+/=]{{16,}}{gap})*"
    )


def find_positional_passwords(data: bytes) -> Iterator[Span]:
    """Passwords by their position in a URL or a command line."""
    for match in _positional_pattern().finditer(data):
        group = match.lastindex
        password = match[group].decode("latin-1")
        if not password.isdigit() and is_password(password):
            kind = "connection-string" if group == 1 else "password"
            yield group_span(match, group, kind)


@cache
def _positional_pattern() -> Any:
    value = r"[\"']?([^\s\"'\xff]{3,250})"
    line = r"[^\n\xff]{0,300}?\s"
    return compile_pattern(
        r"\b[A-Za-z][A-Za-z0-9+.\-]{1,24}://[^\s/:@\"'<>\xff]{0,120}"
        r":([^\s/\"'<>\xff]{1,250})@[A-Za-z0-9\[{$<]"
        rf"|\b(?:curl|wget|https?)\b{line}(?:-u|--user|--proxy-user)[ =]*"
        rf"[\"']?[^\s:\"'\xff]{{0,120}}:{value}"
        rf"|\bredis-cli\b{line}(?:-a|--pass)[ =]+{value}"
        rf"|\becho[ ]+{value}[\"']?[ ]*\|[ ]*sudo[ ]"
        rf"|\bsshpass\s+-p\s*{value}"
        rf"|\b(?:mysql|mysqldump|mariadb)\b{line}-p{value}"
        rf"|\b(?:docker|podman|helm registry|az acr) login\b{line}(?:-p|--password)[ =]+{value}"
        r"|\bWIFI:[^\n\xff]{0,120}?;P:([^;\n\xff]{3,100});"
        r"|(?i:\b(?:credentials?|creds|login|account)\s?(?:is|are|:|=|-)\s+[\w.@+\-]{2,64}"
        r"\s/\s)([^\s\"'\xff]{3,100}[0-9!#$%&*+?@^][^\s\"'\xff]*)"
    )


_BASIC = r"(?i)\bbasic[ \t]+([A-Za-z0-9+/_\-]{6,}={0,2})"


def find_basic_auth(data: bytes) -> Iterator[Span]:
    """User and password in base64, as in HTTP basic authentication."""
    for match in compile_pattern(_BASIC).finditer(data):
        if b":" in (decode_base64(match[1]) or b""):
            yield group_span(match, 1, "authorization")


_DOCUMENT = r"\n---"
_KIND_LINE = r"(?m)^[ \t]*[\"']?kind[\"']?:[ \t]*[\"']?[Ss]ecret[\"']?[ \t]*(?:#[^\n]*)?\r?$"
_DATA_BLOCK = r"(?m)^[ \t]*(?:data|stringData):[ \t]*\r?\n((?:[ \t]+[^\n]*(?:\n|$))+)"
_DATA_ENTRY = r"(?m)^[ \t]+[\w.\-]+:[ \t]*[\"']?([^\s\"'|>{$\xff][^\s\"'\xff]{3,})"


def find_kubernetes_secrets(data: bytes) -> Iterator[Span]:
    """Every value in the data of a Kubernetes manifest of kind Secret."""
    start = 0
    for document in compile_pattern(_DOCUMENT).split(data) if b"ecret" in data else ():
        if compile_pattern(_KIND_LINE).search(document):
            for block in compile_pattern(_DATA_BLOCK).finditer(document):
                for entry in compile_pattern(_DATA_ENTRY).finditer(block[1]):
                    at = start + block.start(1)
                    yield Span(at + entry.start(1), at + entry.end(1), "kubernetes-secret")
        start += len(document) + 4


_LINK = (
    r"\b[A-Za-z][A-Za-z0-9+.\-]{0,24}://[^\s\"'<>\xff]+|\bwww\.[^\s\"'<>\xff]+"
    r"|\bdata:[a-z0-9/+.\-]+;base64,[A-Za-z0-9+/=]+|\b(?:sha(?:1|256|384|512)-|h1:)[\w+/=]+"
    r"|\bAAAA[BCE][23][A-Za-z0-9+/=]+"
)
_RUN = r"(?:[A-Za-z][A-Za-z_\-]*=)?([A-Za-z0-9_+/=~\-]{20,})"


def find_random_runs(data: bytes) -> Iterator[Span]:
    """Long runs of characters that look random, except in URLs."""
    links = compile_pattern(_LINK).finditer(data)
    link_end, link = 0, next(links, None)
    for match in compile_pattern(_RUN).finditer(data):
        while link and link.start() <= match.start():
            link_end, link = link.end(), next(links, None)
        if match.start() >= link_end and looks_random(match[1].decode("latin-1")):
            yield group_span(match, 1, "generic-token")
