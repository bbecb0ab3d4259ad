"""A conversation with one person: recall, answer, then learn; knows no surface and no protocol."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from zoneinfo import ZoneInfo

from remembrancer.assistant import replies
from remembrancer.assistant.commands import (
    Forget,
    ForgetAll,
    Reset,
    Undo,
    Why,
    agrees,
    command,
    forgets_this,
)
from remembrancer.assistant.events import Notice, Part, Parts, Status, Text, Used
from remembrancer.assistant.execute import obeyed, status
from remembrancer.assistant.focus import ABOUT, standing, told, topic_of
from remembrancer.assistant.record import (
    ASKS,
    MEMORIES,
    UNDID,
    Exchange,
    Meant,
    Wipe,
    changes,
    recorded,
)
from remembrancer.assistant.tool_loop import answered
from remembrancer.assistant.toolbox import Toolbox
from remembrancer.errors import NotFound, NotUndoable
from remembrancer.llm import ModelMisspoke, ModelUnavailable
from remembrancer.llm.chat import ChatModel, Prompt, Utterance
from remembrancer.llm.models import Models
from remembrancer.memory import Memory
from remembrancer.recall.prompt_block import as_data
from remembrancer.sessions.turns import Said
from remembrancer.tools.caller import Caller
from remembrancer.types import COMMAND, Json, Record, Turn

FOUND = 5
SURE = 0.5
"""From here on it is likelier than not that what was found is about what was said."""

APART = 1 / 3
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

    def say(self, text: str, metadata: Mapping[str, Json] | None = None) -> Parts:
        """Answer what the person says, piece by piece; then it is kept, and learned from.

        Whoever closes the iterator stops the answer: what was said until then is kept.
        """
        said = text.strip()
        if not said:
            return
        meant = self._meant(said)
        exchange = Exchange(metadata=dict(metadata or {}))
        try:
            with contextlib.closing(self._parts(meant, said, exchange)) as parts:
                for part in parts:
                    exchange.take(part)
                    yield part
        finally:
            self._keep(meant, said, exchange)

    def close(self) -> None:
        """End the conversation for now; what is new in it is learned from."""
        with contextlib.suppress(NotFound):  # Nothing was said.
            self._memory.close(self.session)

    def _meant(self, said: str) -> Meant:
        turns = self._memory.turns(self.session)
        self._about = self._about or topic_of(turns)
        if turns and turns[-1].metadata.get(ASKS) and agrees(said):
            return Wipe()
        topic = self._topic() if forgets_this(said) else None
        return Forget(topic.id) if topic else command(said)

    def _topic(self) -> Record | None:
        """The memory that this conversation is about, as it is by now."""
        if self._about is None:
            return None
        try:
            return standing(self._memory.history(self._about).versions)
        except NotFound:  # It was deleted since.
            return None

    def _parts(self, meant: Meant, said: str, exchange: Exchange) -> Parts:
        match meant:
            case None:
                yield from self._answered(said, exchange)
            case ForgetAll():
                exchange.metadata[ASKS] = True
                yield Text(replies.ASK_TO_FORGET)
            case Wipe():
                yield from self._wiped()
            case Reset():
                self._begin_anew()
                yield Text(replies.BEGUN_ANEW)
            case Undo():
                yield from self._undone(exchange)
            case Why():
                yield Text(self._explained())
            case _:
                yield from obeyed(self._memory, meant, self._zone, self._topic())

    def _answered(self, said: str, exchange: Exchange) -> Iterator[Part]:
        if self._model is None:
            yield Notice(replies.NO_MODEL)
            yield from self._looked_up(said)
            return
        try:
            yield from self._by_model(self._model, said)
        except (ModelUnavailable, ModelMisspoke) as error:
            yield Notice(str(error))
            if not exchange.text:
                yield from self._looked_up(said)

    def _by_model(self, model: ChatModel, said: str) -> Iterator[Part]:
        # What is told by category stays the same for the whole conversation; a note is of now.
        lasts = self._memory.profile.context.style == "hot_set"
        context = self._memory.context(said, session=self.session if lasts else None)
        system, note = context.split(_system())
        history, is_brief = self._history()
        if is_brief:
            yield Notice(replies.SUMMARISED)
        if context.memories:
            yield Used(context.memories)
        if topic := self._topic():
            note = f"{note}\n\n{told(topic)}".strip()
            yield Used((topic.id,))
        yield from answered(model, Prompt(system, said, note, history), self._tools)

    def _history(self) -> tuple[tuple[Utterance, ...], bool]:
        """What was said before, for the model, and whether its beginning is told in brief."""
        try:
            view = self._memory.view(self.session)
        except NotFound:
            return (), False
        turns = [_utterance(one) for one in view.turns if one.role in ("user", "assistant")]
        if view.summary:
            brief = f"(What we said before, in brief: {as_data(view.summary)})"
            turns.insert(0, Utterance("user", brief))
        while turns and turns[0].role != "user":
            del turns[0]
        return tuple(turns), view.compressed

    def _looked_up(self, said: str) -> Iterator[Part]:
        """What memory has to say about it, without thinking."""
        found = self._memory.recall(said, limit=FOUND)
        best = max((one.score for one in found), default=0.0)
        least = best - APART * abs(best)
        fitting = [one for one in found if found.sure >= SURE and one.score >= least]
        if fitting:
            yield Used(tuple(one.memory.id for one in fitting))
        yield Text(replies.found(fitting, self._zone))

    def _wiped(self) -> Iterator[Part]:
        batch = self._memory.forget_all()
        self._begin_anew()
        yield Text(f"Forgotten: everything, {len(batch.ids)} entries in all.")
        if batch.event is not None:
            yield Status("Everything is forgotten", batch.event.id)

    def _begin_anew(self) -> None:
        self.close()
        self.session = self._memory.new_session()

    def _undone(self, exchange: Exchange) -> Iterator[Part]:
        for event in changes(self._memory.turns(self.session)):
            try:
                undone = self._memory.undo(event)
            except NotUndoable:  # It was taken back elsewhere.
                continue
            exchange.metadata[UNDID] = event
            yield Text(f"Undone: {replies.quoted(undone.memory)}.")
            yield from status(undone)
            return
        yield Text(replies.NOTHING_TO_UNDO)

    def _explained(self) -> str:
        answers = [
            one
            for one in self._memory.turns(self.session)
            if one.role == "assistant" and not one.is_command
        ]
        if not answers:
            return replies.NOT_ANSWERED
        used = answers[-1].metadata.get(MEMORIES)
        return replies.explained(self._existing(used), self._zone)

    def _existing(self, ids: Json) -> list[Record]:
        found = []
        for one in ids if isinstance(ids, list) else ():
            with contextlib.suppress(NotFound):  # It was deleted since.
                found.append(self._memory.get(str(one)))
        return found

    def _keep(self, meant: Meant, said: str, exchange: Exchange) -> None:
        if isinstance(meant, Reset):
            return
        about: dict[str, Json] = {ABOUT: self._about} if self._about else {}
        if meant is None:
            user: Said = {"role": "user", "content": said, "metadata": about}
            answer: Said = {
                "role": "assistant",
                "content": exchange.text.strip(),
                "metadata": exchange.metadata,
            }
            spoken = [user, answer] if exchange.text.strip() else [user]
            self._memory.learn(spoken, self.session)
            return
        said, answered = recorded(meant, said, exchange.text)
        self._memory.append(
            [
                {"role": "user", "content": said, "metadata": {**about, COMMAND: True}},
                {
                    "role": "assistant",
                    "content": answered,
                    "metadata": {**exchange.metadata, COMMAND: True},
                },
            ],
            self.session,
        )


def _utterance(turn: Turn) -> Utterance:
    return Utterance("user" if turn.is_by_user else "assistant", turn.content)


@cache
def _system() -> str:
    """What the model is told about itself: always the same bytes."""
    return resources.files(__package__).joinpath("system.md").read_text("utf-8").strip()
