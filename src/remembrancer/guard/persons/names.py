"""Scores how likely a text names a person, from word lists, the look of a word and its context.

The result is a score, never the name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from remembrancer.guard.obfuscation import LEET_LETTERS
from remembrancer.guard.persons import name_lists as lists
from remembrancer.guard.persons.context_words import is_addressed, score_context
from remembrancer.guard.persons.normalise import fold_to_ascii

# A word counts as a name from this score on. `bench.persons` prints the cost of other values.
NAME_THRESHOLD = 2.5

_PIECE = re.compile(r"[^\W\d_]+")
_CAMEL = re.compile(r"[A-Z][a-z]+|[a-z]+|[A-Z]+(?![a-z])")
_PREFIXED = re.compile(r"(?:Mc|Mac|De|Di|Da|Du|La|Le|Van|Fitz|O)[A-Z][a-z]{2,}")
_ENDS_SENTENCE = re.compile(r"[.!?:;\n\"()|•*>#]")
# Terms that are not persons, although each of their words can be a name.
_NOT_PERSONS = re.compile(
    r"(?i)\b(?:monte carlo|las vegas|los angeles|san(?:ta)? [a-z]+|s[aã]o [a-z]+|st\. [a-z]+|"
    r"hewlett[- ]packard|rolls[- ]royce|harley[- ]davidson|johnson (?:&|and) johnson|goldman sachs|"
    r"morgan stanley|jp ?morgan|ernst (?:&|and) young|merriam[- ]webster|carnegie[- ]mellon|"
    r"johns hopkins|marks (?:&|and) spencer|black (?:&|and) decker|procter (?:&|and) gamble|"
    r"jacob'?s ladder|allen keys?|alice and bob|jack[- ]of[- ]all[- ]trades|john doe|jane doe|"
    r"king james|ms\.? pac-man|adam optimi[sz]er|phillips screws?|stanley kni(?:fe|ves))\b"
)


class Case(Enum):
    """The capitalisation of a word."""

    LOWER = "maria"
    CAPITAL = "Maria"
    UPPER = "MARIA"
    CAMEL = "mariaGarcia"


@dataclass(frozen=True, slots=True)
class Word:
    """A word without accents; `gap` is the text between it and the word before."""

    text: str
    low: str
    gap: str
    case: Case
    accented: bool


_WITH_DIGITS = re.compile(r"\b[A-Za-z]+[013457@$][A-Za-z0-9@$]{0,20}[A-Za-z]\b")


def score_person_name(text: str) -> float:
    """The highest score of any word; 0 if no word can be a name."""
    if any(_spells_a_name(match[0]) for match in _WITH_DIGITS.finditer(text)):
        return NAME_THRESHOLD
    words = list(_split_words(_NOT_PERSONS.sub(" ", text)))
    shouting = _is_shouting(words)
    german = any(word.low in _GERMAN_WORDS for word in words)
    tail = _tail(text)
    return max(
        (_score_word(words, at, shouting, tail, german) for at in range(len(words))), default=0.0
    )


def _spells_a_name(mixed: str) -> bool:
    """True if digits replace letters in a name: M4ria."""
    word = mixed.translate(LEET_LETTERS).lower()
    return len(word) > 3 and lists.is_common_given_name(word)


def _tail(text: str) -> str:
    """The text after the last word."""
    return re.split(r"[^\W\d_]", text[-20:])[-1]


def _split_words(text: str) -> Iterator[Word]:
    end = 0
    for match in _PIECE.finditer(text):
        plain = fold_to_ascii(match[0]).replace(" ", "")
        if plain:
            accented = not match[0].isascii()
            yield Word(
                plain, plain.lower(), text[end : match.start()], _classify_case(plain), accented
            )
        end = match.end()


def _classify_case(text: str) -> Case:
    if text.islower():
        return Case.LOWER
    if len(text) > 1 and text.isupper():
        return Case.UPPER
    if text[1:].islower() or len(text) == 1 or _PREFIXED.fullmatch(text):
        return Case.CAPITAL
    return Case.CAMEL


def _is_shouting(words: list[Word]) -> bool:
    """True if so many words are in capitals that capitals do not mark an abbreviation."""
    upper = sum(word.case is Case.UPPER for word in words)
    return upper >= 2 and 2 * upper >= len(words)


# German begins every noun with a capital, so there the look of an unlisted word says little.
_GERMAN_WORDS = frozenset("ist sind und nicht wird wurde werden auf fur kommt hat".split())
_UNLISTED_NOUN = 1.0


def _score_word(words: list[Word], at: int, shouting: bool, tail: str, german: bool) -> float:
    word = words[at]
    if len(word.low) < 2:
        return 0.0
    if word.case is Case.CAMEL:
        return _score_camel_case(word.text)
    own = _own_weight(word, _starts_sentence(words, at), shouting)
    if german and not (lists.is_given_name(word.low) or lists.is_surname(word.low)):
        own = min(own, _UNLISTED_NOUN)
    if _is_addressed(words, at):
        return max(own, NAME_THRESHOLD)
    if not own:
        return 0.0
    return own + _score_neighbours(words, at, own, shouting) + _score_surroundings(words, at, tail)


def _is_addressed(words: list[Word], at: int) -> bool:
    word = words[at]
    if not at or lists.is_technical(word.low):
        return False
    if word.case is not Case.CAPITAL and not (
        word.case is Case.LOWER and lists.is_given_name(word.low)
    ):
        return False
    # In a heading every word has a capital: "Frequently Asked Questions".
    if (
        words[at - 1].case is not Case.LOWER
        and not _starts_sentence(words, at - 1)
        and "." not in word.gap
    ):
        return False
    return word.gap in _AFTER_A_TITLE and is_addressed(word.low, words[at - 1].low)


def _starts_sentence(words: list[Word], at: int) -> bool:
    """True if a word is capitalised because it starts a sentence."""
    if at == 0:
        return True
    initial = len(words[at - 1].text) == 1 and words[at].gap.startswith(".")
    return not initial and _ENDS_SENTENCE.search(words[at].gap) is not None


def _score_camel_case(text: str) -> float:
    """Score a given name and another name in one word, as in handles."""
    parts = [part.lower() for part in _CAMEL.findall(text)][:6]
    names = [lists.is_common_given_name(part) for part in parts]
    others = [
        lists.is_surname(part) or lists.name_log_odds(part) > 3 for part in parts if len(part) > 2
    ]
    return NAME_THRESHOLD if any(names) and sum(others) + sum(names) > 1 else 0.0


def _own_weight(word: Word, starts: bool, shouting: bool) -> float:
    """The score of a word without its context."""
    if word.case is Case.LOWER:
        return _lower_weight(word.low)
    if len(word.low) < 3:
        return 1.0 if word.low in _TWO_LETTER_NAMES and word.case is Case.CAPITAL else 0.0
    if word.case is Case.UPPER and not shouting:
        return 4.0 if len(word.low) > 3 and lists.is_common_given_name(word.low) else 0.0
    if lists.is_technical(word.low) and not (word.accented and lists.is_given_name(word.low)):
        return _technical_weight(word.low)
    if lists.is_ordinary(word.low):
        return _ambiguous_weight(word.low, starts or shouting)
    return _name_weight(word.low, word.accented) - (0.5 if starts or shouting else 0.0)


def _technical_weight(low: str) -> float:
    """Low: only a personal verb or a form of address makes a product or a place a person."""
    if lists.is_given_name(low):
        return 0.9
    return 0.5 if lists.is_surname(low) else 0.4


_TWO_LETTER_NAMES = frozenset("bo cy ed ha ho hu jo li lu qi su ty vu wu xu ye yu".split())
_THREE_LETTER_NAMES = frozenset(
    "amy ana ann ben dan eva ian jim joe kim liz mia ron sam ted tim tom zoe".split()
)


def _lower_weight(low: str) -> float:
    if lists.is_technical(low) or lists.is_ordinary(low):
        return 0.4 if lists.is_given_name(low) else 0.0
    if lists.is_common_given_name(low):
        return 4.0 if len(low) > 3 or low in _THREE_LETTER_NAMES else 0.8
    if lists.is_given_name(low):
        return 2.0 if len(low) > 5 else 1.5
    return 1.0 if lists.is_surname(low) or lists.name_log_odds(low) > 3 else 0.0


def _ambiguous_weight(low: str, starts: bool) -> float:
    if lists.is_given_name(low):
        return 1.0 if starts else 2.0
    return (0.5 if starts else 1.0) if lists.is_surname(low) else 0.0


def _name_weight(low: str, accented: bool) -> float:
    if lists.is_common_given_name(low):
        return 5.0
    if lists.is_given_name(low):
        return 4.5
    looks = lists.name_log_odds(low) + (1.5 if accented else 0.0)
    if lists.is_surname(low) or looks > 4:
        return 4.5
    return next((weight for least, weight in _WEIGHT_BY_LOG_ODDS if looks > least), 0.0)


_AFTER_A_TITLE = frozenset((" ", ". ", "."))
_WEIGHT_BY_LOG_ODDS = ((2.5, 3.0), (1.0, 2.0), (-0.5, 1.0), (-2.0, 0.5))
_NUMBERED = re.compile(r"[ -]?v?\d|-$|/")
_NAME_GAP_PATTERN = re.compile(r"(?: ?[A-Z]\.)? ?-?|\.|'|\. |\n?, ")
_PARTICLES = frozenset("van von der bin ibn al ter dos abu".split())
_STREETS = frozenset(
    "street road avenue lane square hill park bridge house hall north south east west own".split()
)


def _score_neighbours(words: list[Word], at: int, own: float, shouting: bool) -> float:
    """The score added by a neighbour that can be the other half of a full name."""
    word = words[at]
    best = 0.0
    for neighbour, gap in (
        (at - 1, word.gap),
        (at + 1, words[at + 1].gap if at + 1 < len(words) else "?"),
    ):
        if not 0 <= neighbour < len(words) or not _NAME_GAP_PATTERN.fullmatch(gap):
            continue
        other = words[neighbour]
        if other.case is word.case and len(other.low) > 1 and not _is_not_name_part(other):
            best = max(
                best, _score_pair(word.low, other.low, own, _own_weight(other, False, shouting))
            )
        if neighbour < at and word.case is Case.CAPITAL and other.low in _PARTICLES:
            best = max(best, 3.0)
        if len(other.text) == 1 and own >= 1:
            best = max(best, _score_initial(word, other, gap, neighbour < at))
    return best


def _is_not_name_part(word: Word) -> bool:
    """True for a word that is not half of a name: a product, or an English word in lower case."""
    if lists.is_technical(word.low):
        return True
    return word.case is Case.LOWER and lists.is_ordinary(word.low)


def _score_initial(word: Word, initial: Word, gap: str, before: bool) -> float:
    """The score added by a single letter: J. Smith, Anna K., d.krause, O'Brien."""
    if initial.case is Case.LOWER:
        return 2.0 if before and gap == "." and word.case is Case.LOWER else 0.0
    if word.case is Case.LOWER:
        return 0.0
    if gap == "'":
        return 3.0 if before and initial.low in "od" else 0.0
    return 3.0 if "." in gap or not before else 1.0


def _score_pair(low: str, other: str, own: float, others: float) -> float:
    if other in _STREETS or (own <= 1 and lists.is_ordinary(low) and lists.is_ordinary(other)):
        return 0.0
    if (lists.is_given_name(low) and lists.is_surname(other)) or (
        lists.is_given_name(other) and lists.is_surname(low)
    ):
        return 3.0
    if own >= 1 and others >= 2:
        return 2.5
    return 1.5 if lists.is_given_name(low) and others >= 1 else 0.0


def _is_half_of_a_term(words: list[Word], at: int) -> bool:
    """True for two hyphenated surnames before a noun: the Kaplan-Meier plot."""
    first = at if at + 1 < len(words) and words[at + 1].gap == "-" else at - 1
    if first < 0 or first + 2 >= len(words) or words[first + 1].gap != "-":
        return False
    left, right, noun = words[first : first + 3]
    if (
        lists.is_common_given_name(left.low)
        or lists.is_common_given_name(right.low)
        or left.case is not right.case
    ):
        return False
    return noun.gap == " " and noun.case is Case.LOWER and not _VERB_OR_PARTICLE.search(noun.low)


_VERB_OR_PARTICLE = re.compile(
    r"(?:s|ed)$|^.{1,3}$|^(?:will|with|from|wrote|told|went|came|took|gave|left|made|built|found)$"
)


def _score_surroundings(words: list[Word], at: int, tail: str) -> float:
    """The score that the words around add or subtract."""
    word = words[at]
    gap_after = words[at + 1].gap if at + 1 < len(words) else tail
    possessive = gap_after == "'" and words[at + 1].low == "s" if at + 1 < len(words) else False
    after = at + 2 if possessive else at + 1
    context = score_context(
        [other.low for other in words[max(0, at - 2) : at]] if word.gap != "-" else [],
        [other.low for other in words[after : after + 3]],
        labelled=":" in word.gap,
        possessive=possessive,
    )
    if context.law:
        return -5.0
    if word.case is Case.LOWER or lists.is_common_given_name(word.low):
        return context.persons
    if context.namesake or _is_half_of_a_term(words, at):
        return -7.0
    return context.persons - context.things - (2.0 if _NUMBERED.match(gap_after) else 0.0)
