"""Reads one statement that a person asks to have remembered: its wording, category and key.

It is restated in the third person only as a whole; what rules cannot restate keeps its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from remembrancer.learn.extracted_fact import ExtractedFact
from remembrancer.learn.profile_mapping import file_category, map_importance
from remembrancer.learn.rules.extractor import list_spoken_languages
from remembrancer.learn.rules.patterns import INSTRUCTION, load_rules
from remembrancer.learn.rules.people import People
from remembrancer.learn.rules.sentence_extractor import SentenceExtractor
from remembrancer.learn.rules.third_person import list_first_persons
from remembrancer.learn.rules.wish import SELF, Part, split_wishes, word_wish
from remembrancer.learn.wording.change import is_past, stands_beside
from remembrancer.learn.wording.word_list import list_languages, load_word_lists, straighten
from remembrancer.profiles import Profile
from remembrancer.remember.attributes import canonical_attribute
from remembrancer.remember.statement import FactFields
from remembrancer.search.language import Language
from remembrancer.types import Turn

MAX_TOLD_CHARS = 480
SEVERAL = re.compile(r"[.;]\s|\b(?:and|but)\b", re.IGNORECASE)
TURN_ID = "told"
ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)
"""The time of the turn that is read: no date in it is resolved."""


@dataclass(frozen=True, slots=True)
class ToldStatement:
    """The statement as it is stored, and what is known of it; None for what its words leave open.

    The category is a common name, which a profile need not have.
    """

    content: str
    category: str | None = None
    subject: str | None = None
    predicate: str | None = None
    importance: float | None = None

    def to_fields(self, profile: Profile) -> FactFields:
        """The fields of the memory in a profile."""
        fields: FactFields = {}
        if (category := file_category(profile, self.content, self.category)) is not None:
            fields["category"] = category
        if self.subject and self.predicate:
            fields["subject"] = self.subject
            fields["predicate"] = canonical_attribute(self.predicate)
        if (importance := map_importance(profile, self.importance)) is not None:
            fields["importance"] = importance
        return fields


def read_told(words: str) -> ToldStatement:
    """Read what a person asks to have remembered."""
    category = choose_category(words)
    for extractor in _list_extractors(words):
        found = extractor.restate(words)
        if found:
            has_key = not (_begins_later(found.said_as) or stands_beside([words]) or is_past(words))
            key = (found.subject, found.predicate) if has_key else (None, None)
            return ToldStatement(found.content, category, *key, found.importance)
    return ToldStatement(words, category)


def read_saved(words: str) -> ToldStatement:
    """Read what a model saves: its key is that of the same statement in the first person.

    Words that may say two things have no key.
    """
    bare = words.strip(" .!")
    for said in () if SEVERAL.search(bare) else list_first_persons(bare):
        told = read_told(said)
        if told.predicate and told.content.casefold() == bare.casefold():
            return replace(told, content=words)
    return ToldStatement(words, choose_category(words))


def read_parts(words: str) -> tuple[tuple[str, ToldStatement], ...]:
    """What a person asks to have remembered, with their words: wishes for answers on their own."""
    parts = split_wishes(words)
    return tuple((one.words, _read_part(one, is_all=len(parts) == 1)) for one in parts)


def _read_part(part: Part, *, is_all: bool) -> ToldStatement:
    words = part.words if is_all else part.words[:1].upper() + part.words[1:]
    told = read_told(words)
    content = word_wish(words)
    if not part.is_wish or SELF.match(content):
        return told
    return replace(told, content=content, category=told.category or INSTRUCTION.category)


def choose_category(words: str) -> str | None:
    """The category that the words call for; None if they call for none."""
    for extractor in _list_extractors(words):
        found: ExtractedFact | None = extractor.match_statement(words)
        if found:
            return found.category
    text, languages = straighten(words), list_languages(words)
    lists = load_word_lists("category.toml")
    return next((name for name, one in lists.items() if one.search(text, languages)), None)


def _begins_later(said_as: str) -> bool:
    """True for "from 1 April" and "next month": until then, another value can hold."""
    return any(
        load_rules(one).vocabulary.equals("FUTURE", said_as)
        or load_rules(one).vocabulary.starts("BEGINS", said_as)
        for one in Language
    )


def is_in_first_person(words: str) -> bool:
    """True if an English statement begins with the speaker."""
    first = straighten(words).partition(" ")[0]
    return load_rules(Language.ENGLISH).vocabulary.equals("SPEAKER", first)


def _list_extractors(words: str) -> Iterator[SentenceExtractor]:
    """What reads the words, for each language that they may be in; nothing for a long text."""
    if len(words) > MAX_TOLD_CHARS:
        return
    turn = Turn(
        id=TURN_ID,
        content=words,
        importance=1,
        valid_from=ANY_TIME,
        recorded_at=ANY_TIME,
        confirmed_at=ANY_TIME,
        position=0,
        role="user",
    )
    for language in list_spoken_languages(words):
        yield SentenceExtractor(load_rules(language), turn, People())
