"""Finds the memory that a statement changes without naming it. No I/O.

A model may store a change under another attribute than the memory it changes. A change is taken
for one only if the person's own words say that something is different now, and if exactly one
memory about the same subject fits: the thing that they parted with, the amount, the job or the
home that is another one, or a statement that repeats the memory with another day, number or name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from remembrancer.guard.persons.name_lists import is_common_given_name
from remembrancer.learn.details.known_names import find_unknown_names
from remembrancer.learn.details.numbers import fold, list_cardinals
from remembrancer.learn.wording.departure import find_left_phrases, is_about_user
from remembrancer.learn.wording.other_value import find_other_value, is_rearranged
from remembrancer.learn.wording.parted import find_parted_words
from remembrancer.learn.wording.word_list import list_languages, load_word_lists, straighten
from remembrancer.remember.attributes import (
    HOME_ATTRIBUTES,
    JOB_ATTRIBUTES,
    USER_SUBJECT,
    canonical_attribute,
    fold_name,
    list_kinds,
)
from remembrancer.remember.likeness import is_calendar_word, is_number_word
from remembrancer.search.kinship import find_relations
from remembrancer.search.language import Language
from remembrancer.search.terms import STOP_WORDS, WORD_PATTERN, extract_query_terms
from remembrancer.search.topics import find_topics
from remembrancer.types import Fact

MIN_SHARED_WORDS = 2
MIN_SHARED_SHARE = 0.3
MIN_SIMILARITY = 0.5
"""What a statement must repeat of a memory: how many words, which share, at which cosine."""

MIN_NOUN_CHARS = 4
WORD_START_CHARS = 5
"""Words are the same if they begin alike: "spiele" and "spielt"."""

FORM_CHARS = 3
"""The same for what is said not to be so any more: "toca" and "toco"."""

START_WORDS = 3
"""The first words of a statement, which say whom it is about."""

JOB_TOPICS = frozenset({"job", "career", "business"})
DAY_TOPICS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_YEAR = re.compile(r"(?:19|20)\d\d")
_START_OF_COUNT = re.compile(r"(?:\W*[\w.,]+){3}")
_IS = re.compile(r"\b(?:is|are|ist|sind|es|son|est|sont)\b")
_CLAUSE_END = re.compile(r"[.,;!?…]| - ")
_PLACE = re.compile(
    r"\b(?:in|at|to|near|into|nach|bei|en|a|à|au|aux|chez|de) "
    r"(?:the |el |la |les? )?([A-ZÀ-Þ]\w{2,})"
)


@dataclass(frozen=True)
class SaidChange:
    """A statement that may change a memory, and the person's words for it."""

    quotes: tuple[str, ...]
    content: str
    subject: str = ""
    predicate: str | None = None
    similarities: Mapping[str, float] = field(default_factory=dict)
    """The cosine of the statement and of each memory, by its id."""

    @cached_property
    def words(self) -> str:
        return straighten(" … ".join(self.quotes))

    @cached_property
    def text(self) -> str:
        return f"{self.words} … {straighten(self.content)}"

    @cached_property
    def parts(self) -> list[tuple[str, frozenset[Language]]]:
        """The words as a whole and each clause, with their languages: people mix them."""
        texts = [self.words, *split_clauses(self.words)]
        return [(one, list_languages(one)) for one in texts]

    @property
    def attribute(self) -> str:
        return canonical_attribute(self.predicate or "")

    @property
    def mentions_change(self) -> bool:
        return self.says("changed", "amount", "ended", "parted")

    def says(self, *names: str) -> bool:
        """True if the person's words have some of one of these lists."""
        lists = [load_word_lists("change.toml")[name] for name in names]
        return any(one.search(*part) for one in lists for part in self.parts)


def find_changed(said: SaidChange, facts: Sequence[Fact]) -> Fact | None:
    """The memory about the same subject that these words change, if exactly one fits."""
    current = [one for one in facts if not is_past(one.content)]
    if said.says("beside"):
        return _find_recounted(said, current)
    rules = (
        _find_left_thing,
        _find_parted,
        _find_left_job,
        _find_left_home,
        _find_settled,
        _find_replaced,
        _find_recounted,
        _find_other_value,
        _find_revised,
    )
    return next((found for rule in rules if (found := rule(said, current))), None)


def stands_beside(quotes: Sequence[str]) -> bool:
    """True if the person says that something is so besides what was known."""
    return SaidChange(tuple(quotes), "").says("beside")


def ends_relationship(quotes: Sequence[str]) -> bool:
    """True if the person says that a couple parted."""
    return SaidChange(tuple(quotes), "").says("separated")


def is_past(content: str) -> bool:
    """True for what was so before, such as where someone grew up or a former partner."""
    text = straighten(content)
    return bool(load_word_lists("change.toml")["past"].search(text, list_languages(text)))


def _pick_single(found: Sequence[Fact]) -> Fact | None:
    return found[0] if len(found) == 1 else None


def _find_left_thing(said: SaidChange, facts: Sequence[Fact]) -> Fact | None:
    """The memory of what they "moved off", or left in "from X to Y"."""
    phrases = [terms for one in find_left_phrases(said.words) if (terms := _list_terms(one))]
    return _pick_single(
        [one for one in facts if any(_is_left(words, one, said) for words in phrases)]
    )


def _is_left(phrase: list[str], fact: Fact, said: SaidChange) -> bool:
    """True if a memory says of the user, or of what the statement is about, what was left."""
    known, content = _list_terms(fact.content), fact.content
    if not set(phrase) <= set(known) or find_relations(content) - find_relations(said.text):
        return False
    others = set(known) - set(phrase)
    is_about_same = bool(others & set(_list_terms(said.text)))
    return is_about_same or is_about_user(content) or _is_own_thing(phrase, fact)


def _is_own_thing(phrase: list[str], fact: Fact) -> bool:
    """True for "Phone is a Pixel" if the person said "my phone"."""
    value = _IS.split(fact.content, maxsplit=1)[1:]
    is_own = any(is_about_user(one.quote) for one in fact.evidence)
    return is_own and _list_terms(" ".join(value))[: len(phrase)] == phrase


def _list_terms(text: str) -> list[str]:
    """The beginnings of the words that tell something, however short."""
    return [one[:WORD_START_CHARS] for one in extract_query_terms(text)]


def _find_other_value(said: SaidChange, facts: Sequence[Fact]) -> Fact | None:
    """The memory that the statement repeats with one other value, or in another order."""
    if not said.says("changed", "corrects"):
        return None
    found = [one for one in facts if _has_other_value(said.content, one.content)]
    return _pick_single(found)


def _has_other_value(new: str, old: str) -> bool:
    other = find_other_value(new, old)
    return is_rearranged(new, old) if other is None else other.can_replace


def _find_parted(said: SaidChange, facts: Sequence[Fact]) -> Fact | None:
    """The memory of the thing in "I sold the Epsilon", or of what they "no longer play"."""
    things = {fold(one) for part in said.parts for one in find_parted_words(*part)}
    things -= set(fold(said.subject).split())
    named = [one for one in facts if things & _list_words(one.content) and not _is_person(one)]
    return _pick_single(named) if things else _find_negated(said, facts)


def _is_person(fact: Fact) -> bool:
    return bool(find_relations(fact.content))


def _find_negated(said: SaidChange, facts: Sequence[Fact]) -> Fact | None:
    """The memory that "I no longer play the piano" takes back."""
    if not said.says("ended"):
        return None
    return _pick_single([one for one in facts if _takes_back(said, one) and not _is_person(one)])


def _takes_back(said: SaidChange, fact: Fact) -> bool:
    """True if a clause that says "no longer" repeats words of the memory, and no others."""
    known = _list_word_starts(fact.content, said.subject)
    for clause, languages in said.parts[1:]:
        told = _list_denied(clause, languages, said)
        others = {one for one in told if not _has_form_in(one, known)}
        shared = told - others
        days = find_topics(clause) - find_topics(fact.content)
        if not shared or days & DAY_TOPICS:
            continue
        names_thing = load_word_lists("change.toml")["no_thing"].search(clause, languages)
        is_repeated = len(shared) >= min(MIN_SHARED_WORDS, len(known))
        if not others and (is_repeated or names_thing):
            return True
    return False


def _has_form_in(word: str, words: set[str]) -> bool:
    return any(one[:FORM_CHARS] == word[:FORM_CHARS] for one in words)


def _list_denied(clause: str, languages: frozenset[Language], said: SaidChange) -> set[str]:
    """The telling words of a clause that says that something is over."""
    lists = load_word_lists("change.toml")
    if not lists["ended"].search(clause, languages):
        return set()
    denial = {
        word for one in lists["denial"].find_all(clause, languages) for word in one[0].split()
    }
    return _list_word_starts(
        " ".join(one for one in clause.split() if one not in denial), said.subject
    )


def split_clauses(text: str) -> list[str]:
    return [one for one in _CLAUSE_END.split(text) if one.strip()]


def _find_left_job(said: SaidChange, facts: Sequence[Fact]) -> Fact | None:
    """The job that someone left, or for which they begin another one."""
    jobs = [one for one in facts if _attribute_of(one) in JOB_ATTRIBUTES]
    if _is_about_another(said, jobs):
        return None
    if said.says("left_job"):
        named = [one for one in jobs if _list_shared_names(said, one)]
        return _pick_single(named or [one for one in jobs if _attribute_of(one) != "work"] or jobs)
    if said.says("open"):
        return None
    about_job = said.attribute in JOB_ATTRIBUTES or JOB_TOPICS & find_topics(said.predicate or "")
    if said.says("takes_job"):
        left = [one for one in jobs if _attribute_of(one) != "employer" or _is_elsewhere(said, one)]
    elif about_job and said.says("new_job"):
        left = [one for one in jobs if _names_another(said, one)]
    else:
        return None
    # Whoever works elsewhere has left the employer, and may still have the same occupation.
    by_key = {_attribute_of(one): one for one in left}
    return by_key.get("employer") or by_key.get(said.attribute) or _pick_single(left)


def _is_about_another(said: SaidChange, facts: Sequence[Fact]) -> bool:
    """True for "My parents moved" or "Kim started at Acme", filed under the user."""
    if said.subject != USER_SUBJECT:
        return False
    known = {word for one in facts for word in _first_words(one.content)}
    starts = [_first_words(one) for one in (said.content, *said.quotes)]
    return any(
        find_relations(" ".join(one)) or any(is_common_given_name(fold(word)) for word in one[:1])
        for one in starts
        if not known.intersection(one)
    )


def _first_words(text: str) -> list[str]:
    return text.replace("'s", " ").split()[:START_WORDS]


def _is_elsewhere(said: SaidChange, fact: Fact) -> bool:
    """True if the statement names a place that the memory does not."""
    places = {fold(one) for one in _PLACE.findall(said.text) if not is_calendar_word(one)}
    return bool(places - _list_words(fact.content) - set(fold(said.subject).split()))


def _find_settled(said: SaidChange, facts: Sequence[Fact]) -> Fact | None:
    """The offer that was accepted, or the debt that was paid."""
    lists = load_word_lists("change.toml")
    for earlier, later in (("offered", ("new_job", "takes_job")), ("owes", ("paid",))):
        if said.says(*later) and not said.says(earlier):
            found = [
                one
                for one in facts
                if lists[earlier].search(one.content, list_languages(one.content))
                and (said.subject != USER_SUBJECT or _share_words(said, one))
            ]
            return _pick_single(found)
    return None


def _share_words(said: SaidChange, fact: Fact) -> bool:
    return bool(
        _list_word_starts(said.text, said.subject) & _list_word_starts(fact.content, said.subject)
    )


def _find_replaced(said: SaidChange, facts: Sequence[Fact]) -> Fact | None:
    """The memory of what another thing of its kind took the place of."""
    kinds = list_kinds(said.predicate or "")
    alike = [one for one in facts if kinds & list_kinds(one.predicate or "")]
    if said.says("replaced"):
        return _pick_single(alike)
    words = _list_left_things(said)
    return _pick_single(
        [one for one in alike if words & _list_word_starts(one.content, said.subject)]
    )


def _list_left_things(said: SaidChange) -> set[str]:
    """The words right after "instead of"."""
    instead = load_word_lists("change.toml")["instead"]
    ends = [
        (part, found.end()) for part, known in said.parts for found in instead.find_all(part, known)
    ]
    return {
        word
        for part, end in ends
        for word in _list_word_starts(" ".join(_first_words(part[end:])), "")
    }


def _find_left_home(said: SaidChange, facts: Sequence[Fact]) -> Fact | None:
    """The home that someone left for another one."""
    homes = [one for one in facts if _attribute_of(one) in HOME_ATTRIBUTES]
    if said.says("open") or _is_about_another(said, homes):
        return None
    if said.attribute in HOME_ATTRIBUTES:
        moved = said.says("new_home", "lives_at")
    else:
        moved = said.says("new_home") and said.says("lives")
    return _pick_single([one for one in homes if _is_elsewhere(said, one)]) if moved else None


def _find_recounted(said: SaidChange, facts: Sequence[Fact]) -> Fact | None:
    """The one memory that counts what "then I have ten" counts anew."""
    if not said.says("total", "amount"):
        return None
    counted = _list_counted_after(said) or _list_counted(said.text)
    found = [one for one in facts if not counted.isdisjoint(_list_counted(one.content))]
    return _pick_single(found)


def _list_counted_after(said: SaidChange) -> set[str]:
    """What is counted right after "up to": the metres in "up to three metres"."""
    lists = load_word_lists("change.toml")
    starts = [
        _START_OF_COUNT.match(part, found.end())
        for part, languages in said.parts
        for name in ("total", "amount")
        for found in lists[name].find_all(part, languages)
    ]
    return {noun for one in starts if one for noun in _list_counted(one[0])}


def _list_counted(text: str) -> set[str]:
    """The first two words after a number."""
    words = WORD_PATTERN.findall(re.sub(r"(?<=\d)[.,](?=\d)", "", fold(text)))
    numbers = list_cardinals()
    return {
        noun
        for at, number in enumerate(words)
        if number.isdigit() or (number,) in numbers
        for noun in words[at + 1 : at + 3]
        if len(noun) >= MIN_NOUN_CHARS
        and not (noun.isdigit() or (noun,) in numbers or is_calendar_word(noun))
        and noun not in STOP_WORDS
    }


def _find_revised(said: SaidChange, facts: Sequence[Fact]) -> Fact | None:
    """The memory that the statement repeats with another day, number or name."""
    if not said.mentions_change:
        return None
    common = Counter(word for one in facts for word in _list_word_starts(one.content, said.subject))
    words = _list_word_starts(said.text, said.subject)
    scored = [(_measure_repetition(words, one, said, common), one) for one in facts]
    best = max((share for share, _ in scored), default=0.0)
    return _pick_single([one for share, one in scored if share == best]) if best else None


def _measure_repetition(
    words: set[str], fact: Fact, said: SaidChange, common: Counter[str]
) -> float:
    """The share of a memory's own words that the statement repeats; 0 if it changes nothing."""
    own = {word for word in _list_word_starts(fact.content, said.subject) if common[word] == 1}
    shared = own & words
    share = len(shared) / max(1, len(own))
    if len(shared) < MIN_SHARED_WORDS or share < MIN_SHARED_SHARE:
        return 0.0
    near = said.similarities.get(fact.id, MIN_SIMILARITY) >= MIN_SIMILARITY
    return share if near and _differs(said.content, fact.content) else 0.0


def _differs(new: str, old: str) -> bool:
    """True if both have a day, a number or a name that the other does not have."""
    return any(
        read(new) - read(old) and read(old) - read(new)
        for read in (_list_days, _list_numbers, _list_names)
    )


def _list_days(text: str) -> set[str]:
    return set(find_topics(text) & DAY_TOPICS)


def _list_numbers(text: str) -> set[str]:
    words = {one for one in WORD_PATTERN.findall(text.casefold()) if is_number_word(one)}
    return words | {one for one in _NUMBER.findall(text) if not _YEAR.fullmatch(one)}


def _list_names(text: str) -> set[str]:
    words = (one for one in WORD_PATTERN.findall(text)[1:] if one[0].isupper())
    return {fold(one) for one in words if len(one) >= MIN_NOUN_CHARS and not is_calendar_word(one)}


def _names_another(said: SaidChange, job: Fact) -> bool:
    """True if the statement and the memory of a job name each something else."""
    new = any(find_unknown_names(said.content, [job.content], said.quotes))
    old = any(find_unknown_names(job.content, [said.content], [job.content]))
    named = {fold(one) for one in _PLACE.findall(job.content)}
    if Language.GERMAN not in list_languages(job.content):
        named |= _list_names(job.content)
    return (new or _is_elsewhere(said, job)) and (old or bool(named - _list_words(said.text)))


def _list_shared_names(said: SaidChange, fact: Fact) -> set[str]:
    return _list_names(f". {said.words}") & _list_names(fact.content)


def _attribute_of(fact: Fact) -> str:
    return canonical_attribute(fact.predicate or "")


def _list_words(text: str) -> set[str]:
    return set(WORD_PATTERN.findall(fold(text)))


def _list_word_starts(text: str, subject: str) -> set[str]:
    """The beginnings of the longer words but for the subject's name."""
    words = [one for one in WORD_PATTERN.findall(text) if len(one) >= MIN_NOUN_CHARS]
    names = fold_name(subject).split("_")
    return {one[:WORD_START_CHARS] for one in extract_query_terms(" ".join(words))} - {
        one[:WORD_START_CHARS] for one in names
    }
