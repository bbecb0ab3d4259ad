"""Talking with the assistant in tests: what it says to a message, sorted by what it is."""

from __future__ import annotations

from dataclasses import dataclass

from remembrancer.assistant.chat import Chat
from remembrancer.assistant.events import ChatEvent, MemoriesUsed, MemoryChanged, Notice, TextChunk
from remembrancer.engine import Remembrancer


@dataclass(frozen=True, slots=True)
class Heard:
    """All parts of an answer."""

    parts: tuple[ChatEvent, ...]

    @property
    def text(self) -> str:
        return "".join(one.text for one in self.parts if isinstance(one, TextChunk))

    @property
    def events(self) -> list[str]:
        return [one.event for one in self.parts if isinstance(one, MemoryChanged)]

    @property
    def statuses(self) -> list[str]:
        return [one.text for one in self.parts if isinstance(one, MemoryChanged)]

    @property
    def notices(self) -> list[str]:
        return [one.text for one in self.parts if isinstance(one, Notice)]

    @property
    def used(self) -> list[str]:
        return [id for one in self.parts if isinstance(one, MemoriesUsed) for id in one.memories]


def chat_of(store: Remembrancer, user: str = "ada", session: str | None = None) -> Chat:
    return Chat(store.for_user(user, surface="web"), store.models, session)


def say(chat: Chat, text: str) -> Heard:
    return Heard(tuple(chat.say(text)))
