"""The verbs that change something: parse, call the library's verb, say how to take it back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.options import (
    FACT_OPTIONS,
    Content,
    Reference,
    Words,
    confirm_or_abort,
    read_words,
    with_options,
)
from remembrancer.cli.terminal import Terminal, format_count, quote

if TYPE_CHECKING:
    from remembrancer.memory import Memory
    from remembrancer.types import Batch, Record, Written

Relation = Annotated[
    str, typer.Option(metavar="NAME", help="derived_from, supports, contradicts or related_to.")
]


@with_options(FACT_OPTIONS)
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
    cli: CliContext = context.obj
    content, details = read_words(words), cli.parse_fact_fields(options)
    with cli.open_memory(embeds=True) as me:
        written = me.remember(content, **details)
    cli.print_result(written, lambda out: _print_remembered(out, written))


@with_options(FACT_OPTIONS)
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
    cli: CliContext = context.obj
    old, new, details = read_words([memory]), read_words([content]), cli.parse_fact_fields(options)
    with cli.open_memory(embeds=True) as me:
        written = me.update(old, new, **details)
    cli.print_result(written, lambda out: _print_remembered(out, written, "Updated."))


def confirm(context: typer.Context, memory: Reference) -> None:
    """Say that a memory is still true.

    Its confidence starts anew; a memory that had expired for lack of it is active again.

    \b
    Example:
      rem confirm "lives in Hamburg"
    """
    _change(context.obj, lambda me: me.confirm(read_words(memory)), "Confirmed.")


def forget(context: typer.Context, memory: Reference) -> None:
    """End a memory: it is no longer recalled.

    If no memory has that id or contains the words, the one that is clearly closest in meaning is
    meant. It stays in your history and can be restored.

    \b
    Example:
      rem forget "where Ada lives"
    """
    _change(context.obj, lambda me: me.forget(read_words(memory)), "Forgotten.")


def restore(context: typer.Context, memory: Reference) -> None:
    """Bring back what was forgotten or deleted.

    It is active again, with the time in which it is true as it was before.

    \b
    Example:
      rem restore "Ada lives in Hamburg"
    """
    _change(context.obj, lambda me: me.restore(read_words(memory)), "Restored.")


def delete(context: typer.Context, memory: Reference) -> None:
    """Put a memory into the trash.

    It can be restored while it is there. Where the profile deletes at once, it is gone for good.

    \b
    Example:
      rem delete fact_01kjq3v8r5w0m2x4y6z8b0c2d4
    """
    cli: CliContext = context.obj
    with cli.open_memory() as me:
        written = me.delete(read_words(memory))
    cli.print_result(written, lambda out: _print_deleted(out, written))


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
    confirm_or_abort(yes, "Forget everything?")
    _change_all(context.obj, lambda me: me.forget_all(), "forgotten")


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
    confirm_or_abort(yes, "Delete everything, conversations too?")
    _change_all(context.obj, lambda me: me.delete_all(), "deleted")


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
    cli: CliContext = context.obj
    with cli.open_memory() as me:
        written = me.undo(event)
    cli.print_result(written, lambda out: _print_undone(out, written))


def link(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="SOURCE", hidden=True)],
    target: Annotated[str, typer.Argument(metavar="TARGET", hidden=True)],
    relation: Relation = "related_to",
) -> None:
    """Relate two memories.

    SOURCE and TARGET are named by id or by words. The history of each shows what it is linked to;
    saying it twice changes nothing.

    \b
    Example:
      rem link "prefers tea" "stopped drinking coffee" --relation supports
    """
    cli: CliContext = context.obj
    with cli.open_memory() as me:
        written = me.link(read_words([source]), read_words([target]), relation)
    cli.print_result(written, lambda out: _print_linked(out, written))


def unlink(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="SOURCE", hidden=True)],
    target: Annotated[str, typer.Argument(metavar="TARGET", hidden=True)],
    relation: Relation = "related_to",
) -> None:
    """Take a relation between two memories away.

    \b
    Example:
      rem unlink "prefers tea" "stopped drinking coffee" --relation supports
    """
    cli: CliContext = context.obj
    with cli.open_memory() as me:
        written = me.unlink(read_words([source]), read_words([target]), relation)
    cli.print_result(written, lambda out: _print_change(out, written, "No longer linked."))


def _change_all(cli: CliContext, verb: Callable[[Memory], Batch], word: str) -> None:
    with cli.open_memory() as me:
        batch = verb(me)
    cli.print_result(batch, lambda out: _print_batch(out, batch, word))


def _print_batch(out: Terminal, batch: Batch, word: str) -> None:
    out.say(f"{format_count(len(batch.ids), 'memory was', 'memories were')} {word}.")
    if batch.event is not None and batch.event.action != "deleted":
        out.print_undo_hint(batch.event)


def _change(cli: CliContext, verb: Callable[[Memory], Written], word: str) -> None:
    with cli.open_memory() as me:
        written = verb(me)
    cli.print_result(written, lambda out: _print_change(out, written, word))


def _print_change(out: Terminal, written: Written, word: str) -> None:
    out.say(f"{word} {quote(written.memory.content)}")
    _print_undo_hint(out, written)


def _print_remembered(out: Terminal, written: Written, word: str = "Remembered.") -> None:
    if written.event is None:
        out.say(f"Known already: {quote(written.memory.content)} Nothing was changed.")
    else:
        out.say(f"{word} {quote(written.memory.content)}")
        if written.replaced is not None:
            out.say(f"Replaced {quote(written.replaced.content)}")
    if written.secrets:
        out.say(_describe_secrets(written.memory, written.secrets))
    _print_undo_hint(out, written)


def _describe_secrets(memory: Record, kinds: tuple[str, ...]) -> str:
    """How many secrets there were; two of one kind leave two marks in the text."""
    texts = (getattr(memory, name, None) or "" for name in ("content", "summary", "body"))
    everything = " ".join(texts)
    count = max(len(kinds), sum(everything.count(f"[secret: {kind}]") for kind in kinds))
    return f"{format_count(count, 'secret was', 'secrets were')} left out ({', '.join(kinds)})."


def _print_deleted(out: Terminal, written: Written) -> None:
    if written.event is not None and written.event.action == "deleted":
        out.say("Deleted for good. It cannot be brought back.")
        return
    _print_change(out, written, "In the trash.")


def _print_undone(out: Terminal, written: Written) -> None:
    memory = written.memory
    out.say(f"Taken back. {quote(memory.content)} is {memory.status}.")
    _print_undo_hint(out, written)


def _print_linked(out: Terminal, written: Written) -> None:
    out.say("Linked." if written.event else "They are linked like that already.")
    _print_undo_hint(out, written)


def _print_undo_hint(out: Terminal, written: Written) -> None:
    out.note(written.memory.id)
    out.print_undo_hint(written.event)
