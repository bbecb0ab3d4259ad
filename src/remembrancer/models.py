"""The language models at hand, if any: a fast one for small things and a smart one for large."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from remembrancer.llm import Model


@dataclass(frozen=True, slots=True)
class Models:
    """Where only one is configured, it does both kinds of work; without any, code reads alone."""

    fast: Model | None = None
    smart: Model | None = None

    def close(self) -> None:
        """Let go of what they hold open."""
        for model in (self.fast, self.smart):
            if model is not None:
                model.close()
