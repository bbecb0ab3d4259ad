"""Sessions of the OpenAI Agents SDK that are conversations in memory, and are learned from."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any

from agents import TResponseInputItem
from agents.memory import SessionSettings

from remembrancer.async_memory import AsyncMemory
from remembrancer.client import RemoteMemory
from remembrancer.errors import NotFound
from remembrancer.memory import Memory
from remembrancer.sessions.message_text import extract_text
from remembrancer.sessions.turns import TurnInput
from remembrancer.types import Status, Turn

CALL_KEY = "call"
WITHHELD_TEXT = "(withheld: it reads like an instruction)"


class MemorySession:
    """Pass it as the `session` of `Runner.run`.

    Messages and calls of functions are kept as turns. What is neither, such as a model's reasoning
    or a picture, is not; what looks like a secret is replaced.
    """

    session_settings: SessionSettings | None = None

    def __init__(self, memory: Memory | RemoteMemory, session_id: str) -> None:
        self.session_id = session_id
        self._memory = AsyncMemory(memory)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """What was said, or the latest of it, from the earliest to the latest."""
        items = [_to_item(one) for one in await self._load_turns()]
        return items if limit is None else items[max(0, len(items) - limit) :]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add what was said, and learn from it when the profile says so."""
        if turns := [*_to_turns(items)]:
            await self._memory.learn(turns, self.session_id)

    async def pop_item(self) -> TResponseInputItem | None:
        """Take back what was said last, as if it had not been."""
        turns = await self._load_turns()
        if not turns:
            return None
        await self._memory.delete(turns[-1].id)
        last: TResponseInputItem = _to_item(turns[-1])
        return last

    async def clear_session(self) -> None:
        """Put the conversation into the trash; what was learned from it stays."""
        with contextlib.suppress(NotFound):
            await self._memory.delete_session(self.session_id)

    async def _load_turns(self) -> list[Turn]:
        return [one for one in await self._memory.turns(self.session_id) if _is_visible(one)]


def _is_visible(turn: Turn) -> bool:
    is_there = turn.status in (Status.ACTIVE, Status.QUARANTINED)
    return is_there and (turn.role != "tool" or CALL_KEY in turn.metadata)


def _to_turns(items: Iterable[Any]) -> Iterable[TurnInput]:
    for item in items:
        match item:
            case {"type": "function_call", "call_id": str(id), "name": name, "arguments": given}:
                call = {CALL_KEY: _to_hex(id), "name": name, "arguments": given}
                yield {"role": "assistant", "content": f"{name}({given})", "metadata": call}
            case {"type": "function_call_output", "call_id": str(id), "output": output}:
                answer = extract_text(output)
                answer = answer if answer.strip() else "(nothing)"
                yield {"role": "tool", "content": answer, "metadata": {CALL_KEY: _to_hex(id)}}
            case {"role": str(role), "content": content} if (
                words := extract_text(content)
            ).strip():
                yield {"role": "system" if role == "developer" else role, "content": words}


def _to_item(turn: Turn) -> Any:
    call = turn.metadata.get(CALL_KEY)
    if not isinstance(call, str):
        return {"role": turn.role, "content": turn.content}
    call_id = bytes.fromhex(call).decode()
    if turn.role == "tool":
        output = turn.content if turn.status is Status.ACTIVE else WITHHELD_TEXT
        return {"type": "function_call_output", "call_id": call_id, "output": output}
    name, given = turn.metadata["name"], turn.metadata["arguments"]
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": given}


def _to_hex(call_id: str) -> str:
    """An id in a form that is not taken for a secret; it looks as random as one."""
    return call_id.encode().hex()
