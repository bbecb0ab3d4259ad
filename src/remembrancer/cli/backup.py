"""`rem backup`, `rem restore-backup` and `rem move`: copy everyone's memories."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.progress import progress_bar
from remembrancer.cli.terminal import Terminal, format_count
from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from remembrancer.transfer.archive import Backup
    from remembrancer.transfer.restore import TransferResult

Replace = Annotated[
    bool, Option("--replace", help="Replace existing memories of the same people and teams.")
]


def backup(
    cli: CliContext,
    file: Annotated[str | None, Argument(metavar="FILE", hidden=True)] = None,
    verify: Annotated[
        str | None, Option(metavar="FILE", help="Only check an existing backup.")
    ] = None,
) -> None:
    """Write everyone's memories into one file.

    It includes the team memories. It works while others write, can be restored on either engine,
    and is verified after writing. Without FILE, the name is the time. The file is not encrypted:
    keep it where only you can read it.

    \b
    Examples:
      rem backup
      rem backup ~/backups/memories.zip
      rem backup --verify ~/backups/memories.zip
    """
    if verify is not None:
        if file is not None:
            raise InvalidInput("Give one file: a new backup, or after --verify an existing one.")
        checked = _verify_file(verify)
        cli.print_result(checked, lambda out: _print_backup(out, checked, "Sound"))
        return
    with cli.open_engine() as store, progress_bar("Backing up") as progress:
        written = store.backup(file, progress=progress)
    cli.print_result(written, lambda out: _print_backup(out, written, "Written and checked"))


def restore_backup(
    cli: CliContext,
    file: Annotated[str, Argument(metavar="FILE", hidden=True)],
    replace: Replace = False,
) -> None:
    """Restore everyone from a backup.

    The whole FILE is checked first. If a person or a team has other memories here, nothing is
    changed unless you pass --replace. If it is interrupted, run it again.

    \b
    Examples:
      rem restore-backup ~/backups/memories.zip
      rem restore-backup memories.zip --store ~/empty-place
    """
    with cli.open_engine() as store, progress_bar("Restoring") as progress:
        arrived = store.restore_backup(file, replace=replace, progress=progress)
    cli.print_result(arrived, lambda out: _print_arrival(out, arrived, "restored"))


def move(
    cli: CliContext,
    place: Annotated[str, Argument(metavar="PLACE", hidden=True)],
    replace: Replace = False,
) -> None:
    """Copy everyone to another directory or engine.

    PLACE is a directory or a postgresql:// URL. Nothing is removed here. Stop every process that
    uses this store first. Run it a second time to check that everything arrived.

    \b
    Examples:
      rem move ~/new-place
      rem move postgresql://user@host/database
    """
    with cli.open_engine() as store, progress_bar("Moving") as progress:
        arrived = store.move_to(place, replace=replace, progress=progress)
    cli.print_result(arrived, lambda out: _print_arrival(out, arrived, "copied"))


def _verify_file(file: str) -> Backup:
    """Check a backup without opening a store, which may be lost."""
    from remembrancer.transfer import archive
    from remembrancer.transfer.progress import ProgressCounter

    with progress_bar("Checking") as progress:
        return archive.verify(Path(file).expanduser(), ProgressCounter(progress))


def _print_backup(out: Terminal, found: Backup, word: str) -> None:
    held = ", ".join(_format_owners(found.people, found.teams, found.team_facts))
    out.say(f"{word}: {held}, {found.rows} rows, {_format_size(found.bytes)}.")
    out.note(f"{found.path}, made {out.format_time(found.created_at)}")


def _print_arrival(out: Terminal, arrived: TransferResult, word: str) -> None:
    came = arrived.people + arrived.teams
    if came:
        who = " and ".join(_format_owners(arrived.people, arrived.teams, arrived.team_facts))
        out.say(f"{who} {'was' if came == 1 else 'were'} {word}, {arrived.rows} rows.")
    if arrived.present or arrived.teams_present or not (came or arrived.erased):
        who = " and ".join(_format_owners(arrived.present, arrived.teams_present))
        out.say(f"{who} had the same memories there already.")
    if arrived.erased:
        who = format_count(arrived.erased, "person was", "people were")
        out.say(f"{who} erased after this backup was made, and left out.")


def _format_owners(people: int, teams: int, facts: int | None = None) -> list[str]:
    """The number of people, and of teams with their facts if there are any."""
    held = [] if teams and not people else [format_count(people, "person", "people")]
    if teams:
        team_facts = "" if facts is None else f" with {format_count(facts, 'fact')}"
        held.append(format_count(teams, "team") + team_facts)
    return held


def _format_size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e5 else f"{count / 1e3:.1f} kB"
