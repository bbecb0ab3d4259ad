"""What is kept of a session with a coding agent: its turns, which are learned from, and an episode.

How far it was kept is marked, so that nothing is kept twice, nor again after it was erased.
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
"""How many turns are sent together, and how many characters of one an episode tells."""


def store_session(
    client: str,
    payload: Mapping[str, Any],
    settings: Mapping[str, Json],
    *,
    agent: str | None,
    is_over: bool,
) -> None:
    """Keep what is new in a session, and if it is over, what happened in it."""
    session = build_session_name(client, payload)
    marks = local_server.server_file_path(settings).parent / STATE_DIRECTORY / f"{session}.json"
    with _lock_marks(marks) as mark, open_memory(settings, agent=agent, surface=client) as me:
        new = _read_new_turns(client, payload, me.count_turns(session), mark)
        for start in range(0, len(new), TURN_BATCH_SIZE):
            me.learn(new[start : start + TURN_BATCH_SIZE], session)
        if is_over and me.count_turns(session):
            me.close(session)
            _remember_episode(me, client, session, str(payload.get("cwd") or ""), mark)


def describe_session(client: str, place: str, turns: Sequence[Turn]) -> str:
    """What happened, in a sentence or two: what was asked for, and what was answered last."""
    asked = [one.content for one in turns if one.role == "user"]
    answered = [one.content for one in turns if one.role == "assistant"]
    where = f" in {Path(place).name}" if Path(place).name else ""
    more = f" and {len(asked) - 1} more" if len(asked) > 1 else ""
    told = f"Session with {CLIENT_NAMES[client]}{where}, asked for {_quote(asked[0])}{more}."
    if len(asked) > 1:
        told += f" The last request was {_quote(asked[-1])}."
    return told + (f" The last answer was {_quote(answered[-1])}." if answered else "")


def _read_new_turns(
    client: str, payload: Mapping[str, Any], known: int, mark: dict[str, int]
) -> list[TurnInput]:
    """What was said since the last time."""
    if client != "claude-code":
        said = payload.get("prompt"), payload.get("last_assistant_message") or payload.get("text")
        roles = zip(("user", "assistant"), said, strict=True)
        return [{"role": role, "content": str(text)} for role, text in roles if text]
    transcript = Path(str(payload.get("transcript_path")))
    if not transcript.is_file():
        return []
    with transcript.open(encoding="utf-8", errors="replace") as lines:
        turns = list(claude_code.parse_turns(lines))
    new = turns[max(known, mark.get("kept", 0)) :]
    mark["kept"] = len(turns)
    return new


def _remember_episode(
    me: Memory | RemoteMemory, client: str, session: str, place: str, mark: dict[str, int]
) -> None:
    """Remember what happened since an episode was last told."""
    turns = [one for one in me.turns(session) if one.position >= mark.get("told", 0)]
    spoken = [one for one in turns if one.status is Status.ACTIVE]
    if not any(one.role == "user" for one in spoken):
        return
    # What an assistant says after a tool spoke may be the tool's words.
    by_tools = any(one.role == "tool" for one in turns)
    me.remember(
        describe_session(client, place, spoken),
        kind="episode",
        origin=Origin.TOOL if by_tools else Origin.ASSISTANT,
        session_id=session,
        tags=[client],
    )
    mark["told"] = turns[-1].position + 1


def _quote(text: str) -> str:
    words = " ".join(strip_memory_block(text)[0].split()).rstrip(".")
    return f"“{words[:MAX_QUOTE_CHARS]}…”" if len(words) > MAX_QUOTE_CHARS else f"“{words}”"


@contextmanager
def _lock_marks(file: Path) -> Iterator[dict[str, int]]:
    """The marks of a session, which nobody else changes meanwhile; written if all went well."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with file.open("a+", encoding="utf-8") as marks:
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(marks, fcntl.LOCK_EX)
        marks.seek(0)
        mark: dict[str, int] = json.loads(marks.read() or "{}")
        yield mark
        marks.truncate(0)
        json.dump(mark, marks)
