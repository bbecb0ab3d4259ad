"""Stores a session with a coding agent: its turns, to learn from, and an episode at its end.

The position up to which a session was stored is saved, so that no turn is stored twice, nor again
after it was erased.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from remembrancer import local_server
from remembrancer.integrations.hooks import claude_code
from remembrancer.integrations.hooks.hook import STATE_DIRECTORY, build_session_name
from remembrancer.integrations.hooks.open_memory import open_memory
from remembrancer.recall.prompt_block import strip_memory_block
from remembrancer.types import Origin, Status

if TYPE_CHECKING:
    from remembrancer.client import RemoteMemory
    from remembrancer.memory import Memory
    from remembrancer.sessions.turns import TurnInput
    from remembrancer.types import Json, Turn

CLIENT_NAMES = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "cursor": "Cursor",
    "vscode": "VS Code",
}
TURN_BATCH_SIZE = 500
MAX_QUOTE_CHARS = 300


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
            _remember_episode(me, client, session, str(payload.get("cwd") or ""), state)


def describe_session(client: str, directory: str, turns: Sequence[Turn]) -> str:
    """Describe a session in a few sentences: the first and last request, and the last answer."""
    requests = [one.content for one in turns if one.role == "user"]
    answers = [one.content for one in turns if one.role == "assistant"]
    where = f" in {Path(directory).name}" if Path(directory).name else ""
    more = f" and {len(requests) - 1} more" if len(requests) > 1 else ""
    text = f"Session with {CLIENT_NAMES[client]}{where}, asked for {_quote(requests[0])}{more}."
    if len(requests) > 1:
        text += f" The last request was {_quote(requests[-1])}."
    return text + (f" The last answer was {_quote(answers[-1])}." if answers else "")


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
    me: Memory | RemoteMemory, client: str, session: str, directory: str, state: dict[str, int]
) -> None:
    """Remember an episode about the turns since the last one."""
    turns = [one for one in me.turns(session) if one.position >= state.get("told", 0)]
    active = [one for one in turns if one.status is Status.ACTIVE]
    if not any(one.role == "user" for one in active):
        return
    # An assistant can repeat the words of a tool.
    has_tools = any(one.role == "tool" for one in turns)
    me.remember(
        describe_session(client, directory, active),
        kind="episode",
        origin=Origin.TOOL if has_tools else Origin.ASSISTANT,
        session_id=session,
        tags=[client],
    )
    state["told"] = turns[-1].position + 1


def _quote(text: str) -> str:
    words = " ".join(strip_memory_block(text)[0].split()).rstrip(".")
    return f"“{words[:MAX_QUOTE_CHARS]}…”" if len(words) > MAX_QUOTE_CHARS else f"“{words}”"


@contextmanager
def _lock_state(path: Path) -> Iterator[dict[str, int]]:
    """Yield the progress of a session under a file lock, and save it if the block succeeds."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with path.open("a+", encoding="utf-8") as file:
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        state: dict[str, int] = json.loads(file.read() or "{}")
        yield state
        file.truncate(0)
        json.dump(state, file)
