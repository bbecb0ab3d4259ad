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
_END = r"(?:[ ]?[.!,;)\n]|[ ]?$|[ ](?:an|ein|on|for|in|at|please|bitte|por|pour|per)\b)"
_USER = r"[A-Za-z0-9_.@+-]{2,64}"
_EMAIL = r"[A-Za-z0-9_.+-]{1,64}@[A-Za-z0-9-]{1,64}\.[A-Za-z.]{2,12}"


@cache
def _shapes() -> Any:
    words = {name: pattern_of(f"login_{name}") for name in ("verbs", "labels", "aims", "commands")}
    also, before_user = pattern_of("and"), pattern_of("before_users")
    sources = (
        rf"\b{words['verbs']}\b[^\n.;:?!]{{0,40}}?[ ]{before_user}[ ]{_USER}[ ]{also}[ ]{_VALUE}{_END}",
        rf"\b{words['commands']}[ ][A-Za-z0-9_.-]{{1,64}}@[A-Za-z0-9_.-]{{1,64}}[ ]{also}[ ]{_VALUE}{_END}",
        rf"\b{words['labels']}\b[^\n\xff]{{0,30}}?[:= ][ ]?{_USER}[ ]/[ ]{_VALUE}{_END}",
        rf"{_EMAIL}[ ]?[/|][ ]?{_VALUE}{_END}",
        rf"(?:^|[\s\"'`(]){pattern_of('administrators')}:{_VALUE}{_END}",
        rf"\b{pattern_of('used')}[ ]{_VALUE}[ ]{words['aims']}\b",
    )
    return compile_pattern("(?i)" + "|".join(f"(?:{source})" for source in sources))


def find_told_logins(data: bytes) -> Iterator[Span]:
    for match in _shapes().finditer(data):
        group = match.lastindex
        if is_clearly_made_up(match[group].decode("latin-1")):
            yield group_span(match, group, "password")
