"""Splits text into search terms, the same on every engine."""

from __future__ import annotations

import hashlib
import re
import struct
import threading
import unicodedata
from collections.abc import Iterable, Sequence
from zlib import crc32

import Stemmer

WORD_PATTERN = re.compile(r"[^\W_]+")
UNSPACED_PATTERN = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f\uf900-\ufaff]+"
)
STOP_WORDS = frozenset(
    "a an and are as at be been but by can could did do does for from had has have he her him his "
    "how i if in is it its me my of on or our she should so that the their them there they this to "
    "was we were what when where which who whom whose why will with would you your".split()
)

MAX_TERM_CHARS = 100
"""Longer words are cut: PostgreSQL cannot index words of 2 kB."""

STEM_START_CHARS = 3
"""How many characters a word and its stem have in common."""

_local = threading.local()


def extract_terms(text: str) -> list[str]:
    """The terms in order: case-folded, without accents, stemmed; bigrams in unspaced scripts."""
    found: list[str] = []
    for word in WORD_PATTERN.findall(fold(text)):
        if UNSPACED_PATTERN.search(word):
            found.extend(_bigrams(word))
        else:
            found.append(word)
    return _stem(found)


def extract_query_terms(text: str) -> list[str]:
    """The distinct terms of a query, without stop words unless there are no others."""
    words = WORD_PATTERN.findall(fold(text))
    telling = [word for word in words if word not in STOP_WORDS]
    return list(dict.fromkeys(extract_terms(" ".join(telling or words))))


class TermMatcher:
    """Finds some terms in texts without stemming the words that cannot be one of them."""

    def __init__(self, terms: Iterable[str]) -> None:
        self._terms = frozenset(terms)
        self._extracts_all = any(UNSPACED_PATTERN.search(term) for term in self._terms)
        starts = sorted({re.escape(term[:STEM_START_CHARS]) for term in self._terms})
        self._pattern = re.compile(rf"(?<![^\W_])(?:{'|'.join(starts) or '(?!)'})[^\W_]*")

    def find(self, text: str) -> frozenset[str]:
        """The terms that occur in a text."""
        if self._extracts_all:
            return self._terms.intersection(extract_terms(text))
        words = self._pattern.findall(fold(text))
        return self._terms.intersection(_stem(words)) if words else frozenset()


def encode_terms(words: Sequence[str]) -> bytes:
    """The 32-bit codes of terms, in order."""
    return struct.pack(f"<{len(words)}I", *map(encode_term, words))


def decode_terms(codes: bytes) -> tuple[int, ...]:
    """Inverse of `encode_terms`, as far as the codes."""
    return struct.unpack(f"<{len(codes) // 4}I", codes)


def encode_term(word: str) -> int:
    """A 32-bit hash."""
    return crc32(word.encode())


def fingerprint(text: str) -> str:
    """Equal for texts that differ only in case and spacing."""
    plain = " ".join(unicodedata.normalize("NFC", text).casefold().split())
    return hashlib.blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def normalise_quote(text: str) -> str:
    """Ignores what a quotation can change: case, spacing and the shape of apostrophes."""
    straight = unicodedata.normalize("NFC", text).translate(_STRAIGHT_QUOTES)
    return " ".join(straight.casefold().split())


_STRAIGHT_QUOTES = str.maketrans("‘’“”", "''\"\"")


def fold(text: str) -> str:
    """Case-folded, without accents."""
    folded = text.casefold()
    if folded.isascii():
        return folded
    decomposed = unicodedata.normalize("NFKD", folded)
    bare = "".join(c for c in decomposed if not unicodedata.combining(c))
    return unicodedata.normalize("NFKC", bare)


def _bigrams(word: str) -> list[str]:
    return [word] if len(word) == 1 else [word[i : i + 2] for i in range(len(word) - 1)]


def _stem(words: list[str]) -> list[str]:
    if not hasattr(_local, "stemmer"):
        _local.stemmer = Stemmer.Stemmer("english")
    return [stem[:MAX_TERM_CHARS] for stem in _local.stemmer.stemWords(words)]
