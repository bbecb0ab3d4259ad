"""The verb that serves memory over HTTP."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated, Any

import typer

from remembrancer.cli import live_long
from remembrancer.cli.arguments import given
from remembrancer.cli.desk import Desk
from remembrancer.errors import InvalidSetting


def serve(
    context: typer.Context,
    host: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Where to listen; 127.0.0.1.")
    ] = None,
    port: Annotated[int | None, typer.Option(metavar="NUMBER", help="The port; 8150.")] = None,
    workers: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Processes, with PostgreSQL.")
    ] = None,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A name the server goes by; repeatable."),
    ] = None,
) -> None:
    """Serve memory over HTTP, and run the jobs.

    It prints an address that lets a browser on this machine in. Everything else comes with a key:
    see `rem key-create`. Stop it with Ctrl-C: what is at work is finished first.

    \b
    Examples:
      rem serve
      rem serve --port 9000
      rem serve --host 0.0.0.0 --allowed-host memory.example.org
    """
    desk: Desk = context.obj
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise InvalidSetting("The server needs its parts: pip install 'remembrancer[server]'.")
    asked = {"host": host, "port": port, "workers": workers, "allowed_hosts": allowed_host}
    desk.settings = _checked(desk, given(asked))
    from remembrancer.server import running

    live_long()
    listening = running.bound(desk.settings.server)
    with listening, desk.opened() as store:
        running.refuse_open_doors(store)
        address = f"http://{desk.settings.server.host}:{listening.getsockname()[1]}"
        typer.echo(f"Remembrancer listens on {address}")
        token = running.start_token(store)
        if token is not None:
            typer.echo(f"In a browser on this machine: {address}/login?token={token.secret}")
        running.run(store, listening, token.key.id if token else None)


def _checked(desk: Desk, asked: dict[str, Any]) -> Any:
    """The settings with what was asked for."""
    from remembrancer import config

    whose = given({"user": desk.user, "tenant": desk.tenant})
    settings = config.changed(desk.settings, {"server": asked, **whose})
    if settings.server.workers > 1 and settings.store.url is None:
        raise InvalidSetting("Several workers need PostgreSQL: set store.url, or use one.")
    return settings
