"""Tools of the assistant profile: remember, recall, forget."""

from __future__ import annotations

from remembrancer.erasure.erase import describe_inventory, get_confirmation_code
from remembrancer.errors import InvalidInput
from remembrancer.remember.all_memories import names_everything
from remembrancer.tools.caller import Caller
from remembrancer.tools.results import ForgetResult, MemoryListResult, WriteResult
from remembrancer.tools.told import restate_told
from remembrancer.tools.tool import (
    ENDS,
    READS,
    SETS,
    MemoryReference,
    StringList,
    drop_none,
    search,
    tool,
)


@tool(SETS)
def remember(
    caller: Caller,
    content: str,
    replaces: MemoryReference | None = None,
    category: str | None = None,
    subject: str | None = None,
    predicate: str | None = None,
    importance: float | None = None,
    tags: StringList | None = None,
) -> WriteResult:
    """Store one durable statement about the user, in the third person. If it corrects a memory,
    name that in `replaces`: the old version stays in its history."""
    details = drop_none(
        category=category,
        subject=subject,
        predicate=predicate,
        importance=importance,
        tags=tags,
    )
    content, told = restate_told(caller.profile, content, details)
    if replaces is None:
        return WriteResult.from_written(caller.memory.remember(content, **told))
    return WriteResult.from_written(caller.memory.update(replaces, content, **details))


@tool(READS)
def recall_memory(caller: Caller, query: str, limit: int | None = None) -> MemoryListResult:
    """Search what is remembered about the user, best first. Use it for "what do you know about me?"
    and before answers that may depend on it."""
    return search(caller, query, limit=limit)


@tool(ENDS)
def forget_memory(
    caller: Caller, query: str | None = None, all: bool = False, confirm: str | None = None
) -> ForgetResult:
    """Forget the memory closest to the words; undo brings it back. For `all`, the first call says
    what would be erased for good, and its code in `confirm` does it, if the user agrees."""
    if all == (query is not None) or (confirm is not None and not all):
        raise InvalidInput("Give either the words of a memory, or all = true.")
    if query is None or names_everything(query):
        return _forget_everything(caller, confirm)
    return ForgetResult.from_written(caller.memory.forget(query))


def _forget_everything(caller: Caller, confirm: str | None) -> ForgetResult:
    """Erase what the user was told would go; if it has changed since, say so again."""
    inventory = caller.memory.inventory()
    if not inventory.has_memories:
        return ForgetResult(done="unchanged")
    code, content = get_confirmation_code(inventory), describe_inventory(inventory)
    if confirm != code:
        return ForgetResult(done="unchanged", content=content, code=code)
    is_clean = caller.memory.forget_everything().clean
    return ForgetResult(done="erased" if is_clean else "erased, with traces left", content=content)


ASSISTANT_TOOLS = (remember, recall_memory, forget_memory)
