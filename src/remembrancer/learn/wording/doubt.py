"""Reasons why words with a good quote may not mean what a memory says. No I/O.

The checks know English, German, Spanish and French wording, and doubt nothing in other languages.
They are cheap and can be wrong: a doubtful memory is to be confirmed, not rejected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from remembrancer.learn.wording.passage import Passage, find_passage, find_terms, shared_terms
from remembrancer.learn.wording.word_list import (
    WordList,
    list_languages,
    load_word_lists,
    straighten,
)
from remembrancer.search.language import Language, detect_language

MAX_WORDS_TO_CORRECTION = 4
"""Words between a quote and a correction of it."""

MAX_TAKEN_BACK_CHARS = 80
"""How far after a quote a phrase may stand that takes it back."""

MIN_LITERAL_SHARE = 0.6
"""Share of a memory's words that a quote must contain for the memory to be literal."""

MAX_SHORT_CLAUSE_WORDS = 3
"""Up to this length, a clause goes on with the clause before it: "…, on Mill Street"."""

_BREAK = re.compile(r"[;:!?…–—\n]+|[,.](?!\d)|\s-\s|[.,]$")
_NUMBER = re.compile(r"\d+")
_ALL = frozenset(Language)


class Doubt(StrEnum):
    """Why a memory needs to be confirmed; the values are stored."""

    CORRECTED = "corrected"
    HYPOTHETICAL = "hypothetical"
    NEGATED = "negated"
    PAST = "past"
    PLANNED = "planned"
    OTHER_PERSON = "other_person"
    IRONY = "ironic"
    QUOTED = "quoted"
    UNSUPPORTED = "unsupported"
    UNGROUNDED = "names_or_numbers"
    DATES = "dates"
    LOW_CONFIDENCE = "low_confidence"


@dataclass(frozen=True, slots=True)
class _Claim:
    """A memory, whom it is about, and what was said later."""

    content: str
    about: str
    said_later: str
    languages: frozenset[Language]
    terms: frozenset[str]

    def has(self, *names: str) -> bool:
        """True if the memory has a word of one of the lists."""
        return any(_list(one).search(self.content, self.languages) for one in names)


def find_doubt(
    content: str, quotes: Sequence[str], context: str, *, about: str = "user", said_later: str = ""
) -> Doubt | None:
    """The first reason to doubt that the quoted words mean what a memory says.

    `context` holds the own words of the quoted turns, `about` is "user" or a name, and
    `said_later` holds what the person said in the turns after them.
    """
    claim = _build_claim(content, about, said_later, context)
    passages = [find_passage(one, context) for one in quotes if one.strip()]
    for doubt, applies in _CHECKS.items():
        if passages and applies(claim, passages, list_languages(context)):
            return doubt
    return None


def is_denied(content: str, quotes: Sequence[str], context: str) -> bool:
    """True if the quoted words deny what a memory states, or the other way round."""
    claim = _build_claim(content, "user", "", context)
    passages = [find_passage(one, context) for one in quotes if one.strip()]
    return bool(passages) and _is_negated(claim, passages, list_languages(context))


def _build_claim(content: str, about: str, said_later: str, context: str) -> _Claim:
    plain = straighten(content)
    terms = find_terms(plain) - find_terms(about)
    return _Claim(plain, about, straighten(said_later), list_languages(plain, context), terms)


def _list(name: str) -> WordList:
    return load_word_lists("doubt.toml")[name]


def _split_clauses(text: str, languages: frozenset[Language]) -> list[str]:
    for language, pattern in _list("conjunction").patterns.items():
        if language in languages:
            text = pattern.sub("\n", text)
    return [one.strip() for one in _BREAK.split(text) if one.strip()]


def _is_about_clauses(claim: _Claim, clauses: Sequence[str], others: Sequence[str]) -> bool:
    """True if a memory shares terms with some clauses, and with no others."""
    shared = shared_terms(claim.terms, find_terms(" ".join(clauses)))
    elsewhere = shared_terms(claim.terms - shared, find_terms(" ".join(others)))
    times = (one[0] for one in _list("time").find_all(claim.content, _ALL))
    return bool(shared - find_terms(" ".join(times))) and not elsewhere


# ---- Corrected


def _is_corrected(
    claim: _Claim, passages: Sequence[Passage], languages: frozenset[Language]
) -> bool:
    """True if the words are taken back in the same turn, or a value of theirs later."""
    quotes = [one.quote for one in passages]
    return _has_denied_number(claim, passages) or any(
        _is_corrected_after(claim, one, quotes, languages)
        or _is_corrected_within(claim, one, languages)
        or _is_taken_back(claim, one, languages)
        for one in passages
    )


def _has_denied_number(claim: _Claim, passages: Sequence[Passage]) -> bool:
    """True if the person denies a number of the memory: "not the 28th"."""
    denied: set[str] = set()
    for text in (claim.said_later, *(one.later for one in passages)):
        found = _list("not_value").find_all(text, list_languages(text))
        denied |= {number for one in found for number in _NUMBER.findall(one[0])}
    return bool(denied & set(_NUMBER.findall(claim.content)))


def _is_corrected_after(
    claim: _Claim, passage: Passage, quotes: Sequence[str], languages: frozenset[Language]
) -> bool:
    """True if a correction follows the quote, and the memory has nothing of what it says."""
    found = _find_correction(passage.later, languages)
    if found is None or any(one in passage.later[found.end() :] for one in quotes):
        return False
    skipped = passage.later[: found.start()]
    if len(skipped.split()) > MAX_WORDS_TO_CORRECTION:
        return False
    old = " ".join((passage.quote + skipped).split()[-6:])
    new = " ".join(passage.later[found.end() :].split()[:8])
    at_once = not skipped.strip(" ,.…-–")
    return not _states_new(claim, old, new) and _concerns(claim, old, languages, at_once=at_once)


def _states_new(claim: _Claim, old: str, new: str) -> bool:
    """True if the memory has the corrected value: its numbers if there are any, else its words."""
    before = set(_NUMBER.findall(old))
    numbers = set(_NUMBER.findall(new)) - before
    if numbers and before:
        return bool(numbers & set(_NUMBER.findall(claim.content)))
    return bool(claim.terms & (find_terms(new) - find_terms(old)))


def _concerns(
    claim: _Claim, corrected: str, languages: frozenset[Language], *, at_once: bool
) -> bool:
    """True if the memory has corrected words; across languages, if the correction came at once."""
    if shared_terms(claim.terms, find_terms(corrected)):
        return True
    return at_once and detect_language(claim.content) not in (None, *languages)


def _find_correction(text: str, languages: frozenset[Language]) -> re.Match[str] | None:
    """The first correction that begins a clause."""
    found = (
        one
        for one in _list("correction").find_all(text, languages)
        if text[: one.start()].rstrip()[-1:] in ("", ",", ".", ";", "-", "–", "—", "…", "!", ":")
    )
    return min(found, key=lambda one: one.start(), default=None)


def _is_corrected_within(claim: _Claim, passage: Passage, languages: frozenset[Language]) -> bool:
    """True if the memory has a number from before a correction, and none from after it."""
    found = _find_correction(passage.quote, languages)
    if found is None:
        return False
    old = set(_NUMBER.findall(passage.quote[: found.start()]))
    new = set(_NUMBER.findall(passage.quote[found.end() :])) - old
    numbers = set(_NUMBER.findall(claim.content))
    return bool(old & numbers and new and not new & numbers)


def _is_taken_back(claim: _Claim, passage: Passage, languages: frozenset[Language]) -> bool:
    near = passage.later[:MAX_TAKEN_BACK_CHARS]
    found = _list("taken_back").search(near, languages)
    return found is not None and not claim.has("ended", "over", "negation", "hedge")


# ---- Hypothetical


def _is_hypothetical(
    claim: _Claim, passages: Sequence[Passage], languages: frozenset[Language]
) -> bool:
    """True if the quote is part of a condition, and the memory states it without one."""
    if _list("hedge").search(claim.content, claim.languages) and not claim.has("plan_word"):
        return False
    return all(
        _is_unreal(one, languages) or _is_conditional(claim, one, languages) for one in passages
    )


def _is_unreal(passage: Passage, languages: frozenset[Language]) -> bool:
    """True if the quote overlaps a condition and what would follow, up to a "but"."""
    sentence, start = passage.sentence, len(passage.before)
    contrasts = [one.start() for one in _list("contrast").find_all(sentence, languages)]
    return any(
        one.start() < start + len(passage.quote)
        and start < min((at for at in contrasts if at > one.start()), default=len(sentence))
        for one in _list("unreal").find_all(sentence, languages)
    )


def _is_conditional(claim: _Claim, passage: Passage, languages: frozenset[Language]) -> bool:
    """True if a condition stands right before the quote, and the memory calls it a plan."""
    starts = passage.before.lstrip().casefold()
    found = any(
        pattern.match(starts)
        for language, pattern in _list("condition").patterns.items()
        if language in languages
    )
    ends = _list("contrast").search(starts, languages)
    return found and not ends and claim.has("plan_word")


# ---- Negated


def _is_negated(claim: _Claim, passages: Sequence[Passage], languages: frozenset[Language]) -> bool:
    """True if the quote denies what the memory states, or the other way round."""
    if _count_negations(claim.content, claim.languages):
        return _denies_quotes(claim, passages, languages)
    clauses = [one for passage in passages for one in _split_clauses(passage.quote, languages)]
    denied = [one for one in clauses if _count_negations(one, languages) == 1]
    if _opposes(claim, denied):
        return False
    others = [one for one in clauses if one not in denied]
    if not _is_same_language(claim, " ".join(one.quote for one in passages)):
        return bool(denied) and not others and _shares_name(claim, denied)
    return _is_about_clauses(claim, denied, others)


def _opposes(claim: _Claim, denied: Sequence[str]) -> bool:
    """True if a memory has an opposing word that the denied clauses do not repeat."""
    known = find_terms(" ".join(denied))
    found = _list("opposition").find_all(claim.content, claim.languages)
    words = [find_terms(one[0]) for one in found]
    return any(shared_terms(one, known) != one or not one for one in words)


def _denies_quotes(
    claim: _Claim, passages: Sequence[Passage], languages: frozenset[Language]
) -> bool:
    """True if a memory negates, and the words it repeats do not."""
    said = " ".join(one.sentence for one in passages)
    if not _is_same_language(claim, said) or _count_negations(claim.content, claim.languages) > 1:
        return False
    opposing = _list("opposition").search(said, languages) or claim.has("opposition")
    if opposing or _BREAK.search(claim.content) or _list("negation").search(said, languages):
        return False
    return len(shared_terms(claim.terms, find_terms(said))) >= MIN_LITERAL_SHARE * len(claim.terms)


def _count_negations(text: str, languages: frozenset[Language]) -> int:
    """Count negations; in Spanish and French, several in one clause are one."""
    total = 0
    for language in languages:
        only = frozenset({language})
        harmless = [one.span() for one in _list("no_negation").find_all(text, only)]
        found = [
            one
            for one in _list("negation").find_all(text, only)
            if not any(start <= one.start() < end for start, end in harmless)
        ]
        concord = language in (Language.SPANISH, Language.FRENCH)
        total = max(total, min(len(found), 1) if concord else len(found))
    return total


def _is_same_language(claim: _Claim, text: str) -> bool:
    mine, theirs = detect_language(claim.content), detect_language(text)
    return mine is None or theirs is None or mine == theirs


def _shares_name(claim: _Claim, clauses: Sequence[str]) -> bool:
    names = " ".join(re.findall(r"(?<!^)\b(?:[A-ZÀ-Þ]\w+|\w*\d\w*)\b", claim.content))
    times = " ".join(one[0] for one in _list("time").find_all(names, _ALL))
    mine = find_terms(names) & claim.terms - find_terms(times)
    return bool(shared_terms(mine, find_terms(" ".join(clauses))))


# ---- Past


def _is_past(claim: _Claim, passages: Sequence[Passage], languages: frozenset[Language]) -> bool:
    """True if the quote ends what the memory states as still so."""
    if claim.has("ended", "ended_clause", "over", "negation", "changed_mind", "opposition"):
        return False
    clauses = [one for passage in passages for one in _split_clauses(passage.quote, languages)]
    ended = [one for one in clauses if _find_ended(one, languages)]
    changed = [one for one in clauses if _list("changed_mind").search(one, languages)]
    if changed:
        others = " ".join(one for one in clauses if one not in changed)
        return not shared_terms(claim.terms, find_terms(others))
    objects = [_find_ended(one, languages) for one in ended]
    return _is_about_clauses(claim, objects, [one for one in clauses if one not in ended])


def _find_ended(clause: str, languages: frozenset[Language]) -> str:
    """The words that name what ended."""
    if _list("ended_clause").search(clause, languages):
        return clause
    found = _list("ended").search(clause, languages)
    return clause[found.end() :] or clause if found else ""


# ---- Planned


def _is_planned(claim: _Claim, passages: Sequence[Passage], languages: frozenset[Language]) -> bool:
    """True if the memory states as done or certain what is planned or considered."""
    return _is_uncertain(claim, passages, languages) or _is_not_done(claim, passages)


def _is_uncertain(
    claim: _Claim, passages: Sequence[Passage], languages: frozenset[Language]
) -> bool:
    if claim.has("hedge", "uncertain"):
        return False
    clauses = [one for passage in passages for one in _split_clauses(passage.quote, languages)]
    unsure = {n for n, one in enumerate(clauses) if _list("uncertain").search(one, languages)}
    unsure |= {n - 1 for n in unsure if n and _is_aside(clauses[n], languages)}
    unsure |= {n + 1 for n in unsure if n + 1 < len(clauses) and _is_short(clauses[n + 1])}
    if not unsure:
        return False
    certain = " ".join(one for n, one in enumerate(clauses) if n not in unsure)
    return not shared_terms(claim.terms, find_terms(certain))


def _is_aside(clause: str, languages: frozenset[Language]) -> bool:
    """True for a clause such as "who knows", which is about the clause before it."""
    cues = [one[0] for one in _list("uncertain").find_all(clause, languages)]
    return find_terms(clause) <= find_terms(" ".join(cues))


def _is_short(clause: str) -> bool:
    return len(clause.split()) <= MAX_SHORT_CLAUSE_WORDS


def _is_not_done(claim: _Claim, passages: Sequence[Passage]) -> bool:
    """True if a memory says that something happened, and no verb of the quotes is in the past."""
    if not claim.has("done"):
        return False
    said = " ".join(one.quote for one in passages)
    language = detect_language(said) or detect_language(passages[0].earlier + passages[0].later)
    known = frozenset({language} if language else ())
    tells_end = any(_list(one).search(said, known) for one in ("past_tense", "negation"))
    return bool(known) and not tells_end


# ---- Other person


def _is_about_other(
    claim: _Claim, passages: Sequence[Passage], languages: frozenset[Language]
) -> bool:
    """True if a memory about the user quotes a sentence about somebody else."""
    if claim.about != "user" or claim.has("mentioned_person"):
        return False
    if any(_has_subject_from(claim, one) for one in passages):
        return False
    return all(_has_other_subject(claim, one, languages) for one in passages)


def _has_subject_from(claim: _Claim, passage: Passage) -> bool:
    """True if a memory begins with a subject that the turn speaks of: "Boiler was repaired"."""
    subjects = (one.match(claim.content) for one in _list("other_subject").patterns.values())
    words = " ".join(one[0].rsplit(" ", 1)[0] for one in subjects if one)
    return bool(shared_terms(find_terms(words), find_terms(passage.earlier + passage.sentence)))


def _has_other_subject(claim: _Claim, passage: Passage, languages: frozenset[Language]) -> bool:
    quote = passage.quote
    if _has_named_subject(claim, quote, languages):
        return True
    relative = _list("relative_subject").search(quote, languages)
    if relative:
        rest = quote[: relative.start()] + quote[relative.end() :]
        return not _list("first_person").search(rest, languages)
    if any(_list(one).search(quote, languages) for one in ("first_person", "naming")):
        return False
    if _list("third_person").search(quote, languages):
        return True
    return _is_third_person_last(passage.before, languages)


def _is_third_person_last(before: str, languages: frozenset[Language]) -> bool:
    """True if the last subject before a quote without one is a third person."""
    third = [one.start() for one in _list("third_person").find_all(f"{before} ", languages)]
    first = [one.start() for one in _list("first_person").find_all(before, languages)]
    return bool(third) and max(third) > max(first, default=-1)


def _has_named_subject(claim: _Claim, quote: str, languages: frozenset[Language]) -> bool:
    """True if a literal memory leaves out the name that its quote begins with."""
    named = any(
        pattern.match(quote)
        for language, pattern in _list("name_subject").patterns.items()
        if language in languages
    )
    if not named or _list("first_person").search(quote, languages):
        return False
    name = find_terms(quote.replace("'", " ").split()[0])
    literal = shared_terms(claim.terms, find_terms(quote) - name)
    return bool(name) and not shared_terms(name, claim.terms) and literal == claim.terms


# ---- Irony


def _is_ironic(claim: _Claim, passages: Sequence[Passage], languages: frozenset[Language]) -> bool:
    """True if the quote praises what is unpleasant, and the memory takes it at its word."""
    return claim.has("liking") and any(_sounds_ironic(one, languages) for one in passages)


def _sounds_ironic(passage: Passage, languages: frozenset[Language]) -> bool:
    around = f"{passage.earlier[-60:]} {passage.sentence} {passage.later[:60]}"
    gushing = _list("gushing").search(passage.quote, languages)
    praised = _BREAK.split((passage.quote + passage.after)[gushing.end() :])[0] if gushing else ""
    if _list("unpleasant").search(praised, languages):
        return True
    if _list("stock_irony").search(passage.quote, languages):
        return True
    return bool(gushing and _list("stock_irony").search(around, languages))


_CHECKS: dict[Doubt, Callable[[_Claim, Sequence[Passage], frozenset[Language]], bool]] = {
    Doubt.CORRECTED: _is_corrected,
    Doubt.HYPOTHETICAL: _is_hypothetical,
    Doubt.NEGATED: _is_negated,
    Doubt.PAST: _is_past,
    Doubt.PLANNED: _is_planned,
    Doubt.OTHER_PERSON: _is_about_other,
    Doubt.IRONY: _is_ironic,
}
