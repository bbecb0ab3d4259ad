"""A rule goes from feedback to proven and to a warning, told by one process and judged by others.

The server, the command and the MCP server are processes that meet in the store.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.mcp.talk import over_stdio
from tests.support.opening import ENGINES, place_on
from tests.support.rem_serve import address_of, complete, free_port, running

pytestmark = [pytest.mark.feature("M4", "M10"), pytest.mark.postgres_long]

CONFIGURATION = """
profile = "agents"
[profile_overrides.rules.proven]
successes = 15
effectiveness = 0.8
age_days = 0
"""
SAID = "Send a summary before each meeting"


@pytest.fixture(params=ENGINES)
def options(request: pytest.FixtureRequest, tmp_path: Path, tenant: str) -> tuple[str, ...]:
    """The root options of each process; a rule need not be 30 days old to be proven."""
    file = tmp_path / "own.toml"
    file.write_text(CONFIGURATION, "utf-8")
    place = place_on(request.param, request, tmp_path)
    return ("--config", str(file), "--store", place, "--tenant", tenant, "--user", "ada")


def rem(options: tuple[str, ...], *command: str) -> Any:
    return json.loads(complete(*options, "--json", *command))


def test_a_rule_goes_from_feedback_to_proven_to_a_warning_that_keeps_it_out(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    key = rem(options, "key-create")["secret"]
    server_options = (*options, "serve", "--port", str(free_port()))
    with (
        running(*server_options) as server,
        over_stdio(*options, "--agent", "mail", "mcp", errors=tmp_path / "errors") as talk,
    ):
        address, _ = address_of(server)
        bearer = {"Authorization": f"Bearer {key}"}
        with httpx.Client(base_url=address, headers=bearer, trust_env=False) as client:
            rule = client.post("/api/remember", json={"content": SAID, "kind": "rule"}).json()
            id = rule["memory"]["id"]
            assert f"{SAID} [candidate, global]" in complete(*options, "context")

            for _ in range(15):
                talk.call("memory_mark_helpful", rule_id=id)
            told = talk.says("memory_context", trigger_prompt="Prepare the meeting", butler="mail")
            assert f"{SAID} [proven, global]" in told
            assert client.get(f"/api/memory/rules/{id}").json()["memory"]["maturity"] == "proven"

            for guest in range(8):
                talk.call("memory_mark_harmful", rule_id=id, reason=f"Guest {guest} was annoyed")
            rem(options, "harmful", id, "--reason", "Guest 8 left")
            (warning,) = client.get("/api/memory/rules").json()["items"]
            assert warning["maturity"] == "anti_pattern"
            assert warning["content"].startswith(f"ANTI-PATTERN: Do NOT s{SAID[1:]}.")

            refused = talk.says("memory_store_rule", content=f"{SAID}.")
            assert warning["id"] in refused
            again = client.post("/api/remember", json={"content": SAID, "kind": "rule"}).json()
            assert (again["event"], again["memory"]["id"]) == (None, warning["id"])
            assert "Not stored" in complete(*options, "remember", "--kind", "rule", SAID)
    told = complete(*options, "context")
    assert re.findall("^- .*summary.*$", told, re.MULTILINE) == [
        f"- {warning['content']} [anti-pattern, global]"
    ]
