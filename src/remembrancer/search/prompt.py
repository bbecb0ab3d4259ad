"""Reads a prompt: whether it is personal, whom it names, and what it asks for. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from remembrancer.search.concepts import find_concepts
from remembrancer.search.dates import WEEKDAYS
from remembrancer.search.kinship import find_relations
from remembrancer.search.terms import fold
from remembrancer.search.topics import (
    find_topics,
    list_asked_topics,
    list_needed_topics,
)
from remembrancer.search.word_tables import load_tables
from remembrancer.search.words import split_words

MAX_READ_CHARS = 4_000
"""Characters of a prompt that are read: the question is at its beginning or end."""

NAME_PATTERN = re.compile(r"(?<=[^.!?:;\s¿¡\"“«„]\s)[^\W\d_a-z][^\W\d_]{2,}")
"""A capitalised word within a sentence."""

MAX_SMALL_TALK_WORDS = 12
SCHEDULE = "schedule"
MAX_OPENING_WORDS = 3
"""How many words may stand before the verb of a request."""


MAX_FOLLOW_UP_WORDS = 10
"""The longest prompt that is read together with the message before it."""


@dataclass(frozen=True, slots=True)
class PromptReading:
    """What a prompt asks.

    `names` are its capitalised words that are on no topic, except at the start of a sentence.
    Facts on its `topics` and `needed_topics` are called for; those on `asked_topics` help.
    """

    words: tuple[str, ...]
    names: frozenset[str]
    concepts: frozenset[str]
    topics: frozenset[str]
    needed_topics: frozenset[str]
    asked_topics: frozenset[str]
    relations: frozenset[str]
    is_first_person: bool
    is_request: bool
    is_broad: bool
    is_small_talk: bool
    is_question: bool
    is_general: bool
    is_text_task: bool
    asks_what_was_said: bool
    asks_about_self: bool

    @property
    def needs_nothing(self) -> bool:
        """True for small talk, and for work on a text that the prompt itself holds."""
        return self.is_small_talk or self.is_text_task


def read_prompt(text: str) -> PromptReading:
    """Read a prompt; of a long one, the beginning and the end."""
    text = _shorten(text)
    plain, words = fold(text).replace("’", "'"), split_words(text)
    topics, times = _split_times(find_topics(text))
    needed = _union(map(list_needed_topics, topics))
    return PromptReading(
        words=words,
        names=_find_names(text),
        concepts=find_concepts(text),
        topics=topics,
        needed_topics=needed,
        asked_topics=(_union(map(list_asked_topics, topics)) | times) - topics - needed,
        relations=find_relations(text),
        is_first_person=_is_first_person(plain),
        is_request=_is_request(plain),
        is_broad=_matches("broad", words),
        is_small_talk=is_small_talk(text),
        is_question="?" in text or _is_lookup(words),
        is_general=bool(_load_pattern("general").search(plain)),
        is_text_task=_is_text_task(plain),
        asks_what_was_said=bool(_load_pattern("said").search(plain)),
        asks_about_self=bool(_load_pattern("self").search(plain)),
    )


def join_follow_up(prompt: str, before: str | None) -> str:
    """The prompt with the user's message before it, if it is short and points back to it."""
    words = split_words(prompt)
    points_back = not _load_list("pointing").isdisjoint(words)
    if not before or not points_back or len(words) > MAX_FOLLOW_UP_WORDS or _find_names(prompt):
        return prompt
    return f"{before}\n{prompt}"


def is_in_own_voice(text: str) -> bool:
    """True if a text speaks of its author as "I" or "my"."""
    return not _load_list("own_voice").isdisjoint(split_words(text))


def _split_times(topics: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The topics, and whether times help: a question for a weekday is on that day, and one on
    another topic is not on times just because it has a word such as "tonight".
    """
    if SCHEDULE not in topics or len(topics) == 1:
        return topics, frozenset()
    helpful = frozenset[str]() if topics & set(WEEKDAYS) else frozenset({SCHEDULE})
    return topics - {SCHEDULE}, helpful


def _find_names(text: str) -> frozenset[str]:
    found = (split_words(word) for word in NAME_PATTERN.findall(text))
    return frozenset(word for words in found for word in words if not find_topics(word))


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*sets)


def _shorten(text: str) -> str:
    if len(text) <= MAX_READ_CHARS:
        return text
    half = MAX_READ_CHARS // 2
    return f"{text[:half]} {text[-half:]}"


def _is_first_person(plain: str) -> bool:
    asked = _load_pattern("generic_address").sub(" ", plain)
    return not _load_list("first_person").isdisjoint(split_words(asked))


def _is_request(plain: str) -> bool:
    """True if a sentence begins with a verb that asks for something to be made."""
    openings = (split_words(part)[:MAX_OPENING_WORDS] for part in re.split(r"[.!?:;\n]+", plain))
    return any(_matches("request", words) for words in openings)


def is_small_talk(text: str) -> bool:
    words, known = split_words(text), _load_list("small_talk")
    return len(words) <= MAX_SMALL_TALK_WORDS and all(word in known for word in words)


def _is_text_task(plain: str) -> bool:
    return bool(_load_pattern("text_task").search(plain))


def _is_lookup(words: tuple[str, ...]) -> bool:
    return _matches("lookup", words[:MAX_OPENING_WORDS])


def _matches(name: str, words: tuple[str, ...]) -> bool:
    known = _load_list(name)
    return any(
        word in known or any(f"{word[:end]}*" in known for end in range(3, len(word) + 1))
        for word in words
    )


def _load_texts(name: str) -> Iterable[str]:
    texts: Mapping[str, str] = load_tables(__package__, "prompt.toml")[name]
    return texts.values()


@cache
def _load_list(name: str) -> frozenset[str]:
    return frozenset(word for text in _load_texts(name) for word in text.split())


@cache
def _load_pattern(name: str) -> re.Pattern[str]:
    lines = (line for text in _load_texts(name) for line in text.splitlines())
    return re.compile("|".join(rf"\b(?:{line.strip()})\b" for line in lines if line.strip()))
