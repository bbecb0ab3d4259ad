"""Detects the first, second and third person by pronouns and words for relatives, except "we".

The lists have only words that mean nothing else in the languages listed.
"""

from __future__ import annotations

from collections.abc import Iterator

from remembrancer.guard.patterns import compile_pattern

# Lower case and without accents. Left out as ambiguous: "mi", "min", "io", "eu", "ma", "ton", "er".
# The plural is left out: "we" is the team itself.
_FIRST = (
    r"me|my|myself|let's"
    r"|ich|mich|mein|meine[mnrs]?"
    r"|je|moi"
    r"|yo|conmigo"
    r"|mio|miei"
    r"|meus?|minhas?|comigo"
    r"|ik|mij|mijn"
    r"|mnie|moj|moja|moje|mojego"
    r"|jag|jeg|mitt|muj|minun|nekem"
)
_SECOND = (
    r"you|your|yours|yourself|yourselves|y'all|thy|thee"
    r"|du (?:bist|hast|kannst|musst|sollst|willst|wirst|darfst)|dich|dein|deine[mnrs]?"
    r"|euch|euer|eure[mnrs]?"
    r"|tu|toi|vous|votre|vos"
    r"|usted|ustedes|vosotr[oa]s|vuestr[oa]s?|contigo"
    r"|tuo|tua|tuoi|voi|vostr[oaie]"
    r"|voce|voces|teu|teus|tuas"
    r"|jij|jou|jouw|jullie"
    r"|twoj|twoja|twoje|wasz|wasza|wasze|ditt|tvuj"
)
_THIRD = (
    r"he|she|him|his|her|hers|himself|herself|s/he"
    r"|wife|husband|girlfriend|boyfriend|fiancee?|mom|mum|mommy|daddy|grandmother|grandfather"
    r"|grandma|grandpa|aunt|uncle|niece|nephew|stepmother|stepfather|son-in-law|mother-in-law"
    r"|father-in-law|sister-in-law|brother-in-law|daughter-in-law"
)
_BEFORE = r"(?:^|[^a-z0-9_'./-])"
_AFTER = r"(?:$|[^a-z0-9_/-]|[-/](?:$|[^a-z0-9]))"
_I_SAY = (
    r"'(?:m|ve|ll|d)|[ ](?:am|was|have|had|will|would|can|could|should|shall|must|may|might|do|did"
    r"|don't|didn't|can't|won't|think|thought|guess|know|knew|want|wanted|need|needed|like|love"
    r"|hate|prefer|use|used|work|worked|live|lived|said|told|asked|got|get|got|make|made|see|saw"
    r"|feel|felt|hope|believe|remember|forgot|fixed|wrote|found|just|also|always|never|really)"
)
_RULES = (
    ("first-person", rf"(?i){_BEFORE}(?:{_FIRST}){_AFTER}"),
    ("first-person", r"(?:^|[^A-Za-z0-9_'./*-])I(?:'|[ ,;:?!]+[a-z'\"(]|[ ]*[?!,]|$)"),
    ("first-person", rf"(?i)(?:^|[^a-z0-9_'./*-])i(?:{_I_SAY})(?:$|[^a-z0-9_])"),
    ("first-person", r"(?:^|[.!?;] |\bof |\bis |\bare )[Mm]ine(?:$|[ ]+is|[.,;!?])"),
    ("second-person", rf"(?i){_BEFORE}(?:{_SECOND}){_AFTER}"),
    ("third-person", rf"(?i){_BEFORE}(?:{_THIRD}){_AFTER}"),
)
# After these words "I" is a numeral.
_NOT_A_PERSON = (
    r"(?i:phase|part|type|class|level|stage|tier|section|chapter|volume|category|grade|layer"
    r"|mark|war|step|annex|appendix|title|schedule|row|column|variable|index)[ ]+I\b",
    r"(?i:\band|\bor|[,&])[ ]+I(?:[ ]+(?:and|or|errors?)\b|[,;:.]|$)",
    r"\b(?:HE|HIS|IK|JE|ME|MIO|MOM|MUM|MY|TU|VOS|YO)\b",
)


def find_broken_rules(data: bytes) -> Iterator[str]:
    """The names of the broken rules; a rule can occur more than once."""
    if not _is_all_caps(data):
        for harmless in _NOT_A_PERSON:
            data = compile_pattern(harmless).sub(b" # ", data)
    for rule, pattern in _RULES:
        if compile_pattern(pattern).search(data):
            yield rule


def _is_all_caps(data: bytes) -> bool:
    """True if several words are all in capitals, so that capitals carry no meaning."""
    return data.isupper() and data.count(b" ") >= 2
