"""Reads what people say of themselves in so many words, without a language model.

It may miss, it must not invent: questions, maybes, quotations and passing moods yield nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from remembrancer.learn.extracted import Candidate
from remembrancer.learn.rules.clauses import LONGEST_CLAUSE, clauses, sentences, without_lead_in
from remembrancer.learn.rules.patterns import (
    APPOSITION,
    INSTRUCTION_KEYS,
    INSTRUCTIONS,
    NO_GIVEN_NAME,
    ORDER,
    WORDINGS,
    Sort,
    Wording,
    pattern_of,
)
from remembrancer.learn.rules.vocabulary import is_place, stands_alone
from remembrancer.types import Permanence, Turn

USER = "user"
LONGEST_KEY = 200

ASKED = re.compile(
    r"(?P<plea>(?:(?:can|could|will|would) you |i(?:'d| would) like you to |i want you to )?"
    r"(?:please )?)(?:also )?"
    r"(?:remember(?: that|:| (?=(?:i|i'm|i've|my|we|our)\b))|keep in mind(?: that|:)"
    r"|(?:please |do )(?:note|remember)(?: that|:|,| (?=(?:i|my|the)\b))"
    r"|(?:make|take) a note(?: that|:| of the fact that)|note(?: to self)?:|don't forget(?: that|:)"
    r"|do not forget(?: that|:)|never forget that|bear in mind(?: that|:)|for future reference[,:]"
    r"|for the future[,:]|for later[,:])\s*(?P<rest>.+)",
    re.I,
)
ADVICE = re.compile(
    r"\b(?:you|you're|your|yourself|let's)\b|^(?:it|that|this|they|he|she|to)\b", re.I
)
OWN = re.compile(r"\b(?:I|my|me|we|our|us)\b|\d|\s[A-Z]")
FINITE = re.compile(
    r"^(?:I|we)\b|\b(?:is|are|was|were|has|have|had|will|can|cannot|do|does|did|must|should|needs?"
    r"|wants?|lives?|works?|likes?|starts?|ends?|prefers?|expires?|opens?|closes?|runs?|\w+ed)\b",
    re.I,
)
OWN_SUBJECT = re.compile(r"(?:(?:my|our) |(?-i:[A-Z]))\S+ (?:\S+ ){1,}\S+", re.I)
ASKED_SORT = Sort("fact", Permanence.STABLE, 7, 0.95)
UNCAPPED = re.compile(
    r"(?:i|im|i'm)\b[^A-Z]* (?!fear|peace|hope|the|an?|my)[^A-Z\s]+(?:, [^A-Z\s]+)?"
)

PLEASE = re.compile(r"^please ", re.I)
CONTRACTIONS = (
    (re.compile(r"^(?:i'm|im|i m)\b", re.I), "I am"),
    (re.compile(r"^(?:i've|ive)\b", re.I), "I have"),
    (re.compile(r"^i'll\b", re.I), "I will"),
    (re.compile(r"^i\b"), "I"),
    (re.compile(r"^we're\b", re.I), "we are"),
    (re.compile(r"^we've\b", re.I), "we have"),
    (re.compile(r"^let's\b", re.I), "let us"),
    (re.compile(r"\b(?:don't|dont)\b", re.I), "do not"),
    (re.compile(r"\bdoesn't\b", re.I), "does not"),
    (re.compile(r"\b(?:can't|cant|can not)\b", re.I), "cannot"),
    (re.compile(r"\b(name|job|birthday|goal|dream|favou?rite \w+)'s\b", re.I), r"\1 is"),
    (
        re.compile(r"^((?:my|our) [\w -]{2,30})'s (?=(?:called|named|an?|allergic|from)\b)", re.I),
        r"\1 is ",
    ),
    (re.compile(r"^I have got\b"), "I have"),
    (re.compile(r"^I got (?=\w+ (?:kids|children|sons|daughters|dogs|cats)\b)"), "I have "),
)
FILLER = re.compile(
    r"^((?:I|we)(?: am| are| have| do not)?) (?:(?:really|also|just|actually|absolutely|truly"
    r"|totally|definitely|personally|honestly|basically|simply|currently|now|still|recently|finally"
    r"|already|mostly|generally|typically|especially|particularly|completely|officially"
    r"|always (?=love|like|enjoy|prefer|hate)|usually (?=prefer)"
    r"|much (?=prefer)|strongly|both|all) )+",
)
TRAILING = re.compile(
    r"(?:,?(?<!right) (?:too|as well|though|a lot|so much|very much|a ton|indeed"
    r"|of course|to be honest|tbh|actually|really|btw|by the way|you know|now|nowadays|haha"
    r"|as usual|more than anything|most of all|like (?:i|you) (?:said|mentioned)"
    r"|as (?:i )?mentioned|as you know))+$",
    re.I,
)
VOCATIVE = re.compile(r"(?<= )([a-z][\w'-]*), [A-Z][a-z]+$")
WHEN = r"(?:week|weekend|month|year|night|spring|summer|fall|autumn|winter|\w+day|fri|sat|sun)"
LONG_PAST = re.compile(
    rf",? (?:yesterday|recently|(?:just )?(?:last|this past) {WHEN}|the other (?:day|week)"
    rf"|earlier this {WHEN}|(?:about |around |over )?(?:\w+|a few|a couple of) (?:{WHEN}|day)s?"
    r" (?:ago|back)|for the first time|back in \w+)$",
    re.I,
)
COMING = re.compile(
    r",?(?: for)? (?:soon|(?:next|this|later this) "
    r"(?:month|year|spring|summer|fall|autumn|winter))$",
    re.I,
)

OTHER_PERSON = {
    "i": "they", "me": "them", "my": "their", "mine": "theirs", "myself": "themselves",
    "we": "they", "us": "them", "our": "their", "ours": "theirs", "ourselves": "themselves",
    "i'm": "they're", "i've": "they've", "i'll": "they'll", "i'd": "they'd",
    "we're": "they're", "we've": "they've", "we'll": "they'll", "we'd": "they'd",
}  # fmt: skip
PERSONAL = re.compile(
    r"\b(?:I'(?:m|ve|ll|d)|we'(?:re|ve|ll|d)|I|me|my|mine|myself|we|us|our|ours|ourselves)\b"
)
AGREEMENT = re.compile(r"\bthey (am|was)\b")

IRREGULAR = {"am": "is", "are": "is", "have": "has", "do": "does", "go": "goes"}
AUXILIARY = frozenset(
    "can cannot will must may was were had did has is does used went got made took came saw said"
    " left lost bought found met kept told wore ate drove began sold sent spent paid put set let"
    " won ran flew wrote chose grew knew thought brought built never always already".split()
)


def read(turns: Sequence[Turn]) -> list[Candidate]:
    """What the person said of themselves in so many words, in order; most turns say nothing."""
    said = (found for turn in turns if turn.is_by_user for found in _said_in(turn))
    return list(_without_repetitions(said))


def _without_repetitions(said: Iterable[Candidate]) -> Iterator[Candidate]:
    """What is not the very thing that was said last on the same key."""
    last: dict[str, str] = {}
    for found in said:
        key = found.predicate or found.content
        if last.get(key) != found.content:
            yield found
        last[key] = found.content


def _said_in(turn: Turn) -> Iterator[Candidate]:
    for sentence in sentences(turn.content):
        for found in _said_by(sentence):
            yield replace(found, turns=(turn.id,))


def _said_by(sentence: str) -> list[Candidate]:
    asked = _asked_for(sentence)
    if asked:
        return [asked]
    order = _instruction(sentence)
    if order:
        return [order]
    said = [found for words in clauses(sentence) if (found := _statement(words))]
    return said + list(_named_in_passing(sentence))


def _named_in_passing(sentence: str) -> Iterator[Candidate]:
    """Who "my sister Ana" is, whatever the sentence goes on to ask or suppose."""
    for found in APPOSITION.finditer(sentence):
        role, name = found["role"].lower(), found["name"] or found["apart"]
        if not NO_GIVEN_NAME.fullmatch(name):
            known = _statement(f"my {role} is {name}")
            if known:
                yield replace(known, quote=found[0], confidence=0.8)


def _asked_for(sentence: str) -> Candidate | None:
    """What a person asks to have remembered, which need not be about themselves."""
    found = ASKED.fullmatch(straight(without_lead_in(sentence)).rstrip(" .!?"))
    if found is None or len(sentence) > 2 * LONGEST_CLAUSE:
        return None
    if sentence.endswith("?") and not found["plea"]:
        return None
    quote = without_lead_in(sentence)
    rest = without_lead_in(found["rest"].strip(" .!?,"))
    known = _statement(rest) if list(clauses(rest)) == [rest] else _instruction(rest)
    if known:
        return replace(known, quote=quote, asked=True, confidence=0.95)
    if not _is_worth_asking(rest, begged=bool(found["plea"])):
        return None
    return _candidate(ASKED_SORT, retold(rest), quote, asked=True)


def _is_worth_asking(rest: str, *, begged: bool) -> bool:
    """Whether it is a statement of the person's, not advice to whom they talk to."""
    if ADVICE.search(rest) or len(rest.split()) < 3:
        return False
    if not FINITE.search(rest) and not OWN_SUBJECT.match(rest):
        return False
    return begged or OWN.search(rest) is not None


def _instruction(sentence: str) -> Candidate | None:
    """A standing instruction to the assistant."""
    words = without_lead_in(sentence.strip(" .!")) if not sentence.endswith("?") else ""
    plain = expanded(words)
    if not plain or len(words) > LONGEST_CLAUSE:
        return None
    if not any(pattern_of(says).fullmatch(plain) for says in INSTRUCTIONS):
        return None
    order = _candidate(ORDER, line(third_person(PLEASE.sub("", plain))), words)
    keys = (key for key, pattern in INSTRUCTION_KEYS if pattern.search(plain))
    return _keyed(order, next(keys, None))


def _statement(words: str) -> Candidate | None:
    """What a clause says in one of the known wordings."""
    plain = FILLER.sub(r"\1 ", expanded(words))
    plain = LONG_PAST.sub("", VOCATIVE.sub(r"\1", TRAILING.sub("", plain)))
    for wording in WORDINGS:
        for says in wording.says:
            found = pattern_of(says).fullmatch(plain)
            if found and (candidate := _told(wording, found.groupdict(), words)):
                return candidate
    return None


def _told(wording: Wording, said: dict[str, str | None], quote: str) -> Candidate | None:
    parts = {name: (words or "").strip() for name, words in said.items()}
    if wording.sort.category == "event":
        parts["x"] = COMING.sub("", parts["x"])
    if wording.check is is_place and UNCAPPED.fullmatch(quote):
        parts["x"] = parts["x"].title()
    if not wording.check(parts["x"]) or not stands_alone(parts.get("y", "")):
        return None
    shown = {name: third_person(words) for name, words in parts.items()}
    if "does" in shown:
        shown["does"] = conjugated(shown["does"])
    content = line(wording.content.format(**shown))
    return _keyed(_candidate(wording.sort, content, quote), _predicate(wording, parts))


def _predicate(wording: Wording, parts: dict[str, str]) -> str | None:
    """The slot that is filled, so that a later statement of it replaces the earlier one."""
    if wording.predicate is None:
        return None
    topics = {name: topic(words) for name, words in parts.items()}
    pair = " and ".join(sorted((topics["x"], topics.get("y", ""))))
    return wording.predicate.format(**topics, pair=pair)


def _keyed(found: Candidate, predicate: str | None) -> Candidate:
    if predicate is None or len(predicate) > LONGEST_KEY:
        return found
    return replace(found, subject=USER, predicate=predicate)


def _candidate(sort: Sort, content: str, quote: str, *, asked: bool = False) -> Candidate:
    return Candidate(
        content=content,
        quote=quote,
        turns=(),
        category=sort.category,
        importance=sort.importance,
        permanence=sort.permanence,
        confidence=sort.confidence,
        asked=asked,
    )


def straight(words: str) -> str:
    """The words with straight apostrophes, at the same length."""
    return words.replace("’", "'").replace("‘", "'")


def expanded(words: str) -> str:
    """The words with the contractions written out that wordings begin with."""
    plain = " ".join(straight(words).split())
    for contraction, full in CONTRACTIONS:
        plain = contraction.sub(full, plain)
    return plain


def third_person(words: str) -> str:
    """The words as another would say them of the person."""
    told = PERSONAL.sub(lambda found: OTHER_PERSON[found[0].lower()], words)
    return AGREEMENT.sub(lambda verb: "they are" if verb[1] == "am" else "they were", told)


def retold(words: str) -> str:
    """A whole statement in the third person, without its subject if that is the person."""
    subject, _, rest = expanded(words).partition(" ")
    if subject not in ("I", "we"):
        return line(third_person(expanded(words)[:1].lower() + expanded(words)[1:]))
    verb, _, others = rest.partition(" ")
    return line(f"{conjugated(verb)} {third_person(others)}")


def conjugated(verb: str) -> str:
    """The third person of a verb that may be followed by more words; past tenses stay."""
    first, gap, rest = verb.lower().partition(" ")
    if first in AUXILIARY or first.endswith(("ed", "s")):
        return verb
    if first in IRREGULAR:
        return IRREGULAR[first] + gap + rest
    if first.endswith(("sh", "ch", "x", "z", "o")):
        return f"{first}es{gap}{rest}"
    if first.endswith("y") and first[-2:-1] not in "aeiou":
        return f"{first[:-1]}ies{gap}{rest}"
    return f"{first}s{gap}{rest}"


def topic(words: str) -> str:
    """The words by which two statements about the same thing have the same key."""
    bare = re.sub(
        r"^(?:an?|the|their|some) | (?:since|ever since) .*", "", third_person(words).lower()
    )
    plain = re.sub(r"[^\w\s'&+/.-]", " ", bare.replace("favourite", "favorite"))
    return " ".join(plain.split()).strip(". ")


def line(words: str) -> str:
    """The words as a line: single spaces, a capital at the start, nothing at the end."""
    told = " ".join(words.split()).strip(" ,;:.!")
    return told[:1].upper() + told[1:]
