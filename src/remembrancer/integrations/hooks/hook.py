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
from remembrancer.integrations.hooks.seen_context import news
from remembrancer.local_server import Whereabouts

if TYPE_CHECKING:
    from remembrancer.types import Json

START, PROMPT, REPLY, END = "start", "prompt", "reply", "end"

USUAL = {"SessionStart": START, "UserPromptSubmit": PROMPT, "Stop": REPLY, "SessionEnd": END}
EVENTS: Mapping[str, Mapping[str, str]] = {
    "claude-code": USUAL,
    "codex": USUAL,
    "cursor": {
        "sessionStart": START,
        "beforeSubmitPrompt": PROMPT,
        "afterAgentResponse": REPLY,
        "sessionEnd": END,
    },
    "vscode": {"SessionStart": START, "UserPromptSubmit": PROMPT, "Stop": END},
}
"""What each client calls the moments at which it asks us."""

TAKING_NOTES = ("claude-code", "codex")
"""The clients that take context with a prompt; the others take it when a session starts."""

BUDGETS = {START: 1500, PROMPT: 600}
LONGEST_PROMPT, LONGEST_NAME = 20_000, 100
DEADLINE, KEEPING = 5.0, 120.0
"""How many seconds the client waits at most, and how many we take when it does not."""

LONGEST_LOG = 1_000_000
FOLDER = "hooks"
"""Where in the data directory it is noted how far each session was told and kept."""


def main(arguments: Sequence[str]) -> None:
    """Answer one call of a client on stdout; nothing that happens here is its trouble."""
    options: dict[str, str] = {}
    try:
        client, *rest = arguments
        options = dict(zip(rest[::2], rest[1::2], strict=True))
        _hear(client, options)
    except BaseException as error:  # the client goes on as if we were not there
        _complain(options, f"{type(error).__name__}: {error}")


def _hear(client: str, options: Mapping[str, str]) -> None:
    until = time.monotonic() + float(options.get("--deadline", DEADLINE))
    with _until(until, options):
        payload: dict[str, Any] = json.load(sys.stdin.buffer)
    event = str(payload.get("hook_event_name") or payload.get("hookEventName"))
    moment = EVENTS[client].get(event)
    keeps = _is_kept(client, moment)
    if keeps and _is_apart():
        _keep(client, moment, payload, options)
        return
    if moment == START or (moment == PROMPT and client in TAKING_NOTES):
        with _until(until, options):
            if text := _context(moment, client, payload, options):
                sys.stdout.write(json.dumps(_told(client, event, text)))
                sys.stdout.flush()
    if keeps and sys.platform == "win32":
        _keep(client, moment, payload, options)


def settings(options: Mapping[str, str]) -> dict[str, Json]:
    """What the configuration says, unchecked, with what the options say laid over it."""
    config, place = options.get("--config"), options.get("--store")
    values, _ = environment.read(Path(config).expanduser() if config else None)
    said: dict[str, Json] = {
        name: options[f"--{name}"] for name in environment.DEFAULTS if f"--{name}" in options
    }
    if place is not None:
        is_url = place.startswith(("postgresql:", "postgresql+"))
        nowhere: dict[str, Json] = dict.fromkeys(("path", "url", "admin_url"))
        said["store"] = {**nowhere, "url" if is_url else "path": place}
    return environment.laid_over(values, said)


def session_of(client: str, payload: Mapping[str, Any]) -> str:
    """The name of the conversation, by which it is kept."""
    names = (payload.get(name) for name in ("session_id", "conversation_id", "sessionId"))
    name = str(next(filter(None, names), ""))
    if not (name.isascii() and name.replace("-", "").replace("_", "").isalnum()):
        raise ValueError("the session has no name that can be used")
    return f"{client}-{name[:LONGEST_NAME]}"


def _is_kept(client: str, moment: str | None) -> bool:
    """Whether something was said that is to be kept; Claude Code's transcript tells the prompts."""
    return moment in ((REPLY, END) if client == "claude-code" else (PROMPT, REPLY, END))


def _is_apart() -> bool:
    """Go on as two processes, where that is possible; whether this is the one nobody waits for."""
    if sys.platform == "win32" or os.fork():
        return False
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    return True


def _keep(
    client: str, moment: str | None, payload: Mapping[str, Any], options: Mapping[str, str]
) -> None:
    with _until(time.monotonic() + KEEPING, options):
        from remembrancer.integrations.hooks.store_session import keep

        known, agent = settings(options), options.get("--agent")
        keep(client, payload, known, agent=agent, is_over=moment == END)


def _context(
    moment: str, client: str, payload: Mapping[str, Any], options: Mapping[str, str]
) -> str:
    """What is remembered, as text: for the prompt, or what matters most when a session starts."""
    known, agent, session = settings(options), options.get("--agent"), session_of(client, payload)
    asked: dict[str, Any] = {"budget": int(options.get("--budget", BUDGETS[moment]))}
    if moment == PROMPT:
        prompt = str(payload["prompt"])[:LONGEST_PROMPT]
        asked |= {"prompt": prompt, "style": "note", "session": session}
        if not prompt.strip():
            return ""
    file = local_server.file(known)
    server = local_server.found(file)
    if server is not None:
        text, memories = asked_of(server, agent, asked)
    else:
        from remembrancer.integrations.hooks.open_memory import opened

        with opened(known, agent=agent, surface=client, embeds=moment == PROMPT) as me:
            found = me.context(**asked)
        text, memories = found.text, list(found.memories)
    told = file.parent / FOLDER / f"{session}.told"
    return news(told, text, memories, anew=moment == START)


def asked_of(
    server: Whereabouts, agent: str | None, asked: Mapping[str, Any]
) -> tuple[str, list[str]]:
    """A context and its memories from the server, by a request that needs no library to be made."""
    from urllib.parse import quote

    whose = f"/agents/{quote(agent, safe='')}" if agent is not None else ""
    body = json.dumps(asked).encode()
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


def _told(client: str, event: str, text: str) -> dict[str, Any]:
    if client == "cursor":
        return {"additional_context": text}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


@contextmanager
def _until(moment: float, options: Mapping[str, str]) -> Iterator[None]:
    """End the process if something takes longer."""

    def give_up() -> None:
        _complain(options, "gave up: it took too long")
        os._exit(0)

    watch = threading.Timer(moment - time.monotonic(), give_up)
    watch.daemon = True
    watch.start()
    try:
        yield
    finally:
        watch.cancel()
        watch.join()  # a process with one thread can be forked


def _complain(options: Mapping[str, str], what: str) -> None:
    """Write down what went wrong, if even that is possible."""
    from contextlib import suppress

    from remembrancer.clock import SystemClock

    with suppress(Exception):
        try:
            folder = local_server.file(settings(options)).parent
        except Exception:  # the configuration is what went wrong
            folder = environment.data_directory(None)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        log = folder / "hooks.log"
        is_long = log.exists() and log.stat().st_size > LONGEST_LOG
        how = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if is_long else os.O_APPEND)
        with open(os.open(log, how, 0o600), "a", encoding="utf-8") as out:
            out.write(f"{SystemClock().now().isoformat(timespec='seconds')} {what}\n")
