"""Finds the numbers of payment cards and the codes on their backs."""

from __future__ import annotations

from collections.abc import Iterator

from remembrancer.guard.patterns import compile_pattern
from remembrancer.guard.secrets.ascii_view import Span, group_span

_CARD_NUMBER = (
    r"([0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{3,4}|3[47][0-9]{2}[ -]?[0-9]{6}[ -]?[0-9]{5})"
)
_CARD_CODE = r"\b(?:cvv2?|cvc2?|card[ ]code|security[ ]code)\b"
_CARDS = (
    rf"(?i){_CARD_NUMBER}[^0-9\xff][^\n\xff]{{0,60}}?{_CARD_CODE}",
    rf"(?i)\b(?:card|visa|mastercard|amex)\b[^\n0-9\xff]{{0,30}}{_CARD_NUMBER}(?:$|[^0-9])",
)
_CARD_CODES = rf"(?i){_CARD_CODE}(?:[ ](?:is|was)|:|[ ]?=)?[ ]*([0-9]{{3,4}})(?:$|[^0-9])"


def find_cards(data: bytes) -> Iterator[Span]:
    """The number of a payment card, and the code on its back."""
    for shape in _CARDS:
        for match in compile_pattern(shape).finditer(data):
            yield group_span(match, 1, "card-number")
    for match in compile_pattern(_CARD_CODES).finditer(data):
        yield group_span(match, 1, "pin")
