"""Answers that a model should not give: a table of the known kinds, and any number made up.

`answers` and `plans` are spoiled by chance, the same way for the same seed; what `Names` holds are
things that exist, and that the model has no business to name.
"""

from __future__ import annotations

import copy
import gzip
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from remembrancer.testing import ScriptedReply, says, sends

SHARED = Path(__file__).parents[3] / "shared/data/security/malformed_model_replies.jsonl.gz"
DEEP, DEEPER = 90, 20_000
MANY = 10_000
HUGE = 1_100_000

NO_OBJECT: dict[str, ScriptedReply] = {
    "nothing": says(""),
    "blanks": says(" \n\t "),
    "no text at all": sends({"choices": [{"message": {"content": None}}]}),
    "no choices": sends({"choices": []}),
    "no envelope": sends({}),
    "a list for an envelope": sends([]),
    "a page for an envelope": sends("<html><h1>502 Bad Gateway</h1></html>"),
    "an empty body": sends(b""),
    "bytes that are no text": sends(b"\xff\xfe\x00\x9c"),
    "null": says("null"),
    "a number": says("42"),
    "not a number": says("NaN"),
    "a text": says('"operations"'),
    "a list": says([]),
    "a list of objects": says([{"operations": []}]),
    "prose": says("I could not find anything worth keeping, sorry!"),
    "prose with braces": says("What {you} asked for is {not here}."),
    "an empty fence": says("```json\n```"),
    "a fence around a number": says("```json\n7\n```"),
    "a fence around a list": says("```json\n[1, 2]\n```"),
    "cut short": says('{"operations": [{"op": "add", "content": "Is all'),
    "cut short, and it says so": says('{"operations": [', finish="length"),
    "withheld": says("", finish="content_filter"),
    "not a number within": says('{"operations": NaN, "facts": NaN}'),
    "too large a number": says('{"operations": 1e999, "facts": 1e999}'),
    "too deep": says('{"operations": ' + "[" * DEEPER + "]" * DEEPER + "}"),
    "huge": says('{"operations": [], "facts": [], "noise": "' + "A" * HUGE + '"}'),
    "huge and not JSON": says("A" * HUGE),
    "single quotes": says("{'operations': []}"),
}
"""Nothing of these is an object; each is an answer that is none."""

WRONG_OBJECT: dict[str, ScriptedReply] = {
    "an empty object": says({}),
    "another object": says({"memory": [{"text": "likes tea"}]}),
    "an error": says({"error": "rate limited"}),
    "a key in another case": says({"Operations": [], "Facts": []}),
    "null for a list": says({"operations": None, "facts": None}),
    "a text for a list": says({"operations": "add", "facts": "all of them"}),
    "an object for a list": says({"operations": {"op": "add"}, "facts": {"0": {}}}),
    "a number for a list": says({"operations": 7, "facts": 7}),
    "a list one level too deep": says({"answer": {"operations": [], "facts": []}}),
}
"""Objects that have nothing of what was asked for."""

WRONG_ENTRIES: dict[str, list[Any]] = {
    "null": [None],
    "texts": ["likes tea", ""],
    "numbers": [1, -1.5, 10**300],
    "lists": [[], [[]]],
    "empty objects": [{}],
    "no content": [{"op": "add", "quote": "likes tea", "turns": ["t1"], "episodes": ["e1"]}],
    "content of another type": [{"op": "add", "content": {"a": 1}, "quote": ["a"], "turns": "t1"}],
    "a misspelt key": [{"op": "add", "contnet": "Likes tea", "quote": "tea", "turns": ["t1"]}],
    "deletions": [
        {"op": "delete", "target": "m1", "content": "gone", "quote": "gone", "turns": ["t1"]},
        {"event": "DELETE", "id": "m1", "text": "gone"},
    ],
    "deep": [json.loads("[" * DEEP + "]" * DEEP)],
}
"""Entries that are none, in an object which is as it was asked for."""


@dataclass(frozen=True, slots=True)
class Names:
    """What a model might name, quote or claim, and must get nothing for."""

    ids: Sequence[str]
    quotes: Sequence[str]


def shared() -> list[ScriptedReply]:
    """The collected answers of real models, where they are at hand."""
    if not SHARED.exists():
        return []
    with gzip.open(SHARED, "rt", encoding="utf-8") as lines:
        return [says(json.loads(line)["text"]) for line in lines]


def spoiled(answer: Any, names: Names, chance: random.Random, number: int) -> ScriptedReply:
    """A good answer with something wrong in it: the number says what, chance says where."""
    spoil = WAYS[number % len(WAYS)]
    value = copy.deepcopy(answer)
    for _ in range(chance.choice((0, 0, 1, 2))):
        chance.choice(GENTLE)(value, names, chance)
    return says(spoil(value, names, chance))


def _entries(value: Any) -> Iterator[dict[str, Any]]:
    for some in value.values():
        if isinstance(some, list):
            yield from (one for one in some if isinstance(one, dict))


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a value: a container and the key or number in it."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    found: list[tuple[Any, Any]] = []
    for key, inner in pairs:
        found.append((value, key))
        if isinstance(inner, dict | list):
            found += _places(inner)
    return found


def _put(value: Any, names: Sequence[str], chance: random.Random, choices: Sequence[Any]) -> None:
    """Give one of the named fields of some entry another value; all of them, now and then."""
    entries = list(_entries(value))
    for entry in entries if chance.random() < 0.3 else entries[:1]:
        for name in names if chance.random() < 0.3 else [chance.choice(names)]:
            entry[name] = chance.choice(choices)


def _drop(value: Any, names: Names, chance: random.Random) -> Any:
    places = _places(value)
    if places:
        container, key = chance.choice(places)
        del container[key]
    return value


def _retype(value: Any, names: Names, chance: random.Random) -> Any:
    places = _places(value)
    if places:
        container, key = chance.choice(places)
        container[key] = chance.choice(
            [None, True, 0, -1, 1.5, "", "x", [], {}, [[]], [{}], {"a": 1}]
        )
    return value


def _number(value: Any, names: Names, chance: random.Random) -> Any:
    absurd = [-1, 0, 11, 1.01, -0.0, 1e308, -1e308, 10**300, 2**63, float("nan"), float("inf")]
    _put(value, ["confidence", "importance"], chance, absurd)
    return value


def _name(value: Any, names: Names, chance: random.Random) -> Any:
    ids = [*names.ids, "t0", "t99", "m0", "m99", "e0", "e99", "m1", "", "t1 ", "T1"]
    some = [[one] for one in ids] + [chance.sample(ids, 3), ids, ["t1", "t2"], ["e1", "e2"]]
    _put(value, ["turns", "episodes", "drop"], chance, some)
    _put(value, ["target", "keep", "source"], chance, ids)
    for entry in _entries(value):
        if "op" in entry:
            entry["op"] = chance.choice(["add", "update"])
    return value


def _quote(value: Any, names: Names, chance: random.Random) -> Any:
    _put(value, ["quote", "content"], chance, [*names.quotes, "never said", ".", "?", "a" * 4000])
    return value


def _role(value: Any, names: Names, chance: random.Random) -> Any:
    """What the assistant and a tool have said, as if the person had."""
    words = chance.choice(names.quotes)
    for entry in _entries(value):
        entry |= {"content": words, "quote": words, "turns": [chance.choice(["t1", "t2", "t3"])]}
    return value


def _junk(value: Any, names: Names, chance: random.Random) -> Any:
    junk = [
        "\u202egnol\u202c",
        "e\u0301" * 300,
        "\u200b\u200b\u200b",
        "\ud83d\ude00" * 50,
        "\ud800",
    ]
    junk += ["\udfff bad", "\ufeff" * 5, "\uffff\ufffe", "\x1b[2J", "\r\n\x0b\x0c\x85\u2028"]
    _put(value, _TEXTS, chance, junk)
    value["summary"] = chance.choice(junk)
    return value


def _nul(value: Any, names: Names, chance: random.Random) -> Any:
    """A character that PostgreSQL cannot store, somewhere in an otherwise good text."""
    texts = [(where, key) for where, key in _places(value) if isinstance(where[key], str)]
    for where, key in chance.sample(texts, min(len(texts), chance.choice((1, 2, 100)))):
        where[key] = where[key] + "\x00" if chance.random() < 0.5 else "\x00" + where[key]
    return value


def _many(value: Any, names: Names, chance: random.Random) -> Any:
    for key, some in value.items():
        if isinstance(some, list):
            value[key] = some * (MANY // max(1, len(some)))
    return value


def _deep(value: Any, names: Names, chance: random.Random) -> Any:
    places = _places(value)
    container, key = chance.choice(places)
    container[key] = json.loads("[" * DEEP + "]" * DEEP)
    return value


def _twice(value: Any, names: Names, chance: random.Random) -> Any:
    """Every key twice, first or last with another value."""
    text = json.dumps(value)
    other = chance.choice(["null", "[]", '"x"', "[{}]"])
    for key in ("operations", "facts", "content", "quote", "turns", "episodes"):
        if f'"{key}": ' in text:
            text = text.replace(f'"{key}": ', f'"{key}": {other}, "{key}": ')
    return text


def _cut(value: Any, names: Names, chance: random.Random) -> Any:
    text = json.dumps(value)
    return text[: chance.randrange(len(text))]


def _noise(value: Any, names: Names, chance: random.Random) -> Any:
    text = list(json.dumps(value))
    for _ in range(chance.randint(1, 5)):
        text[chance.randrange(len(text))] = chance.choice('{}[]",:\\0aé\x00')
    return "".join(text)


def _wrapped(value: Any, names: Names, chance: random.Random) -> Any:
    text = json.dumps(value)
    before, after = chance.choice(
        [
            ("[", "]"),
            ("Sure {ok}: ", ""),
            ("```\n", "```"),
            ("<think>{", "}</think>"),
            ('{"a": ', "}"),
        ]
    )
    return before + text + after


Way = Callable[[Any, Names, random.Random], Any]
_TEXTS = ["content", "quote", "category", "subject", "predicate", "relation", "permanence", "op"]
GENTLE: list[Way] = [_drop, _retype, _number, _name]
WAYS: list[Way] = [
    *GENTLE,
    _quote,
    _role,
    _junk,
    _nul,
    _many,
    _deep,
    _twice,
    _cut,
    _noise,
    _wrapped,
]
