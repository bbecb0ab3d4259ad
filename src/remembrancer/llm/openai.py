"""A model behind an endpoint that speaks OpenAI's chat completions protocol."""

from __future__ import annotations

from dataclasses import replace

from remembrancer.llm import DEFAULT_MAX_TOKENS, Answer, Question
from remembrancer.llm.chat import ChatPrompt, ReplyStream
from remembrancer.llm.http import Endpoint, EndpointResponse, error_for_status, validate_key
from remembrancer.llm.json_answer import count_tokens, read_usage, render_question
from remembrancer.llm.openai_wire import (
    Dialect,
    OpenAIStream,
    ThinkingFilter,
    build_chat,
    build_question,
    extract_object,
    extract_text,
)
from remembrancer.llm.streaming import Rejected, stream_events
from remembrancer.retry import DEFAULT_RETRY_POLICY, RetryPolicy

OPENAI_URL = "https://api.openai.com/v1"


class OpenAICompatibleModel:
    """Finds out which parameters the server accepts, and remembers them for the next request.

    `timeout` is for one attempt; the retry policy limits the attempts.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str | None = None,
        timeout: float = 60.0,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        retry_policy: RetryPolicy = DEFAULT_RETRY_POLICY,
    ) -> None:
        headers = {"Authorization": f"Bearer {validate_key(key)}"} if key else {}
        address = url.rstrip("/") + "/chat/completions"
        self._endpoint = Endpoint(address, headers, timeout=timeout, retry_policy=retry_policy)
        self._model = model
        self._max_tokens = max_tokens
        self._dialect = Dialect()
        self._supports_tools = True

    @property
    def name(self) -> str:
        return self._model

    def answer(self, question: Question) -> Answer:
        envelope = self._post_question(question).json()
        text = extract_text(envelope)
        counts = read_usage(envelope)
        return Answer(
            value=extract_object(text, envelope, question),
            model=self._model,
            tokens_in=count_tokens(counts.get("prompt_tokens"), render_question(question)),
            tokens_out=count_tokens(counts.get("completion_tokens"), text),
        )

    def reply(self, prompt: ChatPrompt) -> ReplyStream:
        """Stream the answer; repeats the request without tools if the server has none."""
        if not self._supports_tools:
            prompt = replace(prompt, tools=())
        try:
            yield from self._stream_reply(prompt)
        except Rejected as error:
            response = error.response
            about_tools = response.status in (400, 404, 422) and "tool" in response.text
            if not (prompt.tools and about_tools):
                raise error_for_status(response.status) from None
            self._supports_tools = False
            yield from self.reply(prompt)

    def close(self) -> None:
        """Nothing is kept open between requests."""

    def _post_question(self, question: Question) -> EndpointResponse:
        dialect: Dialect | None = self._dialect
        while dialect is not None:
            body = build_question(question, self._model, dialect, self._max_tokens)
            response = self._endpoint.post(body)
            if response.is_success:
                self._dialect = replace(dialect, confirmed=True)
                return response
            can_fall_back = response.status in (400, 422)
            dialect = dialect.choose_fallback(response.text) if can_fall_back else None
        raise error_for_status(response.status)

    def _stream_reply(self, prompt: ChatPrompt) -> ReplyStream:
        stream, thinking = OpenAIStream(), ThinkingFilter()
        for chunk in stream_events(self._endpoint, build_chat(prompt, self._model)):
            if text := thinking.feed(stream.feed(chunk)):
                stream.has_text = True
                yield text
        if text := thinking.flush():
            stream.has_text = True
            yield text
        yield from stream.finish()
