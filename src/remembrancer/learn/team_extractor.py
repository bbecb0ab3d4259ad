"""What a conversation teaches the team: asked for in so many words, or found by a model.

Whatever is found is only a proposal, and must pass the gate. Saying it twice is saying it once, so
this may run again after a crash.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from remembrancer.call import Call
from remembrancer.errors import InvalidInput
from remembrancer.learn.evidence_check import SUPPORTED, covered, invented
from remembrancer.learn.extract import shown
from remembrancer.learn.transcript import Transcript, holds
from remembrancer.llm import ModelMisspoke, ModelUnavailable, Question
from remembrancer.llm.prompts import prompt
from remembrancer.team.service import propose
from remembrancer.types import Json, TeamKind, TeamOrigin, Tenant

MOST = 5

_ASKED = re.compile(
    r"(?:please )?(?:remember|note|save|keep)(?: this| that)? for the (?:whole )?team[:,]?"
    r"(?: that)?\s+(?P<said>[^\n]+)"
    r"|(?:the (?:whole )?team should know|for the (?:whole )?team to know)[:,]?(?: that)?\s+"
    r"(?P<told>[^\n]+)",
    re.IGNORECASE,
)


class Shareable(BaseModel):
    """One thing that a model thinks the team could use."""

    model_config = ConfigDict(extra="ignore", strict=True)

    content: Annotated[str, Field(min_length=5, max_length=400)]
    quote: Annotated[str, Field(min_length=5, max_length=1000)]
    turns: Annotated[list[str], Field(min_length=1, max_length=10)]
    kind: Literal["fact", "howto", "reference", "glossary"] = "fact"


def propose_from(call: Call, said: Transcript) -> None:
    """Propose what a stretch of a conversation has for the team, if the team learns."""
    switches = call.switches.of(Tenant(call.owner.tenant), call.profile)
    if not call.profile.team.enabled or not switches.team_learning or not said.spoken:
        return
    for words in _asked_for(said):
        _proposed(call, words, TeamKind.FACT, TeamOrigin.USER)
    for one in _found(call, said):
        _proposed(call, one.content, TeamKind(one.kind), TeamOrigin.ASSISTANT)


def _proposed(call: Call, words: str, kind: TeamKind, origin: TeamOrigin) -> None:
    try:
        propose(call, words, kind=kind, origin=origin)
    except InvalidInput:
        return  # too long, or not a text: nothing that a team could use


def _asked_for(said: Transcript) -> Iterator[str]:
    """What the person asks to have remembered for the team, in their untainted words."""
    for turn in said.spoken:
        for found in _ASKED.finditer(turn.content if not turn.tainted else ""):
            words = (found["said"] or found["told"]).strip()
            yield words[:1].upper() + words[1:]


def _found(call: Call, said: Transcript) -> Iterator[Shareable]:
    """What a model finds and the person's own words bear out."""
    model = call.models.fast
    if model is None:
        return
    names = {f"t{number}": one.id for number, one in enumerate(said.turns, 1)}
    try:
        answer = model.answer(Question(prompt("team"), shown(said, names), SCHEMA, "team", 800))
    except (ModelMisspoke, ModelUnavailable):
        return  # the person's own memory was served; a team can wait for another day
    facts = answer.value.get("facts")
    for entry in facts[:MOST] if isinstance(facts, list) else ():
        try:
            one = Shareable.model_validate(entry)
        except ValidationError:
            continue
        if _is_borne_out(one, said, [names.get(name, "") for name in one.turns]):
            yield one


def _is_borne_out(one: Shareable, said: Transcript, turns: list[str]) -> bool:
    trusted = {turn.id for turn in said.new if not turn.tainted}
    if not turns or not trusted.issuperset(turns):
        return False
    own = "\n".join(said.own[turn] for turn in turns)
    spoken = holds(own, one.quote) and covered(one.content, own) >= SUPPORTED
    return spoken and not invented(one.content, own)


SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "maxItems": MOST,
            "items": {
                "type": "object",
                "properties": {
                    "content": {"type": "string", "maxLength": 300},
                    "kind": {"type": "string", "enum": list(TeamKind)},
                    "turns": {"type": "array", "items": {"type": "string"}, "maxItems": 4},
                    "quote": {"type": "string", "maxLength": 300},
                },
                "required": ["content", "kind", "turns", "quote"],
            },
        }
    },
    "required": ["facts"],
}
