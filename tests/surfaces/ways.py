"""The same verb over each surface, with an outcome that can be compared: "done", or a code."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from typer.testing import CliRunner

from remembrancer.cli.app import app
from remembrancer.engine import Remembrancer
from remembrancer.errors import RemembrancerError
from remembrancer.memory import Memory
from tests.mcp.talk import Talk, inside, principal
from tests.support.http_server import Served

DONE = "done"


@dataclass(frozen=True)
class Aim:
    """What an attempt is about: a fact, a rule, an event and a conversation of someone, or none."""

    fact: str
    rule: str
    event: str
    session: str


Way = Callable[[str, Aim], str | None]
"""Does a verb to an aim: what came of it, or None where the surface has no such verb."""

LIBRARY: Mapping[str, Callable[[Memory, Aim], object]] = {
    "get": lambda me, aim: me.get(aim.fact),
    "update": lambda me, aim: me.update(aim.fact, "I drink cocoa."),
    "confirm": lambda me, aim: me.confirm(aim.fact),
    "forget": lambda me, aim: me.forget(aim.fact),
    "restore": lambda me, aim: me.restore(aim.fact),
    "delete": lambda me, aim: me.delete(aim.fact),
    "history": lambda me, aim: me.history(aim.fact),
    "helpful": lambda me, aim: me.helpful(aim.rule),
    "harmful": lambda me, aim: me.harmful(aim.rule, "It did not help."),
    "promote": lambda me, aim: me.promote(aim.rule),
    "demote": lambda me, aim: me.demote(aim.rule),
    "disable": lambda me, aim: me.disable(aim.rule),
    "undo": lambda me, aim: me.undo(aim.event),
    "turns": lambda me, aim: (me.session(aim.session), me.turns(aim.session)),
    "close": lambda me, aim: me.close(aim.session),
    "rename": lambda me, aim: me.rename(aim.session, "Another title"),
    "archive": lambda me, aim: me.archive(aim.session),
    "delete-session": lambda me, aim: me.delete_session(aim.session),
    "restore-session": lambda me, aim: me.restore_session(aim.session),
}

SHELL: Mapping[str, Callable[[Aim], list[str]]] = {
    **{
        verb: lambda aim, verb=verb: [verb, aim.fact]  # type: ignore[misc]
        for verb in ("get", "confirm", "forget", "restore", "delete", "history")
    },
    **{
        verb: lambda aim, verb=verb: [verb, aim.rule]  # type: ignore[misc]
        for verb in ("helpful", "promote", "demote", "disable")
    },
    **{
        verb: lambda aim, verb=verb: [verb, aim.session]  # type: ignore[misc]
        for verb in ("turns", "close", "archive", "restore-session")
    },
    "delete-session": lambda aim: ["delete-session", aim.session, "--yes"],
    "update": lambda aim: ["update", aim.fact, "I drink cocoa."],
    "harmful": lambda aim: ["harmful", aim.rule, "--reason", "It did not help."],
    "rename": lambda aim: ["rename", aim.session, "Another title"],
    "undo": lambda aim: ["undo", aim.event],
}

REST: Mapping[str, Callable[[Aim], tuple[str, str, Any]]] = {
    "get": lambda aim: ("GET", f"/memory/{aim.fact}", None),
    "update": lambda aim: ("PUT", f"/memory/{aim.fact}", {"content": "I drink cocoa."}),
    "confirm": lambda aim: ("POST", f"/memory/{aim.fact}/confirm", None),
    "forget": lambda aim: ("POST", f"/memory/{aim.fact}/forget", None),
    "restore": lambda aim: ("POST", f"/memory/{aim.fact}/restore", None),
    "delete": lambda aim: ("DELETE", f"/memory/{aim.fact}", None),
    "history": lambda aim: ("GET", f"/memory/{aim.fact}/history", None),
    "helpful": lambda aim: ("POST", "/feedback", {"rule": aim.rule, "verdict": "helpful"}),
    "harmful": lambda aim: ("POST", "/feedback", {"rule": aim.rule, "verdict": "harmful"}),
    "promote": lambda aim: ("POST", f"/memory/{aim.rule}/promote", None),
    "demote": lambda aim: ("POST", f"/memory/{aim.rule}/demote", None),
    "disable": lambda aim: ("POST", f"/memory/{aim.rule}/disable", None),
    "undo": lambda aim: ("POST", "/undo", {"event": aim.event}),
    "turns": lambda aim: ("GET", f"/sessions/{aim.session}/turns", None),
    "close": lambda aim: ("POST", f"/sessions/{aim.session}/close", None),
    "rename": lambda aim: ("PUT", f"/sessions/{aim.session}/title", {"title": "Another title"}),
    "archive": lambda aim: ("POST", f"/sessions/{aim.session}/archive", {}),
    "delete-session": lambda aim: ("DELETE", f"/sessions/{aim.session}", None),
    "restore-session": lambda aim: ("POST", f"/sessions/{aim.session}/restore", None),
}

TOOLS: Mapping[str, Callable[[Aim], tuple[str, dict[str, Any]]]] = {
    "get": lambda aim: ("memory_get", {"type": "fact", "id": aim.fact}),
    "update": lambda aim: ("update", {"memory": aim.fact, "content": "I drink cocoa."}),
    "confirm": lambda aim: ("confirm", {"memory": aim.fact}),
    "forget": lambda aim: ("forget", {"memory": aim.fact}),
    "helpful": lambda aim: ("feedback", {"rule": aim.rule, "helped": True}),
    "harmful": lambda aim: ("feedback", {"rule": aim.rule, "helped": False}),
    "undo": lambda aim: ("undo", {"event": aim.event}),
}


@dataclass(frozen=True)
class Caller:
    """Someone who calls, for themselves or as an agent."""

    user: str
    tenant: str
    agent: str | None = None


def by_library(engine: Remembrancer, caller: Caller) -> Way:
    """As a program that has the store open."""
    me = engine.for_user(caller.user, tenant=caller.tenant, agent=caller.agent)

    def do(verb: str, aim: Aim) -> str:
        try:
            LIBRARY[verb](me, aim)
        except RemembrancerError as error:
            return error.code
        return DONE

    return do


def by_shell(engine: Remembrancer, caller: Caller) -> Way:
    """As someone at a terminal."""
    front = ["--json", "--user", caller.user, "--tenant", caller.tenant]
    front += ["--agent", caller.agent] if caller.agent is not None else []

    def do(verb: str, aim: Aim) -> str:
        told = CliRunner().invoke(app, [*front, *SHELL[verb](aim)], obj=engine)
        if told.exit_code == 0:
            return DONE
        return str(json.loads(told.stdout or told.stderr)["error"]["code"])

    return do


def by_rest(served: Served, caller: Caller) -> Way:
    """As a program with a key."""
    client: httpx.Client = served.of(caller.user, tenant=caller.tenant, agent=caller.agent)

    def do(verb: str, aim: Aim) -> str:
        method, path, body = REST[verb](aim)
        answer = client.request(method, f"/api{path}", json=body)
        return DONE if answer.is_success else str(answer.json()["code"])

    return do


@contextmanager
def by_mcp(engine: Remembrancer, caller: Caller) -> Iterator[Way]:
    """As a model with tools."""
    who = principal(engine, caller.user, caller.agent, caller.tenant)
    with inside(engine, who, "full") as talk:
        offered = talk.tools()

        def do(verb: str, aim: Aim) -> str | None:
            if verb not in TOOLS or TOOLS[verb](aim)[0] not in offered:
                return None
            return _called(talk, *TOOLS[verb](aim))

        yield do


def _called(talk: Talk, name: str, arguments: dict[str, Any]) -> str:
    answer = talk.answer(name, arguments)
    if not answer.is_error:
        return DONE
    return str(answer.structured_content["error"]["code"])  # type: ignore[index]
