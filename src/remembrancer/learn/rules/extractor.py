"""Extracts explicit statements of users about themselves and others by rules, without a model.

It prefers precision to recall: questions, guesses, quotations and moods yield nothing. English
statements are restated in the third person; in other languages the user's own words are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from remembrancer.learn.extracted_fact import ExtractedFact
from remembrancer.learn.rules.clauses import split_sentences
from remembrancer.learn.rules.patterns import load_rules
from remembrancer.learn.rules.people import People
from remembrancer.learn.rules.sentence_extractor import SentenceExtractor
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


def _extract_from_turn(
    turn: Turn, main: Language | None, people: People
) -> Iterator[ExtractedFact]:
    language = detect_language(turn.content) or main
    rules = load_rules(language or Language.ENGLISH)
    is_ironic = rules.vocabulary.contains("IRONY", turn.content)
    people.start_turn(turn.id)
    for sentence in split_sentences(turn.content, rules.vocabulary):
        spoken = _list_languages(sentence, language)
        for found in _extract_from_sentence(sentence, spoken, turn, people):
            if not (is_ironic and found.category == "preference"):
                yield found


def _list_languages(sentence: str, around: Language | None) -> list[Language]:
    """The languages to read a sentence in: all of them if none was detected."""
    likely = [one for one in (detect_language(sentence), around) if one]
    has_hint = likely or len(sentence.split()) < MIN_WORDS
    return list(dict.fromkeys((*likely, Language.ENGLISH, *(() if has_hint else Language))))


def _extract_from_sentence(
    sentence: str, languages: list[Language], turn: Turn, people: People
) -> list[ExtractedFact]:
    """The facts of a sentence in the first language in which there are any."""
    for language in languages:
        extractor = SentenceExtractor(load_rules(language), turn, people)
        found = list(extractor.extract(sentence))
        if found:
            return found
    return []
