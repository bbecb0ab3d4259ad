"""Redacts secrets from values before they are stored, logged or sent."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from remembrancer.errors import InvalidInput
from remembrancer.types import (
    Json,
)

_NUL_PATTERN = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


MAX_METADATA_CHARS = 1_000_000


def refuse_secret_name(name: str | None) -> None:
    """Refuse a name or reference that is a published kind of secret.

    One that only looks random is let through: the ids of other systems look so too.
    """
    from remembrancer.guard import redact

    if name and any(finding.kind != "generic-token" for finding in redact(name).findings):
        raise InvalidInput("A name or reference holds a secret; secrets are never remembered.")


def redact_text(text: str) -> str:
    """The text with its secrets replaced, for what is not stored but may be logged or sent."""
    from remembrancer.guard import redact

    return redact(text).text


def contains_secret(value: Json) -> bool:
    """Whether there is a secret in a value, however deep; the ids that we gave are none."""
    found: list[str] = []
    _redact_value(value, found)
    return bool(found)


def redact_metadata(metadata: Mapping[str, Json], what: str) -> Mapping[str, Json]:
    """Metadata that can be stored, its secrets replaced, or an error that says what is wrong."""
    try:
        plain = json.dumps(metadata, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{what}: the metadata is not plain JSON.") from error
    validate_text(plain, what, MAX_METADATA_CHARS)
    _refuse_nul(plain)
    clean: Mapping[str, Json] = _redact_value(metadata, [])
    return clean


def validate_text(text: object, what: str, limit: int) -> str:
    """Text that can be stored, or an error that says what is wrong with it."""
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput(f"{what}: the content is empty.")
    if len(text) > limit:
        raise InvalidInput(f"{what}: the content is too long: at most {limit} characters.")
    if "\x00" in text:
        raise InvalidInput(f"{what}: the text has a NUL character in it, which cannot be stored.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"{what}: the text has half a character in it.") from None
    return text


def _refuse_nul(dumped: str) -> None:
    """In JSON a NUL is an escape; the same letters after a backslash that is escaped are text."""
    if _NUL_PATTERN.search(dumped):
        raise InvalidInput("The text has a NUL character in it, which cannot be stored.")


_OWN_ID_PATTERN = re.compile(r"(?:fact|rule|episode|turn|event|session|use)_[0-9a-hjkmnp-tv-z]{26}")
"""An id that we gave: it looks random, and opens nothing."""


def _redact_value(value: Any, found: list[str], field_name: str = "") -> Any:
    """The same value with the secrets in it replaced; `called` is the name it goes by."""
    match value:
        case str() if _OWN_ID_PATTERN.fullmatch(value):
            return value
        case str():
            return _redact_named_text(value, found, field_name)
        case int() | float() if not isinstance(value, bool):
            clean = _redact_named_text(str(value), found, field_name) if field_name else str(value)
            return value if clean == str(value) else clean
        case Mapping():
            return {
                _redact_value(key, found): _redact_value(inner, found, f"{field_name} {key}")
                for key, inner in value.items()
            }
        case list() | tuple():
            return type(value)(_redact_value(inner, found, field_name) for inner in value)
        case _:
            return value


def _redact_named_text(text: str, found: list[str], field_name: str) -> str:
    """A name before a text tells what it is: `password: hunter2`, where `hunter2` says nothing."""
    from remembrancer.guard import redact

    for name in dict.fromkeys((field_name.strip(), *field_name.split())):
        label = f"{name}: "
        redacted = redact(label + text)
        if redacted.findings and redacted.text.startswith(label):
            found.extend(finding.kind for finding in redacted.findings)
            return redacted.text.removeprefix(label)
    redacted = redact(text)
    found.extend(finding.kind for finding in redacted.findings)
    return redacted.text
