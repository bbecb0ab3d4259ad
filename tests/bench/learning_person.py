"""A person with two short conversations, made up for these tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def turn(role: str, text: str, said_at: str) -> Json:
    return {
        "role": role,
        "speaker": "Ada" if role == "user" else None,
        "text": text,
        "said_at": f"2026-{said_at}:00+01:00",
    }


def proposal(id: str, content: str, turn: int, quote: str, **more: Any) -> Json:
    return {
        "id": id,
        "gold": None,
        "style": "natural",
        "op": "add",
        "target": None,
        "content": content,
        "about": "user",
        "subject": "user",
        "predicate": "home",
        "category": "profile",
        "when": None,
        "said_as": None,
        "evidence": [{"turn": turn, "quote": quote}],
        "right": more.get("fault") is None,
        "fault": None,
        **more,
    }


def row(id: str, content: str, conversation: str, *must: str, **more: Any) -> Json:
    return {
        "id": id,
        "content": content,
        "about": "user",
        "conversation": conversation,
        "turns": [0],
        "from": None,
        "until": None,
        "replaces": None,
        "must": list(must),
        **more,
    }


def question(id: str, text: str, **rows: list[str]) -> Json:
    empty: Json = {"needed": [], "relevant": [], "stale": []}
    asked = {"id": id, "asked_at": "2026-03-20T09:00:00+01:00", "after": "c2", "text": text}
    return {**asked, **empty, **rows}


ADA: Json = {
    "id": "ada",
    "language": "en",
    "person": "Ada",
    "conversations": [
        {
            "id": "c1",
            "turns": [
                turn("user", "I live in Porto. Ben wrote: I live in Faro.", "02-01T10:00"),
                turn("assistant", "Porto is lovely. How can I help?", "02-01T10:01"),
                turn("user", "Please always answer in one sentence.", "02-01T10:02"),
                turn("assistant", "I will.", "02-01T10:03"),
            ],
            "proposals": [
                proposal("p1", "Lives in Porto", 0, "I live in Porto", gold="g1"),
                proposal("p2", "Lives in Faro", 0, "I live in Faro", fault="quoted_text"),
                proposal(
                    "p3",
                    "Wants answers in one sentence",
                    2,
                    "always answer in one sentence",
                    gold="g2",
                    category="instruction",
                    predicate="answers",
                ),
            ],
        },
        {
            "id": "c2",
            "turns": [
                turn("user", "News: I live in Braga now.", "03-01T10:00"),
                turn("assistant", "How do you like it?", "03-01T10:01"),
            ],
            "proposals": [
                proposal(
                    "p4", "Lives in Braga", 0, "I live in Braga", gold="g1b", op="update",
                    target="g1",
                ),
            ],
        },
    ],
    "gold": [
        row("g1", "Ada lives in Porto", "c1", r"\bPorto\b", until="2026-03-01"),
        row("g2", "Ada wants answers in one sentence", "c1", "one sentence"),
        row("g1b", "Ada lives in Braga", "c2", r"\bBraga\b", replaces="g1"),
    ],
    "questions": [
        question("q1", "Where do I live?", needed=["g1b"], relevant=["g1b"], stale=["g1"]),
        question("q2", "What is seven times eight?"),
    ],
    "features": {"instruction": ["g2"], "coexist": [["g2", "g1b"]]},
}  # fmt: skip


def write(path: Path) -> Path:
    path.write_text(json.dumps(ADA) + "\n", encoding="utf-8")
    return path
