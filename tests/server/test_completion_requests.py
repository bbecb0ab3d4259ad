"""A9: the endpoint puts its note after all that a client has sent, and changes no byte of that."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest

from remembrancer.testing import ModelEndpoint, says
from tests.support.http_server import Served

pytestmark = [pytest.mark.feature("A9"), pytest.mark.postgres_long]

SYSTEM = r'{"role":"system",  "content":"You are caf\u00e9 \ud83c\udf75.\t"}'
NUMBERS = r'"temperature": 1.0, "seed": 12345678901234567890, "top_p":1e-1'


@pytest.fixture
def ada(
    serve: Callable[..., Served], model: ModelEndpoint
) -> tuple[httpx.Client, Callable[[str], object]]:
    """A client with a key, and how to have something remembered."""
    model.default = says("Well.")
    served = serve("assistant", server={"upstream": {"url": model.openai}})
    return served.of("ada"), served.engine.for_user("ada").remember


def body(*messages: str) -> bytes:
    return f'{{ {NUMBERS}, "messages": [{",".join([SYSTEM, *messages])}],"x":{{}} }}'.encode()


def send(client: httpx.Client, content: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    client.post("/v1/chat/completions", content=content, headers=headers).raise_for_status()


def test_A9_with_nothing_remembered_a_request_is_passed_on_byte_for_byte(
    ada: tuple[httpx.Client, Callable[[str], object]], model: ModelEndpoint
) -> None:
    sent = body('{"role":"user","content":"What is my boat called?"}')
    send(ada[0], sent)
    assert model.requests[0].body == sent


def test_A9_each_note_stands_after_what_was_sent_before_it(
    ada: tuple[httpx.Client, Callable[[str], object]], model: ModelEndpoint
) -> None:
    client, remember = ada
    first = '{"role":"user","content":"What is my boat called?"}'
    answer = '{"role":"assistant","content":"Well."}'
    second = '{"role":"user","content":[{"type":"text","text":"And where does it lie?"}]}'
    remember("The boat is called Bluebird.")
    send(client, body(first))
    remember("The boat lies in Oslo.")
    send(client, body(first, answer, second))

    one, two = (request.body.decode() for request in model.requests)
    for passed, whole in ((one, body(first)), (two, body(first, answer, second))):
        before, note, after = split(passed)
        assert (before + after).encode() == whole
        assert "Bluebird" in note
    assert split(one)[0] == two[: len(split(one)[0])]
    assert split(two)[0].endswith('"And where does it lie?"}')
    assert "Oslo" in split(two)[1]
    assert "Oslo" not in one


def test_A9_within_a_round_of_tools_the_note_stays_where_it_was(
    ada: tuple[httpx.Client, Callable[[str], object]], model: ModelEndpoint
) -> None:
    client, remember = ada
    said = '{"role":"user","content":"What is my boat called?"}'
    called = '{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{}}]}'
    result = '{"role":"tool","tool_call_id":"c","content":"Bluebird"}'
    remember("The boat is called Bluebird.")
    send(client, body(said))
    send(client, body(said, called, result))

    one, two = (request.body.decode() for request in model.requests)
    assert one.partition("]")[0] == two.partition(f",{called}")[0]


def split(passed: str) -> tuple[str, str, str]:
    """A request before, in and after the note."""
    for start in (r"\n\n<remembered>", ',{"type": "text", "text": "<remembered>'):
        if start in passed:
            before, _, rest = passed.partition(start)
            end = r"</remembered>" if start.startswith("\\") else '</remembered>"}'
            note, _, after = rest.partition(end)
            return before, note, after
    raise AssertionError("there is no note")
