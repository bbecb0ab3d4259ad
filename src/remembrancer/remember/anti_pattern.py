"""Words a warning against a rule, and finds the rule in a warning. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from remembrancer.agreement.lexicon import look_up, stem
from remembrancer.search.language import FUNCTION_WORDS, Language

_FOREIGN_WORDS = frozenset().union(*FUNCTION_WORDS.values()) - FUNCTION_WORDS[Language.ENGLISH]
_WARNING = re.compile(
    r"ANTI-PATTERN: Do NOT (?:follow “(?P<quoted>.+?)”|(?P<advice>.+?))[.!]?"
    r"(?: This caused problems because: .*)?",
    re.I | re.S,
)
_BEGINS_NO_COMMAND = re.compile(
    r"(?:always|please|kindly|just|only|also|when(?:ever)?|if|once|while|unless|because|since|"
    r"before|after|until|for|in|on|at|with|to|from|by|as|instead|make sure|be sure|"
    r"i|you|we|it|they|he|she|there|this|that|these|those|the|an?|my|your|our|his|her|its|their|"
    r"all|any|each|every\w*|some\w*|what|who|which|where|how|why)\b",
    re.I,
)
_READS_AMISS = re.compile(
    r"\b(?:not|no|none|nothing|nobody|nor|never|avoid|without|should|must|shall|is|are)\b"
    r"|n['’]t\b|[“”\n]|[.!?;:]\s",
    re.I,
)
"""Words after which "Do NOT" turns the meaning or makes no sentence, and a second sentence."""


def format_warning(content: str, reasons: Iterable[str]) -> str:
    """A harmful rule as a warning, with the reasons.

    Only a plain English command can follow "Do NOT"; any other rule is quoted.
    """
    advice = content.strip().rstrip(".!")
    is_plain = _is_plain_command(advice)
    warned = advice[0].lower() + advice[1:] if is_plain else f"follow “{advice}”"
    known = list(dict.fromkeys(reason.strip().rstrip(".") for reason in reasons))
    because = f" This caused problems because: {'; '.join(known)}." if known else ""
    return f"ANTI-PATTERN: Do NOT {warned}.{because}"


def find_rule(warning: str) -> str | None:
    """The rule that a warning is against, without its last stop; None if it is no warning."""
    found = _WARNING.fullmatch(warning.strip())
    return found and (found["quoted"] or found["advice"])


def _is_foreign(advice: str) -> bool:
    words = {word.strip(".,;:!?()\"'") for word in advice.casefold().split()}
    return not advice.replace("’", "'").isascii() or not _FOREIGN_WORDS.isdisjoint(words)


def _is_plain_command(advice: str) -> bool:
    """True for a rule that begins with an English verb; False if in doubt."""
    first = advice.partition(" ")[0]
    is_capitalised = first[1:] == first[1:].lower()
    is_plural = first.endswith("s") and not first.endswith(("ss", "us"))
    if not is_capitalised or is_plural or _is_foreign(advice):
        return False
    if _BEGINS_NO_COMMAND.match(advice) or _READS_AMISS.search(advice):
        return False
    return look_up((stem(first.lower()),)) is not None
