"""Reading what a model said: an object or nothing, in little time, whatever the text."""

from __future__ import annotations

import json
import time

import pytest

from remembrancer.llm import InvalidModelResponse
from remembrancer.llm.json_answer import MAX_ANSWER_SIZE, count_tokens, parse_object
from remembrancer.types import Json


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ("{}", {}),
        ('\ufeff \n{"a": 1}\n', {"a": 1}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('Here it is:\n```JSON\n{"a": 1}\n```\nAnything else?', {"a": 1}),
        ('```\n{"a": 1}\n```', {"a": 1}),
        ('Given {"x": 0} I say\n```json\n{"a": 1}\n```', {"a": 1}),
        ('```python\n{"x": 0}\n```\n```json\n{"a": 1}\n```', {"a": 1}),
        ('```json\n{"a": "```\\n"}\n```', {"a": "```\n"}),
        ('```json {"a": 1}```', {"a": 1}),
        ('Sure! {"a": "}{\\"]["} Bye.', {"a": '}{"]['}),
        ('{"a": 1} and {"b": 2}', {"a": 1}),
        ('{not this} but {"a": 1}', {"a": 1}),
        ('as [1] says, {"a": 1}', {"a": 1}),
        ('{"a": 1}}', {"a": 1}),
        ('<think>{"x": 0} no, {</think>{"a": 1}', {"a": 1}),
        ('or {"x": 0}?\n</think>\n{"a": 1}', {"a": 1}),
        ('{"a": "x</think>", "b": {"c": 1}} said', {"a": "x</think>", "b": {"c": 1}}),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ('{"a": "\\ud800", "\\ud83d\\ude00": ["\\udc00"]}', {"a": "?", "😀": ["?"]}),
        ('{"a": 1e-999, "b": -0.0, "c": 123456789012345678901}', None),
        ('{"a": ' * 100 + "1" + "}" * 100, None),
        ('{"a": null, "b": "\\u0000"}', {"a": None, "b": "\ufffd"}),
    ],
    ids=lambda part: str(part)[:40],
)
def test_an_object_is_found_where_models_put_it(text: str, value: dict[str, object] | None) -> None:
    assert parse_object(text) == (json.loads(text) if value is None else value)


def test_the_schema_repeated_is_not_the_answer() -> None:
    schema: dict[str, Json] = {"type": "object", "required": ["a"]}
    repeated = f"As {json.dumps(schema)} wants"
    assert parse_object(f'{repeated}: {{"a": 1}}', schema=schema) == {"a": 1}
    with pytest.raises(InvalidModelResponse):
        parse_object(repeated, schema=schema)


MALFORMED = [
    "",
    " \n\t",
    "\ufeff",
    "null",
    "true",
    "42",
    '"{\\"a\\": 1}"',
    "I cannot answer that.",
    "[]",
    '[{"a": 1}, {"b": 2}]',
    '[{"a": 1}, {"b":',
    'Here: [{"a": 1}, {"b": 2}]',
    '```json\n[{"a": 1}]\n```',
    "{",
    "}",
    "}{",
    '{"a"',
    '{"a": 1',
    '{"facts": [{"a": 1}, {"b": 2',
    '{"facts": [{"a": 1}, {"b": "cut of',
    'Sure: {"facts": [{"a": 1}], "more": {"b": 2}',
    '```json\n{"facts": [{"a": 1}',
    '{"facts": [{"a": 1}], oops}',
    "{'a': 1}",
    "{a: 1}",
    '{"a": 1,}',
    '{"a": 01}',
    '{"a": NaN}',
    '{"a": Infinity}',
    '{"a": [-Infinity]}',
    '{"a": 1e999}',
    '{"a": 1' + "0" * 400 + "}",
    '{"a": ' + "9" * 5000 + "}",
    '{"a": "\\ud8"}',
    '{"a": "line\nbreak"}',
    '{"a": "\\x"}',
    '{"a": ' * 101 + "1" + "}" * 101,
    '{"a": ' + "[" * 100 + "]" * 100 + "}",
    "<think>{}",
    "<html><body>502 Bad Gateway</body></html>",
    'data: {"a": ',
    "\ud800",
]


@pytest.mark.parametrize("text", MALFORMED, ids=lambda text: repr(text[:40]))
def test_what_is_no_object_is_refused_unquoted(text: str) -> None:
    with pytest.raises(InvalidModelResponse, match=r"^The model .+: .+\.$") as refusal:
        parse_object(text)
    assert len(text.strip()) < 8 or text not in str(refusal.value)


MANY = MAX_ANSWER_SIZE - 100


@pytest.mark.parametrize(
    "text",
    [
        "{" * MANY,
        '{"a":' * (MANY // 5),
        '{"a":"' + '\\"' * (MANY // 2),
        '{"a":"' + "\\" * MANY,
        "{a}" * (MANY // 3),
        "[]" * (MANY // 2),
        "[{" * (MANY // 4) + "}]" * (MANY // 4),
        "```json\n" * (MANY // 8),
        "```" + "\n" * MANY,
        '{"a":' + "1" * MANY + "}",
        '{"a":1e' + "9" * MANY + "}",
        "\n</think>" * (MANY // 9),
    ],
    ids=lambda text: repr(text[:10]),
)
def test_a_hostile_text_takes_no_longer_than_its_length(text: str) -> None:
    started = time.process_time()
    with pytest.raises(InvalidModelResponse):
        parse_object(text)
    assert time.process_time() - started < 10


def test_a_megabyte_is_enough() -> None:
    assert parse_object(json.dumps({"a": "x" * (MAX_ANSWER_SIZE - 10)}))
    with pytest.raises(InvalidModelResponse, match="more than 1 MB"):
        parse_object(json.dumps({"a": "x" * MAX_ANSWER_SIZE}))


@pytest.mark.parametrize("reported", [None, True, "7", 7.0, -1, 10**30, [], {}])
def test_tokens_that_were_not_counted_are_estimated(reported: object) -> None:
    assert count_tokens(reported, "x" * 41) == 11
    assert count_tokens(0, "x" * 41) == 0
