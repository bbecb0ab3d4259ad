"""`rem serve`, `rem login` and `rem demo`: the HTTP server, on your memory or on sample data."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from remembrancer.cli import restore_default_gc
from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.options import drop_unset
from remembrancer.cli.terminal import Terminal
from remembrancer.errors import InvalidSetting

if TYPE_CHECKING:
    from socket import socket

    from remembrancer.engine import Remembrancer

DEMO_LINK_MINUTES = 24 * 60.0
DEMO_PORT = 8151
"""Next to the default port of `rem serve`."""


def serve(
    cli: CliContext,
    host: Annotated[
        str | None, Option(metavar="ADDRESS", help="The address to listen on; 127.0.0.1.")
    ] = None,
    port: Annotated[int | None, Option(metavar="NUMBER", help="The port; 8150.")] = None,
    workers: Annotated[
        int | None, Option(metavar="NUMBER", help="The number of processes, with PostgreSQL.")
    ] = None,
    allowed_host: Annotated[
        list[str] | None, Option(metavar="NAME", help="A host name of the server; repeatable.")
    ] = None,
) -> None:
    """Serve memory over HTTP, and run the jobs.

    Prints a login link for a browser on this machine; `rem login` prints another one. Every other
    client needs a key: see `rem key-create`. Stop it with Ctrl-C; requests and jobs in progress are
    finished first.

    \b
    Examples:
      rem serve
      rem serve --port 9000
      rem serve --host 0.0.0.0 --allowed-host memory.example.org
    """
    _require_server_extra()
    overrides = {"host": host, "port": port, "workers": workers, "allowed_hosts": allowed_host}
    cli.settings = _override_settings(cli, drop_unset(overrides))
    from remembrancer.server import run

    listening = run.bind_socket(cli.settings.server)
    with listening, cli.open_engine() as store:
        run.require_key_off_loopback(store)
        _run_server(store, listening, is_discoverable=True)


def demo(
    cli: CliContext,
    port: Annotated[
        int, Option(metavar="NUMBER", min=0, max=65535, help="The port; 0 for any.")
    ] = DEMO_PORT,
) -> None:
    """Try the web interface on sample data.

    Serves a year of an invented person: facts that changed, rules, conversations, agents and a
    team. It runs in memory: nothing is written to disk, your own memories are not touched, and
    everything is gone when you stop it with Ctrl-C.

    \b
    Examples:
      rem demo
      rem demo --profile instances
    """
    _require_server_extra()
    from remembrancer import demo
    from remembrancer.cli.progress import progress_bar
    from remembrancer.config import ServerSettings
    from remembrancer.server import run

    with run.bind_socket(ServerSettings(port=port)) as listening:
        typer.echo("Writing down a year …")
        with progress_bar("Writing") as tell:
            store = demo.build_demo(cli.profile or demo.DEFAULT_PROFILE, on_progress=tell)
        with store:
            _run_server(store, listening)


def _require_server_extra() -> None:
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise InvalidSetting("The server is not installed: pip install 'remembrancer[server]'.")


def _run_server(store: Remembrancer, listening: socket, *, is_discoverable: bool = False) -> None:
    """Print the address and serve; if discoverable, publish the address to other programs."""
    from remembrancer.access.login_links import ServerStart
    from remembrancer.server import run

    restore_default_gc()
    port = listening.getsockname()[1]
    address = f"http://{store.settings.server.host}:{port}"
    typer.echo(f"Remembrancer listens on {address}")
    start = ServerStart.new()
    # What a demo shows is not private, and no other process can print a link to it.
    code = run.create_login_code(store, start, None if is_discoverable else DEMO_LINK_MINUTES)
    if code is None:
        run.serve(store, listening, run.LocalAccess(start))
        return
    typer.echo(f"In a browser on this machine: {address}/login#{code}")
    if not is_discoverable:
        typer.echo("The link works once.")
        run.serve(store, listening, run.LocalAccess(start, code))
        return
    minutes = f"{store.settings.server.login_minutes:g} minutes"
    typer.echo(f"The link works once, for {minutes}; `rem login` prints another one.")
    key, file = run.publish_local_key(store, port, start)
    run.serve(store, listening, run.LocalAccess(start, code, key, file))


def login(cli: CliContext) -> None:
    """Print a link that signs a browser in to the running server.

    It needs a server of this memory on this machine: `rem serve`. The link works once, for some
    minutes, and not after the server has stopped.

    \b
    Examples:
      rem login
      rem --store ~/memories login
    """
    _require_server_extra()
    from remembrancer import local_server
    from remembrancer.access.login_links import ServerStart
    from remembrancer.server import run
    from remembrancer.types import Owner

    settings = cli.settings = _override_settings(cli, {})
    here = local_server.find_running(run.find_server_file(settings))
    if here is None or not here.start:
        raise InvalidSetting("No server of this memory runs on this machine. Start it: rem serve.")
    with cli.open_engine() as store:
        owner, minutes = Owner(settings.tenant, settings.user), settings.server.login_minutes
        code = store.login_links.create_code(owner, ServerStart(here.start), minutes)
    link = f"{here.address}/login#{code}"

    def print_text(out: Terminal) -> None:
        out.say(f"Open this link within {minutes:g} minutes, it works once: {link}")

    cli.print_result({"link": link, "minutes": minutes}, print_text)


def _override_settings(cli: CliContext, overrides: dict[str, Any]) -> Any:
    from remembrancer import config

    owner = drop_unset({"user": cli.user, "tenant": cli.tenant})
    settings = config.override_settings(cli.settings, {"server": overrides, **owner})
    if settings.server.workers > 1 and settings.store.url is None:
        raise InvalidSetting("Several workers need PostgreSQL. Set store.url, or use one worker.")
    return settings
