"""What the beginning of a long conversation said, by a model or by its own first sentences."""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.guard.redaction import without_secrets
from remembrancer.llm import Model, ModelMisspoke, ModelUnavailable, Question
from remembrancer.llm.prompts import prompt
from remembrancer.recall.prompt_block import as_data, without_memory
from remembrancer.search.sentences import END
from remembrancer.types import Json, Turn

WORDS = 250
LONGEST = 4000
SHOWN = 60_000
"""How many characters of the conversation a model is shown; the latest count most."""

LINE = 160


SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {"summary": {"type": "string"}},
    "required": ["summary"],
}


def summary_of(model: Model | None, earlier: str | None, turns: Sequence[Turn]) -> str:
    """What these turns said, after what an earlier summary says."""
    told = _by_model(model, earlier, turns) if model is not None else None
    return without_secrets(told or by_first_sentences(earlier, turns))


def by_first_sentences(earlier: str | None, turns: Sequence[Turn]) -> str:
    """A line for each turn of the person's; where there are too many, the latest."""
    lines = (earlier or "").splitlines()
    lines += [line for turn in turns if turn.is_by_user and (line := _first_sentence(turn))]
    kept: list[str] = []
    room = LONGEST
    for line in reversed(lines):
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join(reversed(kept))


def _first_sentence(turn: Turn) -> str:
    text = without_memory(turn.content)[0]
    first = next((one.strip() for one in END.split(text) if one.strip()), "")
    return f"- {first[:LINE]}" if first else ""


def _by_model(model: Model, earlier: str | None, turns: Sequence[Turn]) -> str | None:
    """What a model makes of it; None where it does not answer as it should."""
    lines = [
        f"{one.speaker or one.role}: {as_data(without_memory(one.content)[0])}" for one in turns
    ]
    shown = "\n".join(lines)[-SHOWN:]
    parts = f"<earlier>\n{as_data(earlier or '')}\n</earlier>\n\n<turns>\n{shown}\n</turns>"
    system = prompt("summarise").replace("{words}", str(WORDS))
    try:
        summary = model.answer(Question(system, parts, SCHEMA, "summary")).value.get("summary")
    except (ModelMisspoke, ModelUnavailable):
        return None
    return summary.strip()[:LONGEST] or None if isinstance(summary, str) else None
