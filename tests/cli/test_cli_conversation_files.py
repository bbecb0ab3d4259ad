"""A file with a conversation means the same to `rem append`, `rem learn` and `rem import`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

ADA = {"role": "user", "content": "I moved.", "name": "Ada", "time": "2026-01-02T10:00"}
BOT = {"role": "model", "content": [{"type": "text", "text": "Where to? "}, {"type": "image"}]}
CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
AT_NINE = "2026-01-02T09:00:00+00:00"

FILES: dict[str, tuple[str | bytes, list[tuple[Any, ...]]]] = {
    "roles.txt": (
        "user: Hello.\nassistant: Hi.\nSYSTEM: Be kind.\nTool: 7\n",
        [("user", "Hello."), ("assistant", "Hi."), ("system", "Be kind."), ("tool", "7")],
    ),
    "named.txt": (
        "Ada: I moved to Hamburg.\nGrace Hopper: Why?\n\nAda: Work.\nassistant: Good luck.\n",
        [
            ("user", "I moved to Hamburg.", "Ada"),
            ("user", "Why?", "Grace Hopper"),
            ("user", "Work.", "Ada"),
            ("assistant", "Good luck."),
        ],
    ),
    "assistant_first.txt": (
        "Assistant: Who is there?\nada_l: Me.\nI am new.\nAssistant: Welcome.",
        [
            ("assistant", "Who is there?"),
            ("user", "Me.\nI am new.", "ada_l"),
            ("assistant", "Welcome."),
        ],
    ),
    "remarks.txt": (
        "You: Hello.\n\nI live here.\nNote: it rains.\nAI:\nReally?\nAda: is my sister.\nme: Yes.",
        [
            ("user", "Hello.\n\nI live here.\nNote: it rains."),
            ("assistant", "Really?\nAda: is my sister."),
            ("user", "Yes."),
        ],
    ),
    "remarks_named.txt": (
        "Ada: I came late.\nNote: it rained.\nOne thing to add: it was cold.\n  Bob: indented\n",
        [
            (
                "user",
                "I came late.\nNote: it rained.\nOne thing to add: it was cold.\n  Bob: indented",
                "Ada",
            )
        ],
    ),
    "mixed.txt": (
        "Ada: Hello.\nUser: Who is that?\n",
        [("user", "Hello.", "Ada"), ("user", "Who is that?")],
    ),
    "markdown.txt": (
        "**You:** Hello.\n**ChatGPT said:** Hi.\n**Ada**: Bye.",
        [("user", "Hello."), ("assistant", "Hi.\n**Ada**: Bye.")],
    ),
    "windows.txt": (
        b"\xef\xbb\xbfUser: One\r\ntwo\r\nBot: Three\r\n",
        [("user", "One\ntwo"), ("assistant", "Three")],
    ),
    "empty_turns.txt": (
        "User:\nAssistant: Hello?\nUser:   \n\nUser: Yes: https://example.org",
        [("assistant", "Hello?"), ("user", "Yes: https://example.org")],
    ),
    "umlauts.txt": (
        "Jürgen: Grüß dich.\n山田: こんにちは\n",
        [("user", "Grüß dich.", "Jürgen"), ("user", "こんにちは", "山田")],
    ),
    "json_inside.txt": (
        json.dumps([ADA, BOT, CALL]),
        [("user", "I moved.", "Ada", AT_NINE), ("assistant", "Where to?")],
    ),
    "list.json": (
        json.dumps([ADA, CALL, BOT], indent=2),
        [("user", "I moved.", "Ada", AT_NINE), ("assistant", "Where to?")],
    ),
    "object.json": (
        json.dumps({"id": 7, "messages": [ADA, BOT]}),
        [("user", "I moved.", "Ada", AT_NINE), ("assistant", "Where to?")],
    ),
    "lines.jsonl": (
        f"\n{json.dumps(ADA)}\n\n{json.dumps(BOT)}\n",
        [("user", "I moved.", "Ada", AT_NINE), ("assistant", "Where to?")],
    ),
    "lines.json": (
        f"\n{json.dumps(ADA)}\n\n{json.dumps(BOT)}\n",
        [("user", "I moved.", "Ada", AT_NINE), ("assistant", "Where to?")],
    ),
    "times.jsonl": (
        "\n".join(
            json.dumps({"role": "user", "content": "Hi."} | when)
            for when in (
                {"said_at": "2026-01-02T09:00:00Z"},
                {"said_at": 1767344400},
                {"created_at": "soon", "timestamp": 1767344400000},
                {"date": "2026-01-02T09:00:00 UTC", "said_at": None},
            )
        ),
        [("user", "Hi.", None, AT_NINE)] * 4,
    ),
    "speakers.jsonl": (
        '{"role": "Human", "content": "Hi.", "speaker": "Ada", "name": "Bob", "mood": "good"}\n'
        '{"role": "user", "content": "Ho.", "speaker": null, "name": "", "origin": "document"}\n',
        [("user", "Hi.", "Ada"), ("user", "Ho.")],
    ),
}

BAD_FILES: dict[str, tuple[str | bytes, str]] = {
    "blank.txt": ("", "contains no messages."),
    "spaces.txt": (" \n\n", "contains no messages."),
    "silent.txt": ("User:\nAssistant:\n", "contains no messages."),
    "latin1.txt": (b"User: caf\xe9\n", "cannot be read as UTF-8 text."),
    "no_words.txt": (json.dumps([CALL]), "contains no messages."),
}


def written(folder: Path, name: str, content: str | bytes) -> str:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def turns_of(ask: Run, user: str) -> list[dict[str, Any]]:
    [listed] = ask("--user", user, "sessions")["items"]
    turns = ask("--user", user, "turns", listed["session"]["id"])["turns"]
    keys = ("role", "content", "speaker", "valid_from", "origin", "tainted")
    return [{key: one[key] for key in keys} for one in turns]


@pytest.mark.parametrize("name", FILES)
def test_the_same_file_has_the_same_turns_everywhere(ask: Run, tmp_path: Path, name: str) -> None:
    content, expected = FILES[name]
    path = written(tmp_path, name, content)

    ask("--user", "a", "append", path)
    ask("--user", "l", "learn", path)
    ask("--user", "i", "import", path, "--no-learn")

    appended, learned, imported = (turns_of(ask, user) for user in "ali")
    assert appended == learned == imported
    for turn, (role, words, *rest) in zip(appended, expected, strict=True):
        speaker, at = [*rest, None, None][:2]
        assert (turn["role"], turn["content"], turn["speaker"]) == (role, words, speaker)
        assert at is None or turn["valid_from"] == at


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_file_without_messages_is_refused_everywhere(
    rem: Run, ask: Run, tmp_path: Path, name: str
) -> None:
    content, wrong = BAD_FILES[name]
    path = written(tmp_path, name, content)

    for verb in ("append", "learn", "import"):
        refused = rem(verb, path, code=2).stderr
        assert name in refused
        assert wrong in refused
    assert ask("sessions")["items"] == []


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ({"role": "king", "content": "Hi."}, "the role must be user"),
        ({"role": "user", "content": 7}, "content is a text or a list"),
        ({"role": "user", "content": "Hi.", "said_at": "soon"}, "said_at: give a date"),
        ({"role": "user", "content": "Hi.", "origin": "nowhere"}, "origin: use one of"),
        ({"role": "user", "content": "Hi.", "name": "\x07"}, "control characters"),
        ({"role": "user", "content": "Hi.", "metadata": 7}, "metadata is an object"),
    ],
)
def test_a_message_that_two_refuse_the_third_leaves_out(
    rem: Run, ask: Run, tmp_path: Path, line: dict[str, Any], wrong: str
) -> None:
    path = written(tmp_path, "chat.jsonl", f"{json.dumps(ADA)}\n{json.dumps(line)}\n")

    for verb in ("append", "learn"):
        refused = rem(verb, path, code=2).stderr
        assert "chat.jsonl, line 2: " in refused
        assert wrong in refused
    done = ask("import", path)
    assert done["turns"] == 1
    assert any(wrong in reason for reason in done["left_out"])


def test_one_silent_file_of_a_folder_does_not_stop_an_import(ask: Run, tmp_path: Path) -> None:
    (tmp_path / "chats").mkdir()
    written(tmp_path / "chats", "a.txt", "User: Hello.\n")
    written(tmp_path / "chats", "b.txt", "")
    done = ask("import", str(tmp_path / "chats"))
    assert done["turns"] == 1
    assert done["left_out"] == {"b.txt contains no messages.": 1}
