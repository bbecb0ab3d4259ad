"""A model behind Anthropic's messages protocol; JSON answers are the input of a tool call."""

from __future__ import annotations

import json

from remembrancer.llm import DEFAULT_MAX_TOKENS, Answer, Question
from remembrancer.llm.anthropic_wire import (
    AnthropicStream,
    build_chat,
    build_question,
    extract_object,
)
from remembrancer.llm.chat import ChatPrompt, ReplyStream
from remembrancer.llm.http import Endpoint, EndpointResponse, error_for_status, validate_key
from remembrancer.llm.json_answer import count_tokens, read_usage, render_question
from remembrancer.llm.streaming import Rejected, stream_events
from remembrancer.retry import DEFAULT_RETRY_POLICY, RetryPolicy

ANTHROPIC_URL = "https://api.anthropic.com"
API_VERSION = "2023-06-01"


class AnthropicModel:
    """Forces the tool call where the model allows that, and asks for it in words otherwise.

    `timeout` is for one attempt; the retry policy limits the attempts.
    """

    def __init__(
        self,
        model: str,
        *,
        key: str,
        url: str = ANTHROPIC_URL,
        timeout: float = 60.0,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        retry_policy: RetryPolicy = DEFAULT_RETRY_POLICY,
    ) -> None:
        headers = {"x-api-key": validate_key(key), "anthropic-version": API_VERSION}
        address = url.rstrip("/").removesuffix("/v1") + "/v1/messages"
        self._endpoint = Endpoint(address, headers, timeout=timeout, retry_policy=retry_policy)
        self._model = model
        self._max_tokens = max_tokens
        self._forces_tool = True

    @property
    def name(self) -> str:
        return self._model

    def answer(self, question: Question) -> Answer:
        envelope = self._post_question(question).json()
        value = extract_object(envelope, question)
        counts = read_usage(envelope)
        return Answer(
            value=value,
            model=self._model,
            tokens_in=count_tokens(counts.get("input_tokens"), render_question(question)),
            tokens_out=count_tokens(counts.get("output_tokens"), json.dumps(value)),
        )

    def reply(self, prompt: ChatPrompt) -> ReplyStream:
        stream = AnthropicStream()
        try:
            for event in stream_events(self._endpoint, build_chat(prompt, self._model)):
                if text := stream.feed(event):
                    yield text
        except Rejected as error:
            raise error_for_status(error.response.status) from None
        yield from stream.finish()

    def close(self) -> None:
        """Nothing is kept open between requests."""

    def _post_question(self, question: Question) -> EndpointResponse:
        forced = self._forces_tool
        response = self._post(question, forced=forced)
        # Models that always think reject a forced tool call, and name the parameter.
        if forced and response.status == 400 and "tool_choice" in response.text:
            response = self._post(question, forced=False)
            self._forces_tool = not response.is_success
        if not response.is_success:
            raise error_for_status(response.status)
        return response

    def _post(self, question: Question, *, forced: bool) -> EndpointResponse:
        body = build_question(question, self._model, self._max_tokens, forced=forced)
        return self._endpoint.post(body)
