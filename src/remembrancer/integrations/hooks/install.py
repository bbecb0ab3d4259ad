"""Memory in the settings of coding agents: our MCP server and our hooks, and nothing else changed.

All changes are worked out before the first is written, so that a file that cannot be understood
leaves every file as it is.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from remembrancer import environment
from remembrancer.errors import InvalidInput
from remembrancer.integrations.hooks import json_edit, toml_edit
from remembrancer.integrations.hooks.hook import EVENTS
from remembrancer.types import Json

NAME = "remembrancer"
CLIENTS = tuple(EVENTS)
TIMEOUT = 10
"""After how many seconds a client may give up on a hook; it answers in less, or not at all."""

_OURS = re.compile(rf"\brem(?:\.exe)?[\"']? hook (?:{'|'.join(CLIENTS)})\b")


@dataclass(frozen=True, slots=True)
class Places:
    """The files in which a client is told of MCP servers and of hooks."""

    servers: Path
    hooks: Path


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of a file; `after` is None if nothing is left in it."""

    file: Path
    before: str | None
    after: str | None

    @property
    def done(self) -> str:
        """What was done, in a word."""
        if self.before == self.after:
            return "unchanged"
        if self.before is None:
            return "created"
        return "changed" if self.after is not None else "removed"


def places(client: str, project: Path | None) -> Places:
    """Where a client looks: for one project, or for the user everywhere."""
    match client, project:
        case "claude-code", None:
            state = environment.directory("CLAUDE_CONFIG_DIR", "~") / ".claude.json"
            own = environment.directory("CLAUDE_CONFIG_DIR", "~/.claude")
            return Places(state, own / "settings.json")
        case "claude-code", Path() as here:
            return Places(here / ".mcp.json", here / ".claude" / "settings.json")
        case "cursor", _:
            own = (project or Path.home()) / ".cursor"
            return Places(own / "mcp.json", own / "hooks.json")
        case "codex", _:
            home = environment.directory("CODEX_HOME", "~/.codex")
            own = project / ".codex" if project is not None else home
            return Places(own / "config.toml", own / "hooks.json")
        case "vscode", None:
            from platformdirs import user_config_path

            user = user_config_path("Code", appauthor=False, roaming=True) / "User"
            return Places(user / "mcp.json", Path.home() / ".copilot" / "hooks" / f"{NAME}.json")
        case "vscode", Path() as here:
            return Places(here / ".vscode" / "mcp.json", here / ".github/hooks" / f"{NAME}.json")
    raise InvalidInput(f"There is no client {client!r}: use one of {', '.join(CLIENTS)}.")


def command(*, shared: bool) -> str:
    """How a client calls us: by name where others share the file, else by the whole path."""
    if shared:
        return "rem"
    beside = Path(sys.executable).with_name("rem.exe" if os.name == "nt" else "rem")
    return str(beside) if beside.exists() else shutil.which("rem") or "rem"


def installed(
    client: str, project: Path | None, options: Sequence[str] = (), *, remove: bool = False
) -> list[Change]:
    """What to write so that a client remembers, or forgets us again."""
    where = places(client, project)
    rem = command(shared=project is not None)
    server: dict[str, Json] = {"command": rem, "args": ["mcp", *options]}
    hook = _line([rem, "hook", client, *options])
    return [
        _change(where.servers, lambda text: _server(client, text, None if remove else server)),
        _change(where.hooks, lambda text: _hooks(client, text, None if remove else hook)),
    ]


def write(changes: Sequence[Change]) -> None:
    """Write what has changed, each file at once and with the rights it had."""
    for one in changes:
        if one.after == one.before:
            continue
        file = one.file.resolve()  # what a link leads to is changed, not the link
        if one.after is None:
            file.unlink()
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        rights = stat.S_IMODE(file.stat().st_mode) if one.before is not None else 0o600
        beside = file.with_name(f".{file.name}.{os.getpid()}")
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, rights), "wb") as out:
            out.write(one.after.encode())
        os.chmod(beside, rights)
        os.replace(beside, file)


def _change(file: Path, edit: Callable[[str], str]) -> Change:
    try:
        before: str | None = file.read_bytes().decode()
    except FileNotFoundError:
        before = None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{file} cannot be read as UTF-8 text; nothing was changed.") from error
    try:
        after = edit(before if before and before.strip() else "")
    except InvalidInput as error:
        raise InvalidInput(f"{file}, {error}; nothing was changed.") from None
    return Change(file, before, after or (before if not (before or "").strip() else None))


def _server(client: str, text: str, server: dict[str, Json] | None) -> str:
    if client == "codex":
        return toml_edit.table(text, ("mcp_servers", NAME), server)
    if client in ("claude-code", "vscode") and server is not None:
        server = {"type": "stdio", **server}
    key = "servers" if client == "vscode" else "mcpServers"
    if server is not None:
        return json_edit.put(text or "{}\n", (key, NAME), server)
    return _emptied(text, _without(text, (key, NAME)))


def _hooks(client: str, text: str, hook: str | None) -> str:
    """The text with our hooks in place of any that we left before."""
    if not text and hook is None:
        return text
    is_flat = client in ("cursor", "vscode")
    entry: dict[str, Json] = {"type": "command"} if client != "cursor" else {}
    entry |= {"command": hook, "timeout": TIMEOUT}
    wanted: Json = entry if is_flat else {"hooks": [entry]}
    fresh = text or ('{\n  "version": 1\n}\n' if client == "cursor" else "{}\n")
    for event in EVENTS[client]:
        ours = list(_ours(json_edit.parsed(fresh), event))
        if hook is not None and [known for _, known in ours] == [wanted]:
            continue
        for path, _ in reversed(ours):
            fresh = _without(fresh, path)
        if hook is not None:
            fresh = json_edit.append(fresh, ("hooks", event), wanted)
    return fresh if hook is not None else _emptied(text, fresh)


def _ours(root: json_edit.Node, event: str) -> Iterator[tuple[json_edit.Path, Any]]:
    """Our entries among the hooks of an event: whole groups, or some in a group of others."""
    groups = root.at(("hooks", event))
    for number, group in enumerate(groups.parts.values() if groups else ()):
        inner = group.at(("hooks",))
        if inner is None:
            if _is_ours(group.value):
                yield ("hooks", event, number), group.value
            continue
        for place, one in enumerate(inner.parts.values()):
            if _is_ours(one.value):
                alone = len(inner.parts) == 1
                path: json_edit.Path = ("hooks", event, number)
                yield (path, group.value) if alone else ((*path, "hooks", place), one.value)


def _is_ours(entry: Json) -> bool:
    return isinstance(entry, dict) and bool(_OURS.search(str(entry.get("command"))))


def _without(text: str, path: json_edit.Path) -> str:
    """The text without what stands at a path, nor what would be empty without it."""
    left = json_edit.remove(text, path) if text else text
    holder = json_edit.parsed(left).at(path[:-1]) if left != text else None
    is_empty = holder is not None and not holder.parts
    return _without(left, path[:-1]) if is_empty and len(path) > 1 else left


def _emptied(before: str, text: str) -> str:
    """What is left of a text: none of it, if it was all ours."""
    is_ours = text != before and json_edit.parsed(text).value in ({}, {"version": 1})
    return "" if is_ours else text


def _line(words: Sequence[str]) -> str:
    """Words as one line for the shell of this system."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)
