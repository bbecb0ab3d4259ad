"""Renders a transcript and memories as data for a model, under short names."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from remembrancer.learn.transcript import Transcript
from remembrancer.recall.prompt_block import escape_for_prompt, strip_memory_block
from remembrancer.search.language import Language, detect_language
from remembrancer.types import Fact, Record, Turn

MAX_TURN_CHARS_SHOWN = 4000
"""Characters of a turn that are shown to the model."""

LANGUAGE_NAMES = {
    Language.ENGLISH: "English",
    Language.GERMAN: "German",
    Language.SPANISH: "Spanish",
    Language.FRENCH: "French",
}


@dataclass(frozen=True, slots=True)
class ShortIds:
    """Ids by the short names shown to the model, so that it cannot name anything else."""

    turns: Mapping[str, str] = field(default_factory=dict)
    memories: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, transcript: Transcript, memories: Sequence[Record] = ()) -> ShortIds:
        return cls(
            {f"t{number}": one.id for number, one in enumerate(transcript.turns, 1)},
            {f"m{number}": one.id for number, one in enumerate(memories, 1)},
        )


def describe_language(transcript: Transcript) -> str:
    """The language in which the person writes, in words."""
    found = Counter(detect_language(one.content) for one in transcript.new_own_turns)
    del found[None]
    if not found:
        return "the language that the person writes in"
    (language, _), *_ = found.most_common(1)
    return LANGUAGE_NAMES[language] if language else ""


def render_input(
    transcript: Transcript, memories: Sequence[Record], summary: str | None, names: ShortIds
) -> str:
    remembered = [
        f"[{name}] {_render_memory(one)}"
        for name, one in zip(names.memories, memories, strict=True)
    ]
    parts = {"remembered": "\n".join(remembered), "earlier": escape_for_prompt(summary or "")}
    marked = [f"<{name}>\n{text}\n</{name}>" for name, text in parts.items() if text]
    return "\n\n".join([*marked, render_transcript(transcript, names.turns)])


def render_transcript(transcript: Transcript, names: Mapping[str, str]) -> str:
    """Render the transcript as data: one line per turn, under its short name."""
    turn_names = {turn_id: name for name, turn_id in names.items()}
    turns = [_render_turn(turn_names[one.id], one, transcript) for one in transcript.turns]
    return "\n".join(["<conversation>", *turns, "</conversation>"])


def _render_memory(record: Record) -> str:
    """The content with its key and date, so that the model can reuse and update it."""
    about = (record.subject, record.predicate) if isinstance(record, Fact) else ()
    known = [escape_for_prompt(one) for one in about if one]
    details = " · ".join([*known, f"since {record.valid_from:%Y-%m-%d}"])
    return f"({details}) {escape_for_prompt(record.content)}"


def _render_turn(name: str, turn: Turn, transcript: Transcript) -> str:
    who = "person" if turn.is_by_user else turn.role
    speaker = f" {json.dumps(turn.speaker, ensure_ascii=False)}" if turn.speaker else ""
    new = " new" if turn.is_by_user and turn.position >= transcript.new_from else ""
    own = transcript.own_words.get(turn.id, "")
    text = own if turn.is_by_user else strip_memory_block(turn.content)[0]
    shown = escape_for_prompt(text[:MAX_TURN_CHARS_SHOWN])
    return f"[{name}] {who}{speaker}{new}, {turn.said_at:%a %Y-%m-%d %H:%M}: {shown}"
