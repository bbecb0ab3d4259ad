"""The verbs that take everyone's memories somewhere: into a file, back out of it, elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from remembrancer.cli.bar import bar
from remembrancer.cli.desk import Desk
from remembrancer.cli.page import Page
from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from remembrancer.transfer.archive import Backup
    from remembrancer.transfer.arrival import Arrived

Replace = Annotated[
    bool, typer.Option("--replace", help="Replace what the same people have there.")
]


def backup(
    context: typer.Context,
    file: Annotated[str | None, typer.Argument(metavar="FILE", hidden=True)] = None,
    verify: Annotated[
        str | None, typer.Option(metavar="FILE", help="Only check a backup that exists.")
    ] = None,
) -> None:
    """Write everyone's memories into one file.

    It works while others write, is the same for every engine, and is read back before it counts.
    Without FILE it is named after the time. It is not encrypted: keep it where only you can read.

    \b
    Examples:
      rem backup
      rem backup ~/backups/memories.zip
      rem backup --verify ~/backups/memories.zip
    """
    desk: Desk = context.obj
    if verify is not None:
        if file is not None:
            raise InvalidInput("Name one file: to write a backup, or after --verify to check one.")
        checked = _verified(verify)
        desk.answer(checked, lambda page: _told(page, checked, "Sound"))
        return
    with desk.opened() as store, bar("Backing up") as progress:
        written = store.backup(file, progress=progress)
    desk.answer(written, lambda page: _told(page, written, "Written and checked"))


def restore_backup(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", hidden=True)],
    replace: Replace = False,
) -> None:
    """Bring back everyone who is in a backup.

    The whole FILE is checked before anything is changed. Someone who has other memories here is
    left alone, and nothing is changed, unless you say --replace. If it is interrupted, do it again.

    \b
    Examples:
      rem restore-backup ~/backups/memories.zip
      rem restore-backup memories.zip --store ~/empty-place
    """
    desk: Desk = context.obj
    with desk.opened() as store, bar("Restoring") as progress:
        arrived = store.restore_backup(file, replace=replace, progress=progress)
    desk.answer(arrived, lambda page: _arrived(page, arrived, "restored"))


def move(
    context: typer.Context,
    place: Annotated[str, typer.Argument(metavar="PLACE", hidden=True)],
    replace: Replace = False,
) -> None:
    """Copy everyone to another place or engine.

    PLACE is a directory or a postgresql:// address. Nothing is removed here. Stop what uses this
    place first; doing it a second time tells whether everything is there.

    \b
    Examples:
      rem move ~/new-place
      rem move postgresql://user@host/database
    """
    desk: Desk = context.obj
    with desk.opened() as store, bar("Moving") as progress:
        arrived = store.move_to(place, replace=replace, progress=progress)
    desk.answer(arrived, lambda page: _arrived(page, arrived, "copied"))


def _verified(file: str) -> Backup:
    """Check a file without opening a store: there may be none any more."""
    from remembrancer.transfer import archive
    from remembrancer.transfer.steps import Steps

    with bar("Checking") as progress:
        return archive.verify(Path(file).expanduser(), Steps(progress))


def _told(page: Page, found: Backup, word: str) -> None:
    page.say(f"{word}: {_people(found.people)}, {found.rows} rows, {_size(found.bytes)}.")
    page.note(f"{found.path}, made {page.time(found.created_at)}")


def _arrived(page: Page, arrived: Arrived, word: str) -> None:
    if arrived.people:
        were = "was" if arrived.people == 1 else "were"
        page.say(f"{_people(arrived.people)} {were} {word}, {arrived.rows} rows.")
    if arrived.present or not arrived.people:
        page.say(f"{_people(arrived.present)} had the same memories there already.")


def _people(count: int) -> str:
    return "1 person" if count == 1 else f"{count} people"


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e5 else f"{count / 1e3:.1f} kB"
