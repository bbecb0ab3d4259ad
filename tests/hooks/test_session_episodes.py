"""Context before an agent's session starts, an episode after it ends: by hooks, and by spawning."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import remembrancer
from remembrancer.config import Settings
from remembrancer.embed.cache import CachedEmbedder
from remembrancer.memory import Memory
from remembrancer.types import Kind
from tests.hooks.sessions import Session, eventually
from tests.support.processes import rem

pytestmark = [pytest.mark.feature("M17"), pytest.mark.postgres_long]


@pytest.fixture
def me(place: str, tenant: str, embedder: CachedEmbedder) -> Iterator[Memory]:
    """Ada's memory by the computer's clock, as the processes have it."""
    settings = Settings(tenant=tenant, user="ada")
    with remembrancer.open(place, settings=settings, embedder=embedder) as store:
        yield store.for_user()


@pytest.fixture
def session(place: str, tenant: str, tmp_path: Path) -> Session:
    return Session(tmp_path, ("--store", place, "--tenant", tenant, "--user", "ada"))


def contents(me: Memory, kind: Kind) -> list[str]:
    return [one.content for one in me.list(kinds=[kind]).items]


def test_a_session_with_claude_code_is_told_what_is_known_and_becomes_an_episode(
    session: Session, me: Memory
) -> None:
    me.remember("The shop is deployed on Thursdays.")

    assert "Thursdays" in session.told("SessionStart", source="startup")
    me.remember("The deployment takes ten minutes.")
    assert "ten minutes" in session.told("UserPromptSubmit", prompt="When is the deployment?")

    session.says("user", "When is the deployment? By the way, I prefer tea over coffee.")
    session.says("assistant", [{"type": "text", "text": "On Thursday."}])
    assert session.call(session.payload("Stop", stop_hook_active=False)) == ""
    assert session.call(session.payload("SessionEnd", reason="other")) == ""

    eventually(lambda: bool(contents(me, Kind.EPISODE)))
    (happened,) = contents(me, Kind.EPISODE)
    assert happened == (
        "Session with Claude Code in shop. The user asked: “When is the deployment?”. "
        "The user said: “By the way, I prefer tea over coffee”."
    )
    eventually(lambda: any("tea" in fact for fact in contents(me, Kind.FACT)))
    assert [one.role for one in me.turns(f"claude-code-{session.name}")] == ["user", "assistant"]
    assert session.log() == ""


def test_any_program_gets_its_context_and_leaves_an_episode(session: Session, me: Memory) -> None:
    me.remember("The shop is deployed on Thursdays.")
    asks = 'grep -c Thursdays "$REM_CONTEXT_FILE"; echo "$REM_CONTEXT" | grep -c Thursdays; exit 3'
    command = ("run", "--about", "deployment", "--", "sh", "-c", asks)

    done = rem(*session.options, *command, env=session.env, cwd=session.folder)

    assert (done.returncode, done.stdout) == (3, "1\n1\n")
    printed, happened = me.list(kinds=[Kind.EPISODE]).items
    assert happened.content.startswith("Ran `sh -c")
    assert "for “deployment”: it failed with exit code 3 after 0 seconds." in happened.content
    assert not happened.tainted
    assert printed.content.endswith("printed last: 1\n1")
    assert printed.tainted, "what a program prints is nobody's word"
