"""Decides if a redacted text says anything besides a secret. Pure."""

from __future__ import annotations

import re

from remembrancer.guard.patterns import one_of
from remembrancer.guard.secrets.ascii_view import fold_accents
from remembrancer.guard.secrets.redact import SECRET_KINDS
from remembrancer.guard.secrets.wording import pattern_of

MAX_CLAIM_CHARS = 300

_PLACEHOLDER = re.compile(rf"\[secret: (?:{'|'.join(sorted(SECRET_KINDS))})\]")
_LIST = re.compile(r"\x00(?:(?:[\s,;/&]|\band\b|\bund\b|\by\b|\bet\b|\be\b)*\x00)+")
_COMMON_NAME = one_of(
    "pass_?words? pass_?phrases? pass_?codes? passwd pwd pass pins? passwort kennwort contraseña "
    "mot_de_passe parola senha wachtwoord tokens? secrets? credentials? keys? api_?keys? codes? "
    "cvv cvc otp puk combination combo seed_?phrases? recovery_words cards? card_numbers? logins?"
)
_NAMED = ("passwords", "weak_passwords", "codes", "open_codes", "recovery_codes", "seed_phrases")
_NAME = rf"(?:{_COMMON_NAME}|{pattern_of(*_NAMED)})"
# The word before the name of a secret belongs to the name if it begins no clause of its own.
_WORD = (
    r"(?!(?:and|but|because|so|i|we|he|she|they|you|who|which|that|is|are|was|were|has|have|had|with"
    r"|und|aber|weil|ich|wir|y|pero|porque|et|mais|ma|perché)\b)[\w'’.@-]+"
)
_QUALIFIER = rf"(?:{_WORD} ){{0,5}}?(?:[\w.-]*[_.-])?"
_PLACE = (
    r"(?: (?:for|to|of|on|at|in|from|für|zu|zum|zur|von|vom|beim|bei|para|de|del|en|pour|du|des|per"
    rf"|di|della)(?: {_WORD}){{1,6}}?){{0,2}}"
)
_IS = (
    r"(?:(?:'s|’s| is| was| are| were| ist| sind| lautet| lauten| es| son| est| sont"
    r"| c'est| è| sono| era| war| equals)(?: now| jetzt| ahora| maintenant| adesso)?:?|\s*[:=]|)"
)
_OPENING = (
    r"(?:(?:please|and|also|so|ok|okay|hi|hello|btw|by the way|fyi|note|remember|remember that"
    r"|note that|keep in mind|save|store|for the record|just so you know)[,:]? )*"
)
_CHANGE = (
    r"(?: (?:has |was |just |is |got )*(?:changed|reset|updated|new)(?: [\w-]+){0,3}[,;:.]? "
    r"(?:and )?(?:now )?(?:it|the new one)(?:'s|’s| is)(?: now)?)"
)
_CLAIMS = tuple(
    re.compile(fold_accents(rf"{_OPENING}{claim}(?: too| again| now| please)?"), re.IGNORECASE)
    for claim in (
        "\x00",
        rf"{_QUALIFIER}{_NAME}{_PLACE}(?:{_IS}|{_CHANGE}) ?\x00",
        rf"{_QUALIFIER}{_NAME}{_PLACE}{_IS} ?\x00,?(?: with| and| the| its)* {_NAME}{_IS} ?\x00",
        rf"(?:i|we)(?: have|['’]ve)?(?: just)? (?:changed|reset) {_QUALIFIER}{_NAME}{_PLACE}[,;:.]?"
        r" (?:and )?(?:now )?(?:it|the new one)(?:'s|’s| is)(?: now)? \x00",
        rf"\x00{_IS} {_QUALIFIER}{_NAME}{_PLACE}",
        rf"\x00 with {_QUALIFIER}{_NAME}{_IS} ?\x00(?:{_IS} {_QUALIFIER}{_NAME})?{_PLACE}",
        r"(?:(?:i|we|he|she|they) )?(?:(?:always|usually|still) )?(?:uses?|logs? in|signs? in"
        r"|logs? on|unlocks? [\w ]+)(?: with| using)? \x00"
        rf"(?: as {_QUALIFIER}{_NAME})?{_PLACE}",
        rf"(?:ich )?(?:nutze|benutze|melde mich mit|logge mich mit) \x00 als {_QUALIFIER}{_NAME}"
        r"(?: an| ein)?",
        rf"(?:yo |je |io )?(?:uso|utilizo|utilise|j['’]utilise) \x00 (?:como|comme|come) "
        rf"{_QUALIFIER}{_NAME}",
    )
)
_CAUTION = re.compile(
    r"(?:please )?(?:keep|store|save|remember|note|write|tell|share|do not|don[’']t|never|forget"
    r"|that|this|it)\b.{0,40}",
    re.IGNORECASE,
)
_SENTENCE_GAP = re.compile(r"(?<=[.!?])\s+|\n+")


def is_bare_secret(text: str) -> bool:
    """True for a text with a placeholder that only says what the secret is for."""
    folded = fold_accents(text.replace("\x00", " "))
    marked = _LIST.sub("\x00", _PLACEHOLDER.sub("\x00", folded))
    sentences = [one.strip(" \t.!?:;,\"'“”()") for one in _SENTENCE_GAP.split(marked)]
    told = [one for one in sentences if "\x00" in one]
    others = [one for one in sentences if one and "\x00" not in one]
    return bool(told) and all(map(_is_claim, told)) and all(map(_CAUTION.fullmatch, others))


def _is_claim(sentence: str) -> bool:
    return len(sentence) <= MAX_CLAIM_CHARS and any(claim.fullmatch(sentence) for claim in _CLAIMS)
