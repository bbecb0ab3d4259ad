"""A model that answers consolidation: with a plan first, then with verdicts on its claims."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from remembrancer.testing import ScriptedReply, says

EMPTY: dict[str, Any] = {
    "facts": [],
    "updates": [],
    "rules": [],
    "confirmations": [],
    "links": [],
    "merges": [],
}
CLAIM = re.compile(r"^\[(c\d+)\] \(([^)]*)\) (.*)$", re.MULTILINE)

Script = Callable[[dict[str, Any]], ScriptedReply]


def plans(
    plan: Mapping[str, Any] | Callable[[str], Mapping[str, Any]],
    *,
    unsupported: Collection[str] = (),
    **verdict: str,
) -> Script:
    """Propose a plan, and support every claim but those with these words.

    The plan can be a function of what is shown; `verdict` adds fields to every verdict.
    """

    def answer(request: dict[str, Any]) -> ScriptedReply:
        shown = shown_in(request)
        if asks_for(request) == "verification":
            return says({"verdicts": _judge(shown, unsupported, verdict)})
        return says({**EMPTY, **(plan(shown) if callable(plan) else plan)})

    return answer


def asks_for(request: Mapping[str, Any]) -> str:
    """The name of the schema of an expected answer, where the request has one."""
    schema = request.get("response_format", {}).get("json_schema", {})
    return str(schema.get("name", "verification" if "<claims>" in shown_in(request) else ""))


def shown_in(request: Mapping[str, Any]) -> str:
    """What a question shows to the model."""
    return str(request["messages"][-1]["content"])


def name_of(shown: str, content: str) -> str:
    """The short name under which a record is shown."""
    (line,) = (one for one in shown.splitlines() if one.endswith(f") {content}"))
    return line[1 : line.index("]")]


def _judge(
    shown: str, unsupported: Collection[str], verdict: Mapping[str, str]
) -> list[dict[str, Any]]:
    return [
        {"claim": name, "supported": not any(one in words for one in unsupported), **verdict}
        for name, _, words in CLAIM.findall(shown)
    ]
