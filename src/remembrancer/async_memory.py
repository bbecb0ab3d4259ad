"""AsyncMemory: the verbs of a memory for async code, each run in a thread."""

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


def _run_in_thread(
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
    """A local or remote memory whose verbs are awaited."""

    def __init__(self, memory: Memory | RemoteMemory) -> None:
        self.memory = memory

    time_zone = _run_in_thread(Memory.time_zone)
    set_time_zone = _run_in_thread(Memory.set_time_zone)
    remember = _run_in_thread(Memory.remember)
    append = _run_in_thread(Memory.append)
    learn = _run_in_thread(Memory.learn)
    close = _run_in_thread(Memory.close)
    turns = _run_in_thread(Memory.turns)
    session_memories = _run_in_thread(Memory.session_memories)
    count_turns = _run_in_thread(Memory.count_turns)
    view = _run_in_thread(Memory.view)
    session = _run_in_thread(Memory.session)
    sessions = _run_in_thread(Memory.sessions)
    rename = _run_in_thread(Memory.rename)
    archive = _run_in_thread(Memory.archive)
    delete_session = _run_in_thread(Memory.delete_session)
    restore_session = _run_in_thread(Memory.restore_session)
    rejected = _run_in_thread(Memory.rejected)
    recall = _run_in_thread(Memory.recall)
    context = _run_in_thread(Memory.context)
    propose = _run_in_thread(Memory.propose)
    explain_proposal = _run_in_thread(Memory.explain_proposal)
    withdraw = _run_in_thread(Memory.withdraw)
    team = _run_in_thread(Memory.team)
    list_team = _run_in_thread(Memory.list_team)
    get = _run_in_thread(Memory.get)
    fact = _run_in_thread(Memory.fact)
    list = _run_in_thread(Memory.list)
    update = _run_in_thread(Memory.update)
    confirm = _run_in_thread(Memory.confirm)
    forget = _run_in_thread(Memory.forget)
    forget_all = _run_in_thread(Memory.forget_all)
    forget_everything = _run_in_thread(Memory.forget_everything)
    inventory = _run_in_thread(Memory.inventory)
    restore = _run_in_thread(Memory.restore)
    delete = _run_in_thread(Memory.delete)
    delete_many = _run_in_thread(Memory.delete_many)
    delete_all = _run_in_thread(Memory.delete_all)
    undo = _run_in_thread(Memory.undo)
    link = _run_in_thread(Memory.link)
    unlink = _run_in_thread(Memory.unlink)
    links = _run_in_thread(Memory.links)
    helpful = _run_in_thread(Memory.helpful)
    harmful = _run_in_thread(Memory.harmful)
    promote = _run_in_thread(Memory.promote)
    demote = _run_in_thread(Memory.demote)
    disable = _run_in_thread(Memory.disable)
    activity = _run_in_thread(Memory.activity)
    history = _run_in_thread(Memory.history)
    stats = _run_in_thread(Memory.stats)
    audit = _run_in_thread(Memory.audit)
    repair = _run_in_thread(Memory.repair)
    plan_consolidation = _run_in_thread(Memory.plan_consolidation)
    consolidate = _run_in_thread(Memory.consolidate)
    simulate = _run_in_thread(Memory.simulate)
    import_from = _run_in_thread(Memory.import_from)
    markdown = _run_in_thread(Memory.markdown)
