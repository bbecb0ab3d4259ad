"""Language models behind one small protocol; asked in the background, never when memory is read.

Unavailable
├── ModelUnavailable   model_unavailable   503   .passing
└── ModelMisspoke      model_misspoke      503
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from remembrancer.errors import Unavailable
from remembrancer.types import Json

__all__ = ["Answer", "InvalidModelResponse", "Model", "ModelUnavailable", "Question"]


class ModelUnavailable(Unavailable):
    """The model gave no answer; `passing` says whether a later try may succeed as things are."""

    code = "model_unavailable"

    def __init__(self, message: str, *, transient: bool) -> None:
        super().__init__(message)
        self.transient = transient


class InvalidModelResponse(Unavailable):
    """The model answered, and not with a JSON object."""

    code = "model_misspoke"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and the JSON schema of the object to answer with; `name` names the schema."""

    system: str
    prompt: str
    schema: Mapping[str, Json]
    name: str = "answer"
    max_tokens: int = 2000


@dataclass(frozen=True, slots=True)
class Answer:
    """A JSON object, not yet held against the schema, and what it cost."""

    value: Mapping[str, Json]
    model: str
    tokens_in: int
    tokens_out: int


class Model(Protocol):
    """Rules: may be called from many threads, and fails with the two errors above only.

    No error quotes the key, the question or what the model said.
    """

    @property
    def name(self) -> str:
        """The name stored beside what was learned from its answers."""
        ...

    def answer(self, question: Question) -> Answer:
        """The model's answer; blocks until it is whole, or a deadline has passed."""
        ...

    def close(self) -> None:
        """Let go of what is held; the next question opens it again."""
        ...
