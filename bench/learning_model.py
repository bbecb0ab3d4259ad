"""A model that answers with the proposals of a data set, through the product's own requests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.learning_data import Cited, Conversation, Proposal, SpokenTurn
from remembrancer.testing import ScriptedReply, says

Json = dict[str, Any]

MIN_SHARED_WORDS = 0.5
"""Share of a shown turn's words from which it counts as a certain turn of the data."""

MANNERS = {
    "hypothetical": "hypothetical",
    "irony": "ironic",
    "quoted_text": "quoted",
    "plan_as_fact": "planned",
    "stale": "past",
}
"""How a wrong proposal's words were meant, by its fault."""

_SHOWN = re.compile(r"^\[([tmc]\d+)\][ \t]*(.*(?:\n(?!\[[tmc]\d+\]|</?\w+>).*)*)", re.MULTILINE)
_ABOUT = re.compile(r"\(about ([^)]*)\)\s*")


@dataclass(slots=True)
class ProposalScript:
    """Answers requests with the proposals for one conversation after the other.

    `kept` has the contents of the memories kept for each gold row; `targets` notes for each of
    them that a proposal changes whether the prompt showed it.
    """

    style: str
    wrong: bool
    kept: dict[str, list[str]] = field(default_factory=dict)
    handed_over: set[str] = field(default_factory=set)
    claims: int = 0
    targets: list[bool] = field(default_factory=list)
    error: Exception | None = None
    _conversation: Conversation | None = None
    _proposals: Sequence[Proposal] = ()
    _shown_until: int = 0
    _new_from: int = 0

    def start(self, conversation: Conversation) -> None:
        """Answer with the proposals of this conversation from now on."""
        self._conversation = conversation
        self._proposals = conversation.choose_proposals(self.style, wrong=self.wrong)
        self._shown_until = self._new_from = 0

    def __call__(self, request: Json) -> ScriptedReply:
        try:
            return says(self._answer(request))
        except Exception as error:  # The server's thread has nobody to tell.
            self.error = error
            return says({"operations": []})

    def _answer(self, request: Json) -> Json:
        prompt = request["messages"][-1]["content"]
        match request["response_format"]["json_schema"]["name"]:
            case "memory":
                return {"operations": list(self._propose(prompt))}
            case "verification":
                return {"verdicts": [self._judge(*one) for one in find_shown(prompt, "c").items()]}
            case "team":
                return {"facts": []}
        return {}

    def _propose(self, prompt: str) -> Iterator[Json]:
        assert self._conversation is not None
        names = match_turns(find_shown(prompt, "t"), self._conversation.turns)
        if names and max(names) >= self._shown_until:
            self._new_from, self._shown_until = self._shown_until, max(names) + 1
        memories = find_shown(prompt, "m")
        for one in self._proposals:
            turns = {cited.turn for cited in one.evidence}
            if turns <= names.keys() and max(turns) >= self._new_from:
                self.handed_over.add(one.id)
                yield build_operation(one, names, self._find_target(one, memories))

    def _find_target(self, one: Proposal, memories: Mapping[str, str]) -> str | None:
        """The short name of the memory that a proposal changes, if one was kept and is shown."""
        contents = self.kept.get(one.target or "", [])
        found = [name for content in contents if (name := find_line(content, memories))]
        if contents:
            self.targets.append(bool(found))
        return found[0] if found else None

    def _judge(self, name: str, claim: str) -> Json:
        self.claims += 1
        about, content = split_claim(claim)
        fitting = [one for one in self._proposals if contains_text(claim, one.content)]
        if fitting:
            return judge_proposal(name, max(fitting, key=lambda one: len(one.content)))
        return _verdict(name, about, supported=not self._is_quoted_wrongly(content))

    def _is_quoted_wrongly(self, content: str) -> bool:
        """True if the words lie within the quote of a wrong proposal, and of no right one."""
        within = {
            one.right
            for one in self._proposals
            for cited in one.evidence
            if contains_text(cited.quote, content) or contains_text(content, cited.quote)
        }
        return within == {False}


def find_shown(prompt: str, kind: str) -> dict[str, str]:
    """The texts that a prompt shows under short names such as t3, by name."""
    return {name: text.strip() for name, text in _SHOWN.findall(prompt) if name[0] == kind}


def match_turns(shown: Mapping[str, str], turns: Sequence[SpokenTurn]) -> dict[int, str]:
    """The short name of each turn that is shown, by its index in the conversation.

    What is shown is a stretch of the conversation; some of its words may be left out.
    """
    lines = [set(_words(one)) for one in shown.values()]
    said = [set(_words(one.text)) for one in turns]

    def fit(start: int) -> float:
        pairs = zip(lines, said[start:], strict=False)
        return sum(len(line & turn) >= MIN_SHARED_WORDS * len(turn) for line, turn in pairs)

    starts = range(len(turns) - len(shown), -1, -1)
    start = max(starts, key=fit, default=0)
    return {start + place: name for place, name in enumerate(shown)}


def find_line(content: str, shown: Mapping[str, str]) -> str | None:
    """The short name of the shortest line that contains the content."""
    fitting = [name for name, text in shown.items() if contains_text(text, content)]
    return min(fitting, key=lambda name: len(shown[name]), default=None)


def build_operation(one: Proposal, turns: Mapping[int, str], target: str | None) -> Json:
    """The proposal as an operation; without a target it is an addition."""
    operation = {
        "op": one.op if target else "add",
        "content": one.content,
        "subject": one.subject,
        "predicate": one.predicate,
        "category": one.category,
        # A routine lasts; an event with a time passes.
        "permanence": "standard" if one.category == "event" and one.said_as else "stable",
        "evidence": [_cite(cited, turns) for cited in one.evidence],
    }
    optional = {"when": one.when, "said_as": one.said_as, "target": target}
    return operation | {name: value for name, value in optional.items() if value}


def judge_proposal(name: str, one: Proposal) -> Json:
    """What an attentive reader of the conversation says of the proposal."""
    if one.fault == "wrong_subject":
        about = "somebody else" if one.about == "user" else "user"
        return _verdict(name, about, supported=False)
    manner = MANNERS.get(one.fault or "", "stated")
    return _verdict(name, one.about, supported=one.right, manner=manner)


def split_claim(claim: str) -> tuple[str, str]:
    """Whom a claim is about, and its content."""
    found = _ABOUT.match(claim)
    return (found[1], claim[found.end() :]) if found else ("user", claim)


def contains_text(text: str, words: str) -> bool:
    """True if the text contains the words, ignoring case, punctuation and spacing."""
    wanted = _words(words)
    return bool(wanted) and f" {' '.join(wanted)} " in f" {' '.join(_words(text))} "


def _verdict(name: str, about: str, *, supported: bool = True, manner: str = "stated") -> Json:
    return {"claim": name, "supported": supported, "about": about, "manner": manner}


def _cite(cited: Cited, turns: Mapping[int, str]) -> Json:
    return {"turn": turns[cited.turn], "quote": cited.quote}


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
