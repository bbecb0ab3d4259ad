"""Language models behind one small protocol. They are called in the background, never in recall.

Unavailable
├── ModelUnavailable       model_unavailable   503   .transient, .refused
└── InvalidModelResponse   model_misspoke      503
    └── TruncatedAnswer    model_misspoke      503
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from remembrancer.errors import Unavailable
from remembrancer.types import Json

__all__ = [
    "DEFAULT_MAX_TOKENS",
    "Answer",
    "InvalidModelResponse",
    "Model",
    "ModelUnavailable",
    "Question",
    "TruncatedAnswer",
]

DEFAULT_MAX_TOKENS = 8000
"""The limit of an answer, thinking included; models that think longer need a higher setting."""


class ModelUnavailable(Unavailable):
    """The model did not answer; `transient` is True if the same request can succeed later.

    `refused` is True if another request can succeed: this one is too long, or not allowed.
    """

    code = "model_unavailable"

    def __init__(self, message: str, *, transient: bool, refused: bool = False) -> None:
        super().__init__(message)
        self.transient = transient
        self.refused = refused


class InvalidModelResponse(Unavailable):
    """The model answered with something other than a JSON object."""

    code = "model_misspoke"


class TruncatedAnswer(InvalidModelResponse):
    """The model's answer was longer than the limit of tokens, its thinking included."""


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt, and the JSON schema of the expected answer; `name` is the name of the schema.

    `max_tokens` overrides the model's own limit.
    """

    system: str
    prompt: str
    schema: Mapping[str, Json]
    name: str = "answer"
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A JSON object, not yet validated against the schema, and the tokens it cost."""

    value: Mapping[str, Json]
    model: str
    tokens_in: int
    tokens_out: int


class Model(Protocol):
    """Can be called from many threads. Raises only ModelUnavailable and InvalidModelResponse.

    No error quotes the key, the question or the model's answer.
    """

    @property
    def name(self) -> str:
        """The name that is stored with everything learned from its answers."""
        ...

    def answer(self, question: Question) -> Answer:
        """Ask the model; blocks until the answer is complete or the deadline has passed."""
        ...

    def close(self) -> None:
        """Release all resources; the next question opens them again."""
        ...
