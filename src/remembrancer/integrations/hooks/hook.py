"""`rem hook CLIENT`: what a coding agent calls when a session starts, is spoken in, and ends.

It never stands in the client's way: whatever fails is written down and answered with nothing. While
a server runs, nothing heavy is imported: that would take longer than the server's answer.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from remembrancer import environment, local_server
from remembrancer.integrations.hooks.seen_context import filter_seen
from remembrancer.local_server import LocalServer

if TYPE_CHECKING:
    from remembrancer.types import Json

START, PROMPT, REPLY, END = "start", "prompt", "reply", "end"

DEFAULT_EVENTS = {
    "SessionStart": START,
    "UserPromptSubmit": PROMPT,
    "Stop": REPLY,
    "SessionEnd": END,
}
EVENTS: Mapping[str, Mapping[str, str]] = {
    "claude-code": DEFAULT_EVENTS,
    "codex": DEFAULT_EVENTS,
    "cursor": {
        "sessionStart": START,
        "beforeSubmitPrompt": PROMPT,
        "afterAgentResponse": REPLY,
        "sessionEnd": END,
    },
    "vscode": {"SessionStart": START, "UserPromptSubmit": PROMPT, "Stop": END},
}
"""What each client calls the moments at which it asks us."""

PROMPT_CONTEXT_CLIENTS = ("claude-code", "codex")
"""The clients that take context with a prompt; the others take it when a session starts."""

DEFAULT_BUDGETS = {START: 1500, PROMPT: 600}
MAX_PROMPT_CHARS, MAX_SESSION_NAME_CHARS = 20_000, 100
DEFAULT_DEADLINE_SECONDS, STORE_TIMEOUT_SECONDS = 5.0, 120.0
"""How many seconds the client waits at most, and how many we take when it does not."""

MAX_LOG_BYTES = 1_000_000
STATE_DIRECTORY = "hooks"
"""Where in the data directory it is noted how far each session was told and kept."""


def main(arguments: Sequence[str]) -> None:
    """Answer one call of a client on stdout; nothing that happens here is its trouble."""
    options: dict[str, str] = {}
    try:
        client, *rest = arguments
        options = dict(zip(rest[::2], rest[1::2], strict=True))
        _respond(client, options)
    except BaseException as error:  # the client goes on as if we were not there
        _log_error(options, f"{type(error).__name__}: {error}")


def _respond(client: str, options: Mapping[str, str]) -> None:
    until = time.monotonic() + float(options.get("--deadline", DEFAULT_DEADLINE_SECONDS))
    with _enforce_deadline(until, options):
        payload: dict[str, Any] = json.load(sys.stdin.buffer)
    event = str(payload.get("hook_event_name") or payload.get("hookEventName"))
    moment = EVENTS[client].get(event)
    keeps = _is_stored(client, moment)
    if keeps and _fork_to_background():
        _store_in_background(client, moment, payload, options)
        return
    if moment == START or (moment == PROMPT and client in PROMPT_CONTEXT_CLIENTS):
        with _enforce_deadline(until, options):
            if text := _build_context(moment, client, payload, options):
                sys.stdout.write(json.dumps(_format_output(client, event, text)))
                sys.stdout.flush()
    if keeps and sys.platform == "win32":
        _store_in_background(client, moment, payload, options)


def load_settings(options: Mapping[str, str]) -> dict[str, Json]:
    """What the configuration says, unchecked, with what the options say laid over it."""
    config, place = options.get("--config"), options.get("--store")
    values, _ = environment.read_values(Path(config).expanduser() if config else None)
    said: dict[str, Json] = {
        name: options[f"--{name}"] for name in environment.DEFAULTS if f"--{name}" in options
    }
    if place is not None:
        is_url = place.startswith(("postgresql:", "postgresql+"))
        nowhere: dict[str, Json] = dict.fromkeys(("path", "url", "admin_url"))
        said["store"] = {**nowhere, "url" if is_url else "path": place}
    return environment.deep_merge(values, said)


def build_session_name(client: str, payload: Mapping[str, Any]) -> str:
    """The name of the conversation, by which it is kept."""
    names = (payload.get(name) for name in ("session_id", "conversation_id", "sessionId"))
    name = str(next(filter(None, names), ""))
    if not (name.isascii() and name.replace("-", "").replace("_", "").isalnum()):
        raise ValueError("the session has no name that can be used")
    return f"{client}-{name[:MAX_SESSION_NAME_CHARS]}"


def _is_stored(client: str, stage: str | None) -> bool:
    """Whether something was said that is to be kept; Claude Code's transcript tells the prompts."""
    return stage in ((REPLY, END) if client == "claude-code" else (PROMPT, REPLY, END))


def _fork_to_background() -> bool:
    """Go on as two processes, where that is possible; whether this is the one nobody waits for."""
    if sys.platform == "win32" or os.fork():
        return False
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    return True


def _store_in_background(
    client: str, stage: str | None, payload: Mapping[str, Any], options: Mapping[str, str]
) -> None:
    with _enforce_deadline(time.monotonic() + STORE_TIMEOUT_SECONDS, options):
        from remembrancer.integrations.hooks.store_session import store_session

        known, agent = load_settings(options), options.get("--agent")
        store_session(client, payload, known, agent=agent, is_over=stage == END)


def _build_context(
    stage: str, client: str, payload: Mapping[str, Any], options: Mapping[str, str]
) -> str:
    """What is remembered, as text: for the prompt, or what matters most when a session starts."""
    known, agent, session = (
        load_settings(options),
        options.get("--agent"),
        build_session_name(client, payload),
    )
    asked: dict[str, Any] = {"budget": int(options.get("--budget", DEFAULT_BUDGETS[stage]))}
    if stage == PROMPT:
        prompt = str(payload["prompt"])[:MAX_PROMPT_CHARS]
        asked |= {"prompt": prompt, "style": "note", "session": session}
        if not prompt.strip():
            return ""
    file = local_server.server_file_path(known)
    server = local_server.find_running(file)
    if server is not None:
        text, memories = request_context(server, agent, asked)
    else:
        from remembrancer.integrations.hooks.open_memory import open_local_memory

        with open_local_memory(known, agent=agent, surface=client, embeds=stage == PROMPT) as me:
            found = me.context(**asked)
        text, memories = found.text, list(found.memories)
    told = file.parent / STATE_DIRECTORY / f"{session}.told"
    return filter_seen(told, text, memories, reset=stage == START)


def request_context(
    server: LocalServer, agent: str | None, body_fields: Mapping[str, Any]
) -> tuple[str, list[str]]:
    """A context and its memories from the server, by a request that needs no library to be made."""
    from urllib.parse import quote

    whose = f"/agents/{quote(agent, safe='')}" if agent is not None else ""
    body = json.dumps(body_fields).encode()
    head = (
        f"POST /api{whose}/context HTTP/1.0\r\nHost: localhost\r\nConnection: close\r\n"
        f"Authorization: Bearer {server.key}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection((server.host, server.port)) as line:
        line.sendall(head.encode() + body)
        with line.makefile("rb") as answer:
            status, _, told = answer.read().partition(b"\r\n\r\n")
    if status.split(maxsplit=2)[1] != b"200":
        raise OSError(f"the server answered {status.splitlines()[0].decode()}")
    found = json.loads(told)
    return found["text"], found["memories"]


def _format_output(client: str, event: str, text: str) -> dict[str, Any]:
    if client == "cursor":
        return {"additional_context": text}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


@contextmanager
def _enforce_deadline(deadline: float, options: Mapping[str, str]) -> Iterator[None]:
    """End the process if something takes longer."""

    def give_up() -> None:
        _log_error(options, "gave up: it took too long")
        os._exit(0)

    watch = threading.Timer(deadline - time.monotonic(), give_up)
    watch.daemon = True
    watch.start()
    try:
        yield
    finally:
        watch.cancel()
        watch.join()  # a process with one thread can be forked


def _log_error(options: Mapping[str, str], what: str) -> None:
    """Write down what went wrong, if even that is possible."""
    from contextlib import suppress

    from remembrancer.clock import SystemClock

    with suppress(Exception):
        try:
            folder = local_server.server_file_path(load_settings(options)).parent
        except Exception:  # the configuration is what went wrong
            folder = environment.data_directory(None)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        log = folder / "hooks.log"
        is_long = log.exists() and log.stat().st_size > MAX_LOG_BYTES
        how = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if is_long else os.O_APPEND)
        with open(os.open(log, how, 0o600), "a", encoding="utf-8") as out:
            out.write(f"{SystemClock().now().isoformat(timespec='seconds')} {what}\n")
