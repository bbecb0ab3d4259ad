"""Finds secrets by the name next to them, such as `password=…` or `the token is …`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from remembrancer.guard.patterns import compile_pattern
from remembrancer.guard.secrets.ascii_view import Span
from remembrancer.guard.secrets.claims import (
    Claim,
    ClaimSyntax,
    classify_name,
    is_secret,
    secret_kind,
    split_name,
)
from remembrancer.guard.secrets.token_formats import KEY_QUALIFIERS, VENDORS
from remembrancer.guard.secrets.value_shape import has_digit

_MAX_VALUE_BYTES = 600
_UNQUOTED_GROUP = 5
_QUOTES = (b'"', b"'", b"`")


def find_named_values(data: bytes) -> Iterator[Span]:
    done = 0
    for match in _name_pattern().finditer(data):
        if match.start() < done:
            continue
        if span := _find_secret_span(data, match):
            done = span.end
            yield span


@cache
def _name_pattern() -> Any:
    qualified = "|".join(sorted(KEY_QUALIFIERS))
    codes = "pin|verification|one-time|access|door|gate|alarm|entry|lock|security|recovery|backup"
    words = (
        rf"(?:{qualified})[ _.\-]?keys?|(?:{codes})[ _\-]?code|mot de passe|pass(?:word|wd|phrase|"
        r"code|wort|ord)?|pwd?|pword|kennwort|contrase[n?]a|senha|wachtwoord|parola|psk|\bpin|puk|"
        r"cvv|cvc|otp|secret|tok(?:en)?|cred(?:ential)?|auth|bearer|jwt|key|sid|sessionid|dsn|webhook|"
        rf"sas|cookie|BUNDLE_[A-Z0-9_]{{1,48}}__[A-Z]+|{'|'.join(sorted(VENDORS))}"
    )
    type_name = r"(?:&(?:'static )?)?(?:str|string|text|char ?\*?)(?: ?\| ?None)?"
    topic = r"(?:\s(?:for|to|of|on|at|in|von|vom|f[u?]r|de|pour|para)\s[^\n:=.\"'\xff]{1,40}?)?"
    verb = (
        r"(?:'s| -{1,3}"
        r"|\s(?:to|is|was|ist|lautet|war|est|es|e'|\?|are|equals|(?:is )?now|will be)(?: still)?)"
    )
    return compile_pattern(
        rf"(?i)(?:{words})[A-Za-z0-9_.\-]{{0,48}}(?:"
        rf"((?:\\?[\"'`])?\]?(?:\[\])?[ \t]*:?[ \t]*(?:{type_name})?[ \t]*"
        r"(?:(?:[:?.+|!]{0,3}={1,3}>?|->|~>)[ \t]*|:{1,3}[ \t]*(?:\r?\n[ \t]*)?)"
        r"|(?:[ \t][^<>\n\xff]{0,80})?>\s*)"
        r"|(\\?[\"'`][ \t]*,\s*|[\"']\s+value\s*=\s*)"
        rf"|({topic}(?:{verb}:?|\s?:)\s+)"
        r"|(\s?\(|\s+))"
    )


_VALUE = (
    r"(?:[rbuf]{1,2}|\()?(?:"
    r'\\"((?:[^"\\\n\xff]|\\[^"\n\xff])+)'
    r'|"((?:[^"\\\n\xff]|\\[^\n\xff])+)'
    r"|'((?:[^'\\\n\xff]|\\[^\n\xff])+)"
    r"|`([^`\n\xff]+))"
    r"|((?:[^\s\"'`,;<>\\\xff]|\\[^nrt\"'`\s\xff])+)"
)
_REST = r"[^\s\"'`<>\xff]*"


def _find_secret_span(data: bytes, match: Any) -> Span | None:
    at = match.end()
    value = compile_pattern(_VALUE).match(data, at, at + _MAX_VALUE_BYTES)
    claim = value and _read_claim(data, match, value)
    if not claim or not is_secret(claim):
        return None
    start = value.start(value.lastindex)
    end = start + len(claim.value)
    if end == at + _MAX_VALUE_BYTES:
        end = compile_pattern(_REST).match(data, end).end()
    return Span(start, end, secret_kind(claim.secret_class))


def _read_claim(data: bytes, match: Any, value: Any) -> Claim | None:
    syntax = ClaimSyntax(match.lastindex)
    quoted = value.lastindex != _UNQUOTED_GROUP
    secret = value[value.lastindex] if quoted else _trim(value[value.lastindex])
    if syntax is ClaimSyntax.BESIDE and not quoted and not has_digit(secret.decode("latin-1")):
        return None
    name = _name_span(data, match)
    words = tuple(split_name(data[name.start : name.end].decode("latin-1")))
    secret_class = classify_name(words)
    name_quoted = data[name.start - 1 : name.start] in _QUOTES
    if not secret_class or (syntax is ClaimSyntax.AS_ARGUMENT and not (quoted and name_quoted)):
        return None
    after = value.start(value.lastindex) + len(secret)
    return Claim(
        words,
        secret_class,
        syntax,
        separator=match[match.lastindex].decode("latin-1"),
        value=secret.decode("latin-1"),
        quoted=quoted,
        after=data[after : after + 2].decode("latin-1"),
    )


_IDENTIFIER_TAIL = r"[A-Za-z0-9_.\-]*$"


def _name_span(data: bytes, match: Any) -> Span:
    """The whole identifier, of which the match can be the end, up to its operator."""
    before = compile_pattern(_IDENTIFIER_TAIL).search(
        data[max(0, match.start() - 40) : match.start()]
    )[0]
    return Span(match.start() - len(before), match.start(match.lastindex), "")


def _trim(value: bytes) -> bytes:
    """Remove the punctuation of the surrounding sentence or call."""
    return value.rstrip(b".,;:?" if b"(" in value else b".,;:?)]}")
