"""Extracts explicit statements of users about themselves by rules, without a model.

It prefers precision to recall: questions, guesses, quotations and moods yield nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from remembrancer.learn.extracted_fact import ExtractedFact, Quote
from remembrancer.learn.rules.clauses import (
    MAX_CLAUSE_CHARS,
    split_clauses,
    split_sentences,
    strip_lead_in,
)
from remembrancer.learn.rules.patterns import (
    APPOSITION,
    INSTRUCTION,
    INSTRUCTION_KEYS,
    INSTRUCTIONS,
    NO_GIVEN_NAME,
    STATEMENT_PATTERNS,
    MemoryDefaults,
    StatementPattern,
    compile_pattern,
)
from remembrancer.learn.rules.vocabulary import is_complete, is_place
from remembrancer.types import Permanence, Turn

USER_SUBJECT = "user"
MAX_KEY_CHARS = 200

REMEMBER_REQUEST = re.compile(
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
SELF_REFERENCE = re.compile(r"\b(?:I|my|me|we|our|us)\b|\d|\s[A-Z]")
FINITE_VERB = re.compile(
    r"^(?:I|we)\b|\b(?:is|are|was|were|has|have|had|will|can|cannot|do|does|did|must|should|needs?"
    r"|wants?|lives?|works?|likes?|starts?|ends?|prefers?|expires?|opens?|closes?|runs?|\w+ed)\b",
    re.I,
)
OWN_SUBJECT = re.compile(r"(?:(?:my|our) |(?-i:[A-Z]))\S+ (?:\S+ ){1,}\S+", re.I)
REQUESTED_DEFAULTS = MemoryDefaults("fact", Permanence.STABLE, 7, 0.95)
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
PAST_TIME = re.compile(
    rf",? (?:yesterday|recently|(?:just )?(?:last|this past) {WHEN}|the other (?:day|week)"
    rf"|earlier this {WHEN}|(?:about |around |over )?(?:\w+|a few|a couple of) (?:{WHEN}|day)s?"
    r" (?:ago|back)|for the first time|back in \w+)$",
    re.I,
)
FUTURE_TIME = re.compile(
    r",?(?: for)? (?:soon|(?:next|this|later this) "
    r"(?:month|year|spring|summer|fall|autumn|winter))$",
    re.I,
)

THIRD_PERSON_FORMS = {
    "i": "they", "me": "them", "my": "their", "mine": "theirs", "myself": "themselves",
    "we": "they", "us": "them", "our": "their", "ours": "theirs", "ourselves": "themselves",
    "i'm": "they're", "i've": "they've", "i'll": "they'll", "i'd": "they'd",
    "we're": "they're", "we've": "they've", "we'll": "they'll", "we'd": "they'd",
}  # fmt: skip
FIRST_PERSON = re.compile(
    r"\b(?:I'(?:m|ve|ll|d)|we'(?:re|ve|ll|d)|I|me|my|mine|myself|we|us|our|ours|ourselves)\b"
)
AGREEMENT = re.compile(r"\bthey (am|was)\b")

IRREGULAR = {"am": "is", "are": "is", "have": "has", "do": "does", "go": "goes"}
AUXILIARY = frozenset(
    "can cannot will must may was were had did has is does used went got made took came saw said"
    " left lost bought found met kept told wore ate drove began sold sent spent paid put set let"
    " won ran flew wrote chose grew knew thought brought built never always already".split()
)


def extract_facts(turns: Sequence[Turn]) -> list[ExtractedFact]:
    """The user's explicit statements and requests, in order; most turns have none."""
    found = (fact for turn in turns if turn.is_by_user for fact in _extract_from_turn(turn))
    return list(_drop_repetitions(found))


def _drop_repetitions(candidates: Iterable[ExtractedFact]) -> Iterator[ExtractedFact]:
    """Drop a fact that equals the last one with the same key."""
    last: dict[str, str] = {}
    for found in candidates:
        key = found.predicate or found.content
        if last.get(key) != found.content:
            yield found
        last[key] = found.content


def _extract_from_turn(turn: Turn) -> Iterator[ExtractedFact]:
    for sentence in split_sentences(turn.content):
        for found in _extract_from_sentence(sentence):
            yield replace(found, quotes=(Quote(turn.id, found.quote),))


def _extract_from_sentence(sentence: str) -> list[ExtractedFact]:
    asked = _parse_request(sentence)
    if asked:
        return [asked]
    order = _parse_instruction(sentence)
    if order:
        return [order]
    said = [found for words in split_clauses(sentence) if (found := _parse_statement(words))]
    return said + list(_find_named_people(sentence))


def _find_named_people(sentence: str) -> Iterator[ExtractedFact]:
    """Who "my sister Ana" is, whatever the sentence goes on to ask or suppose."""
    for found in APPOSITION.finditer(sentence):
        role, name = found["role"].lower(), found["name"] or found["apart"]
        if not NO_GIVEN_NAME.fullmatch(name):
            known = _parse_statement(f"my {role} is {name}")
            if known:
                yield replace(known, quotes=(Quote("", found[0]),), confidence=0.8)


def _parse_request(sentence: str) -> ExtractedFact | None:
    """Parse "remember that …", which need not be about the user."""
    found = REMEMBER_REQUEST.fullmatch(straighten_quotes(strip_lead_in(sentence)).rstrip(" .!?"))
    if found is None or len(sentence) > 2 * MAX_CLAUSE_CHARS:
        return None
    if sentence.endswith("?") and not found["plea"]:
        return None
    quote = strip_lead_in(sentence)
    rest = strip_lead_in(found["rest"].strip(" .!?,"))
    known = (
        _parse_statement(rest) if list(split_clauses(rest)) == [rest] else _parse_instruction(rest)
    )
    if known:
        return replace(known, quotes=(Quote("", quote),), requested=True, confidence=0.95)
    if not _is_worth_keeping(rest, has_plea=bool(found["plea"])):
        return None
    return _build_candidate(
        REQUESTED_DEFAULTS, restate_in_third_person(rest), quote, requested=True
    )


def _is_worth_keeping(rest: str, *, has_plea: bool) -> bool:
    """True if it is a statement of the user, and not advice to the reader."""
    if ADVICE.search(rest) or len(rest.split()) < 3:
        return False
    if not FINITE_VERB.search(rest) and not OWN_SUBJECT.match(rest):
        return False
    return has_plea or SELF_REFERENCE.search(rest) is not None


def _parse_instruction(sentence: str) -> ExtractedFact | None:
    """Parse a standing instruction to the assistant."""
    words = strip_lead_in(sentence.strip(" .!")) if not sentence.endswith("?") else ""
    plain = expand_contractions(words)
    if not plain or len(words) > MAX_CLAUSE_CHARS:
        return None
    if not any(compile_pattern(says).fullmatch(plain) for says in INSTRUCTIONS):
        return None
    order = _build_candidate(
        INSTRUCTION, format_line(to_third_person(PLEASE.sub("", plain))), words
    )
    keys = (key for key, pattern in INSTRUCTION_KEYS if pattern.search(plain))
    return _set_key(order, next(keys, None))


def _parse_statement(words: str) -> ExtractedFact | None:
    """Match a clause with the statement patterns."""
    plain = FILLER.sub(r"\1 ", expand_contractions(words))
    plain = PAST_TIME.sub("", VOCATIVE.sub(r"\1", TRAILING.sub("", plain)))
    for wording in STATEMENT_PATTERNS:
        for says in wording.patterns:
            found = compile_pattern(says).fullmatch(plain)
            if found and (candidate := _build_from_pattern(wording, found.groupdict(), words)):
                return candidate
    return None


def _build_from_pattern(
    wording: StatementPattern, said: dict[str, str | None], quote: str
) -> ExtractedFact | None:
    parts = {name: (words or "").strip() for name, words in said.items()}
    if wording.defaults.category == "event":
        parts["x"] = FUTURE_TIME.sub("", parts["x"])
    if wording.check is is_place and UNCAPPED.fullmatch(quote):
        parts["x"] = parts["x"].title()
    if not wording.check(parts["x"]) or not is_complete(parts.get("y", "")):
        return None
    shown = {name: to_third_person(words) for name, words in parts.items()}
    if "does" in shown:
        shown["does"] = conjugate(shown["does"])
    content = format_line(wording.content.format(**shown))
    candidate = _build_candidate(wording.defaults, content, quote)
    return _set_key(candidate, _build_predicate(wording, parts))


def _build_predicate(wording: StatementPattern, parts: dict[str, str]) -> str | None:
    """The predicate under which a later statement supersedes this one."""
    if wording.predicate is None:
        return None
    topics = {name: normalise_topic(words) for name, words in parts.items()}
    pair = " and ".join(sorted((topics["x"], topics.get("y", ""))))
    return wording.predicate.format(**topics, pair=pair)


def _set_key(found: ExtractedFact, predicate: str | None) -> ExtractedFact:
    if predicate is None or len(predicate) > MAX_KEY_CHARS:
        return found
    return replace(found, subject=USER_SUBJECT, predicate=predicate)


def _build_candidate(
    sort: MemoryDefaults, content: str, quote: str, *, requested: bool = False
) -> ExtractedFact:
    return ExtractedFact(
        content=content,
        quotes=(Quote("", quote),),
        category=sort.category,
        importance=sort.importance,
        permanence=sort.permanence,
        confidence=sort.confidence,
        requested=requested,
    )


def straighten_quotes(words: str) -> str:
    """Replace typographic apostrophes, without changing the length."""
    return words.replace("’", "'").replace("‘", "'")


def expand_contractions(words: str) -> str:
    """Write out the contractions with which patterns begin."""
    plain = " ".join(straighten_quotes(words).split())
    for contraction, full in CONTRACTIONS:
        plain = contraction.sub(full, plain)
    return plain


def to_third_person(words: str) -> str:
    restated = FIRST_PERSON.sub(lambda found: THIRD_PERSON_FORMS[found[0].lower()], words)
    return AGREEMENT.sub(lambda verb: "they are" if verb[1] == "am" else "they were", restated)


def restate_in_third_person(words: str) -> str:
    """Restate a sentence in the third person; a subject "I" or "we" is left out."""
    plain = expand_contractions(words)
    subject, _, rest = plain.partition(" ")
    if subject not in ("I", "we"):
        return format_line(to_third_person(plain[:1].lower() + plain[1:]))
    verb, _, others = rest.partition(" ")
    return format_line(f"{conjugate(verb)} {to_third_person(others)}")


def conjugate(verb: str) -> str:
    """The third person of a verb, which can be followed by more words; past tense stays."""
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


def normalise_topic(words: str) -> str:
    """Normalise a topic so that statements about the same thing get the same key."""
    bare = re.sub(
        r"^(?:an?|the|their|some) | (?:since|ever since) .*", "", to_third_person(words).lower()
    )
    plain = re.sub(r"[^\w\s'&+/.-]", " ", bare.replace("favourite", "favorite"))
    return " ".join(plain.split()).strip(". ")


def format_line(words: str) -> str:
    """Normalise spaces, capitalise the first letter and strip punctuation."""
    line = " ".join(words.split()).strip(" ,;:.!")
    return line[:1].upper() + line[1:]
