"""The prompts that we send to language models, one Markdown file each."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def load_prompt(name: str) -> str:
    """A prompt by its name."""
    return resources.files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")
