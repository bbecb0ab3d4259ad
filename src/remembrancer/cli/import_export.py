"""The verbs that take a person's memories along: into a file, and out of whatever they have."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from remembrancer.cli.cli_context import Desk
from remembrancer.cli.console import Page, quoted
from remembrancer.cli.progress import bar

if TYPE_CHECKING:
    from remembrancer.transfer.import_pipeline import Imported

SHOWN = 10
"""How many reasons and files are named."""


def import_(
    context: typer.Context,
    path: Annotated[str, typer.Argument(metavar="PATH", hidden=True)],
    *,
    format: Annotated[
        str | None, typer.Option("--from", metavar="FORMAT", help="What wrote it; else guessed.")
    ] = None,
    of: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose, where it holds several people's.")
    ] = None,
    origin: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="document: these are somebody else's words, untrusted."),
    ] = None,
    learn: Annotated[
        bool | None,
        typer.Option("--learn/--no-learn", help="From what was said: now, or not at all."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would come in.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="For an export of our own: give up what is here.")
    ] = False,
) -> None:
    """Bring in what another product holds, or your notes.

    PATH is a file, a zip, a folder, or a postgresql:// address. FORMAT is one of chatgpt, claude,
    mem0, langgraph, mcp-graph, mcp-memory-service, markdown, jsonl, transcript, and remembrancer
    for what `rem export` wrote. If it is interrupted, do it again: nothing comes twice. `rem undo`
    takes all of it back.

    \b
    Examples:
      rem import chatgpt-export.zip --dry-run
      rem import chatgpt-export.zip --learn
      rem import ~/notes --from markdown
      rem import ~/.mem0 --of ada
    """
    from remembrancer.transfer.formats.detect import OWN
    from remembrancer.transfer.person import is_export

    desk: Desk = context.obj
    if format == OWN or (format is None and is_export(Path(path).expanduser())):
        _bring_back(desk, Path(path).expanduser(), replace=replace)
        return
    with desk.memory(embeds=not dry_run) as me, bar("Bringing in") as progress:
        done = me.import_from(
            path,
            format=format,
            of=of,
            origin=origin,
            learn=learn,
            dry_run=dry_run,
            progress=progress,
        )
    desk.answer(done, lambda page: _told(page, done, learn=learn))


def export(
    context: typer.Context,
    file: Annotated[str | None, typer.Argument(metavar="FILE", hidden=True)] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="For reading; it cannot be brought back.")
    ] = False,
) -> None:
    """Write all that is remembered of one person.

    As lines of JSON, with history and vectors, so that `rem import` brings it back as it was, on
    either engine; or as Markdown. Without FILE it goes to stdout. It is not encrypted.

    \b
    Examples:
      rem export ada.jsonl
      rem export ada.md --markdown --user ada
    """
    desk: Desk = context.obj
    with desk.opened() as store:
        user = desk.user or desk.settings.user
        if markdown:
            me = store.for_user(user, tenant=desk.tenant, agent=desk.agent, surface="cli")
            _write(file, [me.markdown().encode()])
        else:
            _write(file, store.export(user, tenant=desk.tenant))
    if file is not None:
        answer = {"file": file, "markdown": markdown}
        desk.answer(answer, lambda page: page.say(f"Wrote what is remembered of {user} to {file}."))


def _write(file: str | None, pieces: Iterable[bytes]) -> None:
    if file is None:
        sys.stdout.buffer.writelines(pieces)
        return
    from remembrancer.transfer.archive import placed

    with placed(Path(file).expanduser()) as draft, draft.open("wb") as written:
        written.writelines(pieces)


def _bring_back(desk: Desk, path: Path, *, replace: bool) -> None:
    """What `rem export` wrote comes back as a whole, or not at all."""
    from remembrancer.transfer.formats.files import readable

    user = desk.user or desk.settings.user
    with readable(str(path)):
        lines = path.read_bytes().splitlines(keepends=True)
    with desk.opened() as store:
        rows = store.import_(user, lines, tenant=desk.tenant, replace=replace)
    desk.answer({"rows": rows}, lambda page: page.say(f"Brought back {rows:,} rows of {user}."))


def _told(page: Page, done: Imported, *, learn: bool | None) -> None:
    did = "Would bring in" if done.dry_run else "Brought in"
    page.say(f"{did} {_came(done)} from {done.source} ({done.format}).")
    for count, sentence in (
        (done.present, "came with an earlier import."),
        (done.known, "said what is known already."),
        (done.quarantined, "read like instructions of somebody else's, and are held back."),
        (done.secrets, "secrets were replaced."),
    ):
        if count:
            page.say(f"{count:,} {sentence}")
    if done.left_out:
        page.heading("Left out")
        for reason, count in list(done.left_out.items())[:SHOWN]:
            page.say(f"{count:>7,}  {reason}")
    if done.unread:
        more = f" and {len(done.unread) - SHOWN} more" if len(done.unread) > SHOWN else ""
        page.note(f"Files not read: {', '.join(done.unread[:SHOWN])}{more}.")
    if done.dry_run and done.samples:
        page.heading("For example")
        for sample in done.samples:
            page.say(quoted(sample))
    elif done.turns and learn is None:
        page.note("What was said is learned from in the background: by a server, or rem jobs run.")
    if done.event is not None:
        page.note(f"To take it back: rem undo {done.event}")


def _came(done: Imported) -> str:
    parts = []
    if done.turns:
        parts.append(f"{_count(done.turns, 'turn')} of conversations")
    if done.memories:
        parts.append(_count(done.memories, "memory", "memories"))
    return " and ".join(parts) or "nothing new"


def _count(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
