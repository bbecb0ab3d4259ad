"""Finds a code by what it opens: "the safe opens with 44-12-90", "press 3312 at the gate"."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from remembrancer.guard.patterns import compile_pattern
from remembrancer.guard.secrets.ascii_view import Span, group_span
from remembrancer.guard.secrets.value_readers import read_code
from remembrancer.guard.secrets.wording import pattern_of


def find_openers(data: bytes) -> Iterator[Span]:
    for match in _opens().finditer(data):
        if match[1]:
            yield group_span(match, 1, "pin")
        else:
            yield from read_code(data, match.end())


@cache
def _opens() -> Any:
    thing = pattern_of("protected")
    typed = (
        rf"{pattern_of('types_in')}[ ]([#*]?[0-9]{{3,8}}[A-Z]?[#*]?)[ ]{pattern_of('types_at')}"
        rf"[ ](?:[a-z]+[ ]){{0,2}}?{thing}\b"
    )
    opens = rf"{thing}\b[^\n.,;:?!]{{0,20}}?[ ]{pattern_of('opens')}[ ]"
    opened = rf"{pattern_of('opening')}\b[^\n.,;:?!]{{0,20}}?[ ]{thing}[ ]{pattern_of('and')}[ ]"
    return compile_pattern(rf"(?i)\b(?:{typed}|{opens}|{opened})")
