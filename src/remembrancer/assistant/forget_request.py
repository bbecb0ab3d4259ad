"""Recognises requests to forget everything, without a model. Pure.

It need not recognise all of them: a model can, and the assistant asks in any case before it
forgets everything.
"""

from __future__ import annotations

import re

from remembrancer.remember.all_memories import names_everything

MAX_REQUEST_CHARS = 200

_COMMAND = re.compile(r"/forget(?:\s+(?P<what>.+))?", re.I | re.S)
_LEADS = (
    r"hey|hi|hello|ok(?:ay)?|please|now|just|kindly|(?:can|could|would|will) you",
    r"i(?: would|['’]d)? (?:want|like) you to",
    r"bitte|kannst du|könntest du|würdest du|ich (?:will|möchte), dass du",
    r"por favor|puedes|podrías|quiero que",
    r"s['’]il (?:te|vous) pla[iî]t|(?:peux|pourrais)[ -]tu|pouvez[ -]vous|je veux que tu",
    r"per (?:favore|piacere)|puoi|potresti|voglio che tu",
)
_VERBS = r"forget|delete|erase|wipe(?: out)?|clear(?: out)?|remove|purge|destroy|drop|get rid of"
_OTHER_VERBS = "|".join(
    (
        r"vergiss|vergesst|vergessen|vergisst|lösch(?:e|en|st|t)?|loesche|entfern(?:e|en|st)",
        r"olvida(?:te|r|s)?|olvídate|olvides|borra(?:r|s)?|borres|elimina(?:r|s)?|elimines|suprime",
        r"oublie(?:r|s|z)?|efface(?:r|s|z)?|supprime(?:r|s|z)?",
        r"dimentica(?:re|ti)?|dimentichi|cancella(?:re)?|cancelli|rimuovi|rimuovere",
    )
)
_LEAD = rf"(?:(?:{'|'.join(_LEADS)})[\s,!]+)*"
_VERB_FIRST = re.compile(rf"{_LEAD}(?:{_VERBS}|{_OTHER_VERBS})[\s,:]+(?P<what>.+)", re.I | re.S)
_VERB_LATER = re.compile(
    rf"{_LEAD}(?P<what>.+?)\s+(?:{_OTHER_VERBS})(?P<more>[\s,].+)?", re.I | re.S
)
"""As in "Bitte alles löschen, was du weißt."."""


def asks_to_forget_everything(message: str) -> bool:
    """True for `/forget`, and for a request in words that names everything."""
    request = message.strip().rstrip(" \t\n.!?")
    if len(request) > MAX_REQUEST_CHARS:
        return False
    if command := _COMMAND.fullmatch(request):
        return command["what"] is None or names_everything(command["what"])
    found = (pattern.fullmatch(request) for pattern in (_VERB_FIRST, _VERB_LATER))
    return any(one is not None and names_everything("".join(one.groups(""))) for one in found)
