"""The second question: a model gives a verdict on each of a list of claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from remembrancer.learn.wording.doubt import Doubt
from remembrancer.llm import InvalidModelResponse, Model, Question
from remembrancer.types import Json

Manner = Literal["stated", "planned", "hypothetical", "ironic", "quoted", "past"]

DOUBT_OF_MANNER = {
    "hypothetical": Doubt.HYPOTHETICAL,
    "ironic": Doubt.IRONY,
    "quoted": Doubt.QUOTED,
}
"""Manners of speech after which something is not known to be true."""


class ClaimVerdict(BaseModel):
    """What a model says about one claim."""

    model_config = ConfigDict(extra="ignore")

    claim: str
    supported: bool
    about: str | None = None
    manner: str | None = None


AnyVerdict = TypeVar("AnyVerdict", bound=ClaimVerdict)


def build_question(
    system: str,
    shown: str,
    claims: Sequence[str],
    *,
    required: Sequence[str] = tuple(ClaimVerdict.model_fields),
    max_tokens: int | None = None,
) -> Question:
    """Ask about the claims, which are named c1, c2, …; `required` are the fields of a verdict."""
    lines = [f"[c{number}] {one}" for number, one in enumerate(claims, 1)]
    prompt = "\n".join([shown, "", "<claims>", *lines, "</claims>"])
    return Question(system, prompt, _build_schema(required), "verification", max_tokens)


def ask_for_verdicts(
    model: Model, question: Question, verdict: type[AnyVerdict]
) -> tuple[list[AnyVerdict], int]:
    """The valid verdicts, and the tokens spent; raises InvalidModelResponse if there is no list."""
    answer = model.answer(question)
    entries = answer.value.get("verdicts")
    if not isinstance(entries, list):
        raise InvalidModelResponse("The model did not answer with a list of verdicts.")
    parsed = [_parse_verdict(one, verdict) for one in entries]
    return [one for one in parsed if one is not None], answer.tokens_in + answer.tokens_out


def _parse_verdict(value: Json, verdict: type[AnyVerdict]) -> AnyVerdict | None:
    try:
        return verdict.model_validate(value)
    except ValidationError:
        return None


def _build_schema(required: Sequence[str]) -> dict[str, Json]:
    verdict: Json = {
        "type": "object",
        "properties": {
            "claim": {"type": "string", "maxLength": 6},
            "supported": {"type": "boolean"},
            "about": {"type": "string", "maxLength": 60},
            "manner": {"type": "string", "enum": list(get_args(Manner))},
        },
        "required": list(required),
    }
    return {
        "type": "object",
        "properties": {"verdicts": {"type": "array", "items": verdict}},
        "required": ["verdicts"],
    }
