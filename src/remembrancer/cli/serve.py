"""The verbs that serve memory over HTTP: one's own, or one to look around in."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import typer

from remembrancer.cli import live_long
from remembrancer.cli.cli_context import Desk
from remembrancer.cli.options import given
from remembrancer.errors import InvalidSetting

if TYPE_CHECKING:
    from socket import socket

    from remembrancer.engine import Remembrancer

DEMO_PORT = 8151
"""Beside that of one's own server."""


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
    _refuse_without_parts()
    asked = {"host": host, "port": port, "workers": workers, "allowed_hosts": allowed_host}
    desk.settings = _checked(desk, given(asked))
    from remembrancer.server import run

    listening = run.bound(desk.settings.server)
    with listening, desk.opened() as store:
        run.refuse_open_doors(store)
        _run(store, listening, is_found=True)


def demo(
    context: typer.Context,
    port: Annotated[
        int, typer.Option(metavar="NUMBER", min=0, max=65535, help="The port; 0 for any.")
    ] = DEMO_PORT,
) -> None:
    """Look around in a notebook that is full already.

    A year of someone who never lived, with facts that changed, rules, conversations, agents and a
    team, on a server of its own. It is kept in memory: nothing is written to disk, your own
    memories are not touched, and all of it is gone when you stop it with Ctrl-C.

    \b
    Examples:
      rem demo
      rem demo --profile instances
    """
    desk: Desk = context.obj
    _refuse_without_parts()
    from remembrancer import demo
    from remembrancer.cli.progress import bar
    from remembrancer.config import ServerSettings
    from remembrancer.server import run

    with run.bound(ServerSettings(port=port)) as listening:
        typer.echo("Writing down a year …")
        with bar("Writing") as tell:
            store = demo.lived(desk.profile or demo.PROFILE, tell=tell)
        with store:
            _run(store, listening)


def _refuse_without_parts() -> None:
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise InvalidSetting("The server needs its parts: pip install 'remembrancer[server]'.")


def _run(store: Remembrancer, listening: socket, *, is_found: bool = False) -> None:
    """Say where it is, to other programs too if it is to be found, and serve it until the end."""
    from remembrancer.server import run

    live_long()
    port = listening.getsockname()[1]
    address = f"http://{store.settings.server.host}:{port}"
    typer.echo(f"Remembrancer listens on {address}")
    token = run.start_token(store)
    if token is None:
        run.run(store, listening, run.Doors())
        return
    typer.echo(f"In a browser on this machine: {address}/login?token={token}")
    key, file = run.local_key(store, port) if is_found else (None, None)
    run.run(store, listening, run.Doors(token, key, file))


def _checked(desk: Desk, asked: dict[str, Any]) -> Any:
    """The settings with what was asked for."""
    from remembrancer import config

    whose = given({"user": desk.user, "tenant": desk.tenant})
    settings = config.changed(desk.settings, {"server": asked, **whose})
    if settings.server.workers > 1 and settings.store.url is None:
        raise InvalidSetting("Several workers need PostgreSQL: set store.url, or use one.")
    return settings
