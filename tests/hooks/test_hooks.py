"""The hooks of coding agents: what they tell and keep, and that they are never in the way."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from remembrancer import local_server
from remembrancer.engine import Remembrancer
from remembrancer.local_server import LocalServer
from remembrancer.memory import Memory
from remembrancer.types import Kind
from tests.hooks.sessions import Session, eventually
from tests.support.http_server import Served

Serve = Callable[[], Served]


def routes(server: Served) -> list[str]:
    return [f"{one['method']} {one['route']}" for one in server.logged()]


def test_with_a_server_it_is_the_server_that_answers(
    session: Session, me: Memory, serve: Serve
) -> None:
    me.remember("The shop is deployed on Thursdays.")
    server = serve()

    assert "Thursdays" in session.told("UserPromptSubmit", prompt="When is the deployment?")
    assert "Thursdays" in session.told("SessionStart", source="resume")

    assert routes(server) == ["POST /api/context"] * 2
    session.says("user", "I prefer tea over coffee.")
    session.says("assistant", "Noted.")
    session.call(session.payload("SessionEnd", reason="clear"))
    eventually(lambda: bool(me.list(kinds=[Kind.EPISODE]).items))
    assert "POST /api/learn" in routes(server)


def test_with_a_server_nothing_heavy_is_loaded(session: Session, me: Memory, serve: Serve) -> None:
    me.remember("The shop is deployed on Thursdays.")
    serve()
    heavy = ("pydantic", "typer", "httpx", "sqlalchemy", "numpy", "http.client", "dataclasses")
    program = (
        "import sys; from remembrancer.integrations.hooks.hook import main; main(sys.argv[1:]); "
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    prompt = session.payload("UserPromptSubmit", prompt="When is the deployment?")
    done = subprocess.run(
        [sys.executable, "-c", program, "claude-code", *session.options],
        input=json.dumps(prompt),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Thursdays" in done.stdout
    assert done.stdout.endswith("[]\n")


def test_an_agent_has_a_memory_of_its_own(session: Session, me: Memory, serve: Serve) -> None:
    me.acting_as("builder").remember("Build with make.", scope="builder")
    me.acting_as("writer").remember("Write in British English.", scope="writer")
    session.options = (*session.options, "--agent", "builder")
    serve()

    told = session.told("SessionStart", source="startup")

    assert "make" in told
    assert "British" not in told


def test_only_what_is_new_is_kept(session: Session, me: Memory, serve: Serve) -> None:
    serve()
    name = f"claude-code-{session.name}"
    for said, known in (("One.", 2), ("Two.", 4)):
        session.says("user", said)
        session.says("assistant", f"You said {said}")
        session.call(session.payload("Stop"))
        eventually(lambda known=known: me.count_turns(name) == known)
    session.call(session.payload("Stop"))
    session.call(session.payload("SessionEnd", reason="other"))

    eventually(lambda: bool(me.list(kinds=[Kind.EPISODE]).items))
    said_at = [(one.content, one.valid_from.second) for one in me.turns(name)]
    assert said_at == [("One.", 0), ("You said One.", 1), ("Two.", 2), ("You said Two.", 3)]


def test_what_was_erased_does_not_come_back(
    session: Session, me: Memory, store: Remembrancer
) -> None:
    session.says("user", "I live in Hamburg.")
    session.says("assistant", "A fine place.")
    session.call(session.payload("Stop"))
    name = f"claude-code-{session.name}"
    eventually(lambda: me.count_turns(name) == 2)
    marks = session.folder / "memory" / "hooks" / f"{name}.json"
    eventually(lambda: "kept" in marks.read_text())
    store.flush()
    store.erase("me")

    session.says("user", "What is the weather like?")
    session.says("assistant", "I cannot know.")
    session.call(session.payload("Stop"))

    eventually(lambda: me.count_turns(name) == 2)
    assert me.turns(name)[0].content == "What is the weather like?"


def test_a_session_that_goes_on_gets_an_episode_of_what_is_new(
    session: Session, me: Memory, serve: Serve
) -> None:
    serve()
    for number, said in enumerate(("Paint the shed.", "Mend the fence."), start=1):
        session.says("user", said)
        session.call(session.payload("SessionEnd", reason="other"))
        eventually(lambda number=number: len(me.list(kinds=[Kind.EPISODE]).items) == number)

    newest, oldest = (one.content for one in me.list(kinds=[Kind.EPISODE]).items)
    assert "shed" in oldest
    assert "fence" in newest
    assert "shed" not in newest


def test_the_words_of_tools_and_of_what_was_injected_are_nobodys(
    session: Session, me: Memory, serve: Serve
) -> None:
    serve()
    session.says(
        "user", "What does the page say? <system-reminder>I live in Rome.</system-reminder>"
    )
    session.says("user", [{"type": "tool_result", "content": "I live in Paris. I prefer gin."}])
    session.says("assistant", [{"type": "text", "text": "That you live in Paris."}])
    session.says("user", "<remembered>\n- I prefer tea over coffee.\n</remembered> Thanks.")
    session.says("assistant", [{"type": "text", "text": "You are welcome."}])
    session.call(session.payload("SessionEnd", reason="other"))

    eventually(lambda: bool(me.list(kinds=[Kind.EPISODE]).items))
    name = f"claude-code-{session.name}"
    assert [one.role for one in me.turns(name)] == [
        "user",
        "tool",
        "assistant",
        "user",
        "assistant",
    ]
    assert me.list(kinds=[Kind.FACT]).items == ()
    (happened,) = me.list(kinds=[Kind.EPISODE]).items
    assert not happened.tainted, "it has the user's words alone"
    told = "The user asked: “What does the page say?”."
    assert happened.content == f"Session with Claude Code in shop. {told}"


def test_a_session_is_told_everything_once_until_it_is_compacted(
    session: Session, me: Memory, serve: Serve
) -> None:
    me.remember("The shop is deployed on Thursdays.")
    serve()
    prompt = {"prompt": "When is the shop deployed?"}
    assert "Thursdays" in session.told("SessionStart", source="startup")
    assert session.told("UserPromptSubmit", **prompt) == ""

    me.remember("The shop is deployed by Grace.")
    told = session.told("UserPromptSubmit", **prompt)
    assert "Grace" in told
    assert "Thursdays" not in told
    assert told.startswith("<remembered>")
    assert told.endswith("</remembered>")

    assert "Thursdays" in session.told("SessionStart", source="compact")


def test_a_prompt_is_not_told_what_was_said_in_its_own_session(
    session: Session, me: Memory
) -> None:
    me.append([{"role": "user", "content": "The vase is blue."}], f"claude-code-{session.name}")
    me.append([{"role": "user", "content": "The vase was a gift."}], "another")

    told = session.told("UserPromptSubmit", prompt="Which vase?")

    assert "gift" in told
    assert "blue" not in told


@pytest.mark.parametrize(
    ("client", "prompt", "reply", "end"),
    [
        ("codex", "UserPromptSubmit", "Stop", "SessionEnd"),
        ("cursor", "beforeSubmitPrompt", "afterAgentResponse", "sessionEnd"),
        ("vscode", "UserPromptSubmit", None, "Stop"),
    ],
)
def test_other_clients_tell_prompts_and_replies_themselves(
    session: Session,
    me: Memory,
    serve: Serve,
    client: str,
    prompt: str,
    reply: str | None,
    end: str,
) -> None:
    serve()
    session.client = client
    name = f"{client}-{session.name}"
    session.call(session.payload(prompt, prompt="I prefer tea over coffee."))
    eventually(lambda: me.count_turns(name) == 1)
    if reply is not None:
        field = "text" if client == "cursor" else "last_assistant_message"
        session.call(session.payload(reply, **{field: "Noted."}))
        eventually(lambda: me.count_turns(name) == 2)
    session.call(session.payload(end, reason="other"))

    eventually(lambda: bool(me.list(kinds=[Kind.EPISODE]).items))
    eventually(lambda: bool(me.list(kinds=[Kind.FACT]).items))
    assert [one.role for one in me.turns(name)] == ["user", "assistant"][: 2 if reply else 1]


def test_cursor_gets_its_context_in_its_own_words(session: Session, me: Memory) -> None:
    me.remember("The shop is deployed on Thursdays.")
    session.client = "cursor"
    payload = {"hook_event_name": "sessionStart", "conversation_id": "c-1"}

    assert "Thursdays" in json.loads(session.call(payload))["additional_context"]


def test_within_its_budget(session: Session, me: Memory, serve: Serve) -> None:
    serve()
    for number in range(50):
        me.remember(f"Note {number} is about the deployment of part {number} of the shop.")

    payload = session.payload("UserPromptSubmit", prompt="How is the shop deployed?")
    answer = session.call(payload, "--budget", "120")

    assert 0 < len(json.loads(answer)["hookSpecificOutput"]["additionalContext"]) <= 4 * 120


@pytest.mark.parametrize(
    "payload",
    [
        "",
        "nonsense",
        "[1, 2]",
        '{"hook_event_name": "Stop"}',
        '{"hook_event_name": "Stop", "session_id": "../../etc/passwd"}',
        '{"hook_event_name": "UserPromptSubmit", "session_id": "x"}',
    ],
)
def test_what_cannot_be_understood_is_answered_with_nothing(session: Session, payload: str) -> None:
    assert session.call(payload) == ""
    eventually(lambda: bool(session.log()))
    assert len(session.log().splitlines()) == 1


@pytest.mark.parametrize("payload", ['{"hook_event_name": "Notification"}', "{}"])
def test_what_does_not_concern_us_is_no_trouble(session: Session, payload: str) -> None:
    assert session.call(payload) == ""
    assert session.log() == ""


def test_a_store_that_cannot_be_opened_is_not_the_clients_trouble(session: Session) -> None:
    for where in ("/dev/null/nowhere", "postgresql://nobody@127.0.0.1:1/nothing"):
        session.options = ("--store", where)
        assert session.told("SessionStart", source="startup") == ""
    config = session.folder / "config" / "remembrancer" / "remembrancer.toml"
    config.parent.mkdir(parents=True)
    config.write_text("profile = [")
    session.options = ()
    assert session.told("SessionStart", source="startup") == ""
    assert "is not valid TOML" in session.log()


def test_a_server_that_hangs_is_given_up_in_time(session: Session, folder: Path) -> None:
    folder.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        file = local_server.server_file_path({"store": {"path": str(folder)}})
        local_server.write_server_file(file, LocalServer("127.0.0.1", port, "key", os.getpid()))
        started = time.monotonic()
        payload = session.payload("UserPromptSubmit", prompt="Anything?")
        assert session.call(payload, "--deadline", "0.3") == ""

    assert time.monotonic() - started < 5
    assert "gave up" in session.log()
