"""Lets a model name a session after its first messages, instead of by the user's words."""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.call import Call
from remembrancer.guard.redaction import redact_text
from remembrancer.llm import InvalidModelResponse, Model, ModelUnavailable, Question
from remembrancer.llm.prompts import load_prompt
from remembrancer.recall.prompt_block import escape_for_prompt, strip_memory_block
from remembrancer.remember.session_texts import TITLE_SOURCE_KEY
from remembrancer.sessions.titles import (
    BY_MODEL,
    BY_WORDS,
    MAX_OPENING_TURNS,
    MAX_TITLE_CHARS,
    find_opening,
)
from remembrancer.sessions.turns import set_title
from remembrancer.types import Json, Session, Turn

MAX_WORDS = 8
"""A longer answer is no title."""

MAX_CHARS_SHOWN = 2000
"""Characters of each message that the model sees."""

SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {"title": {"type": "string"}},
    "required": ["title"],
}


def title_session(call: Call, session_id: str) -> None:
    """Replace a title made of words, unless there is no fast model or it has no title to give."""
    model = call.models.fast
    with call.store.open_reader(call.owner) as reader:
        session = reader.get_session(session_id)
        turns = reader.list_turns(session_id, limit=MAX_OPENING_TURNS)
    if model is None or not _is_titled_by_words(session):
        return
    title = _ask_for_title(model, find_opening(turns)[:2])
    if title is None:
        return
    with call.open_writer() as writer:
        session = writer.get_session(session_id)
        if session is not None and _is_titled_by_words(session):
            writer.save_session(set_title(session, redact_text(title), BY_MODEL))


def _is_titled_by_words(session: Session | None) -> bool:
    return session is not None and session.metadata.get(TITLE_SOURCE_KEY) == BY_WORDS


def _ask_for_title(model: Model, turns: Sequence[Turn]) -> str | None:
    lines = [
        f"{one.role}: {escape_for_prompt(strip_memory_block(one.content)[0])[:MAX_CHARS_SHOWN]}"
        for one in turns
    ]
    question = Question(load_prompt("title"), "\n".join(lines), SCHEMA, "title")
    try:
        title = model.answer(question).value.get("title")
    except (InvalidModelResponse, ModelUnavailable):
        return None
    words = title.strip(" .\"'“”").split() if isinstance(title, str) else []
    name = " ".join(words)
    return name if 0 < len(words) <= MAX_WORDS and len(name) <= MAX_TITLE_CHARS else None
