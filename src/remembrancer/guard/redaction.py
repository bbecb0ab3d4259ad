"""Redacts secrets from values before they are stored, logged or sent."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from remembrancer.errors import InvalidInput
from remembrancer.types import Json, validate_name

_NUL_PATTERN = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


MAX_METADATA_CHARS = 1_000_000
MAX_METADATA_DEPTH = 30
MAX_METADATA_CHECKS = 30_000
"""How many searches for secrets the metadata of a memory may take."""

CHARS_PER_CHECK = 500
"""A longer text counts as several searches."""


def refuse_secret_name(name: str | None) -> None:
    """Raise InvalidInput if a name or reference is a known kind of secret.

    A name that only looks random is accepted, because ids of other systems look random too.
    """
    from remembrancer.guard import redact

    if name and any(finding.kind != "generic-token" for finding in redact(name).findings):
        raise InvalidInput("A name or reference contains a secret. Secrets are never stored.")


def validate_session_name(name: str) -> str:
    """The normalised name of a session; raises InvalidInput if it is none, or a secret."""
    refuse_secret_name(name)
    return validate_name(name, "session")


def redact_text(text: str, previous: Sequence[str] = ()) -> str:
    """The text with its secrets replaced; `previous` are the turns before, oldest first."""
    from remembrancer.guard import redact

    return redact(text, previous).text


def contains_secret(value: Json) -> bool:
    """True if a secret is anywhere in a nested value. Our own ids are not secrets."""
    found: list[str] = []
    redact_value(value, found)
    return bool(found)


def refuse_complex_metadata(
    metadata: object, what: str, allowed: int = MAX_METADATA_CHECKS
) -> None:
    """Raise InvalidInput for metadata that takes too long to search for secrets.

    Each value is searched once by itself and once for each word in the names that lead to it.
    """
    checks, level = 0, [(metadata, 1)]
    for _ in range(MAX_METADATA_DEPTH + 2):
        inner: list[tuple[object, int]] = []
        for value, words in level:
            children = _list_children(value, words)
            inner += children
            checks += len(children)
            if isinstance(value, str) or not children:
                chars = len(value) if isinstance(value, str) else 0
                checks += (words + 1) * (1 + chars // CHARS_PER_CHECK)
        if checks > allowed:
            raise InvalidInput(
                f"{what}: the metadata has too many values, too long ones, or names of too many "
                f"words. A list may have about {MAX_METADATA_CHECKS // 4} numbers, and a text "
                f"{MAX_METADATA_CHARS} characters."
            )
        if not inner:
            return
        level = inner
    raise InvalidInput(
        f"{what}: the metadata is nested more than {MAX_METADATA_DEPTH} levels deep."
    )


def _list_children(value: object, words: int) -> list[tuple[object, int]]:
    """The values within a value, with the number of words in their names."""
    if isinstance(value, Mapping):
        return [(child, words + len(str(name).split())) for name, child in value.items()]
    return [(child, words) for child in value] if isinstance(value, list | tuple) else []


def redact_metadata(metadata: Mapping[str, Json], what: str) -> Mapping[str, Json]:
    """The metadata with its secrets replaced; raises InvalidInput if it cannot be stored."""
    try:
        plain = json.dumps(metadata, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{what}: the metadata is not plain JSON.") from error
    validate_text(plain, what, MAX_METADATA_CHARS)
    refuse_nul(plain)
    clean: Mapping[str, Json] = redact_value(metadata, [])
    return clean


def validate_text(text: object, what: str, limit: int) -> str:
    """The text itself; raises InvalidInput if it cannot be stored."""
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput(f"{what}: the content is empty.")
    if len(text) > limit:
        raise InvalidInput(f"{what}: the content is too long: at most {limit} characters.")
    if "\x00" in text:
        raise InvalidInput(f"{what}: the text contains a NUL character, which cannot be stored.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput(
            f"{what}: the text contains an unpaired surrogate (invalid Unicode)."
        ) from None
    return text


def refuse_nul(dumped: str) -> None:
    """JSON escapes a NUL as a backslash and u0000; after an escaped backslash, u0000 is text."""
    if _NUL_PATTERN.search(dumped):
        raise InvalidInput("The text contains a NUL character, which cannot be stored.")


_OWN_ID_PATTERN = re.compile(
    r"(?:fact|rule|episode|turn|event|session|use|team)_[0-9a-hjkmnp-tv-z]{26}"
)
"""One of our own ids, which look random and are not secrets."""


def redact_value(value: Any, found: list[str], field_name: str = "") -> Any:
    """The value with its secrets replaced; `field_name` is the path of keys that leads to it."""
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
                redact_value(key, found): redact_value(inner, found, f"{field_name} {key}")
                for key, inner in value.items()
            }
        case list() | tuple():
            return type(value)(redact_value(inner, found, field_name) for inner in value)
        case _:
            return value


def _redact_named_text(text: str, found: list[str], field_name: str) -> str:
    """Redact with the field name as context: `hunter2` is a secret only after `password:`."""
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
