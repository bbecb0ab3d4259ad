"""Decides which facts a prompt needs: scores each one and cuts where they stop helping. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

from remembrancer.guard.persons.name_lists import is_ordinary
from remembrancer.search.concepts import find_concepts
from remembrancer.search.kinship import find_relations, widen_relations
from remembrancer.search.prompt import PromptReading
from remembrancer.search.topics import find_topics
from remembrancer.search.words import split_words
from remembrancer.types import Fact

GENERIC_NAME_WORDS = frozenset(
    "family familie familia famille the mum mom dad mr mrs ms dr".split()
)
PET_RELATIONS = frozenset({"cat", "dog"})
MIN_NAME_CHARS = 3

UNRELATED_SIMILARITY, MAX_UNRELATED_SIMILARITY = 0.12, 0.45
"""The cosine that two unrelated texts reach; in other languages than English it is higher."""

MIN_SAMPLE = 8
"""The fewest facts of which the median says what unrelated ones reach."""

MEANING_WEIGHT, WORDS_WEIGHT, TOPIC_WEIGHT, PERSON_WEIGHT = 1.3, 0.5, 0.5, 0.25
CONCEPTS_WEIGHT, DAY_WEIGHT = 0.6, 0.35
PAST_WEIGHT = 0.2
"""What a fact gains that was true in the past, when the prompt asks about the past."""

CONTENT_SHARE = 0.5
"""What a topic counts that only the content is on, beside one that the predicate is on."""

COMMON_WEIGHT = 0.3
"""The weight of a topic or concept that all facts have."""

ASKED_TOPIC_SHARE, NEEDED_TOPIC_SHARE = 0.35, 1.0
"""What topics that help or are needed count, beside those that the prompt itself is on."""

LESSER_TOPIC_SHARE = 0.4
"""What each topic after the best one counts."""

OTHER_PERSON_SHARE, RELATIVE_SHARE, NEEDED_PERSON_SHARE = 0.45, 0.9, 0.6
"""What a fact counts that is about a person whom the prompt does not name; more if it may mean
that person by a kinship word."""

EXTRA_FLOOR = 0.15
"""The least score of a fact about the user that may fill a line."""

FLOOR, IMPERSONAL_FLOOR = 0.3, 0.6
BEST_SHARE, BROAD_BEST_SHARE, OTHER_BEST_SHARE = 0.33, 0.25, 0.5
"""The share of the best score about the same person that a fact needs; about a person whom the
prompt does not name, of the best score of all."""

UNASKED_BEST_SHARE = 0.45
"""The share of the best score of all that a fact needs about a person who is not asked about."""

MAX_SELF_FACTS = 24
"""How many facts answer a question such as "What do you know about me?"."""

MAX_FACTS, MAX_BROAD_FACTS = 7, 10


@dataclass(frozen=True, slots=True)
class FactCandidate:
    """A fact, its similarity to the prompt, and the share of the prompt's words in it."""

    fact: Fact
    similarity: float
    words: float

    person: str | None = None
    """The person the fact is about, unless that is the user."""

    is_past: bool = False
    is_on_day: bool = False
    """True if the fact names a day that the prompt asks about."""

    glossed: float | None = None
    """The similarity to the prompt word by word in English, if that was computed."""

    @property
    def predicate(self) -> str:
        """The predicate in words, of which a program's key has none."""
        return "" if self.fact.has_program_key else self.fact.predicate or ""

    @property
    def concepts(self) -> frozenset[str]:
        return find_concepts(f"{self.predicate} {self.fact.content}")

    @property
    def topics(self) -> Mapping[str, float]:
        return _weigh_own_topics(self.predicate, self.fact.content)


@lru_cache(maxsize=4096)
def _weigh_own_topics(predicate: str, content: str) -> Mapping[str, float]:
    """The topics of a fact; those of its predicate count in full."""
    found = dict.fromkeys(
        find_topics(content),
        CONTENT_SHARE if predicate else 1.0,
    )
    return found | dict.fromkeys(find_topics(predicate), 1.0)


@dataclass(frozen=True, slots=True)
class ScoredFact:
    """A fact with its relevance to the prompt."""

    fact: Fact
    person: str | None
    score: float


@dataclass(frozen=True, slots=True)
class FactChoice:
    """The facts that a prompt needs, and whether it is about the user or people they know.

    `extras` are about the same people or topics: they may fill a line, and never open one.
    """

    facts: tuple[ScoredFact, ...]
    is_personal: bool
    extras: tuple[ScoredFact, ...] = ()


@dataclass(frozen=True, slots=True)
class _Scale:
    """What a question is compared with: the persons it names, and how telling each topic is."""

    question: PromptReading
    named: frozenset[str]
    mentioned: frozenset[str]
    weights: Mapping[str, float]
    concepts: Mapping[str, float]
    usual_similarity: float
    usual_glossed: float

    @property
    def is_personal(self) -> bool:
        question = self.question
        relatives = question.relations - PET_RELATIONS
        known = self.named or self.mentioned or relatives
        return bool(question.is_first_person or known or question.is_request)

    def is_asked_about(self, person: str | None) -> bool:
        """True for a person whom the prompt names; for the user, unless it only names others."""
        if person is not None:
            return person in self.named
        question = self.question
        names_others = self.named or self.mentioned
        return question.is_first_person or question.is_request or not names_others


def choose_facts(
    question: PromptReading,
    candidates: Sequence[FactCandidate],
    relatives: Sequence[FactCandidate] = (),
) -> FactChoice:
    """The facts that the prompt needs, best first; none for small talk.

    `relatives` are more facts, perhaps no longer true, that tell who is whose sister.
    """
    scale = _build_scale(question, candidates, (*candidates, *relatives))
    is_open = not question.is_general
    if question.needs_nothing or not (scale.is_personal or is_open):
        return FactChoice((), scale.is_personal)
    if question.asks_about_self:
        return FactChoice(tuple(_list_foremost(candidates)), is_personal=True)
    scored = [ScoredFact(one.fact, one.person, _score(one, scale)) for one in candidates]
    ranked = sorted(scored, key=lambda one: (-one.score, one.fact.id))
    chosen = _cut(ranked, scale)
    extras = [one for one in ranked if one not in chosen and _is_extra(one, scale)]
    return FactChoice(tuple(chosen), scale.is_personal, tuple(extras))


def _list_foremost(candidates: Sequence[FactCandidate]) -> list[ScoredFact]:
    """The most important facts that are true, whatever they are about."""
    present = [one for one in candidates if not one.is_past]
    ranked = sorted(present, key=lambda one: (-one.fact.importance, one.fact.id))
    return [ScoredFact(one.fact, one.person, 1.0) for one in ranked[:MAX_SELF_FACTS]]


def _is_extra(fact: ScoredFact, scale: _Scale) -> bool:
    if fact.person is None:
        return fact.score >= EXTRA_FLOOR
    return fact.person in scale.named


def _cut(scored: Sequence[ScoredFact], scale: _Scale) -> list[ScoredFact]:
    """The facts above the floor that are near the best one about the same person."""
    floor = FLOOR if scale.is_personal else IMPERSONAL_FLOOR
    is_broad = scale.question.is_broad
    share, limit = (BROAD_BEST_SHARE, MAX_BROAD_FACTS) if is_broad else (BEST_SHARE, MAX_FACTS)
    best: dict[str | None, float] = {}
    for one in scored:
        if one.person is None or one.person in scale.named:
            best.setdefault(one.person, one.score)
    top = max(best.values(), default=0.0)

    def is_near(one: ScoredFact) -> bool:
        least = share * best[one.person] if one.person in best else OTHER_BEST_SHARE * top
        if not scale.is_asked_about(one.person):
            least = max(least, UNASKED_BEST_SHARE * top)
        return one.score >= max(floor, least)

    return [one for one in scored if is_near(one)][:limit]


def _score(candidate: FactCandidate, scale: _Scale) -> float:
    meaning = max(0.0, candidate.similarity - scale.usual_similarity)
    if candidate.glossed is not None:
        meaning = max(meaning, candidate.glossed - scale.usual_glossed)
    is_named = candidate.person in scale.named or _has_word(candidate.fact, scale.mentioned)
    score = (
        MEANING_WEIGHT * meaning
        + WORDS_WEIGHT * candidate.words
        + CONCEPTS_WEIGHT * _score_concepts(candidate.concepts, scale)
        + TOPIC_WEIGHT * _score_topics(candidate.topics, scale)
        + PERSON_WEIGHT * is_named
        + PAST_WEIGHT * candidate.is_past
        + DAY_WEIGHT * candidate.is_on_day
    )
    if is_named or _mentions(candidate.fact, scale.named):
        return score
    return score * _share_of_others(candidate, scale)


def _share_of_others(candidate: FactCandidate, scale: _Scale) -> float:
    """Facts about others help less, and those about the user if only others are asked for."""
    if candidate.person is not None:
        others = RELATIVE_SHARE if scale.question.relations else OTHER_PERSON_SHARE
        question = scale.question
        is_for_all = question.is_request or question.is_broad
        if is_for_all and candidate.topics.keys() & question.needed_topics:
            others = max(others, NEEDED_PERSON_SHARE)
        return others if scale.is_personal else 1.0
    return 1.0 if scale.is_asked_about(None) else OTHER_PERSON_SHARE


def _score_concepts(concepts: Set[str], scale: _Scale) -> float:
    """The share of the question's concepts, weighted by rarity, that a fact has."""
    total = sum(scale.concepts.values())
    shared = sum(weight for name, weight in scale.concepts.items() if name in concepts)
    return shared / total if total else 0.0


def _score_topics(topics: Mapping[str, float], scale: _Scale) -> float:
    """The most telling topic in common, and a share of each further one."""
    question = scale.question
    shares = (
        (question.topics, 1.0),
        (question.needed_topics, NEEDED_TOPIC_SHARE),
        (question.asked_topics, ASKED_TOPIC_SHARE),
    )
    best: dict[str, float] = {}
    for wanted, share in shares:
        for topic in topics.keys() & wanted:
            score = share * topics[topic] * scale.weights[topic]
            best[topic] = max(best.get(topic, 0.0), score)
    first, *rest = sorted((*best.values(), 0.0), reverse=True)
    return first + LESSER_TOPIC_SHARE * sum(rest)


def _build_scale(
    question: PromptReading, candidates: Sequence[FactCandidate], relatives: Sequence[FactCandidate]
) -> _Scale:
    persons = {one.person for one in candidates if one.person is not None}
    pets = frozenset[str]() if question.is_first_person else PET_RELATIONS
    relations = widen_relations(question.relations - pets)
    named = {one for one in persons if _is_named(question, one)}
    if relations:
        named |= _find_relatives(relations, relatives, persons)
    counts = Counter(topic for one in candidates for topic in one.topics)
    weights = _weigh_by_rarity(counts, len(candidates))
    mentioned = frozenset(
        name for name in question.names if any(_has_word(one.fact, {name}) for one in candidates)
    )
    own = frozenset(word for person in named for word in split_words(person))
    usual = _usual_similarity([one.similarity for one in candidates])
    usual_glossed = _usual_similarity(
        [one.glossed for one in candidates if one.glossed is not None]
    )
    held = Counter(name for one in candidates for name in one.concepts & question.concepts)
    asked = Counter(dict.fromkeys(question.concepts, 1))
    rarity = _weigh_by_rarity(asked + held, len(candidates) + 1)
    return _Scale(
        question, frozenset(named), mentioned - own, weights, rarity, usual, usual_glossed
    )


def _usual_similarity(similarities: Sequence[float]) -> float:
    """What unrelated facts reach: the median, if there are enough facts."""
    ordered = sorted(similarities)
    median = ordered[len(ordered) // 2] if len(ordered) >= MIN_SAMPLE else 0.0
    return min(max(UNRELATED_SIMILARITY, median), MAX_UNRELATED_SIMILARITY)


def _has_word(fact: Fact, words: Set[str]) -> bool:
    return bool(words) and not words.isdisjoint(split_words(fact.content))


def _mentions(fact: Fact, persons: frozenset[str]) -> bool:
    words = split_words(fact.content) if persons else ()
    return any(_contain_name(words, person) for person in persons)


def _weigh_by_rarity(counts: Mapping[str, int], total: int) -> Mapping[str, float]:
    """From 1 for what one fact has down to the weight of what all have."""
    scale, rest = math.log1p(total), 1 - COMMON_WEIGHT
    rarity = {topic: math.log((1 + total) / count) / scale for topic, count in counts.items()}
    return {topic: COMMON_WEIGHT + rest * rare for topic, rare in rarity.items()}


def _contain_name(words: Sequence[str], person: str) -> bool:
    """True if the words hold a name of the person that is long enough to be told apart."""
    names = set(split_words(person)) - GENERIC_NAME_WORDS
    return any(len(name) >= MIN_NAME_CHARS and name in words for name in names)


def _is_named(question: PromptReading, person: str) -> bool:
    """True if a prompt has a name of the person, or the beginning of one, as Ben for Benjamin.

    A name that is an ordinary word, such as Mark or Rose, counts only with a capital letter.
    """
    long = {name for name in split_words(person) if len(name) >= MIN_NAME_CHARS}
    names = long - GENERIC_NAME_WORDS
    told = {name for name in names if name in question.words and not is_ordinary(name)}
    starts = [one for one in question.names if len(one) >= MIN_NAME_CHARS]
    return bool(told) or any(name.startswith(one) for one in starts for name in names)


def _find_relatives(
    relations: frozenset[str], candidates: Sequence[FactCandidate], persons: set[str]
) -> set[str]:
    """The persons whom a fact with one of these kinship words is about, or names."""
    found: set[str] = set()
    for one in candidates:
        if not relations.isdisjoint(find_relations(one.fact.content)):
            words = split_words(one.fact.content)
            found |= {
                person for person in persons if person == one.person or _contain_name(words, person)
            }
    return found
