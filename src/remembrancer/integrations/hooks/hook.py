"""`rem hook CLIENT`: called by a coding agent when a session starts, gets a message, and ends.

It never blocks the client: an error is logged and the output is empty. While a server runs, nothing
heavy is imported, because that would take longer than the response of the server.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from remembrancer import environment, local_server
from remembrancer.environment import create_private_directory
from remembrancer.integrations.hooks.open_memory import load_context
from remembrancer.integrations.hooks.seen_memories import load_seen, save_seen

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
"""The stage of a session by the event name of each client."""

PROMPT_CONTEXT_CLIENTS = ("claude-code", "codex")
"""Clients that accept context with a prompt; the others accept it only at the start."""

DEFAULT_BUDGETS = {START: 1500, PROMPT: 600}
MAX_PROMPT_CHARS, MAX_SESSION_NAME_CHARS = 20_000, 100
DEFAULT_DEADLINE_SECONDS, STORE_TIMEOUT_SECONDS = 5.0, 120.0
"""Limits while the client waits for the hook, and for storing in the background."""

MAX_LOG_BYTES = 1_000_000
STATE_DIRECTORY = "hooks"
"""Folder in the data directory with the progress of each session."""


def main(arguments: Sequence[str]) -> None:
    """Answer one call of a client on stdout; never raises."""
    options: dict[str, str] = {}
    try:
        client, *rest = arguments
        options = dict(zip(rest[::2], rest[1::2], strict=True))
        _respond(client, options)
    except BaseException as error:  # the client must continue in any case
        _log_error(options, f"{type(error).__name__}: {error}")


def _respond(client: str, options: Mapping[str, str]) -> None:
    deadline = time.monotonic() + float(options.get("--deadline", DEFAULT_DEADLINE_SECONDS))
    with _enforce_deadline(deadline, options):
        payload: dict[str, Any] = json.load(sys.stdin.buffer)
    event = str(payload.get("hook_event_name") or payload.get("hookEventName"))
    stage = EVENTS[client].get(event)
    has_turns = _is_stored(client, stage)
    if has_turns and _fork_to_background():
        _store_in_background(client, stage, payload, options)
        return
    if stage == START or (stage == PROMPT and client in PROMPT_CONTEXT_CLIENTS):
        with _enforce_deadline(deadline, options):
            if text := _build_context(stage, client, payload, options):
                sys.stdout.write(json.dumps(_format_output(client, event, text)))
                sys.stdout.flush()
    if has_turns and sys.platform == "win32":
        _store_in_background(client, stage, payload, options)


def load_settings(options: Mapping[str, str]) -> dict[str, Json]:
    """Return the configuration, unchecked, with the options merged into it."""
    config, store = options.get("--config"), options.get("--store")
    values, _ = environment.read_values(Path(config).expanduser() if config else None)
    overrides: dict[str, Json] = {
        name: options[f"--{name}"] for name in environment.DEFAULTS if f"--{name}" in options
    }
    if store is not None:
        is_url = store.startswith(("postgresql:", "postgresql+"))
        unset: dict[str, Json] = dict.fromkeys(("path", "url", "admin_url"))
        overrides["store"] = {**unset, "url" if is_url else "path": store}
    return environment.deep_merge(values, overrides)


def build_session_name(client: str, payload: Mapping[str, Any]) -> str:
    """Return the id under which the conversation is stored."""
    names = (payload.get(name) for name in ("session_id", "conversation_id", "sessionId"))
    name = str(next(filter(None, names), ""))
    if not (name.isascii() and name.replace("-", "").replace("_", "").isalnum()):
        raise ValueError("the session has no valid id")
    return f"{client}-{name[:MAX_SESSION_NAME_CHARS]}"


def _is_stored(client: str, stage: str | None) -> bool:
    """True if the event brings turns to store; Claude Code has the prompts in its transcript."""
    return stage in ((REPLY, END) if client == "claude-code" else (PROMPT, REPLY, END))


def _fork_to_background() -> bool:
    """Fork, if the platform can; returns True in the child, for which nobody waits."""
    if sys.platform == "win32" or os.fork():
        return False
    os.setsid()
    devnull = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(devnull, stream)
    return True


def _store_in_background(
    client: str, stage: str | None, payload: Mapping[str, Any], options: Mapping[str, str]
) -> None:
    with _enforce_deadline(time.monotonic() + STORE_TIMEOUT_SECONDS, options):
        from remembrancer.integrations.hooks.store_session import store_session

        settings, agent = load_settings(options), options.get("--agent")
        store_session(client, payload, settings, agent=agent, is_over=stage == END)


def _build_context(
    stage: str, client: str, payload: Mapping[str, Any], options: Mapping[str, str]
) -> str:
    """Return the memory text for a prompt, or for the start of a session."""
    settings, session = load_settings(options), build_session_name(client, payload)
    folder = local_server.server_file_path(settings).parent / STATE_DIRECTORY
    seen_file, seen = folder / f"{session}.told", []
    context: dict[str, Any] = {"budget": int(options.get("--budget", DEFAULT_BUDGETS[stage]))}
    if stage == PROMPT:
        seen = load_seen(seen_file)
        prompt = str(payload["prompt"])[:MAX_PROMPT_CHARS]
        context |= {"prompt": prompt, "style": "note", "session": session, "exclude": seen}
        if not prompt.strip():
            return ""
    text, memories = load_context(
        settings, context, agent=options.get("--agent"), surface=client, embeds=stage == PROMPT
    )
    save_seen(seen_file, [*seen, *memories])
    return text


def _format_output(client: str, event: str, text: str) -> dict[str, Any]:
    if client == "cursor":
        return {"additional_context": text}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


@contextmanager
def _enforce_deadline(deadline: float, options: Mapping[str, str]) -> Iterator[None]:
    """Exit the process if the block takes longer."""

    def give_up() -> None:
        _log_error(options, "gave up: it took too long")
        os._exit(0)

    timer = threading.Timer(deadline - time.monotonic(), give_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # only a process with one thread can be forked safely


def _log_error(options: Mapping[str, str], message: str) -> None:
    """Append a message to the log; never raises."""
    from contextlib import suppress

    from remembrancer.clock import SystemClock

    with suppress(Exception):
        try:
            folder = local_server.server_file_path(load_settings(options)).parent
        except Exception:  # the configuration is invalid
            folder = environment.data_directory(None)
        create_private_directory(folder)
        log = folder / "hooks.log"
        is_full = log.exists() and log.stat().st_size > MAX_LOG_BYTES
        flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if is_full else os.O_APPEND)
        with open(os.open(log, flags, 0o600), "a", encoding="utf-8") as out:
            out.write(f"{SystemClock().now().isoformat(timespec='seconds')} {message}\n")
