"""Restates English clauses of a user in the third person."""

from __future__ import annotations

import re
from collections.abc import Iterator

from remembrancer.learn.rules.patterns import load_rules
from remembrancer.search.language import Language
from remembrancer.text_format import add_verb_ending

FORMS = {
    "i": "they", "me": "them", "my": "their", "mine": "theirs", "myself": "themselves",
    "we": "they", "us": "them", "our": "their", "ours": "theirs", "ourselves": "themselves",
    "i'm": "they're", "i've": "they've", "i'll": "they'll", "i'd": "they'd",
    "we're": "they're", "we've": "they've", "we'll": "they'll", "we'd": "they'd",
}  # fmt: skip
FIRST_PERSON = re.compile(
    r"\b(?:I'(?:m|ve|ll|d)|we'(?:re|ve|ll|d)|I|me|my|mine|myself|we|us|our|ours|ourselves)\b"
)
AGREEMENT = re.compile(r"\bthey (am|was)\b")
NEGATION = re.compile(r"\b(?:do|did) not\b")
"""The verb after it has no ending."""

IRREGULAR = {"am": "is", "are": "is", "have": "has", "do": "does", "go": "goes", "was": "was"}
MAX_ADVERBS = 2


def replace_pronouns(words: str) -> str:
    """Replace "I", "my" and the like by "they", "their" and the like."""
    restated = FIRST_PERSON.sub(lambda found: FORMS[found[0].lower()], words)
    return AGREEMENT.sub(lambda verb: "they are" if verb[1] == "am" else "they were", restated)


def restate(plain: str) -> str | None:
    """Restate a sentence in the third person; None if its verb is not known.

    A subject "I" or "we" is left out.
    """
    subject, _, rest = plain.partition(" ")
    if subject not in ("I", "we"):
        return replace_pronouns(plain[:1].lower() + plain[1:])
    before = load_rules(Language.ENGLISH).vocabulary.compile("(?:<ADVERB> )*").match(rest)
    verb, gap, others = rest[before.end() if before else 0 :].partition(" ")
    if not is_verb(verb):
        return None
    adverbs = before[0] if before else ""
    if NEGATION.search(adverbs):
        adverbs = adverbs.replace("do not", "does not")
    else:
        verb = conjugate(verb)
    return f"{adverbs}{verb}{gap}{replace_pronouns(others)}"


def is_verb(word: str) -> bool:
    """True for a known verb, and for what can only be a past tense."""
    vocabulary = load_rules(Language.ENGLISH).vocabulary
    return vocabulary.equals("VERB", word) or vocabulary.equals("UNCHANGED", word)


def conjugate(verb: str) -> str:
    """The third person of a verb, which can be followed by more words; past tense stays."""
    first, gap, rest = verb.lower().partition(" ")
    if first in IRREGULAR:
        return IRREGULAR[first] + gap + rest
    vocabulary = load_rules(Language.ENGLISH).vocabulary
    if vocabulary.equals("UNCHANGED", first) or first.endswith("s"):
        return verb
    return f"{add_verb_ending(first)}{gap}{rest}"


def list_first_persons(words: str) -> Iterator[str]:
    """What a person may have said, for a statement about them that does not name them."""
    told = words.split()
    for at, word in enumerate(told[: MAX_ADVERBS + 1]):
        before = " ".join([*told[:at], ""]).lower()
        for verb in _list_bases(word.lower()):
            yield f"I {before}{' '.join([verb, *told[at + 1 :]])}"
    yield f"My {words[:1].lower()}{words[1:]}"


def _list_bases(word: str) -> list[str]:
    """What may be the verb whose third person a word is."""
    regular = (word, word[:-1], word[:-2], f"{word[:-3]}y")
    return [one for one in (*IRREGULAR, *regular) if one and conjugate(one) == word]
