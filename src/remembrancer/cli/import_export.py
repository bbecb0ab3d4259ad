"""`rem import` and `rem export`: one person's memories from and to files."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.progress import progress_bar
from remembrancer.cli.terminal import Terminal, format_count, quote

if TYPE_CHECKING:
    from remembrancer.transfer.import_pipeline import ImportResult

MAX_ITEMS_SHOWN = 10
"""How many reasons and files are listed."""


def share_instances(cli: CliContext) -> None:
    """Copy your memories of bots into their shared memory.

    For stores of the profile `instances` in which memories belonged to each person. Nothing is
    removed, and what was copied before is left out.

    \b
    Examples:
      rem share-instances
      rem --user ada share-instances
    """
    with cli.open_engine(embeds=True) as store:
        count = store.share_instances(cli.user_name, tenant=cli.tenant)
    cli.print_result(
        {"copied": count}, lambda out: out.say(f"Copied {count:,} memories and messages.")
    )


def import_(
    cli: CliContext,
    path: Annotated[str, Argument(metavar="PATH", hidden=True)],
    *,
    format: Annotated[
        str | None, Option("--from", metavar="FORMAT", help="The format; default: detected.")
    ] = None,
    of: Annotated[
        str | None, Option(metavar="NAME", help="Whose, if it holds several people's.")
    ] = None,
    origin: Annotated[
        str | None,
        Option(metavar="NAME", help="user: you trust it; document: others wrote it."),
    ] = None,
    learn: Annotated[
        bool | None,
        Option("--learn/--no-learn", help="Learn from conversations now, or not at all."),
    ] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Only show what would be imported.")] = False,
    replace: Annotated[
        bool, Option("--replace", help="With an export of ours: replace what is here.")
    ] = False,
) -> None:
    """Import from another product, notes or conversations.

    PATH is a file, a zip, a folder, or a postgresql:// URL. FORMAT is one of chatgpt, claude, mem0,
    langgraph, mcp-graph, mcp-memory-service, markdown, jsonl, transcript (a conversation, as
    `rem append` reads it), and remembrancer for a file from `rem export`. If it is interrupted, run
    it again: nothing is imported twice. `rem undo` takes the whole import back. What is imported is
    told as unverified, and held back if it reads like an instruction, unless you say that you trust
    it.

    \b
    Examples:
      rem import chatgpt-export.zip --dry-run
      rem import chatgpt-export.zip --learn
      rem import ~/notes --from markdown
      rem import chat.txt
      rem import ~/.mem0 --of ada --origin user
    """
    from remembrancer.transfer.formats.detect import OWN_FORMAT
    from remembrancer.transfer.person_export import is_export

    if format == OWN_FORMAT or (format is None and is_export(Path(path).expanduser())):
        _import_own_export(cli, Path(path).expanduser(), replace=replace)
        return
    with cli.open_memory(embeds=not dry_run) as me, progress_bar("Bringing in") as progress:
        done = me.import_from(
            path,
            format=format,
            of=of,
            origin=origin,
            learn=learn,
            dry_run=dry_run,
            time_zone=cli.zone.key,
            progress=progress,
        )
    cli.print_result(done, lambda out: _print_import(out, done, learn=learn))


def export(
    cli: CliContext,
    file: Annotated[str | None, Argument(metavar="FILE", hidden=True)] = None,
    markdown: Annotated[
        bool, Option("--markdown", help="For reading; it cannot be imported.")
    ] = False,
    include_trash: Annotated[
        bool, Option("--include-trash", help="What was forgotten and deleted, too.")
    ] = False,
) -> None:
    """Export one person's memories to a file.

    Writes JSON Lines with history and vectors, which `rem import` restores on either engine; or
    Markdown. Without FILE it writes to stdout. The file is not encrypted. What was forgotten or
    deleted is left out unless you ask for it.

    \b
    Examples:
      rem export ada.jsonl
      rem export ada.md --markdown --user ada
    """
    with cli.open_engine() as store:
        user = cli.user_name
        if markdown:
            _write(file, [cli.memory_of(store).markdown().encode()])
        else:
            _write(file, store.export(user, tenant=cli.tenant, include_trash=include_trash))
    if file is not None:
        answer = {"file": file, "markdown": markdown}
        cli.print_result(
            answer, lambda out: out.say(f"Wrote what is remembered of {user} to {file}.")
        )


def _write(file: str | None, pieces: Iterable[bytes]) -> None:
    if file is None:
        sys.stdout.buffer.writelines(pieces)
        return
    from remembrancer.transfer.archive import write_atomically

    with write_atomically(Path(file).expanduser()) as draft, draft.open("wb") as written:
        written.writelines(pieces)


def _import_own_export(cli: CliContext, path: Path, *, replace: bool) -> None:
    """Restore a file from `rem export`, completely or not at all."""
    from remembrancer.transfer.formats.files import translate_read_errors

    user = cli.user_name
    with translate_read_errors(str(path)):
        lines = path.read_bytes().splitlines(keepends=True)
    with cli.open_engine() as store:
        rows = store.import_(user, lines, tenant=cli.tenant, replace=replace)
    cli.print_result({"rows": rows}, lambda out: out.say(f"Brought back {rows:,} rows of {user}."))


def _print_import(out: Terminal, done: ImportResult, *, learn: bool | None) -> None:
    did = "Would bring in" if done.dry_run else "Brought in"
    out.say(f"{did} {_format_counts(done)} from {done.source} ({done.format}).")
    for count, sentence in (
        (done.present, "came with an earlier import."),
        (done.known, "said what is known already."),
        (done.quarantined, "read like instructions of somebody else's, and are held back."),
        (done.secrets, "secrets were replaced."),
    ):
        if count:
            out.say(f"{count:,} {sentence}")
    if done.refused:
        out.print_heading(f"Refused: {format_count(len(done.refused), 'rule')}")
        for content, reason in list(done.refused.items())[:MAX_ITEMS_SHOWN]:
            out.say(f"{quote(content)} {reason}")
    if done.left_out:
        out.print_heading("Left out")
        for reason, count in list(done.left_out.items())[:MAX_ITEMS_SHOWN]:
            out.say(f"{count:>7,}  {reason}")
    if done.unread:
        hidden = len(done.unread) - MAX_ITEMS_SHOWN
        more = f" and {hidden} more" if hidden > 0 else ""
        out.note(f"Files not read: {', '.join(done.unread[:MAX_ITEMS_SHOWN])}{more}.")
    if done.dry_run and done.samples:
        out.print_heading("For example")
        for sample in done.samples:
            out.say(quote(sample))
    elif done.turns and learn is None:
        out.note("What was said is learned from in the background: by a server, or rem jobs run.")
    if done.event is not None:
        out.note(f"To take it back: rem undo {done.event}")


def _format_counts(done: ImportResult) -> str:
    parts = []
    if done.turns:
        parts.append(f"{format_count(done.turns, 'turn')} of conversations")
    if done.memories:
        parts.append(format_count(done.memories, "memory", "memories"))
    return " and ".join(parts) or "nothing new"
