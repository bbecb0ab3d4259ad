"""Conversation with a model that can only answer questions: the whole answer at once, no tools."""

from __future__ import annotations

from remembrancer.llm import Model, Question
from remembrancer.llm.chat import ChatPrompt, ReplyStream
from remembrancer.llm.json_answer import empty_answer_error
from remembrancer.types import Json

REPLY_SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
}


class OneShotChat:
    """Any model as one to talk with, such as a command's."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    def reply(self, prompt: ChatPrompt) -> ReplyStream:
        lines = [f"{one.role}: {one.text}" for one in prompt.history]
        talk = "\n\n".join([*lines, f"user: {prompt.latest_message}"])
        question = Question(prompt.system, talk, REPLY_SCHEMA, "reply")
        answer = self._model.answer(question).value.get("answer")
        if not (isinstance(answer, str) and answer.strip()):
            raise empty_answer_error()
        yield answer

    def close(self) -> None:
        self._model.close()
