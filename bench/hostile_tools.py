"""Whether hostile strings do harm over MCP: `python -m bench.hostile_tools FILE`.

Each string is given as every argument of the tools, as the name of a tool and a prompt, and as an
address. An answer may be an error that says what is wrong; a failure of the server may not be.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
from mcp import Client
from mcp.shared.exceptions import MCPError

import remembrancer
from bench.hostile import strings
from remembrancer.config import Settings
from remembrancer.mcp.server import build_server
from remembrancer.types import Owner, Principal

FAILED = "It failed for a reason that is not yours"


def ways(text: str) -> list[tuple[str, dict[str, Any]]]:
    """A string as every argument."""
    kept = {"subject": text, "predicate": "says", "content": text, "tags": [text[:200]]}
    return [
        ("memory_store_fact", kept),
        ("memory_store_fact", {**kept, "scope": text}),
        ("memory_store_rule", {"content": text, "scope": text, "tags": [text]}),
        ("memory_store_episode", {"content": text, "butler": text, "session_id": text}),
        ("memory_search", {"query": text}),
        ("memory_search", {"query": "tea", "types": [text], "scope": text, "mode": text}),
        ("memory_recall", {"topic": text, "scope": text}),
        ("memory_get", {"type": "fact", "id": text}),
        ("memory_confirm", {"type": text, "id": text}),
        ("memory_forget", {"type": "fact", "id": text}),
        ("memory_mark_helpful", {"rule_id": text}),
        ("memory_mark_harmful", {"rule_id": text, "reason": text}),
        ("memory_stats", {"scope": text}),
        ("memory_context", {"trigger_prompt": text, "butler": text}),
        ("undo", {"event": text}),
        ("recall", {text: "x", "query": "tea"}),
        (text, {}),
    ]


async def attack(client: Client, text: str, answered: Counter[str]) -> None:
    """Give a string to everything; harm is printed."""
    for name, arguments in ways(text):
        try:
            result = await client.call_tool(name, arguments)
        except MCPError:
            answered["refused"] += 1
            continue
        told = str(getattr(result.content[0], "text", ""))
        answered["error" if result.is_error else "done"] += 1
        if FAILED in told:
            answered["failed"] += 1
            print("failed", name, ascii(text)[:100])
        if name == "memory_store_fact" and not result.is_error:
            value = result.structured_content or {}
            if not value.get("secrets") and value["content"] != text:
                answered["changed"] += 1
                print("changed", ascii(text)[:100], ascii(value["content"])[:100])
    for address in (f"memory://{quote(text, safe='')}", f"memory://fact/{quote(text, safe='')}"):
        try:
            await client.read_resource(address)
            answered["done"] += 1
        except (MCPError, ValueError):
            answered["refused"] += 1


async def run(file: Path, place: str) -> Counter[str]:
    """All strings, over one connection in this process."""
    settings = Settings.model_validate({"profile": "agents"})
    answered: Counter[str] = Counter()
    with remembrancer.open(place, settings=settings) as engine:
        who = Principal(Owner(settings.tenant, "ada"), None)
        async with Client(build_server(engine, lambda _: who, "full")) as client:
            for text in strings(file):
                try:
                    text.encode()
                except UnicodeEncodeError:
                    answered["cannot be sent"] += 1
                    continue
                await attack(client, text, answered)
    return answered


def main() -> None:
    """Run all strings and tell how they were answered."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--place", help="where to store, if not in a directory of its own")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        answered = anyio.run(run, options.file, options.place or home)
    print(sum(answered.values()), "calls:", dict(sorted(answered.items())))


if __name__ == "__main__":
    main()
