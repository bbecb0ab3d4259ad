"""The verbs about keys: who may come in over the network, and as whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from remembrancer.cli.cli_context import Desk
from remembrancer.cli.console import Page
from remembrancer.cli.options import moment

if TYPE_CHECKING:
    from remembrancer.types import Key


def key_create(
    context: typer.Context,
    capability: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="users:view or users:edit; repeatable."),
    ] = None,
    label: Annotated[str | None, typer.Option(metavar="TEXT", help="What it is for.")] = None,
    expires: Annotated[
        str | None, typer.Option(metavar="DATE", help="When it stops to open anything.")
    ] = None,
) -> None:
    """Make a key for the server; it is shown once.

    It opens the memory of the user, and with --agent only what that agent may see. Only a digest
    is kept: whoever loses a key gets another one.

    \b
    Examples:
      rem key-create --label laptop
      rem key-create --user ada --agent support-bot --expires 2030-01-01
      rem key-create --user root --capability users:view --capability users:edit
    """
    desk: Desk = context.obj
    until = moment(expires, desk.zone, "--expires") if expires else None
    with desk.opened() as store:
        made = store.create_key(
            desk.user,
            tenant=desk.tenant,
            agent=desk.agent,
            capabilities=capability or (),
            label=label,
            expires_at=until,
        )

    def words(page: Page) -> None:
        page.say(made.secret)
        page.note(f"{made.key.id}, {_whose(made.key)}. It is not shown again.")

    desk.answer(made, words)


def key_list(context: typer.Context) -> None:
    """List the keys there are.

    Whom each lets in, when it was used last, and whether it still opens anything. With --user, only
    those of one person.

    \b
    Examples:
      rem key-list
      rem key-list --user ada
    """
    desk: Desk = context.obj
    with desk.opened() as store:
        found = [one for one in store.list_keys() if _is_meant(desk, one)]

    def words(page: Page) -> None:
        if not found:
            page.say("There are no keys.")
        for one in found:
            page.say(f"{one.id}  {_whose(one)}" + (f"  ({one.label})" if one.label else ""))
            page.note(_standing(page, one), indent=2)

    desk.answer(found, words)


def key_revoke(
    context: typer.Context,
    key: Annotated[str, typer.Argument(metavar="KEY", hidden=True)],
) -> None:
    """Let a key open nothing any more.

    KEY is its id, as `rem key-list` shows it. It counts at once, for every process.

    \b
    Example:
      rem key-revoke key_01kkq3v4rxe8fy0zkb5t5f3m2a
    """
    desk: Desk = context.obj
    with desk.opened() as store:
        revoked = store.revoke_key(key)
    desk.answer(revoked, lambda page: page.say(f"{revoked.id} opens nothing any more."))


def _is_meant(desk: Desk, key: Key) -> bool:
    return desk.user in (None, key.owner.user) and desk.tenant in (None, key.owner.tenant)


def _whose(key: Key) -> str:
    agent = f", only as {key.agent}" if key.agent else ""
    rights = f", {' '.join(sorted(key.capabilities))}" if key.capabilities else ""
    return f"{key.owner.user} of {key.owner.tenant}{agent}{rights}"


def _standing(page: Page, key: Key) -> str:
    told = [f"made {page.time(key.created_at)}"]
    if key.used_at:
        told.append(f"used {page.time(key.used_at)}")
    if key.expires_at:
        told.append(f"until {page.time(key.expires_at)}")
    if key.revoked_at:
        told.append(f"revoked {page.time(key.revoked_at)}")
    return ", ".join(told)
