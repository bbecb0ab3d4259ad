"""OpenAI's chat protocol is read correctly, whatever clients and models send."""

from __future__ import annotations

import json
import random
import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembrancer.server.chat_protocol import (
    derive_session_id,
    find_last_user_text,
    insert_note,
    parse_reply,
)

pytestmark = pytest.mark.postgres_long

NOTE = '<remembered>\n- "Tea", café, \U0001f375\n</remembered>'

texts = st.text(max_size=20)
contents = (
    texts
    | st.none()
    | st.lists(
        st.fixed_dictionaries({"type": st.just("text"), "text": texts})
        | st.fixed_dictionaries({"type": st.just("image_url"), "image_url": texts}),
        max_size=3,
    )
)
messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant", "tool"]), "content": contents},
    optional={"name": texts, "tool_calls": st.lists(st.dictionaries(texts, texts), max_size=2)},
)
requests = st.fixed_dictionaries(
    {"messages": st.lists(messages, min_size=1, max_size=5)},
    optional={"model": texts, "messages ": st.lists(texts), "stop": st.lists(texts)},
)
layouts = st.sampled_from(
    [
        {},
        {"indent": 2},
        {"separators": (",", ":")},
        {"ensure_ascii": False},
        {"separators": (" ,\r\n", "\t: ")},
    ]
)


@settings(max_examples=40)
@given(requests, layouts)
def test_nothing_but_the_note_is_added_and_all_else_is_the_same_bytes(
    request: dict[str, Any], layout: dict[str, Any]
) -> None:
    sent = json.dumps(request, **layout)
    passed = insert_note(sent, NOTE)

    added = len(passed) - len(sent)
    assert any(sent == passed[:at] + passed[at + added :] for at in range(len(sent) + 1))
    assert json.loads(passed) == noted(request)


def noted(request: dict[str, Any]) -> dict[str, Any]:
    """Build the expected request by parsing and serialising it."""
    spoken = [one for one in request["messages"] if one["role"] == "user"]
    if spoken and isinstance(spoken[-1]["content"], str):
        spoken[-1]["content"] += f"\n\n{NOTE}"
    elif spoken and spoken[-1]["content"] is not None:
        spoken[-1]["content"].append({"type": "text", "text": NOTE})
    return request


def test_of_a_name_that_is_there_twice_the_last_counts_as_for_every_reader() -> None:
    sent = '{"messages": [], "messages": [{"role": "user", "content": "a", "content": "b"}]}'
    assert json.loads(insert_note(sent, "N")) == {
        "messages": [{"role": "user", "content": "b\n\nN"}]
    }
    assert '"a"' in insert_note(sent, "N")


def test_the_note_stands_after_a_breakpoint_of_the_clients() -> None:
    part = {"type": "text", "text": "Long.", "cache_control": {"type": "ephemeral"}}
    sent = json.dumps({"messages": [{"role": "user", "content": [part]}]})
    (message,) = json.loads(insert_note(sent, "N"))["messages"]
    assert message["content"] == [part, {"type": "text", "text": "N"}]


def test_what_was_said_last_is_the_persons_text() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:"}}
    parts = [{"type": "text", "text": " Look "}, picture, {"type": "text", "text": "there"}]
    assert find_last_user_text([{"role": "user", "content": parts}]) == "Look \nthere"
    assert (
        find_last_user_text([{"role": "user", "content": "x"}, {"role": "tool", "content": "y"}])
        == "x"
    )
    assert find_last_user_text([{"role": "user", "content": [picture]}]) == ""
    assert find_last_user_text([{"role": "system", "content": "x"}]) == ""


def test_a_conversation_has_one_name_for_its_whole_life() -> None:
    opening = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi"}]
    later = [*opening, {"role": "assistant", "content": "Hi"}, {"role": "user", "content": "So"}]
    other = [opening[0], {"role": "user", "content": "Ho"}]
    names = {derive_session_id(one, None) for one in (opening, later)}
    assert len(names) == 1
    assert len(names | {derive_session_id(other, None), derive_session_id(opening, "bot")}) == 3


def test_the_name_of_a_conversation_does_not_depend_on_a_secret() -> None:
    choices = random.Random(1).choices
    first, second = (
        derive_session_id([{"role": "user", "content": f"The token is {token}"}], None)
        for token in ("ghp_" + "".join(choices(string.ascii_letters, k=36)) for _ in range(2))
    )
    assert first == second


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    "content",
    [b"", b"null", b"[1]", b"\xff", b'{"choices": 3}', b'{"choices": [3, {"delta": 4}]}', b"data:"],
)
def test_an_answer_that_cannot_be_read_says_nothing(content: bytes, streamed: bool) -> None:
    assert parse_reply(content, streamed=streamed).text == ""


def test_of_a_stream_the_first_choice_is_heard() -> None:
    events = [
        {"choices": [{"index": 0, "delta": {"content": "Blue"}}]},
        {"choices": [{"index": 1, "delta": {"content": "Red"}}]},
        {"choices": [{"index": 0, "delta": {"content": "bird"}}]},
        {"choices": [], "usage": {"total_tokens": 3}},
    ]
    lines = "".join(f"data: {json.dumps(one)}\r\n\r\n" for one in events) + "data: [DONE]\r\n\r\n"
    heard = parse_reply(lines.encode(), streamed=True)
    assert (heard.text, heard.calls_tools) == ("Bluebird", False)
