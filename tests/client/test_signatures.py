"""Code moves between both memories by one line: they have the same verbs."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import Any

import pytest

from remembrancer import AsyncMemory, Memory, RemoteMemory

pytestmark = pytest.mark.postgres_long

MISSING = {
    "acting_as": "the key, or the path, says as which agent it is asked",
    "import_from": "a file is read where the memories are",
    "markdown": "a server tells what it remembers page by page",
    "new_session": "a server names a conversation when something is said in it",
    "withdraw": "a server takes a proposal back in its chat",
    "explain_proposal": "a server explains a proposal in its answer",
}
OWN = {"disconnect": "a local memory has no connection of its own: its store is closed"}
OF_PAGES = {
    *("by_model", "citing", "event", "is_enabled", "learn_now", "owner", "resolve", "scopes"),
    *("several", "suggest_title", "survey"),
}
"""What the pages and the chat of a server ask for, which are where the memories are."""


def verbs(memory: type) -> dict[str, Any]:
    found = inspect.getmembers(memory)
    return {name: value for name, value in found if not name.startswith("_")}


def test_every_local_verb_is_there() -> None:
    missing = verbs(Memory).keys() - verbs(RemoteMemory).keys()
    assert missing == MISSING.keys() | OF_PAGES
    assert verbs(RemoteMemory).keys() - verbs(Memory).keys() == OWN.keys()


@pytest.mark.parametrize("name", sorted(verbs(Memory).keys() & verbs(RemoteMemory).keys()))
def test_a_verb_takes_and_gives_the_same(name: str) -> None:
    local, remote = verbs(Memory)[name], verbs(RemoteMemory)[name]
    if isinstance(local, property):
        assert isinstance(remote, property)
        local, remote = local.fget, remote.fget
    assert inspect.signature(local) == inspect.signature(remote)


def test_what_can_be_awaited_is_what_a_memory_has() -> None:
    of_values = {"principal", "profile", "confidence", "effectiveness", "standing"}
    of_values |= {"acting_as", "new_session"}
    assert verbs(AsyncMemory).keys() == verbs(Memory).keys() - of_values - OF_PAGES


def test_connecting_loads_no_store_and_no_model() -> None:
    heavy = ["sqlalchemy", "numpy", "onnxruntime", "pydantic", "fastapi"]
    code = (
        "import sys, remembrancer\n"
        "remembrancer.connect('http://127.0.0.1:1', 'rem_x').disconnect()\n"
        f"print([one for one in {heavy!r} if one in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
