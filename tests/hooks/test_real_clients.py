"""The real clients, where they are installed, with a model of our own.

`npm install -g @anthropic-ai/claude-code @openai/codex` puts them in place.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from remembrancer.memory import Memory
from remembrancer.types import Kind
from tests.hooks.models import speaking
from tests.hooks.sessions import eventually
from tests.support.http_server import Served

CONFIG = """
model = "scripted"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "{address}/v1"
wire_api = "responses"
"""


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """A home of its own, and a `rem` on the path that is the one under test."""
    programs = tmp_path / "bin"
    programs.mkdir()
    rem = programs / "rem"
    paths = [path for path in sys.path if path]
    rem.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path[:0] = {paths}\n"
        "from remembrancer.cli import main\nmain()\n"
    )
    rem.chmod(0o755)
    (tmp_path / "shop").mkdir()
    return {
        "HOME": str(tmp_path),
        "PATH": f"{programs}:{os.environ['PATH']}",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "MCP_TIMEOUT": "60000",
    }


def run(env: dict[str, str], *command: str) -> str:
    done = subprocess.run(
        command,
        env=env,
        cwd=Path(env["HOME"]) / "shop",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@needs("claude")
def test_claude_code_is_told_and_what_was_said_to_it_is_kept(
    env: dict[str, str], me: Memory, folder: Path, serve: Callable[[], Served]
) -> None:
    me.remember("The shop is deployed on Thursdays.")
    serve()
    with speaking("Tea it is, on Thursday.") as model:
        env |= {"ANTHROPIC_BASE_URL": model.address, "ANTHROPIC_API_KEY": "scripted"}
        run(env, "rem", "install", "claude-code", "--store", str(folder))
        servers = run(env, "claude", "mcp", "list")
        told = run(env, "claude", "-p", "When is the deployment? I prefer tea over coffee.")

    assert re.search(r"remembrancer: .* Connected", servers)
    assert "Tea it is, on Thursday." in told
    assert "deployed on Thursdays" in model.asked[0]
    eventually(lambda: bool(me.list(kinds=[Kind.EPISODE]).items))
    eventually(lambda: any("tea" in one.content for one in me.list(kinds=[Kind.FACT]).items))


@needs("codex")
def test_codex_is_told_and_what_was_said_to_it_is_kept(
    env: dict[str, str], me: Memory, folder: Path, serve: Callable[[], Served]
) -> None:
    me.remember("The shop is deployed on Thursdays.")
    serve()
    with speaking("Tea it is, on Thursday.") as model:
        config = Path(env["HOME"]) / ".codex" / "config.toml"
        config.parent.mkdir()
        config.write_text(CONFIG.format(address=model.address))
        run(env, "rem", "install", "codex", "--store", str(folder))
        prompt = "When is the deployment? I prefer tea over coffee."
        freely = ("--skip-git-repo-check", "--dangerously-bypass-hook-trust")
        told = run(env, "codex", "exec", *freely, prompt)

    assert "Tea it is, on Thursday." in told
    assert "deployed on Thursdays" in "".join(model.asked)
    eventually(lambda: bool(me.list(kinds=[Kind.EPISODE]).items))
    eventually(lambda: any("tea" in one.content for one in me.list(kinds=[Kind.FACT]).items))
