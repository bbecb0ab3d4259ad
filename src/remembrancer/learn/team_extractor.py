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
from remembrancer.learn.evidence_check import MIN_SUPPORTED_SHARE, find_invented, word_coverage
from remembrancer.learn.extract import render_transcript
from remembrancer.learn.transcript import Transcript, contains_quote
from remembrancer.llm import InvalidModelResponse, ModelUnavailable, Question
from remembrancer.llm.prompts import load_prompt
from remembrancer.team.service import propose
from remembrancer.types import Json, TeamKind, TeamOrigin, Tenant

MAX_PROPOSALS = 5

_TEAM_REQUEST_PATTERN = re.compile(
    r"(?:please )?(?:remember|note|save|keep)(?: this| that)? for the (?:whole )?team[:,]?"
    r"(?: that)?\s+(?P<said>[^\n]+)"
    r"|(?:the (?:whole )?team should know|for the (?:whole )?team to know)[:,]?(?: that)?\s+"
    r"(?P<told>[^\n]+)",
    re.IGNORECASE,
)


class ShareableFact(BaseModel):
    """One thing that a model thinks the team could use."""

    model_config = ConfigDict(extra="ignore", strict=True)

    content: Annotated[str, Field(min_length=5, max_length=400)]
    quote: Annotated[str, Field(min_length=5, max_length=1000)]
    turns: Annotated[list[str], Field(min_length=1, max_length=10)]
    kind: Literal["fact", "howto", "reference", "glossary"] = "fact"


def propose_for_team(call: Call, transcript: Transcript) -> None:
    """Propose what a stretch of a conversation has for the team, if the team learns."""
    switches = call.services.live_settings.get(Tenant(call.owner.tenant), call.profile)
    if not call.profile.team.enabled or not switches.team_learning or not transcript.new_own_turns:
        return
    for words in _find_requests(transcript):
        _propose(call, words, TeamKind.FACT, TeamOrigin.USER)
    for one in _find_with_model(call, transcript):
        _propose(call, one.content, TeamKind(one.kind), TeamOrigin.ASSISTANT)


def _propose(call: Call, words: str, kind: TeamKind, origin: TeamOrigin) -> None:
    try:
        propose(call, words, kind=kind, origin=origin)
    except InvalidInput:
        return  # too long, or not a text: nothing that a team could use


def _find_requests(transcript: Transcript) -> Iterator[str]:
    """What the person asks to have remembered for the team, in their untainted words."""
    for turn in transcript.new_own_turns:
        for found in _TEAM_REQUEST_PATTERN.finditer(turn.content if not turn.tainted else ""):
            words = (found["said"] or found["told"]).strip()
            yield words[:1].upper() + words[1:]


def _find_with_model(call: Call, transcript: Transcript) -> Iterator[ShareableFact]:
    """What a model finds and the person's own words bear out."""
    model = call.models.fast
    if model is None:
        return
    names = {f"t{number}": one.id for number, one in enumerate(transcript.turns, 1)}
    try:
        answer = model.answer(
            Question(load_prompt("team"), render_transcript(transcript, names), SCHEMA, "team", 800)
        )
    except (InvalidModelResponse, ModelUnavailable):
        return  # the person's own memory was served; a team can wait for another day
    facts = answer.value.get("facts")
    for entry in facts[:MAX_PROPOSALS] if isinstance(facts, list) else ():
        try:
            one = ShareableFact.model_validate(entry)
        except ValidationError:
            continue
        if _is_supported(one, transcript, [names.get(name, "") for name in one.turns]):
            yield one


def _is_supported(one: ShareableFact, transcript: Transcript, turns: list[str]) -> bool:
    trusted = {turn.id for turn in transcript.new_turns if not turn.tainted}
    if not turns or not trusted.issuperset(turns):
        return False
    own = "\n".join(transcript.own_words[turn] for turn in turns)
    spoken = (
        contains_quote(own, one.quote) and word_coverage(one.content, own) >= MIN_SUPPORTED_SHARE
    )
    return spoken and not find_invented(one.content, own)


SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "maxItems": MAX_PROPOSALS,
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
