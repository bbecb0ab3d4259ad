"""Splits a text into the words that dates are made of. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from remembrancer.learn.details.numbers import (
    Phrase,
    expand_endings,
    fold,
    list_cardinals,
    list_ordinals,
    load_data,
    split_words,
)

MAX_SCANNED_CHARS = 20_000
MAX_PHRASE_WORDS = 6


@dataclass(frozen=True, slots=True)
class DateWord:
    """A word or number of the grammar; `kind` is a letter of the patterns."""

    kind: str
    value: int | str = 0
    has_article: bool = False
    is_digit: bool = False
    word: str = ""
    span: tuple[int, int] = (0, 0)


_SCAN = re.compile(
    r"(?P<iso>\b\d{4}-\d\d-\d\d)"
    r"|(?P<year_month>\b\d{4}-\d\d\b(?!-))"
    r"|(?P<full>\b\d{1,2}(?P<sep>[./-])\d{1,2}(?P=sep)(?:\d{4}|\d\d)\b)"
    r"|(?P<short>\b\d{1,2}\.\d{1,2}\.(?!\d)|\b\d{1,2}/\d{1,2}\b(?![/\d]))"
    r"|(?P<time>\b\d{1,2}(?::\d\d|h\d\d|\.\d\d(?!\d)|\s?(?:am\b|pm\b|a\.m|p\.m|uhr\b|h\b|o'clock)))"
    r"|(?P<amount>[$€£]\s?\d[\d.,]*|\b\d+(?:[.,]\d+)+|\b\d{5,}|\b\d+\s?(?:%|k\b))"
    r"|(?P<ordinal>\b\d{1,2}(?:st|nd|rd|th|er|ere|eme|e|o)\b)"
    r"|(?P<dotted>\b\d{1,2}\.(?=\s|$|[,)–-]))"
    r"|(?P<number>\b\d{1,4}\b)"
    r"|(?P<word>[^\W\d_]+)"
    r"|(?P<dash>(?<=[\d.])\s?[-–—]\s?(?=\d))"
    r"|(?P<comma>,)"
    r"|(?P<stop>[.!?;:()\n…])"
)
_LETTERS = {
    "last": "l", "next": "x", "this": "t", "ago": "g", "before_count": "v", "in": "i", "since": "f",
    "from": "o", "until": "b", "before": "k", "after": "A", "to": "j", "start_of": "p",
    "middle_of": "q", "end_of": "z", "every": "e", "correction": "c", "vague": "V", "article": "a",
    "filler": "F", "negation": "N", "not_a_date": "_",
}  # fmt: skip


def split_date_words(text: str) -> list[DateWord]:
    """The tokens of a text: unknown words are one gap, fillers are left out."""
    found = list(_match_phrases(list(_scan(fold(text[:MAX_SCANNED_CHARS])))))
    days = [_mark_day(found, at) for at in range(len(found))]
    plain = [_settle_ambiguous(days, at) for at in range(len(days))]
    telling = [one for one in plain if one.kind not in "aF"]
    return [one for at, one in enumerate(telling) if one.kind != "," or _parts(telling, at)]


def _parts(tokens: Sequence[DateWord], at: int) -> bool:
    """True for the comma in "Ann, 6, June": the number is no day of the month."""
    around = "".join(one.kind for one in tokens[max(0, at - 1) : at + 2])
    return around == "n,m"


def _scan(text: str) -> Iterator[DateWord]:
    for match in _SCAN.finditer(text):
        kind = "full" if match["sep"] else match.lastgroup or ""
        yield replace(_read_piece(kind, match[0]), span=match.span())


def _read_piece(kind: str, words: str) -> DateWord:
    match kind:
        case "iso" | "full" | "short" | "year_month":
            return DateWord("D", words)
        case "ordinal":
            return DateWord("d", int(re.sub(r"\D", "", words)), is_digit=True)
        case "dotted":
            return DateWord("n", int(words[:-1]), is_digit=True, word="dotted")
        case "number":
            return _read_number(int(words))
        case "word":
            return DateWord("W", word=words)
        case "dash":
            return DateWord("j")
        case "comma":
            return DateWord(",")
        case "stop":
            return DateWord(".")
        case _:
            return DateWord("_")


def _read_number(value: int) -> DateWord:
    return DateWord("y" if 1900 <= value <= 2099 else "n", value, is_digit=True)


def _match_phrases(raw: Sequence[DateWord]) -> Iterator[DateWord]:
    """Replace words by the tokens of the longest known phrases."""
    at = 0
    while at < len(raw):
        if raw[at].kind != "W":
            yield raw[at]
            at += 1
            continue
        words = _list_words(raw, at)
        size = next((n for n in range(len(words), 0, -1) if words[:n] in _lexicon()), 0)
        span = raw[at].span[0], raw[at + max(size, 1) - 1].span[1]
        if size:
            yield from (replace(one, span=span) for one in _lexicon()[words[:size]])
        else:
            yield DateWord("_", span=span)
        at += size or 1


def _list_words(raw: Sequence[DateWord], at: int) -> Phrase:
    found: list[str] = []
    for one in raw[at : at + MAX_PHRASE_WORDS]:
        if one.kind != "W":
            break
        found.append(one.word)
    return tuple(found)


def _mark_day(tokens: Sequence[DateWord], at: int) -> DateWord:
    """A number after an article is a day of the month: "el 15", "am 24."."""
    one = tokens[at]
    if one.kind != "n" or not 1 <= int(one.value) <= 31 or not at:
        return one
    before = tokens[at - 1]
    dotted = one.word == "dotted" and before.kind in "fobjaF"
    following = tokens[at + 1].kind if at + 1 < len(tokens) else ""
    if (dotted or (one.is_digit and before.has_article)) and following != "u":
        return replace(one, kind="d")
    return one


def _settle_ambiguous(tokens: Sequence[DateWord], at: int) -> DateWord:
    """ "May" is a month only next to other words of a date."""
    one = tokens[at]
    if one.word not in _ambiguous():
        return one
    before = tokens[at - 1].kind if at else "i"
    after = tokens[at + 1].kind if at + 1 < len(tokens) else ""
    if after != "u" and (before in "ifobkApqzlxtdnjaF" or after in ("d", "n", "y", "l", "x")):
        return one
    value = list_cardinals().get((one.word,))
    return replace(one, kind="_") if value is None else replace(one, kind="n", value=value)


@cache
def _ambiguous() -> frozenset[str]:
    return frozenset(load_data("said_dates.toml")["ambiguous"]["words"])


@cache
def _lexicon() -> Mapping[Phrase, tuple[DateWord, ...]]:
    """The tokens of each known phrase; later ones replace earlier ones."""
    data = load_data("said_dates.toml")
    found = {one: (DateWord("n", value),) for one, value in list_cardinals().items()}
    found |= {one: (DateWord("d", value),) for one, value in list_ordinals().items()}
    articles = {split_words(one)[-1] for one in data["roles"]["article"]} | {"vom", "au", "al"}
    for name, letter in _LETTERS.items():
        for phrase in map(split_words, expand_endings(data["roles"][name])):
            found[phrase] = (DateWord(letter, has_article=phrase[-1] in articles),)
    tables = {"months": "m", "weekdays": "w", "seasons": "s", "relative_days": "r"}
    for name, letter in tables.items():
        for key, phrases in data[name].items():
            found |= {
                split_words(one): (DateWord(letter, int(key), word=split_words(one)[0]),)
                for one in phrases
            }
    for name, letter in {"units": "u", "holidays": "h"}.items():
        for key, phrases in data[name].items():
            found |= {split_words(one): (DateWord(letter, key),) for one in phrases}
    return found | _list_replacements(data["replace"], found)


def _list_replacements(
    table: Mapping[str, str], known: Mapping[Phrase, tuple[DateWord, ...]]
) -> dict[Phrase, tuple[DateWord, ...]]:
    return {
        split_words(one): tuple(
            DateWord("n", int(word)) if word.isdigit() else known[(word,)][0]
            for word in other.split()
        )
        for one, other in table.items()
    }


def list_months(text: str) -> list[int]:
    """The months that a text names."""
    if not _month_pattern().search(fold(text)):
        return []
    return [int(one.value) for one in split_date_words(text) if one.kind == "m"]


@cache
def _month_pattern() -> re.Pattern[str]:
    months = load_data("said_dates.toml")["months"].values()
    return re.compile(rf"\b(?:{'|'.join(fold(one) for words in months for one in words)})\b")


def is_past(text: str) -> bool:
    """True if a verb of the past occurs."""
    return any(one.search(text[:MAX_SCANNED_CHARS].lower()) for one in _past_patterns())


@cache
def _past_patterns() -> tuple[re.Pattern[str], ...]:
    patterns = load_data("said_dates.toml")["past"].values()
    return tuple(re.compile(one.replace("\n", "")) for one in patterns)
