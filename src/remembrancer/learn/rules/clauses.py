"""Splits a turn into the clauses that assert something in the user's own words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from remembrancer.search.sentences import CODE_FENCE_PATTERN

LONG_TURN_CHARS = 2_000
MAX_TURN_CHARS = 20_000
MAX_CLAUSE_CHARS = 240

MASK = "\0"
CODE_OR_BRACKETS = re.compile(rf"{CODE_FENCE_PATTERN.pattern}|\[[^\]\n]{{0,300}}\]", re.S)
CITED_LINE = re.compile(
    r"^[ \t]*(?:>|\||#|[-*•][ \t]|\d+[.)][ \t]"
    r"|(?:subject|to|from|re|title|prompt|example|input|output|caption)[ \t]?:).*$",
    re.M | re.I,
)
QUOTATION = re.compile(
    r'"[^"\n]*(?:"|$)|“[^”\n]*(?:”|$)|(?<!\w)[\'‘][^\n]{1,300}?[\'’](?!\w)', re.M
)
FIRST_PERSON = re.compile(r"\b(?:I|my|me|we|our)\b", re.I)
MAX_QUOTED_TITLE_WORDS = 8

PASTED = re.compile(
    r"^#|^[-*•] |^\d+[.)] |^\w+:\s|[{}<>]|\n[ \t]{0,4}\n[^\n]{1,2000}\n[ \t]{0,4}\n", re.M
)
NOT_OWN_WORDS = re.compile(
    r"\b(?:pretend|role-?play|act as|acting as|just kidding|kidding|joking|jk|fictional"
    r"|in character|(?<!can )(?<!can't )imagine (?:you(?:['’]re| are)|i(?:['’]m| am)|that i|being)"
    r"|the following"
    r"|here(?:['’]s| is| are) (?:my|the|an?) (?:\w+ )?(?:draft|essay|letter|e-?mail|text|story|bio"
    r"|paragraph|poem|script|resume|cv|statement|profile|post)|translat(?:e|ing|ion)|proof-?read"
    r"|(?:re-?write|re-?phrase|polish|summari[sz]e) (?:my|this|the|it|these)|paraphrase"
    r"|for the sake of argument|in (?:the|my|this|our) (?:story|novel|dream)|cover letter"
    r"|dear (?:sir|madam|mrs?|ms|dr)|sincerely|(?:kind|best|warm) regards|personal statement"
    r"|you(?:['’]re| are) (?:now )?an? \w+|lyrics|monologue|persona)\b",
    re.I,
)
DRAFT = re.compile(
    r"\b(?:write|draft|compose|generate|create|say|says|saying|reads?|titled)\b.*"
    r"\b(?:letter|e-?mail|message|text|story|poem|essay|post|bio|speech|song|card|note|caption"
    r"|review|toast|tweet|sentence|paragraph|that says)\b",
    re.I,
)

ABBREVIATION = re.compile(
    r"(?:\b(?:dr|mr|mrs|ms|st|prof|jr|sr|vs|etc|no|inc|e\.g|i\.e|approx)|\b[A-Z])\.$", re.I
)
# Unlike the pattern of search.sentences, this one also ends a sentence after a closing quote.
SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+|\n+")
QUESTION_OPENER = (
    r"(?:(?:can|could|would|will|do|did|does|are|is|should|have|has) "
    r"(?:you|i|we|there|it|they|that)"
    r"|what|what's|which|how|where|who|why|when should|any (?:ideas?|advice|tips|suggestions?)"
    r"|got any|please)\b"
)
QUESTION_TAIL = re.compile(
    rf"(?:[,;]| and| so| but)\s{{1,3}}(?:so |and |but )?{QUESTION_OPENER}", re.I
)

SUBJECT = (
    r"(?:i|i['’](?:m|ve|ll|d)|im|ive|my|we|we['’](?:re|ve|ll|d)|our|it|it['’]s|that|that['’]s|this"
    r"|these|those|they|they['’]\w+|he|he['’]s|she|she['’]s|you|you['’]\w+|there|there['’]s"
    r"|everyone|everything|nothing|let['’]s|the)\b"
)
CLAUSE_BREAK = re.compile(
    r"\s{1,3}[-–—]{1,3}\s{1,3}|-\s{1,3}|\s{0,3}[;…()]\s{0,3}|:\s{1,3}|\.\.\.\s{0,3}"
    r"|,?\s{1,3}(?:but|because|although|though|even though|however|whereas|hence|thus|cuz"
    r"|['’]?cause|&)\s{1,3}"
    r"|,\s{1,3}(?:so|which|who|whose|where|while|since|as|then|plus|or|not to mention|just"
    r"|especially|thanks|thank you|hoping|making|and that|inspired|thinking|knowing)\b\s{0,3}"
    rf"|,?\s{{1,3}}(?:and|so|plus)\s{{1,3}}(?={SUBJECT})"
    rf"|,\s{{1,3}}(?={SUBJECT})"
    r"|,?\s{1,3}and\s{1,3}(?=(?:am|was|want|need|really|just|love|like|hate|enjoy|can|could"
    r"|would|will|wondering|looking|trying|thinking|hoping|always|never|feel|have been|had"
    r"|work|live|study|own|run|teach|volunteer)\b)"
    r"|\s{1,3}(?:so that|so(?= \w+ing\b))\s{1,3}",
    re.I,
)
LEAD_IN = re.compile(
    r"(?:(?:well|oh|ok|okay|yes|yeah|yep|yup|no|nope|nah|hi|hey|hello|hmm|ah|aww?|wow|haha|sure|and"
    r"|but|so|also|plus|anyway|anyways|btw|by the way|actually|honestly|in fact|as it happens"
    r"|fyi|for context|for what it['’]s worth|for the record|just so you know|just to be clear"
    r"|to be clear|to be honest|tbh|personally|currently|nowadays|these days|at the moment"
    r"|thanks|thank you|sorry|oops|wait|correction|update|scratch that|i changed my mind"
    r"|that['’]s (?:wrong|not right|not true|incorrect|true|right)|you(?:['’]re| are) wrong"
    r"|first of all|to start|since you asked|of course|as you know|as i said|like i said"
    r"|as i mentioned|as for me|for me|in general|generally|overall|now|unfortunately|luckily"
    r"|fortunately|sadly|like you|me too|same here|good news|great news|guess what|as always"
    r"|speaking of (?!me\b)[^,.!?]{1,60}|i (?:should|have to|must) "
    r"(?:mention|add|say|admit|confess)(?: that)?"
    r"|i (?:forgot|wanted|want) to (?:mention|say|add|tell you|let you know)(?: that)?"
    r"|(?:just )?(?:so )?you should know(?: that)?|(?:just )?let(?:ting)? you know(?: that)?"
    r"|did i (?:mention|tell you)(?: that)?)\b[\s,.!:;–—-]*)",
    re.I,
)
VOCATIVE = re.compile(r"(?:(?:hey|hi|hello|thanks|yeah|yes|no|oh) )?[A-Z][a-z]+[,!] +(?=[IMW])")

UNSURE = re.compile(
    r"\b(?:if|would|wish|imagine|imagining|suppose|supposedly|supposing|could|might|maybe|perhaps"
    r"|possibly|hypothetically|what if|as if|as though|unless|should|probably|pretend|dreamt"
    r"|dreamed|kinda|sorta|sort of|kind of|i guess|not sure|unsure|wonder|wondering|whether|"
    r"i(?:['’]d| 'd)|we['’]d|would've|lol|haha+|hehe|used to|until|or something)\b",
    re.I,
)
HYPOTHETICAL_OR_REPORTED = re.compile(
    r"\b(?:if|wish|imagine|suppose|supposing|pretend|hypothetically|say that|unless|as if|dreamt"
    r"|dreamed|when i was|back when|(?<!i )(?:said|says|saying|told|tells|claims?|claimed|wrote"
    r"|writes|asked|thinks?|thought|believes?|quote|quoting|character|narrator))\b",
    re.I,
)


def split_sentences(text: str) -> Iterator[str]:
    """Yield the user's own sentences, unchanged; none of a text that looks pasted."""
    if is_borrowed(text):
        return
    for sentence in _split_at_sentence_ends(mask_quotations(text)):
        if sentence and MASK not in sentence and not DRAFT.search(sentence[:LONG_TURN_CHARS]):
            yield sentence


def _split_at_sentence_ends(text: str) -> Iterator[str]:
    begin = 0
    for found in SENTENCE_END.finditer(text):
        sentence = text[begin : found.start()].strip()
        if "\n" in found[0] or not ABBREVIATION.search(sentence[-8:]):
            yield sentence
            begin = found.end()
    yield text[begin:].strip()


def is_borrowed(text: str) -> bool:
    """True if a turn is text to work on or a role to play, rather than the user speaking."""
    if len(text) > MAX_TURN_CHARS or NOT_OWN_WORDS.search(text):
        return True
    return len(text) > LONG_TURN_CHARS and PASTED.search(text) is not None


def mask_quotations(text: str) -> str:
    """Blank out code, cited lines and quoted speech, without changing the length."""
    for pattern in (CODE_OR_BRACKETS, CITED_LINE):
        text = pattern.sub(lambda found: "\n" * len(found[0]), text)
    return QUOTATION.sub(lambda found: _mask(found[0]) if _is_speech(found[0]) else found[0], text)


def _mask(words: str) -> str:
    return MASK * len(words)


def _is_speech(quotation: str) -> bool:
    words = len(quotation.split())
    return words > MAX_QUOTED_TITLE_WORDS or FIRST_PERSON.search(quotation) is not None


def strip_question(sentence: str) -> str:
    """The part of a sentence before a question; all of it if there is none."""
    tail = QUESTION_TAIL.search(sentence)
    if tail:
        return sentence[: tail.start()]
    return "" if sentence.endswith("?") else sentence


def split_clauses(sentence: str) -> Iterator[str]:
    """Yield the clauses that assert something, without their lead-ins."""
    rest, is_hypothetical = strip_question(sentence), False
    begin = 0
    for end, following in _find_breaks(rest):
        piece, begin = rest[begin:end], following
        words = strip_lead_in(piece.strip(' ,.!?;:"”')) if len(piece) <= MAX_CLAUSE_CHARS else ""
        if words and not is_hypothetical and not UNSURE.search(words):
            yield words
        is_hypothetical = is_hypothetical or HYPOTHETICAL_OR_REPORTED.search(piece) is not None


def _find_breaks(sentence: str) -> Iterator[tuple[int, int]]:
    for found in CLAUSE_BREAK.finditer(sentence):
        yield found.start(), found.end()
    yield len(sentence), len(sentence)


def strip_lead_in(words: str) -> str:
    """Remove phrases such as "well," or "by the way," from the start."""
    while found := LEAD_IN.match(words) or VOCATIVE.match(words):
        words = words[found.end() :]
    return words.strip()
