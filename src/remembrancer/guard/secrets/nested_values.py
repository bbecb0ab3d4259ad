"""Finds values below a name in JSON, such as `{"auth": {"k": "…"}}`."""

from __future__ import annotations

from collections.abc import Iterator

from remembrancer.guard.patterns import compile_pattern
from remembrancer.guard.secrets.ascii_view import Span
from remembrancer.guard.secrets.claims import SecretClass, classify_name, split_name
from remembrancer.guard.secrets.token_formats import NON_VALUE_WORDS
from remembrancer.guard.secrets.value_shape import is_token

_OBJECT = r"[\"']([A-Za-z_][A-Za-z0-9_.\-]{0,60})[\"'][ \t]*:[ \t]*\{([^{}\xff]{1,400})"
_MEMBER = r"[\"']([A-Za-z_][A-Za-z0-9_.\-]{0,60})[\"'][ \t]*:[ \t]*[\"']([^\"'\s\xff]{8,300})[\"']"


def find_nested_values(data: bytes) -> Iterator[Span]:
    if b"{" not in data:
        return
    for found in compile_pattern(_OBJECT).finditer(data):
        name = classify_name(tuple(split_name(found[1].decode("latin-1"))))
        if name not in (SecretClass.PASSWORD, SecretClass.SECRET):
            continue
        for member in compile_pattern(_MEMBER).finditer(data, found.start(2), found.end(2)):
            words = split_name(member[1].decode("latin-1"))
            if NON_VALUE_WORDS.isdisjoint(words) and is_token(member[2].decode("latin-1")):
                yield Span(member.start(2), member.end(2), "generic-token")
