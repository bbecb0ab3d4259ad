"""Sessions with coding agents as these tell of them: payloads of hooks, and a transcript."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.processes import rem

SESSION = "7f3c1a52-0b7e-4b7a-9d55-1c2f6a1e9d10"


@dataclass
class Session:
    """A session whose hooks are run as processes, each for itself."""

    folder: Path
    options: tuple[str, ...] = ()
    client: str = "claude-code"
    name: str = SESSION
    lines: list[dict[str, Any]] = field(default_factory=list)

    @property
    def transcript(self) -> Path:
        """The file in which Claude Code writes down what is said."""
        return self.folder / "transcript.jsonl"

    @property
    def env(self) -> dict[str, str]:
        """The environment of someone who keeps everything in this folder."""
        return {
            "HOME": str(self.folder),
            "XDG_DATA_HOME": str(self.folder / "data"),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "PATH": "/usr/bin:/bin",
        }

    def payload(self, event: str, **more: Any) -> dict[str, Any]:
        """What the client says to a hook."""
        return {
            "session_id": self.name,
            "transcript_path": str(self.transcript),
            "cwd": str(self.folder / "shop"),
            "permission_mode": "default",
            "hook_event_name": event,
            **more,
        }

    def call(self, payload: dict[str, Any] | str, *options: str) -> str:
        """What a hook answers; it always ends well and never complains to the client."""
        said = payload if isinstance(payload, str) else json.dumps(payload)
        patience = ("--deadline", "60")  # the machine may be busy with other tests
        args = ("hook", self.client, *patience, *self.options, *options)
        done = rem(*args, env=self.env, cwd=self.folder, stdin=said)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def rem(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run another verb with the same options."""
        return rem(*self.options, *command, env=self.env, cwd=self.folder)

    def told(self, event: str, **more: Any) -> str:
        """The context that a hook gives, in the form that Claude Code and Codex document."""
        answer = self.call(self.payload(event, **more))
        if not answer:
            return ""
        output = json.loads(answer)["hookSpecificOutput"]
        assert output["hookEventName"] == event
        return str(output["additionalContext"])

    def says(self, role: str, content: Any, **more: Any) -> None:
        """Add a line to the transcript, as Claude Code writes it."""
        moment = f"2026-03-02T12:00:{len(self.lines):02}.000Z"
        message = {"role": role, "content": content}
        line = {"type": role, "message": message, "timestamp": moment, "uuid": "u", **more}
        self.lines.append({"isSidechain": False, "sessionId": self.name, **line})
        self.transcript.write_text("".join(f"{json.dumps(one)}\n" for one in self.lines))

    def log(self) -> str:
        """What the hooks complained of."""
        found = [path.read_text() for path in self.folder.rglob("hooks.log")]
        return "".join(found)


def eventually(check: Callable[[], bool]) -> None:
    """Wait for what another process does in its own time."""
    for _ in range(300):
        if check():
            return
        time.sleep(0.05)
    raise AssertionError("it does not happen")
