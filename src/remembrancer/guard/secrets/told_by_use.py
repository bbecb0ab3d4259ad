"""Finds a secret by how it is used: `using VALUE as the key`, `laptop: VALUE`, `swipe a big L`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from remembrancer.guard.patterns import compile_pattern
from remembrancer.guard.secrets.ascii_view import Span, group_span
from remembrancer.guard.secrets.plain_words import is_clearly_made_up, is_made_up, is_pair_of_names
from remembrancer.guard.secrets.value_readers import trim
from remembrancer.guard.secrets.value_shape import has_digit, is_password, surprise
from remembrancer.guard.secrets.wording import pattern_of

_END = r"(?:[\s.,;!?)]|$)"
_SIGNED = r"([A-Za-z0-9]{3,}(?:[&+@$%#*!_-][A-Za-z0-9]{2,}){1,4}[!?]?)"
_RUN = r"[\"'`]?([^\s\"'`,;<>()\xff]{5,100})[\"'`]?"
_WINDOW = 160


def find_told_uses(data: bytes) -> Iterator[Span]:
    for opening in _openings().finditer(data):
        shape = opening.lastindex - 1
        pattern, reader = _readers()[shape]
        match = pattern.match(data, opening.start(), opening.start() + _WINDOW)
        if match and (span := reader(match)):
            yield span
            if span.kind == "generic-token":
                yield from _read_more_keys(data, span)


@cache
def _openings() -> Any:
    """Words after which a secret is used; each is a group, in the order of the readers."""
    sources = (
        pattern_of("screen_patterns", "phones_only"),
        rf"{pattern_of('machines')}\b[^\n&+$%#*!@]{{4,50}}[&+$%#*!@][A-Za-z0-9]",
        rf"(?:[A-Z0-9]+_)*{pattern_of('key_roles')}s?[ :=,]",
        rf"{pattern_of('used')}[ ]\S{{10,100}}[ ]{pattern_of('as')}[ ]",
        r"(?:pass[ -]?code|code|pin)\b[ :][^\n!#$%&*+?^]{1,30}[!#$%&*+?^]",
        rf"{pattern_of('passwords')},?[ ](?:that[ ])?{pattern_of('speakers')}[ ]",
        rf"{pattern_of('accounts')},[ ][^\s0-9]*[0-9]",
    )
    return compile_pattern(r"(?i)\b(?:" + "|".join(f"({source})" for source in sources) + ")")


_SHAPE = (
    r"(?:(?:(?:is|ist|es|est|c'est|goes|\?|in|as|like|wie|als|come|comme|with|mit|con|avec)[ ])?"
    r"(?:(?:the[ ]shape[ ]of|form[ ]eines|forma[ ]d[ei]|forme[ ]d[e'])[ ])?"
    r"(?:an?|eine?|einem|una?|un'|une)[ ](?:[^\s\xff]{3,10}[ ]){0,2}"
    r"|(?:en|in|a)[ ](?:(?:forma[ ]d[ei]|forme[ ]de)[ ])?)[A-Z]\b[^.,;!?\n\xff]{0,60}"
)


@cache
def _readers() -> tuple[tuple[Any, Any], ...]:
    phones, screens, drawn = map(pattern_of, ("phones", "screen_patterns", "drawn_patterns"))
    machine, near = pattern_of("machines"), r"\b[^.;!?\n\xff]{0,40}?\b"
    sign = r"([ ]?(?::|=|->)[ ]?)"
    link = rf"(?:[ ]?(?::|=|->)[ ]?|[ ]{pattern_of('links', 'changes_to', 'says')}[ ]|[ ])"
    role, used, name = (pattern_of(word) for word in ("key_roles", "used", "passwords"))
    article = rf"(?:{pattern_of('possessives')}[ ]|an?[ ])?"
    screen = rf"\b(?:{drawn}|{screens}{near}{phones}|{phones}{near}{screens})"
    rows = (
        (rf"{screen}\b[^.;!?\n\xff]{{0,40}}?[ ](?-i:({_SHAPE}))", _read_shape),
        (
            rf"\b{machine}(?:(?:[ ][a-z]{{1,10}}){{0,3}}?{sign}|{link}){_SIGNED}{_END}",
            _read_labelled,
        ),
        (rf"(?:[A-Z0-9]+_)*{role}s?(?:,[ ]|{link}){_RUN}", _read_key),
        (
            rf"\b{used}[ ]{_RUN}[ ]{pattern_of('as')}[ ]{article}(?:[a-z0-9_-]+[ ]){{0,2}}{role}\b",
            _read_key,
        ),
        (rf"\b(?:pass[ -]?code|code|pin){link}{_RUN}", _read_sharp),
        (
            rf"\b{name},?[ ](?:that[ ])?{pattern_of('speakers')}[ ]{used}"
            r"[ ](?:is[ ])?([\"'`])([^\"'`\n\xff]{4,120})[\"'`]",
            _read_quoted,
        ),
        (rf"\b{pattern_of('accounts')},[ ]{_RUN}", _read_account),
    )
    return tuple((compile_pattern(f"(?i){source}"), reader) for source, reader in rows)


def _read_shape(match: Any) -> Span:
    return group_span(match, 1, "pin")


def _read_labelled(match: Any) -> Span | None:
    """`laptop buho&luna`; a hyphen or an underscore is in other names too, and needs a digit."""
    value = match[2].decode("latin-1")
    colon = match[1] is not None
    plain = not any(sign in value for sign in "&+$%#*!@")
    if plain or ("@" in value and not colon) or is_pair_of_names(value):
        return None
    return group_span(match, 2, "password") if is_password(value) else None


def _read_key(match: Any) -> Span | None:
    value = trim(match[1])
    return (
        Span(match.start(1), match.start(1) + len(value), "generic-token")
        if (_is_key(value))
        else None
    )


def _is_key(value: str) -> bool:
    sharp = has_digit(value) and value not in (value.lower(), value.upper()) and "/" not in value
    return len(value) >= 10 and sharp and is_clearly_made_up(value) and surprise(value) >= 0.3


@cache
def _next_key() -> Any:
    return compile_pattern(rf"(?i)(?:[ ]?,|,?[ ](?:and|und|y|et|e|or|o|ou|oder|then))[ ]{_RUN}")


def _read_more_keys(data: bytes, first: Span) -> Iterator[Span]:
    """The other keys of a list."""
    end = first.end
    while (match := _next_key().match(data, end, end + _WINDOW)) and _is_key(trim(match[1])):
        end = match.start(1) + len(trim(match[1]))
        yield Span(match.start(1), end, "generic-token")


def _read_quoted(match: Any) -> Span:
    return group_span(match, 2, "password")


def _read_sharp(match: Any) -> Span | None:
    """A value of letters of both cases, digits and signs is a password, whatever its name."""
    value = trim(match[1])
    kinds = (str.isupper, str.islower, str.isdigit, lambda one: one in "!#$%&*+?^")
    if not all(any(map(kind, value)) for kind in kinds) or not is_made_up(value):
        return None
    return Span(match.start(1), match.start(1) + len(value), "password")


_NAMED_AND_NUMBERED = r"[A-Z][a-z]+[0-9.]+"


def _read_account(match: Any) -> Span | None:
    """`under her email, familypizza4`."""
    value = trim(match[1])
    told = len(value) >= 8 and value[0].isalpha() and is_clearly_made_up(value)
    named = compile_pattern(_NAMED_AND_NUMBERED).fullmatch(match[1])
    if not told or named or any(sign in value for sign in "@:/"):
        return None
    return Span(match.start(1), match.start(1) + len(value), "password")
