"""Adds the MCP server and the hooks to the settings of coding agents, and removes them.

All changes are planned before the first is written, so that an invalid file leaves every file
unchanged.
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

SERVER_NAME = "remembrancer"
CLIENTS = tuple(EVENTS)
HOOK_TIMEOUT_SECONDS = 10
"""Timeout that the client is given; the hook itself exits earlier."""

_OWN_HOOK_PATTERN = re.compile(rf"\brem(?:\.exe)?[\"']? hook (?:{'|'.join(CLIENTS)})\b")


@dataclass(frozen=True, slots=True)
class ConfigPaths:
    """The files in which a client configures MCP servers and hooks."""

    servers: Path
    hooks: Path


@dataclass(frozen=True, slots=True)
class FileChange:
    """The planned content of a file; `after` is None if the file is to be deleted."""

    file: Path
    before: str | None
    after: str | None

    @property
    def done(self) -> str:
        if self.before == self.after:
            return "unchanged"
        if self.before is None:
            return "created"
        return "changed" if self.after is not None else "removed"


def find_config_paths(client: str, project: Path | None) -> ConfigPaths:
    """Return the configuration files of a client, for a project or for the user."""
    match client, project:
        case "claude-code", None:
            state = environment.resolve_directory("CLAUDE_CONFIG_DIR", "~") / ".claude.json"
            own = environment.resolve_directory("CLAUDE_CONFIG_DIR", "~/.claude")
            return ConfigPaths(state, own / "settings.json")
        case "claude-code", Path() as here:
            return ConfigPaths(here / ".mcp.json", here / ".claude" / "settings.json")
        case "cursor", _:
            own = (project or Path.home()) / ".cursor"
            return ConfigPaths(own / "mcp.json", own / "hooks.json")
        case "codex", _:
            home = environment.resolve_directory("CODEX_HOME", "~/.codex")
            own = project / ".codex" if project is not None else home
            return ConfigPaths(own / "config.toml", own / "hooks.json")
        case "vscode", None:
            from platformdirs import user_config_path

            user = user_config_path("Code", appauthor=False, roaming=True) / "User"
            return ConfigPaths(
                user / "mcp.json", Path.home() / ".copilot" / "hooks" / f"{SERVER_NAME}.json"
            )
        case "vscode", Path() as here:
            return ConfigPaths(
                here / ".vscode" / "mcp.json", here / ".github/hooks" / f"{SERVER_NAME}.json"
            )
    raise InvalidInput(f"There is no client {client!r}: use one of {', '.join(CLIENTS)}.")


def find_executable(*, shared: bool) -> str:
    """Return the command for `rem`: its name in a file that is shared, else its path."""
    if shared:
        return "rem"
    sibling = Path(sys.executable).with_name("rem.exe" if os.name == "nt" else "rem")
    return str(sibling) if sibling.exists() else shutil.which("rem") or "rem"


def plan_install(
    client: str, project: Path | None, options: Sequence[str] = (), *, remove: bool = False
) -> list[FileChange]:
    """Plan the changes that add the server and hooks to a client, or remove them."""
    paths = find_config_paths(client, project)
    rem = find_executable(shared=project is not None)
    server: dict[str, Json] = {"command": rem, "args": ["mcp", *options]}
    hook = _join_command([rem, "hook", client, *options])
    return [
        _plan_change(
            paths.servers, lambda text: _edit_servers(client, text, None if remove else server)
        ),
        _plan_change(paths.hooks, lambda text: _edit_hooks(client, text, None if remove else hook)),
    ]


def write_changes(changes: Sequence[FileChange]) -> None:
    """Write the changed files atomically, with the permissions that they had."""
    for one in changes:
        if one.after == one.before:
            continue
        file = one.file.resolve()  # change the target of a link, not the link
        if one.after is None:
            file.unlink()
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(file.stat().st_mode) if one.before is not None else 0o600
        draft = file.with_name(f".{file.name}.{os.getpid()}")
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as out:
            out.write(one.after.encode())
        os.chmod(draft, mode)
        os.replace(draft, file)


def _plan_change(file: Path, edit: Callable[[str], str]) -> FileChange:
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
    return FileChange(file, before, after or (before if not (before or "").strip() else None))


def _edit_servers(client: str, text: str, server: dict[str, Json] | None) -> str:
    if client == "codex":
        return toml_edit.set_table(text, ("mcp_servers", SERVER_NAME), server)
    if client in ("claude-code", "vscode") and server is not None:
        server = {"type": "stdio", **server}
    key = "servers" if client == "vscode" else "mcpServers"
    if server is not None:
        return json_edit.put(text or "{}\n", (key, SERVER_NAME), server)
    return _drop_if_empty(text, _remove_path(text, (key, SERVER_NAME)))


def _edit_hooks(client: str, text: str, hook: str | None) -> str:
    """Return the text with our hooks added, replaced or, if `hook` is None, removed."""
    if not text and hook is None:
        return text
    is_flat = client in ("cursor", "vscode")
    entry: dict[str, Json] = {"type": "command"} if client != "cursor" else {}
    entry |= {"command": hook, "timeout": HOOK_TIMEOUT_SECONDS}
    group: Json = entry if is_flat else {"hooks": [entry]}
    edited = text or ('{\n  "version": 1\n}\n' if client == "cursor" else "{}\n")
    for event in EVENTS[client]:
        own = list(_find_own_hooks(json_edit.parse(edited), event))
        if hook is not None and [known for _, known in own] == [group]:
            continue
        for path, _ in reversed(own):
            edited = _remove_path(edited, path)
        if hook is not None:
            edited = json_edit.append(edited, ("hooks", event), group)
    return edited if hook is not None else _drop_if_empty(text, edited)


def _find_own_hooks(root: json_edit.Node, event: str) -> Iterator[tuple[json_edit.JsonPath, Any]]:
    """Yield the path and value of our hooks: a whole group, or an entry in a shared group."""
    groups = root.find(("hooks", event))
    for number, group in enumerate(groups.children.values() if groups else ()):
        inner = group.find(("hooks",))
        if inner is None:
            if _is_own_hook(group.value):
                yield ("hooks", event, number), group.value
            continue
        for index, one in enumerate(inner.children.values()):
            if _is_own_hook(one.value):
                is_only = len(inner.children) == 1
                path: json_edit.JsonPath = ("hooks", event, number)
                yield (path, group.value) if is_only else ((*path, "hooks", index), one.value)


def _is_own_hook(entry: Json) -> bool:
    return isinstance(entry, dict) and bool(_OWN_HOOK_PATTERN.search(str(entry.get("command"))))


def _remove_path(text: str, path: json_edit.JsonPath) -> str:
    """Remove the value at a path, and every parent that is empty without it."""
    remaining = json_edit.remove(text, path) if text else text
    parent = json_edit.parse(remaining).find(path[:-1]) if remaining != text else None
    is_empty = parent is not None and not parent.children
    return _remove_path(remaining, path[:-1]) if is_empty and len(path) > 1 else remaining


def _drop_if_empty(before: str, text: str) -> str:
    """Return "" if nothing but our own entries was in the file."""
    is_own = text != before and json_edit.parse(text).value in ({}, {"version": 1})
    return "" if is_own else text


def _join_command(words: Sequence[str]) -> str:
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)
