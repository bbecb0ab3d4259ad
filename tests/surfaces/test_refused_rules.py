"""M4: a rule that did harm or was disabled does not come back, whichever surface it is said on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from typer.testing import CliRunner

from remembrancer.cli.app import app
from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from remembrancer.types import Maturity, Record, Rule, Status
from tests.mcp.talk import inside, principal
from tests.support.http_server import served
from tests.support.opening import Open
from tests.support.visitor import Visitor

pytestmark = pytest.mark.feature("M4", "M9")

SAID = "Skip the greeting"


@dataclass(frozen=True)
class Surface:
    """How a surface stores a memory and edits one: each answers with the text that it shows."""

    remember: Callable[..., str]
    update: Callable[[str, str], str]


@pytest.fixture
def store(open_memory: Open) -> Remembrancer:
    return open_memory("agents")


@pytest.fixture
def me(store: Remembrancer) -> Memory:
    return store.for_user("ada")


@pytest.fixture(params=["library", "shell", "rest", "mcp"])
def surface(request: pytest.FixtureRequest, store: Remembrancer) -> Iterator[Surface]:
    me, tenant = store.for_user("ada"), store.settings.tenant
    match request.param:
        case "library":
            yield Surface(
                lambda content, **details: _describe(me.remember(content, **details)),
                lambda memory, content: _describe(me.update(memory, content)),
            )
        case "shell":

            def run(*words: str) -> str:
                front = ["--user", "ada", "--tenant", tenant]
                return CliRunner().invoke(app, [*front, *words], obj=store).output

            def remember(content: str, **details: Any) -> str:
                options = (f"--{name}={value}" for name, value in details.items())
                return run("remember", *options, content)

            yield Surface(remember, lambda memory, content: run("update", memory, content))
        case "rest":
            with served(store) as server:
                client = server.of("ada", tenant=tenant)
                yield Surface(
                    lambda content, **details: (
                        client.post("/api/remember", json={"content": content, **details}).text
                    ),
                    lambda memory, content: (
                        client.put(f"/api/memory/{memory}", json={"content": content}).text
                    ),
                )
        case _:
            with inside(store, principal(store, "ada", None, tenant), "full") as talk:
                yield Surface(
                    lambda content, **details: talk.says("remember", content=content, **details),
                    lambda memory, content: talk.says("update", memory=memory, content=content),
                )


def _describe(written: Any) -> str:
    return f"{written.refusal} {[one.content for one in written.conflicts]}"


def warn(me: Memory, content: str = SAID) -> Record:
    """The warning that a rule becomes after three harms."""
    one = me.remember(content, kind="rule").memory
    return [me.harmful(one.id, "Ada felt snubbed").memory for _ in range(3)][-1]


def test_M4_a_rule_that_became_a_warning_is_refused_with_the_reason(
    surface: Surface, me: Memory
) -> None:
    warning = warn(me)

    text = surface.remember("skip the GREETING.", kind="rule")

    assert "Not stored" in text
    assert warning.id in text
    assert "forget the warning first" in text
    assert [one.id for one in me.list(kinds=["rule"]).items] == [warning.id]


def test_M4_a_disabled_rule_is_refused_until_it_is_restored(surface: Surface, me: Memory) -> None:
    off = me.disable(me.remember(SAID, kind="rule").memory.id).memory

    text = surface.remember("skip the greeting.", kind="rule")

    assert f"Not stored: that rule is disabled ({off.id})" in text
    assert me.list(kinds=["rule"]).items == ()
    me.restore(off.id)
    assert [one.id for one in me.list(kinds=["rule"]).items] == [off.id]


def test_M4_a_warning_stays_a_warning_when_it_is_edited(surface: Surface, me: Memory) -> None:
    warning = warn(me)

    surface.update(warning.id, "ANTI-PATTERN: Do NOT skip the greeting, guests mind.")

    (edited,) = me.list(kinds=["rule"]).items
    assert isinstance(edited, Rule)
    assert (edited.maturity, edited.harmful_count) == (Maturity.ANTI_PATTERN, 3)
    assert edited.content.endswith("guests mind.")
    assert "Not stored" in surface.remember(SAID, kind="rule")


def test_M9_a_value_that_contradicts_another_scope_is_said_to(surface: Surface, me: Memory) -> None:
    me.remember("John", subject="user", predicate="name", scope="health")

    text = surface.remember("Jon", subject="User", predicate="Name")

    assert "John" in text


def test_M4_a_warning_stays_a_warning_when_its_page_edits_it(store: Remembrancer) -> None:
    with served(store) as server:
        me = server.engine.for_user("ada")
        warning = warn(me)

        ada = Visitor(server, "ada")
        ada.send(f"/memory/{warning.id}/edit", content="ANTI-PATTERN: Do NOT skip greetings.")

        (edited,) = me.list(kinds=["rule"]).items
        assert isinstance(edited, Rule)
        assert (edited.maturity, edited.status) == (Maturity.ANTI_PATTERN, Status.ACTIVE)
        page = ada.get(f"/memory/{edited.id}").text
        assert "Do NOT skip greetings." in page


def test_M4_the_shell_marks_a_refusal_for_programs(store: Remembrancer, me: Memory) -> None:
    warning = warn(me)
    front = ["--json", "--user", "ada", "--tenant", store.settings.tenant]

    told = CliRunner().invoke(app, [*front, "remember", "--kind=rule", SAID], obj=store)

    written = json.loads(told.stdout)
    assert warning.id in written["refusal"]
    assert written["event"] is None
