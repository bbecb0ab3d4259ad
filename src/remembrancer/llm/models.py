"""The configured language models: a fast one, a smart one and one for chat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from remembrancer.llm import Model
    from remembrancer.llm.chat import ChatModel


@dataclass(frozen=True, slots=True)
class Models:
    """Each is None if no model is configured; learning then uses the rule-based extractor alone.

    Of a weak model's proposals only those are kept that repeat the person's own words.
    """

    fast: Model | None = None
    smart: Model | None = None
    chat: ChatModel | None = None
    is_fast_weak: bool = False

    def close(self) -> None:
        for model in (self.fast, self.smart, self.chat):
            if model is not None:
                model.close()
