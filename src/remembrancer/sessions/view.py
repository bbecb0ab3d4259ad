"""Builds the view of a session for a model: the latest turns, after a summary of the earlier ones.

No turn is deleted; the summary only replaces turns in the view.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from remembrancer.call import Call
from remembrancer.errors import InvalidInput
from remembrancer.profiles import SessionPolicy
from remembrancer.recall.prompt_block import count_tokens
from remembrancer.remember.session_texts import BRIEF_KEY
from remembrancer.sessions.lifecycle import load_session, load_turns
from remembrancer.sessions.summaries import summarise
from remembrancer.types import Session, Status, Turn, View

VERBATIM_SHARE = 0.5
"""Share of the token budget for the latest turns."""


def build_view(call: Call, session_id: str, budget: int | None = None) -> View:
    """Summarise the earlier turns if the session exceeds the profile's share of the budget."""
    settings = call.profile.sessions
    budget = settings.context_tokens if budget is None else budget
    if budget <= 0:
        raise InvalidInput("The budget must be a positive number of tokens.")
    with call.store.open_reader(call.owner) as reader:
        session = load_session(call, reader, session_id)
        turns = [one for one in load_turns(reader, session.id) if one.status is Status.ACTIVE]
    hidden = select_summarised(turns, settings, budget)
    summary = _summarise(call, session, hidden) if hidden else None
    return View(tuple(turns[len(hidden) :]), summary, len(hidden))


def select_summarised(
    turns: Sequence[Turn], settings: SessionPolicy, budget: int
) -> Sequence[Turn]:
    """The turns that the summary replaces; none while the session is short."""
    if sum(map(_cost, turns)) <= settings.summarise_at * budget:
        return ()
    return turns[: len(turns) - len(_select_latest(turns, VERBATIM_SHARE * budget))]


def read_brief(session: Session) -> str | None:
    """What a model is told of the beginning of a long session; None if it was never that long."""
    brief = session.metadata.get(BRIEF_KEY)
    return brief if isinstance(brief, str) else None


def _summarise(call: Call, session: Session, hidden: Sequence[Turn]) -> str:
    """Reuse the stored summary if it covers the hidden turns, else extend and store it."""
    end, brief = hidden[-1].position + 1, read_brief(session)
    start = session.summarised if brief is not None else 0
    if brief is not None and start >= end:
        return brief
    fresh = [one for one in hidden if one.position >= start]
    summary = summarise(call.models.fast, brief, fresh)
    with call.open_writer() as writer:
        current = load_session(call, writer, session.id)
        if read_brief(current) is None or current.summarised < end:
            metadata = {**current.metadata, BRIEF_KEY: summary}
            writer.save_session(replace(current, metadata=metadata, summarised=end))
    return summary


def _select_latest(turns: Sequence[Turn], room: float) -> list[Turn]:
    """The latest turns that fit; the very last one even if it does not."""
    kept: list[Turn] = []
    for turn in reversed(turns):
        room -= _cost(turn)
        if kept and room < 0:
            break
        kept.append(turn)
    return kept[::-1]


def _cost(turn: Turn) -> int:
    return count_tokens(turn.content)
