"""Answers from an endpoint that speaks OpenAI's chat protocol, in the dialect that it takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from remembrancer.llm import Answer, InvalidModelResponse, Question
from remembrancer.llm.http import (
    DEFAULT_RETRY_POLICY,
    Endpoint,
    EndpointResponse,
    RetryPolicy,
    error_for_status,
    validate_key,
)
from remembrancer.llm.json_answer import (
    count_tokens,
    declined_error,
    join_text_parts,
    parse_object,
    read_usage,
    render_question,
    render_schema_instructions,
    truncated_error,
)
from remembrancer.types import Json

ResponseFormat = Literal["json_schema", "json_object", "words"]
FALLBACK_FORMATS: dict[ResponseFormat, ResponseFormat] = {
    "json_schema": "json_object",
    "json_object": "words",
}
FORMAT_COMPLAINT_WORDS = ("format", "schema", "json_object", "grammar", "structured", "guided")


@dataclass(frozen=True, slots=True)
class Dialect:
    """What servers differ in; `known` once a server has taken it."""

    format: ResponseFormat = "json_schema"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    confirmed: bool = False

    def choose_fallback(self, complaint: str) -> Dialect | None:
        """What to try when this was refused; None when the fault must lie elsewhere."""
        said = complaint.lower()
        # OpenAI's reasoning models refuse max_tokens and any temperature.
        if "max_completion_tokens" in said and self.limit == "max_tokens":
            return replace(self, limit="max_completion_tokens")
        if "temperature" in said and self.temperature:
            return replace(self, temperature=False)
        if self.confirmed and not any(word in said for word in FORMAT_COMPLAINT_WORDS):
            return None
        plainer = FALLBACK_FORMATS.get(self.format)
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
        retry_policy: RetryPolicy = DEFAULT_RETRY_POLICY,
    ) -> None:
        headers = {"Authorization": f"Bearer {validate_key(key)}"} if key else {}
        address = url.rstrip("/") + "/chat/completions"
        self._endpoint = Endpoint(address, headers, timeout=timeout, retry_policy=retry_policy)
        self._model = model
        self._dialect = Dialect()

    @property
    def name(self) -> str:
        return self._model

    def answer(self, question: Question) -> Answer:
        envelope = self._post_question(question).json()
        text = _extract_text(envelope)
        counts = read_usage(envelope)
        return Answer(
            value=_extract_object(text, envelope, question),
            model=self._model,
            tokens_in=count_tokens(counts.get("prompt_tokens"), render_question(question)),
            tokens_out=count_tokens(counts.get("completion_tokens"), text),
        )

    def close(self) -> None:
        """Nothing is held between questions."""

    def _post_question(self, question: Question) -> EndpointResponse:
        dialect: Dialect | None = self._dialect
        while dialect is not None:
            reply = self._endpoint.post(_build_request(question, self._model, dialect))
            if reply.is_success:
                self._dialect = replace(dialect, confirmed=True)
                return reply
            dialect = dialect.choose_fallback(reply.text) if reply.status in (400, 422) else None
        raise error_for_status(reply.status)


def _build_request(question: Question, model: str, dialect: Dialect) -> dict[str, Json]:
    # The schema is told in words as well: many servers take a response_format and ignore it.
    system = f"{question.system}\n\n{render_schema_instructions(question)}"
    body: dict[str, Json] = {
        "model": model,
        "messages": [
            {"role": "system", "content": system},
            {"role": "user", "content": question.prompt},
        ],
        dialect.limit: question.max_tokens,
    }
    if dialect.temperature:
        body["temperature"] = 0
    if dialect.format != "words":
        body["response_format"] = _build_response_format(question, dialect.format)
    return body


def _build_response_format(question: Question, format: ResponseFormat) -> Json:
    if format != "json_schema":
        return {"type": format}
    schema: Json = {"name": question.name, "schema": dict(question.schema), "strict": False}
    return {"type": format, "json_schema": schema}


def _extract_text(envelope: Json) -> str:
    match envelope:
        case {"choices": [{"message": {"content": str(text)}}, *_]}:
            return text
        case {"choices": [{"message": {"content": [*parts]}}, *_]}:
            return join_text_parts(parts)
    return ""


def _extract_object(text: str, envelope: Json, question: Question) -> dict[str, Json]:
    try:
        return parse_object(text, schema=question.schema)
    except InvalidModelResponse:
        _raise_reason(envelope)
        raise


def _raise_reason(envelope: Json) -> None:
    """Raise what says more than that there was no object, where the endpoint knows it."""
    match envelope:
        # OpenRouter reports what failed behind it inside a good reply.
        case {"error": {"code": int(status)}} if 400 <= status < 600:
            raise error_for_status(status) from None
        case {"choices": [{"message": {"refusal": str(said)}}, *_]} if said:
            raise declined_error() from None
        case {"choices": [{"finish_reason": "content_filter"}, *_]}:
            raise declined_error() from None
        case {"choices": [{"finish_reason": "length"}, *_]}:
            raise truncated_error() from None
