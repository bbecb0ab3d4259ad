"""A conversation with one person: recall, answer, then learn; knows no surface and no protocol."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from zoneinfo import ZoneInfo

from remembrancer.assistant import replies
from remembrancer.assistant.commands import (
    Explain,
    Forget,
    ForgetAll,
    Reset,
    Undo,
    is_agreement,
    is_forget_this,
    parse_command,
)
from remembrancer.assistant.events import (
    ChatEvent,
    ChatEventStream,
    MemoriesUsed,
    MemoryChanged,
    Notice,
    TextChunk,
)
from remembrancer.assistant.exchange import (
    AWAITS_CONFIRMATION_KEY,
    MEMORIES_KEY,
    UNDONE_EVENT_KEY,
    Exchange,
    ForgetAllConfirmed,
    ParsedCommand,
    list_undoable_events,
    redact_command,
)
from remembrancer.assistant.execute import execute_command, report_change
from remembrancer.assistant.tool_loop import run_tool_loop
from remembrancer.assistant.toolbox import Toolbox
from remembrancer.assistant.topic import (
    TOPIC_KEY,
    find_topic_id,
    pick_current_version,
    render_topic,
)
from remembrancer.errors import NotFound, NotUndoable
from remembrancer.llm import InvalidModelResponse, ModelUnavailable
from remembrancer.llm.chat import ChatMessage, ChatModel, ChatPrompt
from remembrancer.llm.models import Models
from remembrancer.memory import Memory
from remembrancer.recall.prompt_block import escape_for_prompt
from remembrancer.sessions.turns import TurnInput
from remembrancer.tools.caller import Caller
from remembrancer.types import COMMAND_KEY, Json, Record, Turn

MAX_LOOKUP_RESULTS = 5
MIN_SURE = 0.5
"""From here on it is likelier than not that what was found is about what was said."""

MAX_SCORE_GAP = 1 / 3
"""What fits so much less than the best, as a share of it, is not worth telling."""


class Chat:
    """One conversation. `session` is its name, which changes when it begins anew.

    It may be `about` one memory, which the model is then told in full.
    """

    def __init__(
        self,
        memory: Memory,
        models: Models,
        session: str | None = None,
        *,
        time_zone: str = "UTC",
        about: str | None = None,
    ) -> None:
        self.session = session or memory.new_session()
        self._memory = memory
        self._about = about
        self._model = models.chat
        self._zone = ZoneInfo(time_zone)
        self._tools = Toolbox(Caller(memory, time_zone))

    def say(self, text: str, metadata: Mapping[str, Json] | None = None) -> ChatEventStream:
        """Answer what the person says, piece by piece; then it is kept, and learned from.

        Whoever closes the iterator stops the answer: what was said until then is kept.
        """
        said = text.strip()
        if not said:
            return
        meant = self._parse_command(said)
        exchange = Exchange(metadata=dict(metadata or {}))
        try:
            with contextlib.closing(self._dispatch(meant, said, exchange)) as parts:
                for part in parts:
                    exchange.collect(part)
                    yield part
        finally:
            self._store_exchange(meant, said, exchange)

    def close(self) -> None:
        """End the conversation for now; what is new in it is learned from."""
        with contextlib.suppress(NotFound):  # Nothing was said.
            self._memory.close(self.session)

    def _parse_command(self, said: str) -> ParsedCommand:
        turns = self._memory.turns(self.session)
        self._about = self._about or find_topic_id(turns)
        if turns and turns[-1].metadata.get(AWAITS_CONFIRMATION_KEY) and is_agreement(said):
            return ForgetAllConfirmed()
        topic = self._load_topic() if is_forget_this(said) else None
        return Forget(topic.id) if topic else parse_command(said)

    def _load_topic(self) -> Record | None:
        """The memory that this conversation is about, as it is by now."""
        if self._about is None:
            return None
        try:
            return pick_current_version(self._memory.history(self._about).versions)
        except NotFound:  # It was deleted since.
            return None

    def _dispatch(self, meant: ParsedCommand, said: str, exchange: Exchange) -> ChatEventStream:
        match meant:
            case None:
                yield from self._answer(said, exchange)
            case ForgetAll():
                exchange.metadata[AWAITS_CONFIRMATION_KEY] = True
                yield TextChunk(replies.CONFIRM_FORGET_ALL)
            case ForgetAllConfirmed():
                yield from self._forget_everything()
            case Reset():
                self._start_new_session()
                yield TextChunk(replies.SESSION_RESET)
            case Undo():
                yield from self._undo_last_change(exchange)
            case Explain():
                yield TextChunk(self._explain_last_answer())
            case _:
                yield from execute_command(self._memory, meant, self._zone, self._load_topic())

    def _answer(self, said: str, exchange: Exchange) -> Iterator[ChatEvent]:
        if self._model is None:
            yield Notice(replies.NO_MODEL)
            yield from self._answer_from_memory(said)
            return
        try:
            yield from self._answer_with_model(self._model, said)
        except (ModelUnavailable, InvalidModelResponse) as error:
            yield Notice(str(error))
            if not exchange.text:
                yield from self._answer_from_memory(said)

    def _answer_with_model(self, model: ChatModel, said: str) -> Iterator[ChatEvent]:
        # What is told by category stays the same for the whole conversation; a note is of now.
        lasts = self._memory.profile.context.style == "hot_set"
        context = self._memory.context(said, session=self.session if lasts else None)
        system, note = context.split(_load_system_prompt())
        history, is_brief = self._load_history()
        if is_brief:
            yield Notice(replies.SUMMARISED)
        if context.memories:
            yield MemoriesUsed(context.memories)
        if topic := self._load_topic():
            note = f"{note}\n\n{render_topic(topic)}".strip()
            yield MemoriesUsed((topic.id,))
        yield from run_tool_loop(model, ChatPrompt(system, said, note, history), self._tools)

    def _load_history(self) -> tuple[tuple[ChatMessage, ...], bool]:
        """What was said before, for the model, and whether its beginning is told in brief."""
        try:
            view = self._memory.view(self.session)
        except NotFound:
            return (), False
        turns = [_to_chat_message(one) for one in view.turns if one.role in ("user", "assistant")]
        if view.summary:
            brief = f"(What we said before, in brief: {escape_for_prompt(view.summary)})"
            turns.insert(0, ChatMessage("user", brief))
        while turns and turns[0].role != "user":
            del turns[0]
        return tuple(turns), view.compressed

    def _answer_from_memory(self, said: str) -> Iterator[ChatEvent]:
        """What memory has to say about it, without thinking."""
        found = self._memory.recall(said, limit=MAX_LOOKUP_RESULTS)
        best = max((one.score for one in found), default=0.0)
        least = best - MAX_SCORE_GAP * abs(best)
        fitting = [one for one in found if found.sure >= MIN_SURE and one.score >= least]
        if fitting:
            yield MemoriesUsed(tuple(one.memory.id for one in fitting))
        yield TextChunk(replies.format_results(fitting, self._zone))

    def _forget_everything(self) -> Iterator[ChatEvent]:
        batch = self._memory.forget_all()
        self._start_new_session()
        yield TextChunk(f"Forgotten: everything, {len(batch.ids)} entries in all.")
        if batch.event is not None:
            yield MemoryChanged("Everything is forgotten", batch.event.id)

    def _start_new_session(self) -> None:
        self.close()
        self.session = self._memory.new_session()

    def _undo_last_change(self, exchange: Exchange) -> Iterator[ChatEvent]:
        for event in list_undoable_events(self._memory.turns(self.session)):
            try:
                undone = self._memory.undo(event)
            except NotUndoable:  # It was taken back elsewhere.
                continue
            exchange.metadata[UNDONE_EVENT_KEY] = event
            yield TextChunk(f"Undone: {replies.quote_memory(undone.memory)}.")
            yield from report_change(undone)
            return
        yield TextChunk(replies.NOTHING_TO_UNDO)

    def _explain_last_answer(self) -> str:
        answers = [
            one
            for one in self._memory.turns(self.session)
            if one.role == "assistant" and not one.is_command
        ]
        if not answers:
            return replies.NO_ANSWER_YET
        used = answers[-1].metadata.get(MEMORIES_KEY)
        return replies.format_sources(self._load_existing(used), self._zone)

    def _load_existing(self, ids: Json) -> list[Record]:
        found = []
        for one in ids if isinstance(ids, list) else ():
            with contextlib.suppress(NotFound):  # It was deleted since.
                found.append(self._memory.get(str(one)))
        return found

    def _store_exchange(self, meant: ParsedCommand, said: str, exchange: Exchange) -> None:
        if isinstance(meant, Reset):
            return
        about: dict[str, Json] = {TOPIC_KEY: self._about} if self._about else {}
        if meant is None:
            user: TurnInput = {"role": "user", "content": said, "metadata": about}
            answer: TurnInput = {
                "role": "assistant",
                "content": exchange.text.strip(),
                "metadata": exchange.metadata,
            }
            spoken = [user, answer] if exchange.text.strip() else [user]
            self._memory.learn(spoken, self.session)
            return
        said, answered = redact_command(meant, said, exchange.text)
        self._memory.append(
            [
                {"role": "user", "content": said, "metadata": {**about, COMMAND_KEY: True}},
                {
                    "role": "assistant",
                    "content": answered,
                    "metadata": {**exchange.metadata, COMMAND_KEY: True},
                },
            ],
            self.session,
        )


def _to_chat_message(turn: Turn) -> ChatMessage:
    return ChatMessage("user" if turn.is_by_user else "assistant", turn.content)


@cache
def _load_system_prompt() -> str:
    """What the model is told about itself: always the same bytes."""
    return resources.files(__package__).joinpath("system.md").read_text("utf-8").strip()
