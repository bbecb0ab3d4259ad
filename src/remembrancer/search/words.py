"""Splits a text into folded words. No I/O."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from remembrancer.search.terms import fold

MAX_WORD_CHARS = 40
EDGE_CHARS = "\"'.,;:!?()[]{}«»“”„‘’…¿¡|/*"


@lru_cache(maxsize=4096)
def split_words(text: str) -> tuple[str, ...]:
    """The folded words of a text; a hyphenated word counts whole and in parts."""
    tokens = (_split_token(token) for token in iter_tokens(text))
    return tuple(dict.fromkeys(word for words in tokens for word in words))


def iter_tokens(text: str) -> Iterator[str]:
    """The folded words of a text, with their hyphens."""
    for token in fold(text).replace("’", "'").replace("_", " ").split():
        yield token.strip(EDGE_CHARS).removesuffix("'s")[:MAX_WORD_CHARS]


def _split_token(word: str) -> list[str]:
    parts = [part for part in word.replace("'", "-").replace("/", "-").split("-") if part]
    return [word, *parts] if len(parts) > 1 else parts
