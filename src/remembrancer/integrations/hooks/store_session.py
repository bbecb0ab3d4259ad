"""Stores a session with a coding agent: its turns, to learn from, and an episode at its end.

The position up to which a session was stored is saved, so that no turn is stored twice, nor again
after it was erased.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from remembrancer import local_server
from remembrancer.config import Settings, validate_settings
from remembrancer.environment import create_private_directory, open_private
from remembrancer.integrations.hooks import claude_code
from remembrancer.integrations.hooks.hook import STATE_DIRECTORY, build_session_name
from remembrancer.integrations.hooks.open_memory import open_fast_model, open_memory
from remembrancer.integrations.hooks.session_episode import describe_session
from remembrancer.learn.profile_mapping import map_importance
from remembrancer.types import Origin

if TYPE_CHECKING:
    from remembrancer.client import RemoteMemory
    from remembrancer.memory import Memory
    from remembrancer.sessions.turns import TurnInput
    from remembrancer.types import Json

TURN_BATCH_SIZE = 500


def store_session(
    client: str,
    payload: Mapping[str, Any],
    settings: Mapping[str, Json],
    *,
    agent: str | None,
    is_over: bool,
) -> None:
    """Store the new turns of a session and, if it is over, an episode about it."""
    session = build_session_name(client, payload)
    file = local_server.server_file_path(settings).parent / STATE_DIRECTORY / f"{session}.json"
    with _lock_state(file) as state, open_memory(settings, agent=agent, surface=client) as me:
        new = _read_new_turns(client, payload, me.count_turns(session), state)
        for start in range(0, len(new), TURN_BATCH_SIZE):
            me.learn(new[start : start + TURN_BATCH_SIZE], session)
        if is_over and me.count_turns(session):
            me.close(session)
            directory = str(payload.get("cwd") or "")
            _remember_episode(
                me, client, session, directory, state, validate_settings(settings), agent
            )


def _read_new_turns(
    client: str, payload: Mapping[str, Any], stored: int, state: dict[str, int]
) -> list[TurnInput]:
    if client != "claude-code":
        reply = payload.get("last_assistant_message") or payload.get("text")
        turns_by_role = (("user", payload.get("prompt")), ("assistant", reply))
        return [{"role": role, "content": str(text)} for role, text in turns_by_role if text]
    transcript = Path(str(payload.get("transcript_path")))
    if not transcript.is_file():
        return []
    with transcript.open(encoding="utf-8", errors="replace") as lines:
        turns = list(claude_code.parse_turns(lines))
    new = turns[max(stored, state.get("kept", 0)) :]
    state["kept"] = len(turns)
    return new


def _remember_episode(
    me: Memory | RemoteMemory,
    client: str,
    session: str,
    directory: str,
    state: dict[str, int],
    settings: Settings,
    agent: str | None,
) -> None:
    """Remember an episode of the user's own words since the last one."""
    turns = me.turns(session)
    with open_fast_model(settings) as model:
        told = describe_session(client, directory, turns, state.get("told", 0), model)
    if told is None:
        return
    importance = map_importance(settings.profile_for(agent), told.importance)
    me.remember(
        told.content,
        kind="episode",
        origin=Origin.USER,
        importance=importance or told.importance,
        session_id=session,
        tags=[client],
    )
    state["told"] = turns[-1].position + 1


@contextmanager
def _lock_state(path: Path) -> Iterator[dict[str, int]]:
    """Yield the progress of a session under a file lock, and save it if the block succeeds."""
    create_private_directory(path.parent)
    with open(path, "a+", encoding="utf-8", opener=open_private) as file:
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        state: dict[str, int] = json.loads(file.read() or "{}")
        yield state
        file.truncate(0)
        json.dump(state, file)
