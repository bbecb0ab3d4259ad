"""The verbs that change memories: remember, update, confirm, forget, delete, undo and link."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.options import (
    FACT_OPTIONS,
    Content,
    ForGood,
    Reference,
    Words,
    Yes,
    confirm_or_abort,
    read_words,
    with_options,
)
from remembrancer.cli.terminal import Terminal, format_count, quote

if TYPE_CHECKING:
    from remembrancer.memory import Memory
    from remembrancer.types import Batch, Record, Written

Relation = Annotated[
    str, Option(metavar="NAME", help="derived_from, supports, contradicts or related_to.")
]


@with_options(FACT_OPTIONS)
def remember(cli: CliContext, words: Words, **options: Any) -> None:
    """Store one memory.

    It replaces a memory that it restates, and a duplicate is not stored again. Secrets are removed
    before it is stored. WORDS can be - to read them from stdin.

    \b
    Examples:
      rem remember "Keep answers short, code first." --category preference
      rem remember "Ada lives in Berlin." --subject Ada --predicate lives_in
      rem remember - --kind episode --tag meeting < notes.txt
    """
    content, fields = read_words(words), cli.parse_fact_fields(options)
    cli.run_verb(lambda me: me.remember(content, **fields), _print_remembered, embeds=True)


@with_options(FACT_OPTIONS)
def update(
    cli: CliContext,
    memory: Annotated[str, Argument(metavar="MEMORY", hidden=True)],
    content: Content,
    **options: Any,
) -> None:
    """Replace a memory with a new version.

    MEMORY is an id, or words that occur in one memory only; CONTENT can be - to read it from stdin.
    The old version stays in the history. Fields without an option keep their value.

    \b
    Example:
      rem update "lives in Berlin" "Ada lives in Hamburg." --valid-from 2026-03-01
    """
    old, new, fields = read_words([memory]), read_words([content]), cli.parse_fact_fields(options)
    with cli.open_memory(embeds=True) as me:
        written = me.update(old, new, **fields)
    cli.print_result(written, lambda out: _print_remembered(out, written, "Updated."))


def confirm(cli: CliContext, memory: Reference) -> None:
    """Confirm that a memory is still true.

    This restores its confidence. A memory that had expired becomes active again, and one that was
    learned in doubt becomes active and replaces what it contradicts; `rem review` lists those.

    \b
    Example:
      rem confirm "lives in Hamburg"
    """
    _change(cli, lambda me: me.confirm(read_words(memory)), "Confirmed.")


def forget(cli: CliContext, memory: Reference) -> None:
    """Forget a memory: it is no longer recalled.

    If no memory has that id or those words, the one that is clearly closest in meaning is
    forgotten. It stays in your history and can be restored.

    \b
    Example:
      rem forget "where Ada lives"
    """
    _change(cli, lambda me: me.forget(read_words(memory)), "Forgotten.")


def restore(cli: CliContext, memory: Reference) -> None:
    """Restore a forgotten or deleted memory.

    It becomes active again, with the validity it had before.

    \b
    Example:
      rem restore "Ada lives in Hamburg"
    """
    _change(cli, lambda me: me.restore(read_words(memory)), "Restored.")


def delete(cli: CliContext, memory: Reference, for_good: ForGood = False, yes: Yes = False) -> None:
    """Move a memory to the trash.

    You can restore it from there. If the profile deletes at once, it is deleted permanently.
    --for-good does so in any profile, with all versions, also from the trash, and removes what
    conversations say of it. MEMORY is an id or words.

    \b
    Examples:
      rem delete fact_01kjq3v8r5w0m2x4y6z8b0c2d4
      rem delete "Ada lives in Hamburg" --for-good
    """
    words = read_words(memory)
    if for_good and not yes:
        with cli.open_memory() as me:
            found = _resolve_removed(me, words)
        confirm_or_abort(yes, f"Delete {quote(found.content)} for good? This cannot be undone.")
        words = found.id
    cli.run_verb(
        lambda me: me.delete(words, for_good=for_good),
        lambda out, written: _print_deleted(cli, out, written),
    )


def _resolve_removed(me: Memory, reference: str) -> Record:
    """The memory to delete for good; it can be forgotten or in the trash already."""
    from remembrancer.errors import NotFound
    from remembrancer.remember.lifecycle import FORGETTABLE
    from remembrancer.remember.purge import REMOVED_STATUSES

    try:
        return me.resolve(reference, FORGETTABLE)
    except NotFound:
        return me.resolve(reference, REMOVED_STATUSES)


def forget_all(cli: CliContext, yes: Yes = False) -> None:
    """Forget every active memory.

    Nothing is recalled any more, but everything stays in your history. One `rem undo` restores all
    of it.

    \b
    Example:
      rem forget-all
    """
    confirm_or_abort(yes, "Forget everything?")
    _change_all(cli, lambda me: me.forget_all(), "forgotten")


def delete_all(cli: CliContext, for_good: ForGood = False, yes: Yes = False) -> None:
    """Move everything to the trash, conversations too.

    One `rem undo` restores all of it. If the profile deletes at once, it is deleted permanently;
    --for-good does so in any profile, and empties the trash.

    \b
    Examples:
      rem delete-all
      rem delete-all --for-good
    """
    question = "Delete everything, conversations too?"
    if for_good:
        question = "Delete everything for good, conversations and trash too? It cannot be undone."
    confirm_or_abort(yes, question)
    _change_all(cli, lambda me: me.delete_all(for_good=for_good), "deleted")


def undo(
    cli: CliContext, event: Annotated[str | None, Argument(metavar="EVENT", hidden=True)] = None
) -> None:
    """Undo one change.

    Every change prints its EVENT; without one, the latest change is undone. An undo is a change
    too, and can itself be undone.

    \b
    Examples:
      rem undo
      rem undo event_01kjq3v8r5w0m2x4y6z8b0c2d4
    """
    cli.run_verb(lambda me: me.undo(event), _print_undone)


def link(
    cli: CliContext,
    source: Annotated[str, Argument(metavar="SOURCE", hidden=True)],
    target: Annotated[str, Argument(metavar="TARGET", hidden=True)],
    relation: Relation = "related_to",
) -> None:
    """Link two memories.

    SOURCE and TARGET are ids or words. `rem history` shows the links of a memory. Linking twice
    changes nothing.

    \b
    Example:
      rem link "prefers tea" "stopped drinking coffee" --relation supports
    """
    one, other = read_words([source]), read_words([target])
    cli.run_verb(lambda me: me.link(one, other, relation), _print_linked)


def unlink(
    cli: CliContext,
    source: Annotated[str, Argument(metavar="SOURCE", hidden=True)],
    target: Annotated[str, Argument(metavar="TARGET", hidden=True)],
    relation: Relation = "related_to",
) -> None:
    """Remove a link between two memories.

    SOURCE and TARGET are ids or words, and --relation is the relation that the link has.

    \b
    Example:
      rem unlink "prefers tea" "stopped drinking coffee" --relation supports
    """
    one, other = read_words([source]), read_words([target])
    _change(cli, lambda me: me.unlink(one, other, relation), "No longer linked.")


def _change_all(cli: CliContext, verb: Callable[[Memory], Batch], word: str) -> None:
    def print_batch(out: Terminal, batch: Batch) -> None:
        out.say(f"{format_count(len(batch.ids), 'memory was', 'memories were')} {word}.")
        if batch.event is not None and batch.event.action == "deleted":
            print_deleted_for_good(cli, out)
        elif batch.event is not None:
            out.print_undo_hint(batch.event)

    cli.run_verb(verb, print_batch)


def _change(cli: CliContext, verb: Callable[[Memory], Written], word: str) -> None:
    cli.run_verb(verb, lambda out, written: _print_change(out, written, word))


def _print_change(out: Terminal, written: Written, word: str) -> None:
    out.say(f"{word} {quote(written.memory.content)}")
    if written.replaced is not None:
        out.say(f"Replaced {quote(written.replaced.content)}")
    _print_undo_hint(out, written)


def _print_remembered(out: Terminal, written: Written, word: str = "Remembered.") -> None:
    if written.refusal is not None:
        out.say(f"{written.refusal} It says: {quote(written.memory.content)}")
    elif written.event is None:
        out.say(f"Known already: {quote(written.memory.content)} Nothing was changed.")
    else:
        out.say(f"{word} {quote(written.memory.content)}")
        if written.replaced is not None:
            out.say(f"Replaced {quote(written.replaced.content)}")
    for one in written.conflicts:
        out.say(f"It contradicts {quote(one.content)} in the scope {one.scope}.")
    if written.secrets:
        out.say(_describe_secrets(written.memory, written.secrets))
    _print_undo_hint(out, written)


def _describe_secrets(memory: Record, kinds: tuple[str, ...]) -> str:
    """The number of secrets that were removed; two of one kind leave two marks in the text."""
    texts = " ".join(getattr(memory, name, None) or "" for name in ("content", "summary", "body"))
    count = max(len(kinds), sum(texts.count(f"[secret: {kind}]") for kind in kinds))
    return f"{format_count(count, 'secret was', 'secrets were')} left out ({', '.join(kinds)})."


def _print_deleted(cli: CliContext, out: Terminal, written: Written) -> None:
    if written.event is not None and written.event.action == "deleted":
        print_deleted_for_good(cli, out)
    else:
        _print_change(out, written, "In the trash.")


def print_deleted_for_good(cli: CliContext, out: Terminal) -> None:
    """Say that it is gone, and which copies are not."""
    from remembrancer.transfer.rotation import list_backups

    out.say("Deleted for good. It cannot be brought back.")
    if cli.settings.store.url is not None:
        out.note("PostgreSQL overwrites its bytes when the job tidy runs next: rem jobs run tidy.")
    directory = cli.settings.backup_directory()
    backups = list_backups(directory) if directory.is_dir() else []
    if backups:
        count = format_count(len(backups), "scheduled backup", "scheduled backups")
        out.note(f"{count} in {directory} can still hold it until newer ones replace them.")


def _print_undone(out: Terminal, written: Written) -> None:
    out.say(f"Taken back. {quote(written.memory.content)} is {written.memory.status}.")
    _print_undo_hint(out, written)


def _print_linked(out: Terminal, written: Written) -> None:
    out.say("Linked." if written.event else "They are linked like that already.")
    _print_undo_hint(out, written)


def _print_undo_hint(out: Terminal, written: Written) -> None:
    out.note(written.memory.id)
    out.print_undo_hint(written.event)
