"""Extracts explicit statements of users about themselves and others by rules, without a model.

It prefers precision to recall: questions, guesses, quotations and moods yield nothing. English
statements are restated in the third person; in other languages the user's own words are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from remembrancer.learn.extracted_fact import ExtractedFact
from remembrancer.learn.rules.clauses import split_sentences, strip_question
from remembrancer.learn.rules.patterns import load_rules
from remembrancer.learn.rules.people import People
from remembrancer.learn.rules.sentence_extractor import SentenceExtractor, build_wish
from remembrancer.learn.rules.vocabulary import Vocabulary
from remembrancer.learn.rules.wish import Part, split_wishes
from remembrancer.search.language import Language, detect_language
from remembrancer.types import Turn

MIN_WORDS = 3
"""Words from which a sentence of an unknown language is tried in all of them."""


def extract_facts(turns: Sequence[Turn], earlier: Sequence[Turn] = ()) -> list[ExtractedFact]:
    """The user's explicit statements and requests, in order; most turns have none.

    `earlier` are the turns before, which tell who is who.
    """
    own = [turn for turn in turns if turn.is_by_user]
    main = detect_language("\n".join(turn.content for turn in own))
    people = People()
    for turn in earlier:
        list(_extract_from_turn(turn, main, people))
    found = (fact for turn in own for fact in _extract_from_turn(turn, main, people))
    return list(_drop_repetitions(found))


def _drop_repetitions(candidates: Iterable[ExtractedFact]) -> Iterator[ExtractedFact]:
    """Drop a fact that equals the last one with the same key."""
    last: dict[tuple[str | None, str], str] = {}
    for found in candidates:
        key = found.subject, found.predicate or found.content
        if last.get(key) != found.content:
            yield found
        last[key] = found.content


def list_spoken_languages(words: str) -> tuple[Language, ...]:
    """The languages in which a statement can be read, the most likely one first."""
    return _list_languages(words, None).tried


def _extract_from_turn(
    turn: Turn, main: Language | None, people: People
) -> Iterator[ExtractedFact]:
    language = detect_language(turn.content) or main
    rules = load_rules(language or Language.ENGLISH)
    people.start_turn(turn.id)
    facts: list[ExtractedFact] = []
    wishes: list[Part] = []
    for sentence in split_sentences(turn.content, rules.vocabulary):
        doubted = _list_doubted(turn.content, sentence)
        parts = _split_sentence(sentence, rules.vocabulary)
        for part in parts:
            spoken = _list_languages(part.words, language)
            found = _extract_from_sentence(part.words, spoken, turn, people)
            facts += [one for one in found if one.category not in doubted]
            if part.is_wish and not found and (len(parts) > 1 or "?" not in turn.content):
                wishes.append(part)
    yield from facts
    requested = any(one.requested for one in facts)
    for wish in wishes:
        if wish.is_standing or facts:  # Any other one is about the answer to this turn.
            yield build_wish(turn, wish.words, requested=requested)


def _split_sentence(sentence: str, vocabulary: Vocabulary) -> tuple[Part, ...]:
    """The statements and the wishes of a sentence, without a question after a wish."""
    parts = split_wishes(strip_question(sentence, vocabulary))
    return parts if any(one.is_wish for one in parts) else (Part(sentence, False),)


def _list_doubted(text: str, sentence: str) -> tuple[str, ...]:
    """The categories that are not believed: tastes in an ironic turn, all else in its sentence."""
    if _is_ironic(sentence):
        return ("preference", "fact")
    return ("preference",) if _is_ironic(text) else ()


def _is_ironic(text: str) -> bool:
    return any(load_rules(one).vocabulary.contains("IRONY", text) for one in Language)


@dataclass(frozen=True, slots=True)
class SpokenLanguages:
    """The languages to read a sentence in, and those in which a mere frame is enough."""

    tried: tuple[Language, ...]
    sure: frozenset[Language]


def _list_languages(sentence: str, around: Language | None) -> SpokenLanguages:
    """All languages if none was detected; a sentence that begins with the speaker tells its own."""
    likely = [one for one in (detect_language(sentence), around) if one]
    speakers = _find_speakers(sentence)
    is_open = not likely and len(sentence.split()) >= MIN_WORDS
    others = Language if is_open else speakers
    tried = tuple(dict.fromkeys((*likely, Language.ENGLISH, *others)))
    return SpokenLanguages(tried, frozenset(tried if is_open else (*likely[:1], *speakers)))


def _find_speakers(sentence: str) -> list[Language]:
    """The languages in which a sentence begins with the speaker."""
    start = sentence.partition(" ")[0]
    return [one for one in Language if load_rules(one).vocabulary.equals("SPEAKER", start)]


def _extract_from_sentence(
    sentence: str, spoken: SpokenLanguages, turn: Turn, people: People
) -> list[ExtractedFact]:
    """The facts of a sentence in the first language in which there are any."""
    for language in spoken.tried:
        is_sure = language in spoken.sure
        extractor = SentenceExtractor(load_rules(language), turn, people, reads_plain=is_sure)
        found = list(extractor.extract(sentence))
        if found:
            return found
    return []
