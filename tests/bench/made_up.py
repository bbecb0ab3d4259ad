"""A tiny file of two histories, made up for these tests."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any


def turn(id: str, speaker: str, text: str) -> dict[str, str]:
    return {"id": id, "role": "user", "speaker": speaker, "text": text}


def question(id: str, text: str, category: str, turns: list[str], **more: Any) -> dict[str, Any]:
    sessions = [turn.split(":")[0] for turn in turns]
    gold = {"turns": turns, "sessions": sessions}
    return {
        "id": id,
        "text": text,
        "category": category,
        "date": None,
        "answer": "",
        **gold,
        **more,
    }


ADA: dict[str, Any] = {
    "id": "ada",
    "sessions": [
        {
            "id": "s1",
            "date": "1:56 pm on 8 May, 2023",
            "turns": [
                turn("s1:1", "Ada", "I bought a red bicycle last week."),
                turn("s1:2", "Ben", "Mine is blue, and it has a squeaking brake."),
            ],
        },
        {
            "id": "s2",
            "date": "2023/05/30 (Tue) 02:48",
            "turns": [
                turn("s2:1", "Ada", "My sister Clara plays the cello in Vienna."),
                turn("s2:2", "Ben", "Then you must visit the opera."),
            ],
        },
    ],
    "questions": [
        question("q1", "What colour is the bicycle?", "single-hop", ["s1:1"]),
        question("q2", "Who plays the cello near the opera?", "multi-hop", ["s2:1", "s2:2"]),
        question("q3", "What is Clara's dog called?", "adversarial", ["s2:1"]),
        question("q4", "zyzzyva", "abstention", []),
        question("q5", "What would Ada enjoy?", "open-domain", []),
    ],
}
EVE: dict[str, Any] = {
    "id": "eve",
    "sessions": [
        {"id": "s1", "date": "March-15-2024", "turns": [turn("s1:1", "Eve", "I sold a bicycle.")]}
    ],
    "questions": [
        question(
            "q6", "Who sold a bicycle?", "single-hop", ["s1:1"], date="2024-04-01T10:00:00+02:00"
        )
    ],
}


def write(path: Path, *rows: dict[str, Any]) -> Path:
    """Write the rows, compressed if the name says so."""
    lines = "".join(json.dumps(row) + "\n" for row in rows or (ADA, EVE)).encode()
    path.write_bytes(gzip.compress(lines) if path.suffix == ".gz" else lines)
    return path
