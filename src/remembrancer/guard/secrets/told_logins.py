"""Finds passwords that are told with a user but without a name: `log in as ada with Xylo7!`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from remembrancer.guard.patterns import compile_pattern
from remembrancer.guard.secrets.ascii_view import Span, group_span
from remembrancer.guard.secrets.plain_words import is_clearly_made_up
from remembrancer.guard.secrets.wording import pattern_of

_VALUE = r"[\"'`]?([^\s\"'`,;<>()\xff]{5,64}?)[\"'`]?"
_END = r"(?:[ ]?[.!,;)]?(?:\s|$)|[,;])"
_USER = r"[A-Za-z0-9_.@+-]{2,64}"
_WINDOW = 200
_BEFORE_AIM = 80


def find_told_logins(data: bytes) -> Iterator[Span]:
    for opening in _openings().finditer(data):
        shape = opening.lastindex
        if shape == _AIM:
            start = max(0, opening.start() - _BEFORE_AIM)
            match = _chosen().search(data[start : opening.start()])
        else:
            start = 0
            match = _tails()[shape - 1].match(data, opening.end(), opening.end() + _WINDOW)
        if match and is_clearly_made_up(match[1].decode("latin-1")):
            span = group_span(match, 1, "password")
            yield Span(start + span.start, start + span.end, span.kind)


@cache
def _openings() -> Any:
    """Words after which an account is told; each is a group, in the order of the tails."""
    sources = (
        rf"\b{pattern_of('login_verbs')}\b",
        rf"\b{pattern_of('login_commands')}[ ]",
        rf"\b{pattern_of('login_labels')}\b",
        rf"\b{pattern_of('networks')}\b",
        r"[A-Za-z0-9_]@[A-Za-z0-9-]+\.[A-Za-z.]+[ ]?[/|][ ]?",
        rf"(?:^|[\s\"'`(]){pattern_of('administrators')}:",
        rf"[ ]{pattern_of('login_aims')}\b",
    )
    return compile_pattern("(?i)" + "|".join(f"({source})" for source in sources))


_AIM = 7


@cache
def _tails() -> tuple[Any, ...]:
    also, network_key = pattern_of("and"), pattern_of("network_keys")
    sources = (
        rf"[^\n.;:?!]{{0,40}}?[ ]{pattern_of('before_users')}[ ]{_USER}[ ]{also}[ ]",
        rf"[A-Za-z0-9_.-]{{1,64}}@[A-Za-z0-9_.-]{{1,64}}[ ]{also}[ ]",
        rf"[^\n\xff]{{0,30}}?[:= ][ ]?{_USER}[ ]/[ ]",
        rf"[^\n.;\xff]{{0,40}}?(?:\b{network_key}[ :=]{{1,3}}|[:= ][ ]?{_USER}[ ]/[ ])",
        "",
        "",
    )
    return tuple(compile_pattern(f"(?i){source}{_VALUE}{_END}") for source in sources)


@cache
def _chosen() -> Any:
    return compile_pattern(rf"(?i)\b{pattern_of('used')}[ ]{_VALUE}$")
