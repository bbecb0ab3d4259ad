"""Parses messages that are commands to the memory, without a model. Pure functions.

A message is a command only as a whole; every other message belongs to the conversation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from remembrancer.assistant.forget_request import asks_to_forget_everything
from remembrancer.assistant.forget_topic import PRONOUNS, find_forget_topic
from remembrancer.assistant.next_question import is_clause, split_question
from remembrancer.learn.rules.wish import is_standing_wish, is_wish
from remembrancer.team.request import parse_team_request


@dataclass(frozen=True, slots=True)
class Remember:
    """Remember the content, then answer the question behind it; empty if there is none."""

    content: str
    question: str = ""


@dataclass(frozen=True, slots=True)
class ProposeToTeam:
    """Propose something to the team; an empty content is what the user said last."""

    content: str


@dataclass(frozen=True, slots=True)
class Correct:
    """Replace the memory that this corrects."""

    content: str


@dataclass(frozen=True, slots=True)
class Forget:
    """Forget the memory that is closest to the query."""

    query: str


@dataclass(frozen=True, slots=True)
class DeleteForGood:
    """Forget the memory that is closest to the query, then ask whether to delete it for good."""

    query: str


@dataclass(frozen=True, slots=True)
class ListMemories:
    """List all memories."""


@dataclass(frozen=True, slots=True)
class ForgetAll:
    """Forget everything for good, after a confirmation."""


@dataclass(frozen=True, slots=True)
class Reset:
    """Start a new conversation."""


@dataclass(frozen=True, slots=True)
class Undo:
    """Undo the last change."""


@dataclass(frozen=True, slots=True)
class Explain:
    """List the memories behind the last answer."""


@dataclass(frozen=True, slots=True)
class Help:
    """List what one can say."""


Command = (
    Remember
    | ProposeToTeam
    | Correct
    | Forget
    | DeleteForGood
    | ListMemories
    | ForgetAll
    | Reset
    | Undo
    | Explain
    | Help
)

_POLITE = re.compile(
    r"^(?:(?:hey|hi|ok(?:ay)?|please|(?:can|could|would|will) you(?: please)?)[\s,!]+)+", re.I
)
_REMEMBER = re.compile(
    r"(?:/remember\s+|(?:remember|note|keep in mind|(?:don['’]?t|do not|never) forget|"
    r"make a note)(?:\s+this)?"
    r"(?:\s+(?P<that>that)\s+|\s*:\s*|,\s+|"
    r"\s+(?=(?:my|our|i|i['’]m|we|don['’]?t|do not)\s)))(?P<content>.+)",
    re.I | re.S,
)
_REMEMBER_WISH = re.compile(
    r"(?:remember|note|keep in mind|(?:don['’]?t|do not|never) forget|make a note)\s+"
    r"(?:to\s+)?(?P<wish>.+)",
    re.I | re.S,
)
_CORRECT = re.compile(r"(?:/correct\s+|correction\s*[:,]\s*)(?P<content>.+)", re.I | re.S)
_LIST = re.compile(
    r"/memories|(?:list|show)(?: me)? (?:all )?(?:my|your) memories|"
    r"what (?:all )?(?:do you|have you) (?:remember(?:ed)?|know|learned|stored?)"
    r"(?: (?:about|of) me)?|what do you have (?:stored )?(?:about|on) me",
    re.I,
)
_UNDO = re.compile(
    r"/undo|undo(?: (?:that|it|this|the last (?:one|change)))?|take (?:that|it) back", re.I
)
_WHY = re.compile(
    r"/why|why (?:did|do|would) you say (?:that|so|this)|how do you know(?: (?:that|this|it))?|"
    r"where (?:did you get|do you have) (?:that|this) from|"
    r"what makes you (?:say|think) (?:that|so)",
    re.I,
)
_HELP = re.compile(r"/?help(?: me)?|what can (?:i (?:say|ask)|you do)(?: here)?", re.I)
_RESET = re.compile(r"/reset", re.I)
_FORGET_THIS = re.compile(
    r"(?:please\s+)?(?:forget|delete)\s+(?:about\s+)?(?:it|that|this)(?:\s+memory)?", re.I
)
_FOR_GOOD = re.compile(
    r"(?P<often>permanently\s+)?/?(?:delete|forget|erase|remove)\s+(?P<topic>.+?)"
    r"(?(often)|\s+(?:for (?:good|ever)|forever|permanently|irrevocably))",
    re.I | re.S,
)
_SAVE_REQUEST = re.compile(
    r"(?:^|[.!?;,:\n]\s*|\b(?:please|and|then|also|(?:can|could|would|will) you|bitte|und|"
    r"kannst du|por favor|y|puedes|et|peux-tu|s['’]il te plaît)\s+)"
    r"(?:remember|keep in mind|make a note|note (?:that|this|down)|"
    r"(?:don['’]?t|do not|never) forget|save|store|write (?:this|that|it) down|"
    r"(?:change|update|correct|forget|delete|confirm)\b|"
    r"merk(?:e)? dir|denk(?:e)? daran|notier|speicher|vergiss|änder|korrigier|"
    r"recuerda|anota|guarda|olvida|cambia|corrige|"
    r"souviens-toi|retiens|n['’]oublie pas|enregistre|oublie|modifie)",
    re.I,
)
_YES = re.compile(
    r"(?:yes|y|yep|yeah|sure|ok(?:ay)?|do it|go ahead|confirm|i am sure|i['’]m sure|"
    r"ja|sí|si|oui|sì)"
    r"(?:[\s,]+(?:please|do it|(?:(?:forget|delete|erase|wipe) )?(?:everything|it all)|"
    r"bitte|por favor|s['’]il te plaît|per favore))*",
    re.I,
)
_WHOLE_MESSAGE_COMMANDS: tuple[tuple[re.Pattern[str], Command], ...] = (
    (_LIST, ListMemories()),
    (_UNDO, Undo()),
    (_WHY, Explain()),
    (_RESET, Reset()),
    (_HELP, Help()),
)


def parse_command(text: str) -> Command | None:
    polite = _POLITE.match(text.strip())
    request = text.strip()[polite.end() if polite else 0 :]
    bare = request.rstrip(" \t\n.!?")
    if asks_to_forget_everything(text):
        return ForgetAll()
    for pattern, command in _WHOLE_MESSAGE_COMMANDS:
        if pattern.fullmatch(bare):
            return command
    if told := _parse_remember(request, is_favour=polite is not None):
        return told
    if polite:  # "Can you forget that I like tea?" asks for a favour, not a question.
        request = request.rstrip(" \t\n?")
    elif request.endswith("?"):
        return None
    if (content := parse_team_request(request)) is not None:
        return ProposeToTeam(content)
    if match := _CORRECT.fullmatch(request):
        return Correct(_capitalize_first(match["content"]))
    if match := _FOR_GOOD.fullmatch(bare):
        named = match["topic"].casefold()
        topic = named if named in PRONOUNS else find_forget_topic(f"forget {match['topic']}")
        return None if topic is None else DeleteForGood(topic)
    topic = find_forget_topic(bare)
    return None if topic is None else Forget(topic)


def asks_to_change_memory(text: str) -> bool:
    """True if a part of the message asks to have something saved, changed or forgotten."""
    return _SAVE_REQUEST.search(text.strip()) is not None


def is_agreement(text: str) -> bool:
    """True if the message says yes to the question before it."""
    return _YES.fullmatch(text.strip().rstrip(".! ")) is not None


def is_forget_this(text: str) -> bool:
    """True for "forget it": the memory to forget is the topic of the conversation."""
    return _FORGET_THIS.fullmatch(text.strip().rstrip(".! ")) is not None


def _parse_remember(request: str, *, is_favour: bool) -> Remember | None:
    """What is to be remembered; a wish that lasts, as in "always be concise", need not say so."""
    if parse_team_request(request) is not None:
        return None
    match, wished = _REMEMBER.fullmatch(request), _REMEMBER_WISH.fullmatch(request)
    told = match["content"] if match else wished["wish"] if wished else request
    content, question = split_question(told)
    if is_favour:  # "Can you remember that I like tea?" is no question.
        content = content.rstrip(" \t\n?")
    if content.endswith("?"):
        return None
    if match is None:
        is_meant = is_wish(content) if wished else is_standing_wish(content)
        return Remember(_capitalize_first(content), question) if is_meant else None
    if question and match["that"] and not is_clause(content):
        return None
    return Remember(_capitalize_first(content), question)


def _capitalize_first(text: str) -> str:
    return text[:1].upper() + text[1:]
