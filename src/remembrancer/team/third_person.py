"""Restates what a team says of itself, and what it asks of anyone, in the third person. Pure.

"We store" becomes "The team stores", and a general "you need" becomes "One needs". A sentence that
addresses one person, or is not in English, stays as it is.
"""

from __future__ import annotations

import re

from remembrancer.guard.patterns import word_set
from remembrancer.text_format import add_verb_ending

_ADVERBS = (
    r"(?: (?:always|never|also|still|now|then|just|often|sometimes|seldom|all|both|ourselves|ever"
    r"|no longer|already|once|first"
    r"|(?!(?:rely|apply|reply|supply|comply|multiply|fly|imply|rally|tally)\b)[a-z]+ly)\b)*"
)
_PREDICATE = (
    rf"(?P<short>'(?:re|ve|ll|d))\b|(?P<adverbs>{_ADVERBS}) (?P<verb>[A-Za-z]+(?:'t)?)"
    r"(?:(?P<joint> (?:and|or) )(?P<second>[a-z]+)\b)?"
)
_WE = re.compile(rf"\b(?P<subject>[Ww]e)(?:{_PREDICATE})?(?![\w-])")
_CONDITION = (
    r"(?:[Ii]f|[Ww]hen|[Ww]henever|[Oo]nce|[Bb]efore|[Aa]fter|[Uu]nless|[Uu]ntil|[Ww]here|[Ww]hile"
    r"|whether|[Aa]s soon as|so that)"
)
_YOU = re.compile(
    rf"(?:^|, |(?P<condition>\b{_CONDITION} )|\b(?:and|or|but|so|then|because|that|which|what) )"
    rf"(?P<subject>[Yy]ou)\b(?:{_PREDICATE})?(?![\w-])"
)
_LATER_VERB = re.compile(
    r"^([^.,;:!?]*? (?:and|or|but|then) )([a-z]+)(?= (?:it|them|the|an?|our)\b)"
)
_OUR_GROUP = re.compile(
    r"\b([Oo])ur (?=(?:team|company|organi[sz]ation|department|group|firm|studio|crew|club)\b)"
)
_OUR = re.compile(r"\b[Oo]ur\b")
_US = re.compile(r"(?<!\d )(?<![\w.'-])us(?![\w-])")
_SENTENCE_GAP = re.compile(r"(?<=[.!?;])(\s+)")
_FOREIGN = re.compile(r"\b(?:de|het|een|niet|voor|naar|geen|zijn|onze|der|die|und|les|des)\b")

_AUXILIARIES = {
    "are": "is", "were": "was", "have": "has", "do": "does",
    "aren't": "is not", "weren't": "was not", "haven't": "has not", "don't": "does not",
    "didn't": "did not", "hadn't": "had not", "can't": "cannot", "couldn't": "could not",
    "won't": "will not", "wouldn't": "would not", "shouldn't": "should not",
    "mustn't": "must not", "needn't": "need not",
    "'re": "is", "'ve": "has", "'ll": "will", "'d": "would",
}  # fmt: skip
_MODALS = word_set("can cannot could will would shall should must may might")
_PAST = word_set(
    """did had used were weren't didn't hadn't
    became began bought brought broke built came caught chose drew drove fell felt found forgot
    froze gave got went grew heard held hid kept knew laid led left lent lost made meant met paid
    ran rose said sat saw sent sold shook shot slept spent spoke stood stole stuck swept swore
    taught thought threw told took understood was woke won wore wrote"""
)
_PRESENT_IN_ED = word_set(
    "need feed speed proceed exceed embed seed heed succeed bleed breed shed wed weed"
)
_NO_VERBS = word_set(
    """in on at for to with from of by not also only after before during under over into if when as
    so we one both all the a an or and but then it they this that our their its no more less most
    about until since via per than"""
)
_OBLIGATIONS = _MODALS | word_set(
    "can't mustn't shouldn't won't need needn't get pay see find receive"
)
_AFTER_VERB = {
    "have": re.compile(r" (?:to|until|access)\b| \d| [a-z]+ (?:minute|hour|day|week|month)s?\b"),
    "are": re.compile(
        r" (?:not )?(?:required|allowed|permitted|expected|entitled|supposed|charged|asked)\b"
    ),
    "do": re.compile(r" not (?:need|have to|get|pay)\b"),
    "don't": re.compile(r" (?:need|have to|get|pay)\b"),
}
"""What must follow a verb after "you" if it is to hold for anyone."""

_PERSONAL_VERBS = word_set(
    """like love hate prefer live know think feel look seem remember believe hope say tell ask
    work"""
)
_ABOUT_ONE = re.compile(
    r"\b(?:I|me|my|he|she|him|her|his|hers)\b"
    r"|\byour (?:[a-z]+ )?(?:mother|father|mum|mom|dad|wife|husband|son|daughter|kids?|children"
    r"|baby|brother|sister|family|partner|girlfriend|boyfriend|friend|birthday|home|house|flat|health"
    r"|salary|dog|cat|car|age|wedding|boss)\b"
)
_YOUR_DUTY = re.compile(r"Your [a-z]+(?: [a-z]+)? (?:must|may|should|cannot|has to|needs to)\b")
_COMMAND = re.compile(
    r"(?:please |always |never |don't |do not |then |first,? )?(?:add|ask|avoid|back|book|bring"
    r"|change|check|clean|clear|close|commit|delete|disable|disinfect|document|enable|enter|file"
    r"|fill|format|include|install|keep|label|lint|lock|log|mark|merge|move|name|open|park|pull|push"
    r"|put|read|rebase|register|remove|rename|report|restart|return|review|rinse|rotate|run|save"
    r"|scan|send|set|share|show|sign|squash|start|stop|store|submit|switch|tag|take|test|turn|type|update"
    r"|upload|use|wash|wear|write) ",
    re.IGNORECASE,
)


def restate_for_team(text: str) -> str:
    """The text with "we" and a general "you" in the third person, sentence by sentence."""
    pieces = _SENTENCE_GAP.split(text)
    return "".join(piece if piece.isspace() else _restate_sentence(piece) for piece in pieces)


def _restate_sentence(sentence: str) -> str:
    plain = sentence.replace("’", "'")
    if sentence.endswith("?") or _FOREIGN.search(plain):
        return sentence
    restated = _restate_we(plain)
    if _is_for_anyone(restated):
        restated = _restate_you(restated)
    elif _COMMAND.match(restated) and not _ABOUT_ONE.search(restated):
        restated = _replace(r"\byour\b", "the", restated)
    return sentence if restated == plain else restated


def _restate_we(sentence: str) -> str:
    sentence = _OUR_GROUP.sub(lambda found: _match_case("the ", found[1]), sentence)
    subject = _WE.search(sentence)
    start = subject.start() if subject else len(sentence)
    before = _OUR.sub(lambda found: _match_case("the team's", found[0]), sentence[:start])
    after = _restate_verbs(_OUR.sub("its", sentence[start:]), _WE, "the team")
    sentence = _replace(r"\bours\b", "the team's", before + after)
    return _US.sub("the team", _replace(r"\bourselves\b", "itself", sentence))


def _restate_you(sentence: str) -> str:
    sentence = _restate_verbs(sentence, _YOU, "one")
    sentence = _replace(r"\byours?\b", "one's", sentence)
    return _replace(r"\byou\b", "one", _replace(r"\byourself\b", "oneself", sentence))


def _replace(pattern: str, words: str, sentence: str) -> str:
    return re.sub(
        pattern, lambda found: _match_case(words, found[0]), sentence, flags=re.IGNORECASE
    )


def _match_case(words: str, like: str) -> str:
    return words[:1].upper() + words[1:] if like[:1].isupper() else words


def _restate_verbs(sentence: str, subjects: re.Pattern[str], noun: str) -> str:
    """Replace each subject by a noun in the singular, and conjugate the verbs that belong to it."""
    pieces: list[str] = []
    while found := subjects.search(sentence):
        start = found.start("subject")
        pieces += sentence[:start], _match_case(noun, found["subject"]), _restate_clause(found)
        sentence = sentence[found.end() :]
        if _is_plain_present(found["verb"]):
            sentence = _LATER_VERB.sub(
                lambda later: later[1] + _conjugate_later(later[2]), sentence
            )
    return "".join((*pieces, sentence))


def _restate_clause(found: re.Match[str]) -> str:
    if found["short"]:
        return f" {_AUXILIARIES[found['short']]}"
    if not found["verb"]:
        return ""
    adverbs = re.sub(r" (?:all|both|ourselves)\b", "", found["adverbs"])
    verb = found["verb"] if found["verb"] in _NO_VERBS else conjugate(found["verb"])
    second = found["second"] or ""
    if second and _is_plain_present(found["verb"]):
        second = _conjugate_later(second)
    return f"{adverbs} {verb}{found['joint'] or ''}{second}"


def _is_plain_present(verb: str | None) -> bool:
    return bool(verb) and verb not in _AUXILIARIES and conjugate(str(verb)) != verb


def _conjugate_later(word: str) -> str:
    """A verb after "and"; another word stays."""
    is_verb = word not in _NO_VERBS and not word.endswith(("s", "ed", "ing", "ly"))
    return conjugate(word) if is_verb else word


def conjugate(verb: str) -> str:
    """The third person singular of a verb; a past tense and a modal verb stay."""
    if verb in _AUXILIARIES:
        return _AUXILIARIES[verb]
    if verb in _MODALS or _is_past(verb):
        return verb
    return add_verb_ending(verb)


def _is_past(verb: str) -> bool:
    return verb in _PAST or (verb.endswith("ed") and verb not in _PRESENT_IN_ED)


def _is_for_anyone(sentence: str) -> bool:
    """True if "you" means anyone: what one must, can or gets, or a condition."""
    subjects = list(_YOU.finditer(sentence))
    if _ABOUT_ONE.search(sentence) or not (subjects or _YOUR_DUTY.match(sentence)):
        return False
    if any(found["verb"] in _PERSONAL_VERBS or _is_past(found["verb"] or "") for found in subjects):
        return False
    is_condition = any(found["condition"] for found in subjects)
    return is_condition or all(map(_is_obligation, subjects))


def _is_obligation(found: re.Match[str]) -> bool:
    verb = found["verb"] or ""
    if verb in _AFTER_VERB:
        rest = found.string[found.end("verb") :]
        return _AFTER_VERB[verb].match(rest) is not None
    return verb in _OBLIGATIONS
