"""The scan for values that stand beside a name which says that they are secret.

Reads name, joint and value off the page; must not know what makes a value believable.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from remembrancer.guard.secrets.ascii_view import Span, compiled
from remembrancer.guard.secrets.claims import Claim, Link, is_secret, kind_of, weigh, words_of
from remembrancer.guard.secrets.token_formats import KEY_QUALIFIERS, VENDORS
from remembrancer.guard.secrets.value_shape import has_digit

_LONGEST_JUDGED = 600
_UNQUOTED = 5
_QUOTES = (b'"', b"'", b"`")


def by_name(page: bytes) -> Iterator[Span]:
    """Values that stand beside a name which says that they are secret."""
    done = 0
    for match in _name_pattern().finditer(page):
        if match.start() < done:
            continue
        if span := _judge(page, match):
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
        r"|\s(?:to|is|was|ist|lautet|war|est|es|are|equals|(?:is )?now|will be)(?: still)?)"
    )
    return compiled(
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


def _judge(page: bytes, match: Any) -> Span | None:
    at = match.end()
    value = compiled(_VALUE).match(page, at, at + _LONGEST_JUDGED)
    claim = value and _claim(page, match, value)
    if not claim or not is_secret(claim):
        return None
    start = value.start(value.lastindex)
    end = start + len(claim.value)
    if end == at + _LONGEST_JUDGED:
        end = compiled(_REST).match(page, end).end()
    return Span(start, end, kind_of(claim.weight))


def _claim(page: bytes, match: Any, value: Any) -> Claim | None:
    link = Link(match.lastindex)
    quoted = value.lastindex != _UNQUOTED
    secret = value[value.lastindex] if quoted else _trim(value[value.lastindex])
    if link is Link.BESIDE and not quoted and not has_digit(secret.decode("latin-1")):
        return None
    name = _whole_name(page, match)
    words = tuple(words_of(page[name.start : name.end].decode("latin-1")))
    weight = weigh(words)
    opened = page[name.start - 1 : name.start] in _QUOTES
    if not weight or (link is Link.AS_ARGUMENT and not (quoted and opened)):
        return None
    after = value.start(value.lastindex) + len(secret)
    return Claim(
        words,
        weight,
        link,
        joint=match[match.lastindex].decode("latin-1"),
        value=secret.decode("latin-1"),
        quoted=quoted,
        after=page[after : after + 2].decode("latin-1"),
    )


_IDENTIFIER_TAIL = r"[A-Za-z0-9_.\-]*$"


def _whole_name(page: bytes, match: Any) -> Span:
    """The identifier that the match began in the middle of, up to its operator."""
    before = compiled(_IDENTIFIER_TAIL).search(page[max(0, match.start() - 40) : match.start()])[0]
    return Span(match.start() - len(before), match.start(match.lastindex), "")


def _trim(value: bytes) -> bytes:
    """Without the punctuation of the sentence or call around it."""
    return value.rstrip(b".,;:?" if b"(" in value else b".,;:?)]}")
