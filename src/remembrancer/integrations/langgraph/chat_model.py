"""Lets Remembrancer learn with a chat model of LangChain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from remembrancer.errors import InvalidInput
from remembrancer.llm import Answer, ModelUnavailable, Question
from remembrancer.llm.json_answer import (
    count_tokens,
    parse_object,
    render_question,
    render_schema_instructions,
    truncated_error,
)
from remembrancer.llm.models import Models

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

TRUNCATED_REASONS = frozenset({"length", "max_tokens", "MAX_TOKENS"})


class LangChainModel:
    """Asks a chat model of LangChain for JSON."""

    def __init__(self, model: BaseChatModel) -> None:
        if not callable(getattr(model, "invoke", None)):
            raise InvalidInput(
                "Pass a chat model of LangChain, such as init_chat_model(name), "
                f"not {type(model).__name__}."
            )
        self._model = model

    @property
    def name(self) -> str:
        for field in ("model_name", "model"):
            if isinstance(name := getattr(self._model, field, None), str) and name:
                return name
        return type(self._model).__name__

    def answer(self, question: Question) -> Answer:
        reply = self._ask(
            [
                SystemMessage(question.system),
                HumanMessage(f"{question.prompt}\n\n{render_schema_instructions(question)}"),
            ]
        )
        if _is_truncated(reply):
            raise truncated_error()
        counts = getattr(reply, "usage_metadata", None) or {}
        return Answer(
            value=parse_object(reply.text, schema=question.schema),
            model=self.name,
            tokens_in=count_tokens(counts.get("input_tokens"), render_question(question)),
            tokens_out=count_tokens(counts.get("output_tokens"), reply.text),
        )

    def close(self) -> None:
        """The model belongs to the application."""

    def _ask(self, messages: list[BaseMessage]) -> BaseMessage:
        try:
            return self._model.invoke(messages)
        except Exception as error:  # each provider has errors of its own
            # The error's message can quote the prompt or the key.
            raise ModelUnavailable(
                f"The chat model failed with {type(error).__name__}: call it by itself to see why.",
                transient=True,
            ) from None


def langchain_models(model: BaseChatModel, smart: BaseChatModel | None = None) -> Models:
    """Return the models for `remembrancer.open(models=…)`.

    `model` learns from conversations, and `smart` consolidates, if it is given.
    """
    fast = LangChainModel(model)
    return Models(fast, LangChainModel(smart) if smart is not None else fast)


def _is_truncated(reply: BaseMessage) -> bool:
    found = reply.response_metadata
    return not TRUNCATED_REASONS.isdisjoint(
        str(found.get(name)) for name in ("finish_reason", "stop_reason")
    )
