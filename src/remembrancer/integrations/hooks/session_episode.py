"""Describes a session with a coding agent, or what a program printed, and rates its importance.

A session is told in the user's own words: what tools and the assistant said is left out of it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from remembrancer.guard.redaction import redact_text
from remembrancer.learn.consolidation.phrases import (
    drop_reported,
    find_ungrounded,
    is_correction,
    is_decision,
)
from remembrancer.learn.transcript import build_transcript, contains_quote
from remembrancer.llm import InvalidModelResponse, ModelUnavailable, Question
from remembrancer.llm.prompts import load_prompt
from remembrancer.recall.prompt_block import escape_for_prompt
from remembrancer.search.sentences import SENTENCE_END_PATTERN
from remembrancer.text_format import quote

if TYPE_CHECKING:
    from remembrancer.llm import Model
    from remembrancer.types import Json, Turn

ObservationKind = Literal["request", "decision", "correction"]

CLIENT_NAMES = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "cursor": "Cursor",
    "vscode": "VS Code",
}
LABELS: dict[ObservationKind, str] = {
    "request": "asked",
    "decision": "said",
    "correction": "corrected",
}
IMPORTANCES: dict[ObservationKind, float] = {"request": 4, "decision": 6, "correction": 7}
"""The importance of a session by its weightiest observation, where no model rates it."""

MAX_OBSERVATIONS_PER_KIND = 5
MAX_QUOTE_CHARS = 300
MAX_CHARS_SHOWN = 40_000
MIN_REQUEST_WORDS = 3
MODEL_TIMEOUT_SECONDS = 60.0
"""How long to wait for a model before the user's own sentences are taken."""


@dataclass(frozen=True, slots=True)
class SessionEpisode:
    """The text of an episode, and its importance from 1 to 10."""

    content: str
    importance: float


class Observation(BaseModel):
    """Words of the user, and what they are."""

    model_config = ConfigDict(extra="ignore")

    kind: ObservationKind
    quote: Annotated[str, Field(min_length=2, max_length=2000)]


class ModelEpisode(BaseModel):
    """A model's description of a session."""

    model_config = ConfigDict(extra="ignore")

    summary: Annotated[str, Field(max_length=2000)] = ""
    observations: Annotated[list[Observation], Field(max_length=50)] = []
    importance: Annotated[float, Field(ge=1, le=10)]


def describe_session(
    client: str, directory: str, turns: Sequence[Turn], new_from: int, model: Model | None
) -> SessionEpisode | None:
    """Describe the user's turns from a position on; None if they have no words of their own."""
    transcript = build_transcript(turns, new_from)
    texts = [one.content for one in transcript.new_own_turns if not one.tainted]
    if not texts:
        return None
    where = f" in {Path(directory).name}" if Path(directory).name else ""
    head = f"Session with {CLIENT_NAMES[client]}{where}."
    described = _ask_in_time(model, "episode", head, texts) if model is not None else None
    if described is not None:
        observed = [one for one in described.observations if _is_quoted(one, texts)]
        observed = observed or list_observations(texts)
        content = " ".join(filter(None, (head, described.summary, _render(observed))))
        return SessionEpisode(content, described.importance)
    observed = list_observations(texts)
    return SessionEpisode(f"{head} {_render(observed)}", rate_importance(observed))


def describe_output(head: str, output: str, model: Model) -> ModelEpisode | None:
    """What a program printed, in brief and rated; None if the model does not say."""
    shown = escape_for_prompt(redact_text(head))
    return _ask_in_time(model, "run", shown, [redact_text(output)])


def list_observations(texts: Iterable[str]) -> list[Observation]:
    """The sentences in which the user corrects, decides or asks for something.

    Of the requests, which are many, only the first and the last are taken.
    """
    sentences = [
        sentence.strip()
        for text in texts
        for sentence in SENTENCE_END_PATTERN.split(text)
        if len(sentence.strip()) > 1
    ]
    found = [Observation(kind=_classify(one), quote=one[:2000]) for one in sentences]
    asked = [one for one in found if one.kind == "request"]
    asked = [one for one in asked if len(one.quote.split()) >= MIN_REQUEST_WORDS] or asked
    kept = {id(one) for one in (*asked[:1], *asked[-1:])}
    return [one for one in found if one.kind != "request" or id(one) in kept]


def rate_importance(observations: Iterable[Observation]) -> float:
    """The importance of a session by its weightiest observation."""
    return max((IMPORTANCES[one.kind] for one in observations), default=IMPORTANCES["request"])


def _classify(sentence: str) -> ObservationKind:
    if sentence.endswith("?"):
        return "request"
    own = drop_reported(sentence)
    if is_correction(own):
        return "correction"
    return "decision" if is_decision(own) else "request"


def _render(observations: Sequence[Observation]) -> str:
    """The observations by kind, each quoted."""
    parts = []
    for kind, label in LABELS.items():
        quotes = [
            quote(one.quote.rstrip(". "), MAX_QUOTE_CHARS)
            for one in observations
            if one.kind == kind
        ]
        if quotes:
            parts.append(f"The user {label}: {', '.join(quotes[-MAX_OBSERVATIONS_PER_KIND:])}.")
    return " ".join(parts)


def _ask_in_time(model: Model, prompt: str, head: str, texts: Sequence[str]) -> ModelEpisode | None:
    """The model's description, or None if it takes too long or makes no sense."""
    answers: list[ModelEpisode | None] = []
    asking = threading.Thread(
        target=lambda: answers.append(_ask(model, prompt, head, texts)), daemon=True
    )
    asking.start()
    asking.join(MODEL_TIMEOUT_SECONDS)
    return answers[0] if answers else None


def _ask(model: Model, prompt: str, head: str, texts: Sequence[str]) -> ModelEpisode | None:
    lines = [f"[t{number}] {escape_for_prompt(one)}" for number, one in enumerate(texts, 1)]
    shown = "\n".join([head, "<turns>", "\n".join(lines)[-MAX_CHARS_SHOWN:], "</turns>"])
    try:
        answer = model.answer(Question(load_prompt(prompt), shown, SCHEMA, prompt))
        described = ModelEpisode.model_validate(answer.value)
    except (InvalidModelResponse, ModelUnavailable, ValidationError):
        return None
    if find_ungrounded(described.summary, [head, *texts]):
        return described.model_copy(update={"summary": ""})
    return described


def _is_quoted(observation: Observation, texts: Iterable[str]) -> bool:
    return any(contains_quote(text, observation.quote) for text in texts)


SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {
        "summary": {"type": "string"},
        "observations": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "kind": {"type": "string", "enum": list(LABELS)},
                    "quote": {"type": "string"},
                },
                "required": ["kind", "quote"],
            },
        },
        "importance": {"type": "number", "minimum": 1, "maximum": 10},
    },
    "required": ["summary", "observations", "importance"],
}
