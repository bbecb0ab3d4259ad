"""`rem key-create`, `rem key-list` and `rem key-revoke`: API keys of the server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.options import parse_moment
from remembrancer.cli.terminal import Terminal

if TYPE_CHECKING:
    from remembrancer.types import Key


def key_create(
    cli: CliContext,
    capability: Annotated[
        list[str] | None,
        Option(metavar="NAME", help="users:view, users:edit or instances:admin; repeatable."),
    ] = None,
    label: Annotated[str | None, Option(metavar="TEXT", help="What it is for.")] = None,
    expires: Annotated[str | None, Option(metavar="DATE", help="When it expires.")] = None,
) -> None:
    """Create an API key for the server; it is shown once.

    It gives access to the user's memory, and with --agent only to what that agent can see. Only a
    hash is stored: if you lose a key, create another one.

    \b
    Examples:
      rem key-create --label laptop
      rem key-create --user ada --agent support-bot --expires 2030-01-01
      rem key-create --user root --capability users:view --capability users:edit
    """
    until = parse_moment(expires, cli.zone, "--expires") if expires else None
    with cli.open_engine() as store:
        made = store.create_key(
            cli.user_name,
            tenant=cli.tenant,
            agent=cli.agent,
            capabilities=capability or (),
            label=label,
            expires_at=until,
        )

    def print_text(out: Terminal) -> None:
        out.say(made.secret)
        out.note(f"{made.key.id}, {_format_holder(made.key)}. It is not shown again.")

    cli.print_result(made, print_text)


def key_list(cli: CliContext) -> None:
    """List API keys.

    Shows whose each key is, when it was last used, and whether it expired or was revoked. With
    --user, only the keys of one person.

    \b
    Examples:
      rem key-list
      rem key-list --user ada
    """
    with cli.open_engine() as store:
        found = [one for one in store.list_keys() if _is_selected(cli, one)]

    def print_text(out: Terminal) -> None:
        if not found:
            out.say("There are no keys.")
        for one in found:
            out.say(f"{one.id}  {_format_holder(one)}" + (f"  ({one.label})" if one.label else ""))
            out.note(_format_dates(out, one), indent=2)

    cli.print_result(found, print_text)


def key_revoke(cli: CliContext, key: Annotated[str, Argument(metavar="KEY", hidden=True)]) -> None:
    """Revoke an API key.

    KEY is its id, as `rem key-list` shows it. It takes effect at once, in every process.

    \b
    Example:
      rem key-revoke key_01kkq3v4rxe8fy0zkb5t5f3m2a
    """
    with cli.open_engine() as store:
        revoked = store.revoke_key(key)
    cli.print_result(revoked, lambda out: out.say(f"{revoked.id} opens nothing any more."))


def _is_selected(cli: CliContext, key: Key) -> bool:
    return cli.user in (None, key.owner.user) and cli.tenant in (None, key.owner.tenant)


def _format_holder(key: Key) -> str:
    agent = f", only as {key.agent}" if key.agent else ""
    rights = f", {' '.join(sorted(key.capabilities))}" if key.capabilities else ""
    return f"{key.owner.user} of {key.owner.tenant}{agent}{rights}"


def _format_dates(out: Terminal, key: Key) -> str:
    dates = {"made": key.created_at, "used": key.used_at}
    dates |= {"until": key.expires_at, "revoked": key.revoked_at}
    return ", ".join(f"{word} {out.format_time(at)}" for word, at in dates.items() if at)
