"""Answers from an endpoint that speaks OpenAI's chat protocol, in the dialect that it takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from remembrancer.llm import Answer, ModelMisspoke, Question
from remembrancer.llm.http import PATIENT, Line, Patience, Reply, refused, sendable
from remembrancer.llm.json_answer import (
    cut_short,
    declined,
    form,
    parsed,
    tokens,
    usage,
    whole,
    words,
)
from remembrancer.types import Json

Format = Literal["json_schema", "json_object", "words"]
PLAINER: dict[Format, Format] = {"json_schema": "json_object", "json_object": "words"}
ABOUT_FORMAT = ("format", "schema", "json_object", "grammar", "structured", "guided")


@dataclass(frozen=True, slots=True)
class Dialect:
    """What servers differ in; `known` once a server has taken it."""

    format: Format = "json_schema"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    known: bool = False

    def after(self, complaint: str) -> Dialect | None:
        """What to try when this was refused; None when the fault must lie elsewhere."""
        said = complaint.lower()
        # OpenAI's reasoning models refuse max_tokens and any temperature.
        if "max_completion_tokens" in said and self.limit == "max_tokens":
            return replace(self, limit="max_completion_tokens")
        if "temperature" in said and self.temperature:
            return replace(self, temperature=False)
        if self.known and not any(word in said for word in ABOUT_FORMAT):
            return None
        plainer = PLAINER.get(self.format)
        return replace(self, format=plainer) if plainer else None


class OpenAICompatibleModel:
    """Asks for the schema as the server can take it, and remembers how; retries what may pass.

    `timeout` is for one whole answer; a busy server may be asked several times.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str | None = None,
        timeout: float = 60.0,
        patience: Patience = PATIENT,
    ) -> None:
        headers = {"Authorization": f"Bearer {sendable(key)}"} if key else {}
        address = url.rstrip("/") + "/chat/completions"
        self._line = Line(address, headers, timeout=timeout, patience=patience)
        self._model = model
        self._dialect = Dialect()

    @property
    def name(self) -> str:
        return self._model

    def answer(self, question: Question) -> Answer:
        envelope = self._asked(question).json()
        text = _content(envelope)
        counts = usage(envelope)
        return Answer(
            value=_object(text, envelope, question),
            model=self._model,
            tokens_in=tokens(counts.get("prompt_tokens"), whole(question)),
            tokens_out=tokens(counts.get("completion_tokens"), text),
        )

    def close(self) -> None:
        """Nothing is held between questions."""

    def _asked(self, question: Question) -> Reply:
        dialect: Dialect | None = self._dialect
        while dialect is not None:
            reply = self._line.post(_request(question, self._model, dialect))
            if reply.good:
                self._dialect = replace(dialect, known=True)
                return reply
            dialect = dialect.after(reply.text) if reply.status in (400, 422) else None
        raise refused(reply.status)


def _request(question: Question, model: str, dialect: Dialect) -> dict[str, Json]:
    # The schema is told in words as well: many servers take a response_format and ignore it.
    system = f"{question.system}\n\n{form(question)}"
    body: dict[str, Json] = {
        "model": model,
        "messages": [
            {"role": "system", "content": system},
            {"role": "user", "content": question.prompt},
        ],
        dialect.limit: question.most_tokens,
    }
    if dialect.temperature:
        body["temperature"] = 0
    if dialect.format != "words":
        body["response_format"] = _format(question, dialect.format)
    return body


def _format(question: Question, format: Format) -> Json:
    if format != "json_schema":
        return {"type": format}
    schema: Json = {"name": question.name, "schema": dict(question.schema), "strict": False}
    return {"type": format, "json_schema": schema}


def _content(envelope: Json) -> str:
    match envelope:
        case {"choices": [{"message": {"content": str(text)}}, *_]}:
            return text
        case {"choices": [{"message": {"content": [*parts]}}, *_]}:
            return words(parts)
    return ""


def _object(text: str, envelope: Json, question: Question) -> dict[str, Json]:
    try:
        return parsed(text, schema=question.schema)
    except ModelMisspoke:
        _explain(envelope)
        raise


def _explain(envelope: Json) -> None:
    """Raise what says more than that there was no object, where the endpoint knows it."""
    match envelope:
        # OpenRouter reports what failed behind it inside a good reply.
        case {"error": {"code": int(status)}} if 400 <= status < 600:
            raise refused(status) from None
        case {"choices": [{"message": {"refusal": str(said)}}, *_]} if said:
            raise declined() from None
        case {"choices": [{"finish_reason": "content_filter"}, *_]}:
            raise declined() from None
        case {"choices": [{"finish_reason": "length"}, *_]}:
            raise cut_short() from None
