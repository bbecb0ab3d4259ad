"""Replies of a scripted Claude."""

from __future__ import annotations

from typing import Any

from remembrancer.testing import ScriptedReply, sends


def says_or_calls(*content: dict[str, Any]) -> ScriptedReply:
    """A message of Claude's that is text, or calls tools and then waits for them."""
    calls = content[-1]["type"] == "tool_use"
    return sends(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": list(content),
            "stop_reason": "tool_use" if calls else "end_turn",
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )


def call(number: int, **command: object) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": "memory", "input": command}
