"""The verbs that change something: parse, call the library's verb, say how to take it back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from remembrancer.cli.cli_context import Desk
from remembrancer.cli.console import Page, quoted
from remembrancer.cli.options import DETAILS, Content, Reference, Words, be_sure, said, taking

if TYPE_CHECKING:
    from remembrancer.types import Batch, Record, Written


@taking(DETAILS)
def remember(context: typer.Context, words: Words, **options: Any) -> None:
    """Keep one thing.

    What it restates is replaced, what it repeats is left as it is, and secrets in it are left out.
    WORDS may be - to read them from stdin.

    \b
    Examples:
      rem remember "Keep answers short, code first." --category preference
      rem remember "Ada lives in Berlin." --subject Ada --predicate lives_in
      rem remember - --kind episode --tag meeting < notes.txt
    """
    desk: Desk = context.obj
    content, details = said(words), desk.details(options)
    with desk.memory(embeds=True) as me:
        written = me.remember(content, **details)
    desk.answer(written, lambda page: _remembered(page, written))


@taking(DETAILS)
def update(
    context: typer.Context,
    memory: Annotated[str, typer.Argument(metavar="MEMORY", hidden=True)],
    content: Content,
    **options: Any,
) -> None:
    """Replace a memory by a new version.

    MEMORY is an id, or words that occur in one memory only; CONTENT may be - to read it from
    stdin. The old version stays in its history; what no option mentions is taken over from it.

    \b
    Example:
      rem update "lives in Berlin" "Ada lives in Hamburg." --valid-from 2026-03-01
    """
    desk: Desk = context.obj
    old, new, details = said([memory]), said([content]), desk.details(options)
    with desk.memory(embeds=True) as me:
        written = me.update(old, new, **details)
    desk.answer(written, lambda page: _remembered(page, written, "Updated."))


def confirm(context: typer.Context, memory: Reference) -> None:
    """Say that a memory is still true.

    Its confidence starts anew; a memory that had expired for lack of it is active again.

    \b
    Example:
      rem confirm "lives in Hamburg"
    """
    _change(context.obj, lambda me: me.confirm(said(memory)), "Confirmed.")


def forget(context: typer.Context, memory: Reference) -> None:
    """End a memory: it is no longer recalled.

    If no memory has that id or contains the words, the one that is clearly closest in meaning is
    meant. It stays in your history and can be restored.

    \b
    Example:
      rem forget "where Ada lives"
    """
    _change(context.obj, lambda me: me.forget(said(memory)), "Forgotten.")


def restore(context: typer.Context, memory: Reference) -> None:
    """Bring back what was forgotten or deleted.

    It is active again, with the time in which it is true as it was before.

    \b
    Example:
      rem restore "Ada lives in Hamburg"
    """
    _change(context.obj, lambda me: me.restore(said(memory)), "Restored.")


def delete(context: typer.Context, memory: Reference) -> None:
    """Put a memory into the trash.

    It can be restored while it is there. Where the profile deletes at once, it is gone for good.

    \b
    Example:
      rem delete fact_01kjq3v8r5w0m2x4y6z8b0c2d4
    """
    desk: Desk = context.obj
    with desk.memory() as me:
        written = me.delete(said(memory))
    desk.answer(written, lambda page: _deleted(page, written))


def forget_all(
    context: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """End every memory that is in force.

    Nothing is recalled any more, and all of it stays in your history. One undo brings all of it
    back.

    \b
    Example:
      rem forget-all
    """
    be_sure(yes, "Forget everything?")
    desk: Desk = context.obj
    with desk.memory() as me:
        batch = me.forget_all()
    desk.answer(batch, lambda page: _all(page, batch, "forgotten"))


def delete_all(
    context: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Put everything into the trash, conversations too.

    One undo brings all of it back while it is there. Where the profile deletes at once, it is gone
    for good.

    \b
    Example:
      rem delete-all
    """
    be_sure(yes, "Delete everything, conversations too?")
    desk: Desk = context.obj
    with desk.memory() as me:
        batch = me.delete_all()
    desk.answer(batch, lambda page: _all(page, batch, "deleted"))


def undo(
    context: typer.Context,
    event: Annotated[str | None, typer.Argument(metavar="EVENT", hidden=True)] = None,
) -> None:
    """Take back one change.

    Every change names its EVENT; without one, the latest change is meant. An undo is a change too,
    so it can be taken back by its event.

    \b
    Examples:
      rem undo
      rem undo event_01kjq3v8r5w0m2x4y6z8b0c2d4
    """
    desk: Desk = context.obj
    with desk.memory() as me:
        written = me.undo(event)
    desk.answer(written, lambda page: _undone(page, written))


def link(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="SOURCE", hidden=True)],
    target: Annotated[str, typer.Argument(metavar="TARGET", hidden=True)],
    relation: Annotated[
        str,
        typer.Option(metavar="NAME", help="derived_from, supports, contradicts or related_to."),
    ] = "related_to",
) -> None:
    """Relate two memories.

    SOURCE and TARGET are named by id or by words. The history of each shows what it is linked to;
    saying it twice changes nothing.

    \b
    Example:
      rem link "prefers tea" "stopped drinking coffee" --relation supports
    """
    desk: Desk = context.obj
    with desk.memory() as me:
        written = me.link(said([source]), said([target]), relation)
    desk.answer(written, lambda page: _linked(page, written))


def unlink(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="SOURCE", hidden=True)],
    target: Annotated[str, typer.Argument(metavar="TARGET", hidden=True)],
    relation: Annotated[
        str,
        typer.Option(metavar="NAME", help="derived_from, supports, contradicts or related_to."),
    ] = "related_to",
) -> None:
    """Take a relation between two memories away.

    \b
    Example:
      rem unlink "prefers tea" "stopped drinking coffee" --relation supports
    """
    desk: Desk = context.obj
    with desk.memory() as me:
        written = me.unlink(said([source]), said([target]), relation)
    desk.answer(written, lambda page: _changed(page, written, "No longer linked."))


def _all(page: Page, batch: Batch, word: str) -> None:
    count = len(batch.ids)
    page.say(f"{count} {'memory was' if count == 1 else 'memories were'} {word}.")
    if batch.event is not None and batch.event.action != "deleted":
        page.note(f"Undo: rem undo {batch.event.id}")


def _change(desk: Desk, verb: Callable[[Any], Written], word: str) -> None:
    with desk.memory() as me:
        written = verb(me)
    desk.answer(written, lambda page: _changed(page, written, word))


def _changed(page: Page, written: Written, word: str) -> None:
    page.say(f"{word} {quoted(written.memory.content)}")
    _way_back(page, written)


def _remembered(page: Page, written: Written, word: str = "Remembered.") -> None:
    if written.event is None:
        page.say(f"Known already: {quoted(written.memory.content)} Nothing was changed.")
    else:
        page.say(f"{word} {quoted(written.memory.content)}")
        if written.replaced is not None:
            page.say(f"Replaced {quoted(written.replaced.content)}")
    if written.secrets:
        page.say(_left_out(written.memory, written.secrets))
    _way_back(page, written)


def _left_out(memory: Record, kinds: tuple[str, ...]) -> str:
    """How many secrets there were; two of one kind leave two marks in the text."""
    texts = (getattr(memory, name, None) or "" for name in ("content", "summary", "body"))
    everything = " ".join(texts)
    count = max(len(kinds), sum(everything.count(f"[secret: {kind}]") for kind in kinds))
    were = "secret was" if count == 1 else "secrets were"
    return f"{count} {were} left out ({', '.join(kinds)})."


def _deleted(page: Page, written: Written) -> None:
    if written.event is not None and written.event.action == "deleted":
        page.say("Deleted for good. It cannot be brought back.")
        return
    _changed(page, written, "In the trash.")


def _undone(page: Page, written: Written) -> None:
    memory = written.memory
    page.say(f"Taken back. {quoted(memory.content)} is {memory.status}.")
    _way_back(page, written)


def _linked(page: Page, written: Written) -> None:
    page.say("Linked." if written.event else "They are linked like that already.")
    _way_back(page, written)


def _way_back(page: Page, written: Written) -> None:
    page.note(written.memory.id)
    if written.event is not None:
        page.note(f"Undo: rem undo {written.event.id}")
