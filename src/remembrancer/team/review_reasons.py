"""Tells which proposals only a reviewer may publish, however many voices agree. Pure.

They direct an assistant, vouch for someone or something, or hide what they say.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

from remembrancer.guard.instructions.detector import detect_order, has_hidden_text, to_latin
from remembrancer.guard.patterns import compile_pattern


def needs_reviewer(content: str) -> bool:
    """True if voices alone must not publish a proposal."""
    data = to_latin(content).encode("utf-8", "replace")
    if any(compile_pattern(one, "utf-8").search(data) for one in _load_patterns()):
        return True
    return has_hidden_text(content) or detect_order(content, strict=False)


@cache
def _load_patterns() -> tuple[str, ...]:
    text = (resources.files(__package__) / "review_words.toml").read_text(encoding="utf-8")
    lists = tomllib.loads(text)
    patterns = {name: words.replace("\n", "") for name, words in lists.items()}
    markup = patterns.pop("markup")
    return (markup, *(rf"\b(?:{one})" for one in patterns.values()))
