"""A model that proposes memories from what is said, and gives verdicts on its own claims."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from remembrancer.memory import Memory
from remembrancer.testing import ScriptedReply, says
from tests.support.plans import Script, asks_for, name_of, plans, shown_in

NEW_TURN = re.compile(r"^\[(t\d+)\] person new, [^:]*:\d\d: (.*)$", re.MULTILINE)


def proposal(content: str, quote: str, *, updates: str | None = None, **more: Any) -> Any:
    """An operation; `updates` is the content of the memory that it updates."""
    kind = "update" if updates else "add"
    return {"op": kind, "content": content, "quote": quote, "target": updates, **more}


def proposes(
    *operations: dict[str, Any], unsupported: Collection[str] = (), **verdict: str
) -> Script:
    """Propose what has its quote in a new turn, and support all but the `unsupported` claims."""

    def answer(request: dict[str, Any]) -> ScriptedReply:
        if asks_for(request) == "verification":
            return plans({}, unsupported=unsupported, **verdict)(request)
        shown = shown_in(request)
        found = [cite(one, shown) for one in operations if find_turn(one["quote"], shown)]
        return says({"operations": found})

    return answer


def second_answer(reply: ScriptedReply, *operations: dict[str, Any]) -> Script:
    """Propose these operations, and answer the second question with this reply."""
    first = proposes(*operations)
    return lambda request: reply if asks_for(request) == "verification" else first(request)


def find_turn(quote: str, shown: str) -> str | None:
    """The short name of the new turn with these words."""
    return next((name for name, words in NEW_TURN.findall(shown) if quote in words), None)


def cite(operation: dict[str, Any], shown: str) -> dict[str, Any]:
    """The operation as a model answers it, with short names."""
    basis = {"subject": "user", "predicate": "", "confidence": 0.9, "importance": 6}
    target = operation["target"] and name_of(shown, operation["target"])
    evidence = [{"turn": find_turn(operation["quote"], shown), "quote": operation["quote"]}]
    return {**basis, **operation, "target": target, "evidence": evidence}


def contents(me: Memory, **filters: Any) -> list[str]:
    return sorted(one.content for one in me.list(**filters).items)


def tell(me: Memory, session: str, *words: str) -> None:
    """Say something in a conversation, with answers that add nothing, and close it."""
    for one in words:
        me.append(
            [{"role": "user", "content": one}, {"role": "assistant", "content": "Noted."}], session
        )
    me.close(session)
