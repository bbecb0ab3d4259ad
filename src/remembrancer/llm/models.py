"""The language models at hand, if any: a fast one, a smart one, and one to talk with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from remembrancer.llm import Model
    from remembrancer.llm.chat import ChatModel


@dataclass(frozen=True, slots=True)
class Models:
    """Where only one is configured, it does both kinds of work; without any, code reads alone."""

    fast: Model | None = None
    smart: Model | None = None
    chat: ChatModel | None = None

    def close(self) -> None:
        """Let go of what they hold open."""
        for model in (self.fast, self.smart, self.chat):
            if model is not None:
                model.close()
