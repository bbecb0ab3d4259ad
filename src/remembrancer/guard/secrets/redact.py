"""Finds passwords, keys and tokens in any text and replaces them by typed placeholders.

Pure and linear in the length of the text; a finding holds a place and a kind, never the value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from remembrancer.guard.secrets import named_values, unnamed_values
from remembrancer.guard.secrets.ascii_view import Span, blank, compiled, flatten, merge
from remembrancer.guard.secrets.token_formats import FORMATS

_OTHER_KINDS = (
    "authorization", "connection-string", "generic-token", "kubernetes-secret", "password", "pin",
    "private-key", "seed-phrase",
)  # fmt: skip
KINDS = frozenset((*_OTHER_KINDS, *(shape.kind for shape in FORMATS)))
_PLACEHOLDER = r"\[secret: ([a-z0-9-]{1,40})\]"

# Redacting one secret can lay bare another that shared its context. Each round blanks what it
# found exactly as a placeholder would, so the last, empty round is what makes redaction idempotent.
_ROUNDS = 8

# In the order of trust: where two scans overlap, the kind of the earlier one is kept.
_SCANS: tuple[Callable[[bytes], Iterator[Span]], ...] = (
    unnamed_values.by_private_key,
    unnamed_values.by_format,
    unnamed_values.by_place,
    unnamed_values.by_basic_header,
    unnamed_values.by_kubernetes_secret,
    unnamed_values.by_seed_phrase,
    named_values.by_name,
    unnamed_values.by_look,
)


@dataclass(frozen=True, slots=True)
class Finding:
    """Where a secret stands in the text, and of what kind it is."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Redacted:
    """The text without its secrets, and where they were in the original."""

    text: str
    findings: tuple[Finding, ...]


def redact(text: str) -> Redacted:
    """Replace every secret by a placeholder such as `[secret: jwt]`."""
    findings = find(text)
    pieces: list[str] = []
    done = 0
    for finding in findings:
        pieces += text[done : finding.start], f"[secret: {finding.kind}]"
        done = finding.end
    return Redacted("".join((*pieces, text[done:])), findings)


def find(text: str) -> tuple[Finding, ...]:
    """Every secret in the text, in order and without overlaps."""
    page, places = flatten(text)
    page = blank(page, _placeholders(page))
    spans: list[Span] = []
    for _ in range(_ROUNDS):
        fresh = merge(span for scan in _SCANS for span in scan(page))
        if not fresh:
            break
        spans += fresh
        page = blank(page, fresh)
    return tuple(_finding(span, places) for span in sorted(spans))


def _finding(span: Span, places: list[int] | None) -> Finding:
    if places is None:
        return Finding(span.kind, span.start, span.end)
    return Finding(span.kind, places[span.start], places[span.end - 1] + 1)


def _placeholders(page: bytes) -> Iterator[Span]:
    for match in compiled(_PLACEHOLDER).finditer(page):
        if match[1].decode("latin-1") in KINDS:
            yield Span(match.start(), match.end(), "")
