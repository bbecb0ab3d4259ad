"""One conversation with one user: recalls, answers, then learns. Knows no surface or protocol."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from zoneinfo import ZoneInfo

from remembrancer.assistant import commands, replies
from remembrancer.assistant.events import (
    ChatEvent,
    ChatEventStream,
    MemoriesUsed,
    Notice,
    TextChunk,
)
from remembrancer.assistant.exchange import (
    AWAITS_CONFIRMATION_KEY,
    DELETES_KEY,
    PROPOSAL_KEY,
    UNDONE_EVENT_KEY,
    Confirmed,
    DeletionConfirmed,
    Exchange,
    ForgetAllConfirmed,
    ParsedCommand,
    list_undoable_changes,
    redact_command,
)
from remembrancer.assistant.execute import (
    execute_command,
    forget_named,
    report_change,
    report_learned,
)
from remembrancer.assistant.forget_topic import PRONOUNS
from remembrancer.assistant.team_proposal import (
    TEAM_PREFIX,
    find_previous_statement,
    propose_to_team,
    withdraw_proposal,
)
from remembrancer.assistant.tool_loop import run_tool_loop
from remembrancer.assistant.toolbox import Toolbox
from remembrancer.assistant.topic import (
    TOPIC_KEY,
    find_topic_id,
    pick_current_version,
    render_topic,
)
from remembrancer.errors import NotAllowed, NotFound, NotUndoable, RemembrancerError
from remembrancer.guard import find_secrets
from remembrancer.llm import InvalidModelResponse, ModelUnavailable
from remembrancer.llm.chat import ChatMessage, ChatModel, ChatPrompt
from remembrancer.llm.models import Models
from remembrancer.memory import Memory
from remembrancer.recall.prompt_block import escape_for_prompt
from remembrancer.search.prompt import join_follow_up
from remembrancer.sessions.titles import find_opening
from remembrancer.sessions.turns import MEMORIES_KEY, TurnInput
from remembrancer.tools.caller import Caller
from remembrancer.types import COMMAND_KEY, Json, Origin, Record, TeamOrigin, Turn

MAX_LOOKUP_RESULTS = 5
MIN_SURE = 0.5
"""Results of a less certain recall are not shown."""

MAX_SCORE_GAP = 1 / 3
"""Results whose score is lower than the best by more than this share of it are not shown."""


class Chat:
    """One conversation. `session` is its id, which changes after a reset.

    Dates are in the user's time zone, unless the surface knows a better one. With `about`, the
    conversation is about one memory, and the prompt holds that memory in full.
    """

    def __init__(
        self,
        memory: Memory,
        models: Models,
        session: str | None = None,
        *,
        time_zone: str | None = None,
        about: str | None = None,
    ) -> None:
        self.session = session or memory.new_session()
        self._memory = memory
        self._about = about
        self._model = models.chat
        self._has_models = models.chat is not None or models.fast is not None
        self._zone = ZoneInfo(time_zone or memory.time_zone())
        self._caller = Caller(memory, self._zone.key, TeamOrigin.USER)

    def say(
        self, text: str, metadata: Mapping[str, Json] | None = None, *, is_quoted: bool = False
    ) -> ChatEventStream:
        """Stream the answer to a message, then store both and learn from them.

        Closing the generator stops the answer; the part that was streamed is stored. A message that
        is quoted was written by somebody else: it is no command, and not the person's word.
        """
        message = text.strip()
        if not message:
            return
        turns = self._memory.turns(self.session)
        command = None if is_quoted else self._parse_command(message, turns)
        exchange = Exchange(
            metadata=dict(metadata or {}),
            is_first=not find_opening(turns),
            origin=Origin.DOCUMENT if is_quoted else Origin.USER,
        )
        try:
            with contextlib.closing(self._dispatch(command, message, exchange)) as events:
                for event in events:
                    exchange.collect(event)
                    yield event
        finally:
            self._store_exchange(command, message, exchange)

    def close(self) -> None:
        """Close the session, so that its new turns are learned from."""
        with contextlib.suppress(NotFound):  # The session has no turns.
            self._memory.close(self.session)

    def _parse_command(self, message: str, turns: Sequence[Turn]) -> ParsedCommand:
        self._about = self._about or find_topic_id(turns)
        if (
            turns
            and turns[-1].metadata.get(AWAITS_CONFIRMATION_KEY)
            and commands.is_agreement(message)
        ):
            asked = turns[-1].metadata.get(DELETES_KEY)
            return DeletionConfirmed(asked) if isinstance(asked, str) else ForgetAllConfirmed()
        topic = self._load_topic() if commands.is_forget_this(message) else None
        return commands.Forget(topic.id) if topic else commands.parse_command(message)

    def _load_topic(self) -> Record | None:
        """The current version of the memory that the conversation is about."""
        if self._about is None:
            return None
        try:
            return pick_current_version(self._memory.history(self._about).versions)
        except NotFound:  # It has been deleted.
            return None

    def _dispatch(
        self, command: ParsedCommand, message: str, exchange: Exchange
    ) -> ChatEventStream:
        match command:
            case None:
                yield from self._answer(message, exchange)
            case commands.ForgetAll():
                yield from self._ask_to_forget_everything(exchange)
            case ForgetAllConfirmed() | DeletionConfirmed():
                yield from self._carry_out(command)
            case commands.DeleteForGood():
                yield from self._ask_to_delete(command.query, exchange)
            case commands.Reset():
                self._start_new_session()
                yield TextChunk(replies.SESSION_RESET)
            case commands.Undo():
                yield from self._undo_last_change(exchange)
            case commands.ProposeToTeam():
                yield from self._propose_to_team(command, exchange)
            case commands.Explain():
                yield TextChunk(self._explain_last_answer())
            case commands.Help():
                yield TextChunk(replies.format_help(team=self._memory.profile.team.enabled))
            case _:
                if isinstance(command, commands.Remember | commands.Correct):
                    self._store_message(message, exchange, {COMMAND_KEY: True})
                yield from execute_command(
                    self._memory, command, self._zone, self._load_topic(), exchange.message
                )
                if isinstance(command, commands.Remember) and command.question:
                    yield from self._answer_question(command.question, message, exchange)

    def _answer(self, message: str, exchange: Exchange) -> Iterator[ChatEvent]:
        if find_secrets(message):
            yield Notice(replies.SECRETS_LEFT_OUT)
        if self._model is None:
            yield Notice(replies.NO_MODEL)
            learned = self._learn_at_once(message, exchange)
            yield from report_learned(self._memory, learned)
            if not learned or "?" in message:
                yield from self._answer_from_memory(message)
            return
        try:
            yield from self._answer_with_model(self._model, message, exchange)
        except (ModelUnavailable, InvalidModelResponse) as error:
            yield Notice(str(error))
            if not exchange.text:
                yield from self._answer_from_memory(message)

    def _answer_question(
        self, question: str, message: str, exchange: Exchange
    ) -> Iterator[ChatEvent]:
        """Answer the question of a message whose command has been executed."""
        done = exchange.text.strip()
        yield TextChunk("\n\n")
        try:
            if self._model is not None:
                yield from self._answer_with_model(self._model, message, exchange, done)
                return
            yield Notice(replies.NO_MODEL)
        except (ModelUnavailable, InvalidModelResponse) as error:
            yield Notice(str(error))
        if exchange.text.strip() == done:
            yield from self._answer_from_memory(question)

    def _learn_at_once(self, message: str, exchange: Exchange) -> tuple[str, ...]:
        """Learn from a message by rules alone, so that the answer can say what was learned."""
        if self._has_models or self._memory.profile.learning.when != "after_reply":
            return ()
        self._store_message(message, exchange)
        learned = self._memory.learn_now(self.session)
        exchange.is_learned = learned is not None
        return learned or ()

    def _store_message(
        self, message: str, exchange: Exchange, metadata: Mapping[str, Json] | None = None
    ) -> Turn:
        """Store the user's message before the answer, once."""
        if exchange.message is not None:
            return exchange.message
        turn: TurnInput = {
            "role": "user",
            "content": message,
            "origin": exchange.origin,
            "metadata": {**self._describe_topic(), **(metadata or {})},
        }
        (exchange.message,) = self._memory.append([turn], self.session)
        return exchange.message

    def _describe_topic(self) -> dict[str, Json]:
        return {TOPIC_KEY: self._about} if self._about else {}

    def _answer_with_model(
        self, model: ChatModel, message: str, exchange: Exchange, done: str = ""
    ) -> Iterator[ChatEvent]:
        """Let the model answer; `done` is what the answer has said already."""
        tools = Toolbox(self._caller, lambda: self._store_message(message, exchange))
        # A hot set stays the same for the whole session; a note is made for each message.
        is_hot_set = self._memory.profile.context.style == "hot_set"
        history, is_summarised = self._load_history(exchange.message)
        asked = [one.text for one in history if one.role == "user"]
        prompt = join_follow_up(message, asked[-1] if asked else None)
        context = self._memory.context(prompt, session=self.session if is_hot_set else None)
        system, note = context.split(_load_system_prompt())
        if is_summarised:
            yield Notice(replies.SUMMARISED)
        if context.memories:
            yield MemoriesUsed(context.memories)
        if topic := self._load_topic():
            note = f"{note}\n\n{render_topic(topic)}".strip()
            yield MemoriesUsed((topic.id,))
        if done:
            note = f"{note}\n\n{replies.DONE_ALREADY}{escape_for_prompt(done)}".strip()
        yield from run_tool_loop(model, ChatPrompt(system, message, note, history), tools)
        if tools.is_everything_to_be_forgotten:
            yield from self._ask_to_forget_everything(exchange)

    def _load_history(self, current: Turn | None) -> tuple[tuple[ChatMessage, ...], bool]:
        """The messages before this one for the prompt; True if the first ones are summarised."""
        try:
            view = self._memory.view(self.session)
        except NotFound:
            return (), False
        turns = [
            _to_chat_message(turn)
            for turn in view.turns
            if turn.role in ("user", "assistant") and (current is None or turn.id != current.id)
        ]
        if view.summary:
            brief = f"(What we said before, in brief: {escape_for_prompt(view.summary)})"
            turns.insert(0, ChatMessage("user", brief))
        while turns and turns[0].role != "user":
            del turns[0]
        return tuple(turns), view.compressed

    def _answer_from_memory(self, message: str) -> Iterator[ChatEvent]:
        """List the memories that match the message, without a model."""
        found = self._memory.recall(message, limit=MAX_LOOKUP_RESULTS)
        best_score = max((result.score for result in found), default=0.0)
        min_score = best_score - MAX_SCORE_GAP * abs(best_score)
        matches = [
            result for result in found if found.sure >= MIN_SURE and result.score >= min_score
        ]
        if matches:
            yield MemoriesUsed(tuple(result.memory.id for result in matches))
        yield TextChunk(replies.format_results(matches, self._zone))

    def _ask_to_forget_everything(self, exchange: Exchange) -> Iterator[ChatEvent]:
        """Ask once, with the counts of what would go; only a plain yes carries it out."""
        try:
            inventory = self._memory.inventory()
        except NotAllowed as error:
            yield TextChunk(str(error))
            return
        if inventory.has_memories:
            exchange.metadata[AWAITS_CONFIRMATION_KEY] = True
        start = "\n\n" if exchange.text.strip() else ""
        yield TextChunk(start + replies.ask_to_forget_everything(inventory))

    def _forget_everything(self) -> Iterator[ChatEvent]:
        receipt = self._memory.forget_everything()
        self.session, self._about = self._memory.new_session(), None
        yield TextChunk(replies.format_forgotten(receipt))

    def _carry_out(self, confirmed: Confirmed) -> Iterator[ChatEvent]:
        if isinstance(confirmed, DeletionConfirmed):
            yield from self._delete_for_good(confirmed.memory_id)
        else:
            yield from self._forget_everything()

    def _ask_to_delete(self, query: str, exchange: Exchange) -> Iterator[ChatEvent]:
        """Forget a memory, and ask whether to delete it for good."""
        topic = self._load_topic() if query in PRONOUNS else None
        if query in PRONOUNS and topic is None:
            yield TextChunk(replies.WHAT_TO_DELETE)
            return
        try:
            written = forget_named(self._memory, topic.id if topic else query)
        except RemembrancerError as error:
            yield TextChunk(str(error))
            return
        exchange.metadata |= {AWAITS_CONFIRMATION_KEY: True, DELETES_KEY: written.memory.id}
        memory = replies.quote_memory(written.memory)
        yield TextChunk(replies.CONFIRM_DELETION.format(memory=memory))
        yield from report_change(written)

    def _delete_for_good(self, memory_id: str) -> Iterator[ChatEvent]:
        try:
            self._memory.delete(memory_id, for_good=True)
        except RemembrancerError as error:
            yield TextChunk(str(error))
            return
        self._about = None
        yield TextChunk(replies.DELETED_FOR_GOOD)

    def _start_new_session(self) -> None:
        self.close()
        self.session = self._memory.new_session()

    def _undo_last_change(self, exchange: Exchange) -> Iterator[ChatEvent]:
        for change in list_undoable_changes(self._memory.turns(self.session)):
            try:
                yield from self._undo(change)
            except (NotUndoable, NotFound):  # It was undone on another surface.
                continue
            exchange.metadata[UNDONE_EVENT_KEY] = change
            return
        yield TextChunk(replies.NOTHING_TO_UNDO)

    def _undo(self, change: str) -> Iterator[ChatEvent]:
        if change.startswith(TEAM_PREFIX):
            yield TextChunk(withdraw_proposal(self._memory, change))
            return
        undone = self._memory.undo(change)
        yield TextChunk(f"Undone: {replies.quote_memory(undone.memory)}")
        yield from report_change(undone)

    def _propose_to_team(
        self, command: commands.ProposeToTeam, exchange: Exchange
    ) -> Iterator[ChatEvent]:
        content = command.content or find_previous_statement(self._memory.turns(self.session))
        reply, fact_id = propose_to_team(self._memory, content)
        if fact_id is not None:
            exchange.metadata[PROPOSAL_KEY] = fact_id
        yield TextChunk(reply)

    def _explain_last_answer(self) -> str:
        answers = [
            turn
            for turn in self._memory.turns(self.session)
            if turn.role == "assistant" and not turn.is_command
        ]
        if not answers:
            return replies.NO_ANSWER_YET
        used = answers[-1].metadata.get(MEMORIES_KEY)
        return replies.format_sources(self._load_existing(used), self._zone)

    def _load_existing(self, ids: Json) -> list[Record]:
        found = []
        for id in ids if isinstance(ids, list) else ():
            with contextlib.suppress(NotFound):  # It has been deleted.
                found.append(self._memory.get(str(id)))
        return found

    def _store_exchange(self, command: ParsedCommand, message: str, exchange: Exchange) -> None:
        if isinstance(command, commands.Reset):
            return
        about = self._describe_topic()
        mark: dict[str, Json] = {} if command is None else {COMMAND_KEY: True}
        answer = exchange.text.strip()
        if command is not None:
            message, answer = redact_command(command, message, exchange.text)
        is_answer = isinstance(command, commands.Remember) and bool(command.question)
        marked = exchange.metadata | ({} if is_answer else mark)
        turns = _build_turns(message, about | mark, answer, marked)
        turns[0]["origin"] = exchange.origin
        turns = turns[exchange.message is not None : 2 if answer else 1]
        if command is None and not exchange.is_learned:
            self._memory.learn(turns, self.session)
        else:
            self._memory.append(turns, self.session)
        if exchange.is_first:
            self._memory.suggest_title(self.session)


def _build_turns(
    message: str, about: dict[str, Json], answer: str, metadata: dict[str, Json]
) -> list[TurnInput]:
    return [
        {"role": "user", "content": message, "metadata": about},
        {"role": "assistant", "content": answer, "metadata": metadata},
    ]


def _to_chat_message(turn: Turn) -> ChatMessage:
    return ChatMessage("user" if turn.is_by_user else "assistant", turn.content)


@cache
def _load_system_prompt() -> str:
    return resources.files(__package__).joinpath("system.md").read_text("utf-8").strip()
