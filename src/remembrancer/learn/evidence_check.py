"""Checks an extracted fact against the transcript. No I/O.

Model output is untrusted: a fact is accepted only if the user's own words support it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

from remembrancer.learn.extracted_fact import ExtractedFact
from remembrancer.learn.transcript import Transcript, contains_quote
from remembrancer.learn.wording.doubt import is_denied
from remembrancer.profiles import LearningPolicy
from remembrancer.search.terms import extract_query_terms, extract_terms
from remembrancer.types import Permanence

MIN_SUPPORTED_SHARE = 0.5
"""Share of a fact's words that the user must have used."""

MIN_ECHOED_SHARE = 0.6
"""Share of a fact's words from which it counts as said by someone else."""

_NAME_OR_NUMBER = re.compile(r"(?<![.!?:] )(?<!^)\b[A-Z][\w’'-]+|\b\w*\d\w*\b")
_FILLER = frozenset(
    extract_query_terms(
        "user person they their them theirs who says said wants has yes no not ok okay exactly "
        "right sure thanks thank please great good nice fine well hello hi bye helps help years old"
    )
)
_REQUEST_PATTERN = re.compile(
    r"\s*(?:(?:please|hi|hello|hey|ok(?:ay)?|so|and|now|then)[\s,!.]+)*"
    r"(?:(?:tell|show|give|send|help|remind|teach|find|get|let|write|make) (?:me|us)\b"
    r"|(?:explain|write|translate|summari[sz]e|describe|list|suggest|recommend|create|draft|fix)\b"
    r"|(?:can|could|would|will) you\b)",
    re.IGNORECASE,
)


class RejectionReason(StrEnum):
    """Why a fact was rejected; the values are stored."""

    MALFORMED = "malformed"
    UNKNOWN_TURN = "unknown_turn"
    NOT_BY_THE_PERSON = "not_by_the_person"
    NOTHING_NEW = "nothing_new"
    NO_SUCH_QUOTE = "no_such_quote"
    ECHO = "echo"
    ASKED_NOT_SAID = "asked_not_said"
    UNSUPPORTED = "unsupported"
    INVENTED = "invented"
    UNSURE = "unsure"
    PASSING = "passing"
    UNKNOWN_MEMORY = "unknown_memory"
    STANDS = "stands"
    DISMISSED = "dismissed"
    REFUSED = "refused"


def find_objection(
    candidate: ExtractedFact,
    transcript: Transcript,
    remembered: Iterable[str],
    learning: LearningPolicy,
) -> RejectionReason | None:
    """Why a candidate must not be remembered, or None; `remembered` is what is stored already."""
    cited = [transcript.find_turn(one) for one in candidate.turns]
    turns = [one for one in cited if one is not None]
    if not turns or len(turns) < len(cited):
        return RejectionReason.UNKNOWN_TURN
    if not all(one.id in transcript.own_words for one in turns):
        return RejectionReason.NOT_BY_THE_PERSON
    if not any(one.position >= transcript.new_from for one in turns):
        return RejectionReason.NOTHING_NEW
    own = "\n".join(transcript.own_words[one.id] for one in turns)
    if not any(contains_quote(own, one.words) for one in candidate.quotes):
        echoed = any(
            contains_quote(turn.content, one.words) for turn in turns for one in candidate.quotes
        )
        return RejectionReason.ECHO if echoed else RejectionReason.NO_SUCH_QUOTE
    return _find_content_objection(candidate, own, [*transcript.by_others, *remembered], learning)


def _find_content_objection(
    candidate: ExtractedFact, own: str, others: list[str], learning: LearningPolicy
) -> RejectionReason | None:
    if _is_request(candidate.quotes[0].words):
        return RejectionReason.ASKED_NOT_SAID
    if candidate.permanence is Permanence.EPHEMERAL or not _list_content_terms(candidate.content):
        return RejectionReason.PASSING
    if candidate.confidence < learning.minimum_confidence:
        return RejectionReason.UNSURE
    supported = word_coverage(candidate.content, own)
    echoed = max((word_coverage(candidate.content, one) for one in others), default=0.0)
    if echoed >= MIN_ECHOED_SHARE and echoed > supported:
        return RejectionReason.ECHO
    quotes = [one.words for one in candidate.quotes]
    if supported < MIN_SUPPORTED_SHARE or is_denied(candidate.content, quotes, own):
        return RejectionReason.UNSUPPORTED
    return RejectionReason.INVENTED if find_invented(candidate.content, own) else None


def _is_request(quote: str) -> bool:
    return bool(_REQUEST_PATTERN.match(quote)) or quote.rstrip(" \"'”’)").endswith("?")


def _list_content_terms(content: str) -> list[str]:
    return [one for one in extract_query_terms(content) if one not in _FILLER]


def word_coverage(content: str, text: str) -> float:
    """The share of a memory's content words that a text contains, from 0 to 1."""
    terms = _list_content_terms(content)
    if not terms:
        return 0.0
    words = set(extract_terms(text))
    return sum(one in words for one in terms) / len(terms)


def find_invented(content: str, text: str) -> list[str]:
    """The names and numbers of a memory that a text does not contain."""
    words = set(extract_terms(text))
    names = _NAME_OR_NUMBER.findall(content)
    return [one for one in names if not set(extract_terms(one)) <= words]
