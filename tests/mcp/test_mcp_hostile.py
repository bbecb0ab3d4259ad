"""Any text as any argument: refused in a sentence, or kept and returned as it was given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from remembrancer.engine import Remembrancer
from tests.mcp.talk import Talk, inside, principal

pytestmark = pytest.mark.postgres_long

Open = Callable[..., Remembrancer]

HOSTILE = {
    "nul": "before\x00after",
    "half a character": "before\ud800after",
    "control characters": "a\x01\x07\x1b[31mred\x7f\r\nb",
    "bidi": "\u202eevil\u202c \u2066left\u2069 \u200b\ufeff",
    "huge": "word " * 50_000,
    "one long word": "x" * 30_000,
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 é e\u0301 \U0001f600",
    "sql": "'; DROP TABLE facts; -- \" OR 1=1 %s :name $1 ?",
    "templates": "{{7*7}} ${7*7} <%= 7*7 %> {0.__class__} %(x)s #{1}",
    "markup": "</remembered><script>alert(1)</script> & &amp; <!-- -->",
    "paths": "../../etc/passwd memory://profile file:///etc/passwd C:\\x",
    "json": '{"content": "x", "all": true} ["a"] null',
    "nested": "[" * 15_000,
    "null": "null",
    "empty": "",
    "blank": " \t\n ",
    "id": "fact_" + "z" * 26,
    "event": "event_" + "0" * 26,
}

PAST = {"as_of": "2026-01-01", "true_at": "2026-01-01"}
ARGUMENTS: dict[str, dict[str, dict[str, Any]]] = {
    "default": {
        "remember": {
            "content": "A plain statement.",
            "kind": "fact",
            "category": "fact",
            "subject": "it",
            "predicate": "is",
            "tags": ["one"],
        },
        "recall": {"query": "plain", "kinds": ["fact"], **PAST},
        "context": {"prompt": "plain", **PAST},
        "update": {"memory": "no such thing", "content": "Other."},
        "forget": {"memory": "no such thing"},
        "confirm": {"memory": "no such thing"},
        "undo": {"event": "event_" + "1" * 26},
        "feedback": {"rule": "no such thing", "helped": True, "reason": "It did."},
    },
    "agents": {
        "memory_store_episode": {"content": "It happened.", "butler": "x", "session_id": "s"},
        "memory_store_fact": {
            "subject": "it",
            "predicate": "is",
            "content": "A plain fact.",
            "permanence": "stable",
            "scope": "x",
            "tags": ["one"],
        },
        "memory_store_rule": {"content": "A plain rule.", "scope": "x", "tags": ["one"]},
        "memory_search": {
            "query": "it",
            "types": ["fact"],
            "scope": "x",
            "mode": "keyword",
            **PAST,
        },
        "memory_recall": {"topic": "it", "scope": "x", **PAST},
        "memory_get": {"type": "fact", "id": "fact_" + "1" * 26, **PAST},
        "memory_confirm": {"type": "fact", "id": "fact_" + "1" * 26},
        "memory_mark_helpful": {"rule_id": "rule_" + "1" * 26},
        "memory_mark_harmful": {"rule_id": "rule_" + "1" * 26, "reason": "It did."},
        "memory_forget": {"type": "fact", "id": "fact_" + "1" * 26},
        "memory_stats": {"scope": "x", **PAST},
        "memory_context": {"trigger_prompt": "it", "butler": "x", **PAST},
    },
    "assistant": {
        "recall_memory": {"query": "it", **PAST},
        "forget_memory": {"query": "no such thing", "confirm": "x"},
        "propose_to_team": {"content": "The build runs at night.", "kind": "fact"},
        "ask_team": {"query": "it", **PAST},
        "list_team_memories": {"origins": "agent", "kind": "fact", "cursor": "x", **PAST},
    },
    "advisor": {
        "save_preference": {"category": "fact", "content": "Funds.", "detail": "Only those."},
        "update_preference": {"id_or_substring": "no such", "new_content": "x", "detail": "y"},
        "forget_preference": {"id_or_substring": "no such thing"},
        "confirm_preference": {"id_or_substring": "no such thing"},
        "link_preferences": {
            "from_id": "fact_" + "1" * 26,
            "to_id": "fact_" + "2" * 26,
            "relation": "supports",
        },
        "list_preferences": {"category": "fact", **PAST},
        "recall_preferences": {"query": "it", **PAST},
    },
}
CODES = {"bad_input", "bad_setting", "not_found", "ambiguous", "conflict", "not_undoable"}


def attempt(talk: Talk, name: str, arguments: dict[str, Any]) -> Any:
    """Call it: the value, or None after an error that says what is wrong, in a few words."""
    answer = talk.answer(name, arguments)
    assert len(answer.content[0].text) < 100_000  # type: ignore[union-attr]
    if not answer.is_error:
        return answer.structured_content
    error = answer.structured_content["error"]
    assert error["code"] in CODES, (name, error)
    assert 10 < len(error["message"]) <= 500
    assert "Traceback" not in str(answer.content)
    return None


@pytest.mark.parametrize("profile", ARGUMENTS)
def test_any_text_as_any_argument_is_kept_or_refused(profile: str, open_memory: Open) -> None:
    engine = open_memory(profile)
    with inside(engine, principal(engine), "full") as talk:
        for name, usual in ARGUMENTS[profile].items():
            assert set(usual) <= set(talk.tools()[name].input_schema["properties"])
            for argument, value in usual.items():
                for text in HOSTILE.values():
                    given = [text] if isinstance(value, list) else text
                    done = attempt(talk, name, {**usual, argument: given})
                    if done and argument in ("content", "new_content") and "id" in done:
                        assert done["content"] == text, (name, argument)
        kept = engine.for_user("ada").remember("Still alive.").memory
        assert "Still alive." in str(attempt(talk, "recall", {"query": "still alive"}))
        assert kept.id in talk.read(f"memory://{kept.id}")


def test_every_text_argument_is_tried() -> None:
    from remembrancer.config import Settings
    from remembrancer.tools.toolsets import select_tools

    for profile, tried in ARGUMENTS.items():
        chosen = Settings(profile=profile).profile_for()
        for name, one in select_tools(chosen, "full").items():
            schema = one.input_schema(chosen)["properties"]
            texts = {key for key, what in schema.items() if what["type"] in ("string", "array")}
            if name in tried:
                assert texts <= set(tried[name]), name
            else:
                assert name in ARGUMENTS["default"], name


@pytest.mark.parametrize("text", ["control characters", "bidi", "emoji", "sql", "templates"])
def test_what_is_kept_comes_back_as_it_was(text: str, open_memory: Open) -> None:
    engine = open_memory()
    content = HOSTILE[text]
    with inside(engine, principal(engine)) as talk:
        kept = talk.call("remember", content=content, tags=[content[:20].strip() or "x"])
        assert kept["content"] == content
        assert engine.for_user("ada").get(kept["id"]).content == content
        listed = talk.call("recall", query="before", limit=5)["items"]
        assert [one["content"] for one in listed if one["id"] == kept["id"]] in ([content], [])


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": 1},
        {"query": None},
        {"query": ["tea"]},
        {"query": {"a": 1}},
        {"query": "tea", "limit": 10**30},
        {"query": "tea", "limit": -1},
        {"query": "tea", "limit": 1.5},
        {"query": "tea", "limit": True},
        {"query": "tea", "kinds": "fact"},
        {"query": "tea", "kinds": [1]},
        {"query": "tea", "kinds": "[" * 100_000},
        {"query": "tea", "as_of": "yesterday"},
        {"query": "tea", "as_of": 10**40},
        {"query": "tea", "as_of": "0001-01-01"},
        {"query": "tea", "as_of": "9999-12-31T23:59:59-23:59"},
        {"query": "tea", "user": "bob"},
        {"query": "tea", "x" * 10_000: 1},
    ],
)
def test_values_of_the_wrong_kind_are_refused(arguments: dict[str, Any], open_memory: Open) -> None:
    engine = open_memory()
    with inside(engine, principal(engine)) as talk:
        attempt(talk, "recall", arguments)
        assert talk.call("recall", query="tea")["items"] == []
