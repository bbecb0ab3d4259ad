"""`rem erase` and `rem verify-receipt`: permanent erasure of a person, and its receipts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.files import read_text
from remembrancer.cli.options import Yes, confirm_or_abort
from remembrancer.cli.terminal import Terminal
from remembrancer.environment import open_private
from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from remembrancer.erasure.erase import Inventory
    from remembrancer.erasure.receipts import Receipt


ROW_LABELS = {
    "facts": "facts",
    "rules": "rules",
    "episodes": "episodes",
    "sessions": "conversations",
    "turns": "messages",
    "embeddings": "vectors",
    "events": "entries of the activity log",
}


def erase(
    cli: CliContext,
    user: Annotated[str, Argument(metavar="USER", hidden=True)],
    *,
    dry_run: Annotated[bool, Option("--dry-run", help="Only list what would be removed.")] = False,
    contributions_only: Annotated[
        bool, Option("--contributions-only", help="Only their contributions to the team.")
    ] = False,
    keep_account: Annotated[
        bool, Option("--keep-account", help="Keep their keys and account links.")
    ] = False,
    receipt: Annotated[
        str | None, Option(metavar="FILE", help="Where to write the receipt.")
    ] = None,
    yes: Yes = False,
) -> None:
    """Erase a person permanently.

    It lists what there is and asks first. Then it removes their memories, conversations, vectors
    and keys, what only they told the team, and their part of scheduled backups. Shared files are
    rewritten, and everything is searched for traces. This cannot be undone. If it is interrupted,
    run it again.

    \b
    Examples:
      rem erase ada --dry-run
      rem erase ada --receipt ada.json
      rem erase ada --contributions-only --yes
      rem erase ada --keep-account
    """
    _refuse_existing(receipt)
    with cli.open_engine() as store:
        there = store.inventory(user, tenant=cli.tenant)
        if dry_run:
            cli.print_result(there, lambda out: _print_inventory(out, user, there))
            return
        if not yes:
            _print_inventory(Terminal(), user, there)
        what = "what the team knows" if contributions_only else "everything"
        what = "everything but the account" if keep_account else what
        confirm_or_abort(yes, f"Remove {what} of {user} for good?")
        done = store.erase(
            user,
            tenant=cli.tenant,
            contributions_only=contributions_only,
            keep_account=keep_account,
            tell=None if cli.json else lambda step: typer.echo(step, err=True),
        )
    if receipt is not None:
        with open(Path(receipt).expanduser(), "w", encoding="utf-8", opener=open_private) as out:
            out.write(f"{done.to_json()}\n")
    cli.print_result(done, lambda out: _print_receipt(out, done, receipt))
    if not done.clean:
        raise typer.Exit(1)


def verify_receipt(
    cli: CliContext, file: Annotated[str, Argument(metavar="FILE", hidden=True)]
) -> None:
    """Check the receipt of an erasure.

    It is genuine if this store issued it and nobody has changed it since.

    \b
    Examples:
      rem verify-receipt ada.json
    """
    from remembrancer.erasure.receipts import parse_receipt

    shown = parse_receipt(read_text(file))
    with cli.open_engine() as store:
        ours = store.verify_receipt(shown)
    cli.print_result({"genuine": ours}, lambda out: out.say(_format_verdict(shown, ours=ours)))
    if not ours:
        raise typer.Exit(1)


def _refuse_existing(receipt: str | None) -> None:
    if receipt is not None and Path(receipt).expanduser().exists():
        raise InvalidInput(f"{receipt} exists. Name another file for the receipt.")


def _print_inventory(out: Terminal, user: str, there: Inventory) -> None:
    if there.empty:
        out.say(f"There is nothing of {user} here.")
        return
    out.say(f"There is of {user}:")
    rows = {word: there.rows.get(name, 0) for name, word in ROW_LABELS.items()}
    rows["other rows"] = sum(there.rows.values()) - sum(rows.values())
    for word, count in {**rows, "keys": there.keys, "backups": there.backups}.items():
        if count:
            out.say(f"  {count:>7,} {word}")
    if there.shared:
        out.say(f"  {there.shared:>7,} messages and memories in instances")
    if there.contributions:
        out.say(
            f"  {there.contributions:>7,} things told the team, "
            f"{there.team_facts:,} of them by nobody else"
        )


def _print_receipt(out: Terminal, done: Receipt, file: str | None) -> None:
    total = sum(done.removed.values())
    out.say(f"Removed {total:,} rows and files of {done.user}.")
    for one in done.searched:
        size = f"{one.bytes:,} bytes" if one.bytes else "counted"
        out.say(f"  {one.place}: {size}, {one.found:,} traces")
    for why in done.left:
        out.say(f"  Left: {why}")
    verdict = "Nothing is left." if done.clean else "Something is left: see above."
    out.say(f"{verdict} {done.sought:,} traces were searched for.")
    out.say(f"Receipt {done.id}" + (f" in {file}." if file else ": keep it with --receipt FILE."))


def _format_verdict(shown: Receipt, *, ours: bool) -> str:
    if not ours:
        return "This receipt was not given out here, or someone has changed it."
    when = f"{shown.finished_at:%Y-%m-%d %H:%M} UTC"
    state = "nothing was left" if shown.clean else "something was left"
    whose = "the memory of " if shown.account_kept else ""
    return f"Genuine: {whose}{shown.user} of {shown.tenant} was erased at {when}, {state}."
