"""Words a fact as a sentence about its subject, where its grammar is certain. Pure."""

from __future__ import annotations

import re
from functools import cache

from remembrancer.guard.persons.name_lists import is_ordinary
from remembrancer.recall.fact_lines import MAX_BARE_WORDS
from remembrancer.remember.attributes import (
    USER_SUBJECT,
    can_have_several,
    canonical_attribute,
    canonical_subject,
    fold_attribute,
    list_attributes,
)
from remembrancer.search.concepts import find_concepts
from remembrancer.search.topics import find_topics
from remembrancer.types import Fact

MAX_OBJECT_WORDS = 6
"""Words up to which a content is taken for the object of its predicate."""

FIRST_VERBS = frozenset(
    "is was has had does likes loves prefers hates dislikes wants needs works lives uses".split()
)
"""First words of a content that follow its subject, as in "Is allergic to nuts"."""

VERB_KEYS = re.compile(
    "(?:likes|loves|enjoys|prefers|hates|dislikes|wants|needs|owns|speaks|eats|drinks|plays|uses"
    "|studies|collects)|(?:lives|works|studies)_(?:in|at|for|on|near|with)"
)
STATES = frozenset(
    ("diet", "dietary_restriction", "allergy", "health", "relationship_status", "occupation")
)
"""Attributes of which an adjective is the value."""

PURSUITS = frozenset(("likes", "hobby", "studies", "work", "plan"))
PRESENT = re.compile("(?:current|currently|ongoing)(?:_|$)")
ADJECTIVE = re.compile(
    r"(?:(?!only |family )\w+ly |not |no longer )?"
    r"(?:(?:(?:lactose|gluten|fructose|histamine|dairy|wheat|milk|egg|nut)(?:,? and|,)? ?-?)*"
    r"intolerant"
    r"|allergic|vegetarian|vegan|pescatarian|flexitarian|teetotal|diabetic|asthmatic|epileptic"
    r"|dyslexic|coeliac|celiac|pregnant|deaf|blind|colou?r-?blind|single|married|engaged|divorced"
    r"|widowed|separated|retired|unemployed|self-employed)"
    r"(?:$|(?=,| (?:to|since|except|but|because)\b))",
    re.I,
)
CURRENTLY = re.compile(r"(?:currently|presently|still|now) (?!\w*thing\b)[a-z]{2,}ing\b", re.I)
DOING = re.compile(
    r"(?:reading|writing|learning|studying|playing|watching|working|looking|training|planning"
    r"|building|preparing|saving|trying|moving|renovating|visiting|practi[cs]ing|listening)"
    r" (?:(?:a|an|the|his|her|their|about|for|on|to|in|with|at|how)\b|(?-i:[A-Z]|\d))",
    re.I,
)
"""A participle with its object: "Reading glasses" is none."""

CLAUSE = re.compile(
    r"^(?:I|you|he|she|it|they|we|no|not|none|nothing|yes|true|false|\w+s?n't)\b"
    r"|\b(?:is|are|was|were|am|has|have|had|does|do|will|can|cannot|should|must)\b|[:.;!?]",
    re.I,
)
"""What is no object."""

DETERMINER = re.compile(r"(?:an?|the|his|her|their|all|most|many|some|two|three|four)\b", re.I)
PLURAL_SUBJECT = re.compile(r".*\b(?:and|children|people|men|women)\b.*|(?-i:[a-z].*[^su]s)", re.I)


def word_fact(fact: Fact) -> str:
    """`User is vegan`, `User's name is Ada`, `User's favourite tea: Earl Grey`."""
    if not fact.subject or fact.has_program_key:
        return fact.content
    if re.search(rf"(?<!\w){re.escape(fact.subject)}(?!\w)", fact.content, re.I):
        return fact.content
    owner = _name_owner(fact.subject)
    first, _, _ = fact.content.partition(" ")
    if first != fact.content and first.casefold() in FIRST_VERBS:
        return f"{owner} {_lower_first(fact.content)}"
    if not fact.predicate:
        return fact.search_text
    if not PLURAL_SUBJECT.fullmatch(fact.subject) and (said := _word_predicate(fact)):
        return f"{owner} {said}"
    is_plural = PLURAL_SUBJECT.fullmatch(fact.subject) and owner.endswith("s")
    key = f"{owner}'{'' if is_plural else 's'} {fact.predicate.replace('_', ' ')}"
    verb = _choose_verb(fact)
    return f"{key} {verb} {fact.content}" if verb else f"{key}: {fact.content}"


def _name_owner(subject: str) -> str:
    name = USER_SUBJECT if canonical_subject(subject) == USER_SUBJECT else subject
    return name[0].upper() + name[1:]


def _word_predicate(fact: Fact) -> str:
    """What the subject is, does or likes; "" if the grammar is not certain."""
    key = fold_attribute(fact.predicate or "")
    attribute = canonical_attribute(key)
    is_now = attribute == "fact" or PRESENT.match(key) is not None
    is_state = is_now or attribute in STATES
    is_doing = is_now and DOING.match(fact.content)
    is_currently = (is_now or attribute in PURSUITS) and CURRENTLY.match(fact.content)
    if is_doing or is_currently or (is_state and ADJECTIVE.match(fact.content)):
        return f"is {_lower_first(fact.content)}"
    is_object = len(fact.content.split()) <= MAX_OBJECT_WORDS and not CLAUSE.search(fact.content)
    if is_object and VERB_KEYS.fullmatch(key):
        return f"{key.replace('_', ' ')} {_lower_common_word(fact.content)}"
    return ""


def _choose_verb(fact: Fact) -> str:
    """The verb before the bare value of an attribute of which there is one; else ""."""
    key = fold_attribute(fact.predicate or "")
    head = key if key in list_attributes() else key.rpartition("_")[2]
    is_short = len(fact.content.split()) <= MAX_BARE_WORDS
    if (
        ADJECTIVE.match(fact.content)
        or not is_short
        or head not in list_attributes()
        or can_have_several(head)
    ):
        return ""
    return "are" if head in ("pronouns", "studies", "days_off") else "is"


def _lower_first(content: str) -> str:
    return content[:1].lower() + content[1:]


def _lower_common_word(content: str) -> str:
    """The content in the middle of a sentence: a word that can be a name keeps its capital."""
    first, _, rest = content.partition(" ")
    is_title = rest[:1].isupper()
    is_common = DETERMINER.fullmatch(first) or _is_common_word(first.strip(",").casefold())
    return _lower_first(content) if is_common and not is_title else content


@cache
def _is_common_word(word: str) -> bool:
    """True for a word that names an everyday thing, other than a place or a brand."""
    names = {word, word.removesuffix("s"), word.removesuffix("es")}
    is_thing = not names.isdisjoint(find_concepts(word))
    return is_thing and (is_ordinary(word) or bool(find_topics(word)))
