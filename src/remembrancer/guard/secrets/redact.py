"""Finds passwords, keys and tokens in any text and replaces them by typed placeholders.

Pure and linear in the length of the text; a finding holds a place and a kind, never the value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from remembrancer.guard.ascii_view import Span, blank_spans, compile_pattern, merge_spans, to_ascii
from remembrancer.guard.secrets import named_values, unnamed_values
from remembrancer.guard.secrets.token_formats import TOKEN_FORMATS

_OTHER_KINDS = (
    "authorization", "connection-string", "generic-token", "kubernetes-secret", "password", "pin",
    "private-key", "seed-phrase",
)  # fmt: skip
SECRET_KINDS = frozenset((*_OTHER_KINDS, *(shape.kind for shape in TOKEN_FORMATS)))
_PLACEHOLDER_PATTERN = r"\[secret: ([a-z0-9-]{1,40})\]"

# Redacting one secret can lay bare another that shared its context. Each round blanks what it
# found exactly as a placeholder would, so the last, empty round is what makes redaction idempotent.
_MAX_ROUNDS = 8

# In the order of trust: where two scans overlap, the kind of the earlier one is kept.
_SCANS: tuple[Callable[[bytes], Iterator[Span]], ...] = (
    unnamed_values.find_private_keys,
    unnamed_values.find_vendor_tokens,
    unnamed_values.find_positional_passwords,
    unnamed_values.find_basic_auth,
    unnamed_values.find_kubernetes_secrets,
    unnamed_values.find_seed_phrases,
    named_values.find_named_values,
    unnamed_values.find_random_runs,
)


@dataclass(frozen=True, slots=True)
class SecretFinding:
    """Where a secret stands in the text, and of what kind it is."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class RedactedText:
    """The text without its secrets, and where they were in the original."""

    text: str
    findings: tuple[SecretFinding, ...]


def redact(text: str) -> RedactedText:
    """Replace every secret by a placeholder such as `[secret: jwt]`."""
    findings = find_secrets(text)
    pieces: list[str] = []
    done = 0
    for finding in findings:
        pieces += text[done : finding.start], f"[secret: {finding.kind}]"
        done = finding.end
    return RedactedText("".join((*pieces, text[done:])), findings)


def find_secrets(text: str) -> tuple[SecretFinding, ...]:
    """Every secret in the text, in order and without overlaps."""
    page, places = to_ascii(text)
    page = blank_spans(page, _find_placeholders(page))
    spans: list[Span] = []
    for _ in range(_MAX_ROUNDS):
        fresh = merge_spans(span for scan in _SCANS for span in scan(page))
        if not fresh:
            break
        spans += fresh
        page = blank_spans(page, fresh)
    return tuple(_to_finding(span, places) for span in sorted(spans))


def _to_finding(span: Span, places: list[int] | None) -> SecretFinding:
    if places is None:
        return SecretFinding(span.kind, span.start, span.end)
    return SecretFinding(span.kind, places[span.start], places[span.end - 1] + 1)


def _find_placeholders(data: bytes) -> Iterator[Span]:
    for match in compile_pattern(_PLACEHOLDER_PATTERN).finditer(data):
        if match[1].decode("latin-1") in SECRET_KINDS:
            yield Span(match.start(), match.end(), "")
