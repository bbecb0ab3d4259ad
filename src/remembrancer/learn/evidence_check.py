"""Whether something that a conversation seems to tell may be remembered. Pure.

What a model answers is untrusted: nothing of it counts that the person's own words do not bear out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

from remembrancer.learn.extracted import Candidate
from remembrancer.learn.transcript import Transcript, holds
from remembrancer.profiles import Learning
from remembrancer.search.terms import query_terms, terms
from remembrancer.types import Permanence

SUPPORTED = 0.5
"""The share of a memory's words that the person must have used themselves."""

ECHOED = 0.6
"""The share of its words from which on someone else is taken to have said it."""

_NAME_OR_NUMBER = re.compile(r"(?<![.!?:] )(?<!^)\b[A-Z][\w’'-]+|\b\w*\d\w*\b")
_FILLER = frozenset(
    query_terms(
        "user person they their them theirs who says said wants has yes no not ok okay exactly "
        "right sure thanks thank please great good nice fine well hello hi bye helps help years old"
    )
)
_NEGATION = re.compile(
    r"\b(?:no|not|never|nor|neither|none|nothing|without|cannot|\w+n['’]t|dont|cant)\b", re.I
)
_AGAINST = re.compile(
    r"\b(?:stop|quit|hat|dislik|avoid|allerg|intoleran|refus|declin|lack|against|instead|rather"
    r"|other than|only|left|leav|former|gave up|free|un\w|non|anti|despis|detest|loath|fear"
    r"|afraid|ended|no longer|exclud|except|skip|forg[eo]t|lost)",
    re.I,
)
_REQUEST = re.compile(
    r"\s*(?:(?:please|hi|hello|hey|ok(?:ay)?|so|and|now|then)[\s,!.]+)*"
    r"(?:(?:tell|show|give|send|help|remind|teach|find|get|let|write|make) (?:me|us)\b"
    r"|(?:explain|write|translate|summari[sz]e|describe|list|suggest|recommend|create|draft|fix)\b"
    r"|(?:can|could|would|will) you\b)",
    re.IGNORECASE,
)


class Reason(StrEnum):
    """Why something was not remembered."""

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
    REFUSED = "refused"


def objection(
    candidate: Candidate, said: Transcript, known: Iterable[str], learning: Learning
) -> Reason | None:
    """Why a candidate must not be remembered, or None; `known` is what is remembered already."""
    cited = [said.turn(one) for one in candidate.turns]
    turns = [one for one in cited if one is not None]
    if not turns or len(turns) < len(cited):
        return Reason.UNKNOWN_TURN
    if not all(one.id in said.own for one in turns):
        return Reason.NOT_BY_THE_PERSON
    if not any(one.position >= said.new_from for one in turns):
        return Reason.NOTHING_NEW
    own = "\n".join(said.own[one.id] for one in turns)
    if not holds(own, candidate.quote):
        echoed = any(holds(one.content, candidate.quote) for one in turns)
        return Reason.ECHO if echoed else Reason.NO_SUCH_QUOTE
    return _in_substance(candidate, own, [*said.by_others, *known], learning)


def _in_substance(
    candidate: Candidate, own: str, others: list[str], learning: Learning
) -> Reason | None:
    if _is_request(candidate.quote):
        return Reason.ASKED_NOT_SAID
    if not _telling(candidate.content):
        return Reason.PASSING
    if candidate.permanence is Permanence.EPHEMERAL:
        return Reason.PASSING
    if candidate.confidence < learning.minimum_confidence:
        return Reason.UNSURE
    supported = covered(candidate.content, own)
    echoed = max((covered(candidate.content, one) for one in others), default=0.0)
    if echoed >= ECHOED and echoed > supported:
        return Reason.ECHO
    if supported < SUPPORTED or _is_turned_round(candidate.content, candidate.quote):
        return Reason.UNSUPPORTED
    return Reason.INVENTED if invented(candidate.content, own) else None


def _is_request(quote: str) -> bool:
    """Whether it asks for something rather than tells something."""
    return bool(_REQUEST.match(quote)) or quote.rstrip(" \"'”’)").endswith("?")


def _telling(content: str) -> list[str]:
    return [one for one in query_terms(content) if one not in _FILLER]


def covered(content: str, text: str) -> float:
    """The share of the telling words of a memory that a text has too."""
    telling = _telling(content)
    if not telling:
        return 0.0
    words = set(terms(text))
    return sum(one in words for one in telling) / len(telling)


def invented(content: str, text: str) -> list[str]:
    """The names and numbers of a memory that a text does not have."""
    words = set(terms(text))
    told = _NAME_OR_NUMBER.findall(content)
    return [one for one in told if not set(terms(one)) <= words]


def negations(text: str) -> int:
    """How often a text says no: what covers its words may still say the opposite."""
    return len(_NEGATION.findall(text))


def _is_turned_round(content: str, quote: str) -> bool:
    """Whether one of them says no and the other does not even say something like it."""
    either = negations(content), negations(quote)
    against = _AGAINST.search(content), _AGAINST.search(quote)
    return any(
        one and not other and not like
        for one, other, like in zip(either, reversed(either), reversed(against), strict=True)
    )
