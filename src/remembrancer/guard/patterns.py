"""Compiles regular expressions with RE2, which takes linear time, and helps to write them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, Literal

import re2

MAX_PATTERN_MEMORY = 64 << 20


@cache
def compile_pattern(source: str, encoding: Literal["latin-1", "utf-8"] = "latin-1") -> Any:
    """The pattern for bytes in this encoding; compiled on first use."""
    options = re2.Options()
    options.max_mem = MAX_PATTERN_MEMORY
    options.log_errors = False
    if encoding == "latin-1":
        options.encoding = re2.Options.Encoding.LATIN1
    return re2.compile(source.encode(encoding), options)


def has_any(data: bytes, patterns: Iterable[str]) -> bool:
    return any(compile_pattern(pattern).search(data) for pattern in patterns)


def one_of(words: str, gap: str = "[ ]") -> str:
    """A pattern for any of the words; an underscore in a word stands for `gap`."""
    return "(?:" + "|".join(words.split()).replace("_", gap) + ")"


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())
