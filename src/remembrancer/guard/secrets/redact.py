"""Replaces passwords, keys and tokens in a text with typed placeholders.

Pure, and linear in the length of the text. A finding has offsets and a kind, never the value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from remembrancer.guard.patterns import compile_pattern
from remembrancer.guard.secrets import (
    cards,
    named_values,
    nested_values,
    replies,
    told_by_use,
    told_logins,
    told_nearby,
    told_openers,
    told_values,
    unnamed_values,
)
from remembrancer.guard.secrets.ascii_view import Span, blank_spans, merge_spans, to_ascii
from remembrancer.guard.secrets.token_formats import TOKEN_FORMATS

_OTHER_KINDS = (
    "authorization", "card-number", "connection-string", "generic-token", "kubernetes-secret",
    "password", "pin", "private-key", "recovery-code", "security-answer", "seed-phrase",
)  # fmt: skip
SECRET_KINDS = frozenset((*_OTHER_KINDS, *(token.kind for token in TOKEN_FORMATS)))
_PLACEHOLDER_PATTERN = r"\[secret: ([a-z0-9-]{1,40})\]"

# Redacting one secret can expose another that shared its context. Each round blanks its findings
# just as a placeholder does, so redaction is idempotent once a round finds nothing.
_MAX_ROUNDS = 8

# In order of precision: where two findings overlap, the kind of the earlier scan is kept.
_SCANS: tuple[Callable[[bytes], Iterator[Span]], ...] = (
    unnamed_values.find_private_keys,
    unnamed_values.find_chopped_tokens,
    unnamed_values.find_vendor_tokens,
    unnamed_values.find_positional_passwords,
    unnamed_values.find_basic_auth,
    unnamed_values.find_kubernetes_secrets,
    cards.find_cards,
    told_values.find_told_values,
    told_openers.find_openers,
    nested_values.find_nested_values,
    told_logins.find_told_logins,
    named_values.find_named_values,
    told_nearby.find_nearby,
    told_by_use.find_told_uses,
    unnamed_values.find_random_runs,
)


@dataclass(frozen=True, slots=True)
class SecretFinding:
    """The offsets of a secret in the text, and its kind."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class RedactedText:
    """The redacted text, and the secrets found in the original."""

    text: str
    findings: tuple[SecretFinding, ...]


def redact(text: str, previous: Sequence[str] = ()) -> RedactedText:
    """Replace every secret with a placeholder such as `[secret: jwt]`.

    `previous` are the turns before, oldest first: after a question for it, a word is a password.
    """
    findings = find_secrets(text, previous)
    pieces: list[str] = []
    done = 0
    for finding in findings:
        pieces += text[done : finding.start], f"[secret: {finding.kind}]"
        done = finding.end
    return RedactedText("".join((*pieces, text[done:])), findings)


def find_secrets(text: str, previous: Sequence[str] = ()) -> tuple[SecretFinding, ...]:
    """All secrets in the text, in order and without overlaps."""
    data, offsets = to_ascii(text)
    data = blank_spans(data, _find_placeholders(data))
    spans = list(replies.find_reply(data, [to_ascii(turn)[0] for turn in previous]))
    data = blank_spans(data, spans)
    for _ in range(_MAX_ROUNDS):
        found = merge_spans(span for scan in _SCANS for span in scan(data))
        if not found:
            break
        spans += found
        data = blank_spans(data, found)
    return tuple(_to_finding(span, offsets) for span in sorted(spans))


def has_placeholder(text: str) -> bool:
    """True if a secret was replaced in the text."""
    return any(_find_placeholders(to_ascii(text)[0]))


def _to_finding(span: Span, offsets: list[int] | None) -> SecretFinding:
    if offsets is None:
        return SecretFinding(span.kind, span.start, span.end)
    return SecretFinding(span.kind, offsets[span.start], offsets[span.end - 1] + 1)


def _find_placeholders(data: bytes) -> Iterator[Span]:
    for match in compile_pattern(_PLACEHOLDER_PATTERN).finditer(data):
        if match[1].decode("latin-1") in SECRET_KINDS:
            yield Span(match.start(), match.end(), "")
