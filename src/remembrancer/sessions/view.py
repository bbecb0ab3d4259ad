"""A conversation as a model should see it: whole while it is short, its beginning told in brief.

Nothing is deleted: the turns that a summary stands for are where they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from remembrancer.call import Call
from remembrancer.errors import InvalidInput
from remembrancer.profiles import SessionPolicy
from remembrancer.recall.prompt_block import count_tokens
from remembrancer.sessions.lifecycle import load_session, load_turns
from remembrancer.sessions.summaries import summarise
from remembrancer.types import Session, Status, Turn, View

VERBATIM_SHARE = 0.5
"""The share of the budget that the latest turns get, word for word."""


def build_view(call: Call, session_id: str, budget: int | None = None) -> View:
    """The conversation for a model, summarised past the profile's share of the budget."""
    settings = call.profile.sessions
    budget = settings.context_tokens if budget is None else budget
    if budget <= 0:
        raise InvalidInput("The budget must be a number of tokens, more than 0.")
    with call.store.open_reader(call.owner) as reader:
        session = load_session(call, reader, session_id)
        turns = [one for one in load_turns(reader, session.id) if one.status is Status.ACTIVE]
    hidden = select_summarised(turns, settings, budget)
    summary = _summarise(call, session, hidden) if hidden else None
    return View(tuple(turns[len(hidden) :]), summary, len(hidden))


def select_summarised(
    turns: Sequence[Turn], settings: SessionPolicy, budget: int
) -> Sequence[Turn]:
    """The turns that are told in brief; none while the conversation is short."""
    if sum(map(_cost, turns)) <= settings.summarise_at * budget:
        return ()
    return turns[: len(turns) - len(_select_latest(turns, VERBATIM_SHARE * budget))]


def _summarise(call: Call, session: Session, hidden: Sequence[Turn]) -> str:
    """What the hidden turns said; a summary that tells of more than these is as good."""
    end = hidden[-1].position + 1
    if session.summary is not None and session.summarised >= end:
        return session.summary
    fresh = [one for one in hidden if one.position >= session.summarised]
    summary = summarise(call.models.fast, session.summary, fresh)
    with call.open_writer() as writer:
        current = load_session(call, writer, session.id)
        if current.summarised < end:
            writer.save_session(replace(current, summary=summary, summarised=end))
    return summary


def _select_latest(turns: Sequence[Turn], room: float) -> list[Turn]:
    """The last turns that fit, and the very last one in any case."""
    kept: list[Turn] = []
    for turn in reversed(turns):
        room -= _cost(turn)
        if kept and room < 0:
            break
        kept.append(turn)
    return kept[::-1]


def _cost(turn: Turn) -> int:
    return count_tokens(turn.content)
