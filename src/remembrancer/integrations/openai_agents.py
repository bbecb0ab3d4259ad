"""Sessions of the OpenAI Agents SDK, stored as conversations and learned from."""

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
    """A session for `Runner.run`.

    Messages and function calls are stored as turns. Other items, such as reasoning or images, are
    not stored, and secrets are redacted.
    """

    session_settings: SessionSettings | None = None

    def __init__(self, memory: Memory | RemoteMemory, session_id: str) -> None:
        self.session_id = session_id
        self._memory = AsyncMemory(memory)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items of the session, or the latest `limit`, oldest first."""
        items = [_to_item(one) for one in await self._load_turns()]
        return items if limit is None else items[max(0, len(items) - limit) :]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items, and learn from them when the profile says so."""
        if turns := [*_to_turns(items)]:
            await self._memory.learn(turns, self.session_id)

    async def pop_item(self) -> TResponseInputItem | None:
        """Delete and return the last item."""
        turns = await self._load_turns()
        if not turns:
            return None
        await self._memory.delete(turns[-1].id)
        last: TResponseInputItem = _to_item(turns[-1])
        return last

    async def clear_session(self) -> None:
        """Move the conversation to the trash; memories learned from it stay."""
        with contextlib.suppress(NotFound):
            await self._memory.delete_session(self.session_id)

    async def _load_turns(self) -> list[Turn]:
        return [one for one in await self._memory.turns(self.session_id) if _is_visible(one)]


def _is_visible(turn: Turn) -> bool:
    is_present = turn.status in (Status.ACTIVE, Status.QUARANTINED)
    return is_present and (turn.role != "tool" or CALL_KEY in turn.metadata)


def _to_turns(items: Iterable[Any]) -> Iterable[TurnInput]:
    for item in items:
        match item:
            case {"type": "function_call", "call_id": str(id), "name": name, "arguments": args}:
                call = {CALL_KEY: _to_hex(id), "name": name, "arguments": args}
                yield {"role": "assistant", "content": f"{name}({args})", "metadata": call}
            case {"type": "function_call_output", "call_id": str(id), "output": output}:
                text = extract_text(output)
                text = text if text.strip() else "(nothing)"
                yield {"role": "tool", "content": text, "metadata": {CALL_KEY: _to_hex(id)}}
            case {"role": str(role), "content": content} if (text := extract_text(content)).strip():
                yield {"role": "system" if role == "developer" else role, "content": text}


def _to_item(turn: Turn) -> Any:
    call = turn.metadata.get(CALL_KEY)
    if not isinstance(call, str):
        return {"role": turn.role, "content": turn.content}
    call_id = bytes.fromhex(call).decode()
    if turn.role == "tool":
        output = turn.content if turn.status is Status.ACTIVE else WITHHELD_TEXT
        return {"type": "function_call_output", "call_id": call_id, "output": output}
    name, args = turn.metadata["name"], turn.metadata["arguments"]
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": args}


def _to_hex(call_id: str) -> str:
    """Encode an id so that it is not redacted as a secret, which it looks like."""
    return call_id.encode().hex()
