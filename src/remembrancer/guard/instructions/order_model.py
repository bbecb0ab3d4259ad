"""Recognises short texts that tell an assistant how to act, by a linear model over their letters.

The patterns know frames of sentences; the model weighs parts of words, words and pairs of words, so
it also recognises orders in words that nobody foresaw. It is trained by `bench/order_model.py` on
texts of our own in five languages. Longer texts are left to the patterns: of many sentences one
would too often look like an order.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterator
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Any

RULE = "order"
WEIGHTS_FILE = "order_model.npz"

BUCKETS = 1 << 17
PART_LENGTHS = (3, 4, 5)

MAX_SENTENCES = 4
MAX_CHARS = 1_000
"""What is beyond is not read."""

MIN_WORDS = 5
"""Fewer words say too little to judge."""

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+|<!--|-->")
_DIGITS = re.compile(r"[0-9]+")
_WORDS = re.compile(r"[^\W_]+|[@`:$€]")


def reads_like_order(plain: str, *, strict: bool) -> bool:
    """True if a short text in plain Latin letters, in lower case, tells an assistant how to act.

    A `strict` reading asks for more certainty.
    """
    passages = split_passages(plain)
    if not passages:
        return False
    weights, bias, usual, certain = _load_weights()
    needed = certain if strict else usual
    return any(score(one, weights, bias) > needed for one in passages)


def split_passages(plain: str) -> list[str]:
    """The sentences of a short text, and the whole; nothing of a long one."""
    if len(plain) > MAX_CHARS:
        return []
    sentences = [one.strip() for one in _SENTENCE_END.split(plain) if one.strip()]
    if len(sentences) > MAX_SENTENCES:
        return []
    passages = [*sentences, plain] if len(sentences) > 1 else sentences
    return [one for one in passages if len(one.split()) >= MIN_WORDS]


def score(sentence: str, weights: Any, bias: float) -> float:
    """The logarithm of the odds that a sentence tells an assistant how to act."""
    buckets = hash_features(sentence)
    if not buckets:
        return bias
    return bias + sum(int(weights[one]) for one in buckets) / math.sqrt(len(buckets))


def hash_features(sentence: str) -> set[int]:
    """The numbers of the features that a sentence has."""
    return {zlib.crc32(one.encode("utf-8", "replace")) % BUCKETS for one in _features(sentence)}


def _features(sentence: str) -> Iterator[str]:
    words = _WORDS.findall(_DIGITS.sub("0", sentence))
    for word in words:
        yield word
        marked = f"^{word}$"
        for length in PART_LENGTHS:
            for start in range(len(marked) - length + 1):
                yield marked[start : start + length]
    for first, second in pairwise(words):
        yield f"{first} {second}"
    for first, third in zip(words, words[2:], strict=False):
        yield f"{first} _ {third}"
    if words:
        yield f"<start> {words[0]}"


@cache
def _load_weights() -> tuple[Any, float, float, float]:
    """The weights in units of their scale, and in the same units the bias and both thresholds."""
    import numpy as np

    with resources.as_file(resources.files(__package__) / WEIGHTS_FILE) as path:
        stored = np.load(path)
        bias, usual, certain = (float(stored[name]) for name in ("bias", "usual", "certain"))
        return stored["weights"].tolist(), bias, usual, certain
