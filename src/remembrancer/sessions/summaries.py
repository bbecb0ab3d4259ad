"""Summarises the beginning of a long session, with a model or from first sentences."""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.guard.redaction import redact_text
from remembrancer.llm import InvalidModelResponse, Model, ModelUnavailable, Question
from remembrancer.llm.prompts import load_prompt
from remembrancer.recall.prompt_block import escape_for_prompt, strip_memory_block
from remembrancer.search.sentences import SENTENCE_END_PATTERN
from remembrancer.types import Json, Turn

MAX_SUMMARY_WORDS = 250
MAX_SUMMARY_CHARS = 4000
MAX_CHARS_SHOWN = 60_000
"""Characters shown to a model; of a longer session, only the latest."""

MAX_LINE_CHARS = 160


SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {"summary": {"type": "string"}},
    "required": ["summary"],
}


def summarise(model: Model | None, earlier: str | None, turns: Sequence[Turn]) -> str:
    """Summarise the turns together with the earlier summary."""
    summary = _summarise_by_model(model, earlier, turns) if model is not None else None
    return redact_text(summary or summarise_by_first_sentences(earlier, turns))


def summarise_by_first_sentences(earlier: str | None, turns: Sequence[Turn]) -> str:
    """One line for each of the user's turns; of too many, the latest."""
    lines = (earlier or "").splitlines()
    lines += [line for turn in turns if turn.is_by_user and (line := _format_first_sentence(turn))]
    kept: list[str] = []
    room = MAX_SUMMARY_CHARS
    for line in reversed(lines):
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join(reversed(kept))


def _format_first_sentence(turn: Turn) -> str:
    text = strip_memory_block(turn.content)[0]
    first = next((one.strip() for one in SENTENCE_END_PATTERN.split(text) if one.strip()), "")
    return f"- {first[:MAX_LINE_CHARS]}" if first else ""


def _summarise_by_model(model: Model, earlier: str | None, turns: Sequence[Turn]) -> str | None:
    """Returns None if the model is unavailable or its response is invalid."""
    lines = [
        f"{one.speaker or one.role}: {escape_for_prompt(strip_memory_block(one.content)[0])}"
        for one in turns
    ]
    shown = "\n".join(lines)[-MAX_CHARS_SHOWN:]
    parts = (
        f"<earlier>\n{escape_for_prompt(earlier or '')}\n</earlier>\n\n<turns>\n{shown}\n</turns>"
    )
    system = load_prompt("summarise").replace("{words}", str(MAX_SUMMARY_WORDS))
    try:
        summary = model.answer(Question(system, parts, SCHEMA, "summary")).value.get("summary")
    except (InvalidModelResponse, ModelUnavailable):
        return None
    return summary.strip()[:MAX_SUMMARY_CHARS] or None if isinstance(summary, str) else None
