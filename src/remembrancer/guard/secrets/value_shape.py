"""What a single value looks like: a password, a token, a digest, a stand-in, a random run.

Must not know where in the text the value stood or what it was called.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

from remembrancer.guard.ascii_view import compile_pattern
from remembrancer.guard.secrets.token_formats import COMMON_PAIRS, PLACEHOLDER_WORDS


def is_password(value: str, may_have_spaces: bool = False) -> bool:
    """Whether this could be typed at a prompt, and is not code or a stand-in for a password."""
    if len(value) < 3 or (" " in value and not may_have_spaces):
        return False
    if value.lower().strip("!.") in PLACEHOLDER_WORDS:
        return False
    return not is_placeholder(value) and not _is_code(value)


_SNAKE = r"[A-Za-z]+(?:['_.\-/][A-Za-z]+)*[?!:]*$"


def is_mixed(value: str) -> bool:
    """More than a plain word: a digit, a sign inside, or capitals in the middle."""
    if value.isalpha():
        return value[1:] != value[1:].lower() and not value.isupper() and not _is_code(value)
    return not compile_pattern(_SNAKE).match(value.encode("latin-1"))


_CODE = (
    r"^(?:\$[A-Za-z_{(]|%[A-Za-z_(]|\{|<|@\{|#\{|&[a-z]|!)|\w\(|\(\)|\w\[|\]$|^\[|\|\||&&|=>|::"
    r"|^(?:self|this|os|process|config|settings|env|var|args|options|props|req|request|data)\."
    r"|^https?://|^/\w|^\./|^~/|\{\{|\$\{|%\(|^[a-z_]+\.[a-z_.]+$|^[a-z]+[A-Z]\w*\.[a-z]"
)


def _is_code(value: str) -> bool:
    return bool(compile_pattern(_CODE).search(value.encode("latin-1")))


_UNFILLED_PATTERN = (
    r"(?i)x{6,}|^x{3,}$|\*{3,}|\.{3}|_{6,}|#{4,}|0{16,}|your[-_ ]|placeholder|redacted|"
    r"changeme|change_me|dummy|insert[-_ ]|replace[-_ ]|<[^>]*>|\$\{|\{\{"
)
_PLACEHOLDER_PATTERN = f"{_UNFILLED_PATTERN}|example"


def is_unfilled(value: str) -> bool:
    """Whether this is to be filled in, as in `xxxxxx` or `${TOKEN}`."""
    return bool(compile_pattern(_UNFILLED_PATTERN).search(value.encode("latin-1")))


def is_placeholder(value: str) -> bool:
    """Whether this stands where a secret would: to be filled in, or made up for an example."""
    return bool(compile_pattern(_PLACEHOLDER_PATTERN).search(value.encode("latin-1")))


_DATED = (
    r"^v?\d+\.\d+|\d{4}-\d\d-\d\d|@[A-Za-z0-9\-]+\.[a-z]{2,}$|\.(?:com|org|net|io|dev|py|js|ts|"
    r"json|ya?ml|pem|txt|log|png|jpe?g|pdf|csv|md|html?|local|internal)(?::\d+)?$"
)


def is_token(value: str) -> bool:
    """Whether a value that a name calls secret looks made by a machine."""
    if len(value) < 8 or " " in value or is_placeholder(value) or _is_code(value):
        return False
    if value.isdigit():
        return len(value) >= 12
    if len(set(value)) < 5:
        return False
    digits = sum(map(str.isdigit, value))
    if digits == 0:
        return len(value) >= 12 and value != value.lower() and surprise(value) >= 0.42
    if compile_pattern(_DATED).search(value.encode("latin-1")):
        return False
    if len(value) >= 20 and digits >= len(value) / 5 and "." not in value:
        return True
    return surprise(value) >= 0.27


def is_digest(value: str) -> bool:
    """Whether this is a UUID, or an id of the length that a digest has."""
    return _is_id(value) and (len(value) in (32, 40, 64, 96, 128) or not value.isalnum())


def _is_id(value: str) -> bool:
    return bool(_id_pattern().match(value.encode("latin-1")))


@cache
def _id_pattern() -> Any:
    uuid = r"\{?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\}?"
    return compile_pattern(rf"(?i)(?:{uuid}|(?:0x)?[0-9a-f]+|01[0-9a-z]{{24}}|[acgtun]+)$")


_PIECE = "[A-Za-z0-9+]+"


def looks_random(run: str) -> bool:
    """Whether a long run is more than the words, numbers and ids it may be made of."""
    if _is_id(run) or is_placeholder(run):
        return False
    pieces = compile_pattern(_PIECE).findall(run.encode("latin-1"))
    kept = "-".join(piece.decode("latin-1") for piece in pieces if not _is_ordinary(piece))
    if sum(map(str.isalnum, kept)) < 20:
        return False
    if not has_digit(kept):
        return kept not in (kept.lower(), kept.upper()) and surprise(kept) >= 0.58
    return surprise(kept) >= 0.45


def _is_ordinary(piece: bytes) -> bool:
    """A word, a number, a word with a number, or a piece of a digest."""
    return bool(_ordinary_pattern().match(piece))


@cache
def _ordinary_pattern() -> Any:
    word = "[a-z]{1,14}|[A-Z]{1,14}|[A-Z][a-z]{1,13}"
    return compile_pattern(rf"(?:(?:{word})?[0-9]{{0,4}}|[0-9]+|[0-9a-fA-F]{{4,}})$")


def has_digit(value: str) -> bool:
    """Whether any character is a digit."""
    return any(map(str.isdigit, value))


def surprise(value: str) -> float:
    """The share of neighbours that words, numbers and names seldom put side by side."""
    pairs = surprising = 0.0
    for left, right in pairwise(value):
        if left.isalnum() and right.isalnum():
            pairs += 1
            surprising += _pair_surprise(left, right)
    return surprising / pairs if pairs else 0.0


@cache
def _pair_surprise(left: str, right: str) -> float:
    if ord(right) - ord(left) in (0, 1):
        return 0.0
    if left.isdigit() and right.isdigit():
        return 0.25
    if left.isdigit() or right.isdigit():
        return 1.0
    if left.islower() and right.isupper():
        return 0.5
    return 0.0 if right.lower() in COMMON_PAIRS[left.lower()] else 1.0
