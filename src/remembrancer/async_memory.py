"""The same verbs for async code: each runs in a thread, there is one implementation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from remembrancer.memory import Memory

if TYPE_CHECKING:
    from remembrancer.client import RemoteMemory

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def _threaded(
    verb: Callable[Concatenate[Memory, Arguments], Result],
) -> Callable[Concatenate[AsyncMemory, Arguments], Coroutine[Any, Any, Result]]:
    @wraps(verb)
    async def call(
        self: AsyncMemory, /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        own: Callable[Arguments, Result] = getattr(self.memory, verb.__name__)
        return await asyncio.to_thread(own, *args, **kwargs)

    return call


class AsyncMemory:
    """A memory, kept here or on a server, whose verbs are awaited."""

    def __init__(self, memory: Memory | RemoteMemory) -> None:
        self.memory = memory

    remember = _threaded(Memory.remember)
    append = _threaded(Memory.append)
    learn = _threaded(Memory.learn)
    close = _threaded(Memory.close)
    turns = _threaded(Memory.turns)
    count_turns = _threaded(Memory.count_turns)
    view = _threaded(Memory.view)
    session = _threaded(Memory.session)
    sessions = _threaded(Memory.sessions)
    rename = _threaded(Memory.rename)
    archive = _threaded(Memory.archive)
    delete_session = _threaded(Memory.delete_session)
    restore_session = _threaded(Memory.restore_session)
    rejected = _threaded(Memory.rejected)
    recall = _threaded(Memory.recall)
    context = _threaded(Memory.context)
    propose = _threaded(Memory.propose)
    team = _threaded(Memory.team)
    get = _threaded(Memory.get)
    fact = _threaded(Memory.fact)
    list = _threaded(Memory.list)
    update = _threaded(Memory.update)
    confirm = _threaded(Memory.confirm)
    forget = _threaded(Memory.forget)
    forget_all = _threaded(Memory.forget_all)
    restore = _threaded(Memory.restore)
    delete = _threaded(Memory.delete)
    delete_many = _threaded(Memory.delete_many)
    delete_all = _threaded(Memory.delete_all)
    undo = _threaded(Memory.undo)
    link = _threaded(Memory.link)
    unlink = _threaded(Memory.unlink)
    links = _threaded(Memory.links)
    helpful = _threaded(Memory.helpful)
    harmful = _threaded(Memory.harmful)
    promote = _threaded(Memory.promote)
    demote = _threaded(Memory.demote)
    disable = _threaded(Memory.disable)
    activity = _threaded(Memory.activity)
    history = _threaded(Memory.history)
    stats = _threaded(Memory.stats)
    audit = _threaded(Memory.audit)
    repair = _threaded(Memory.repair)
    plan_consolidation = _threaded(Memory.plan_consolidation)
    consolidate = _threaded(Memory.consolidate)
    simulate = _threaded(Memory.simulate)
    import_from = _threaded(Memory.import_from)
    markdown = _threaded(Memory.markdown)
