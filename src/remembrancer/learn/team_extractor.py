"""Proposes facts from a transcript to the team: explicit requests, and facts a model finds.

Each is only a proposal that the team's rules can refuse. Proposing the same fact twice has no
effect, so this can run again after a crash.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from remembrancer.call import Call
from remembrancer.errors import InvalidInput
from remembrancer.learn.evidence_check import MIN_SUPPORTED_SHARE, find_invented, word_coverage
from remembrancer.learn.model_input import render_transcript
from remembrancer.learn.transcript import Transcript, contains_quote
from remembrancer.llm import InvalidModelResponse, ModelUnavailable, Question
from remembrancer.llm.prompts import load_prompt
from remembrancer.team.activity import RUN, record_outcome
from remembrancer.team.request import find_team_requests
from remembrancer.team.service import propose
from remembrancer.types import Json, TeamKind, TeamOrigin, Tenant

MAX_PROPOSALS = 5


class ShareableFact(BaseModel):
    """A fact that a model proposes for the team.

    The limits are wider than those in `SCHEMA`, which ask the model to be brief.
    """

    model_config = ConfigDict(extra="ignore", strict=True)

    content: Annotated[str, Field(min_length=5, max_length=400)]
    quote: Annotated[str, Field(min_length=5, max_length=1000)]
    turns: Annotated[list[str], Field(min_length=1, max_length=10)]
    kind: Literal["fact", "howto", "reference", "glossary"] = "fact"


def propose_for_team(call: Call, transcript: Transcript) -> None:
    """Propose facts to the team; without team learning, only those that the user asks for.

    What the users of an instance share is said by no one in particular, so it supports no fact.
    """
    if call.owner.instance is not None:
        return
    if not call.profile.team.enabled or not transcript.new_own_turns:
        return
    for content in _find_requests(transcript):
        _propose(call, content, TeamKind.FACT, TeamOrigin.USER)
    settings = call.services.live_settings.get(Tenant(call.owner.tenant), call.profile)
    if settings.team_learning:
        for one in _find_with_model(call, transcript):
            _propose(call, one.content, TeamKind(one.kind), TeamOrigin.ASSISTANT)


def _propose(call: Call, content: str, kind: TeamKind, origin: TeamOrigin) -> None:
    with contextlib.suppress(InvalidInput):  # It is too long, or not text.
        propose(call, content, kind=kind, origin=origin)


def _find_requests(transcript: Transcript) -> Iterator[str]:
    """Yield what the user explicitly asks to have remembered for the team, in untainted turns."""
    before = "".join(turn.content for turn in transcript.earlier_own_turns[-1:] if not turn.tainted)
    for turn in transcript.new_own_turns:
        said = turn.content if not turn.tainted else ""
        for content in find_team_requests(said):
            if proposed := content or before:
                yield proposed
        before = said


def _find_with_model(call: Call, transcript: Transcript) -> Iterator[ShareableFact]:
    """Yield the facts of a model that the user's own words support."""
    model = call.models.fast
    if model is None:
        return
    names = {f"t{number}": one.id for number, one in enumerate(transcript.turns, 1)}
    try:
        answer = model.answer(
            Question(load_prompt("team"), render_transcript(transcript, names), SCHEMA, "team")
        )
    except (InvalidModelResponse, ModelUnavailable):
        return  # Personal learning has succeeded; the team's part is optional.
    with call.store.open_team_writer(Tenant(call.owner.tenant)) as writer:
        record_outcome(writer, call.now(), TeamOrigin.ASSISTANT, RUN)
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
    supported = (
        contains_quote(own, one.quote) and word_coverage(one.content, own) >= MIN_SUPPORTED_SHARE
    )
    return supported and not find_invented(one.content, own)


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
