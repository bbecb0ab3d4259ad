"""The root command: options for every verb, the groups of the help, and exit codes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command_from_info
from typer.models import CommandInfo

from remembrancer.cli import (
    append,
    audit,
    backup,
    chat,
    consolidate,
    context,
    doctor,
    erase,
    exit_codes,
    import_export,
    install,
    jobs,
    keys,
    learn,
    mcp,
    me,
    recall,
    remember,
    review,
    rules,
    run,
    serve,
    sessions,
    simulate,
    team,
    team_review,
    team_settings,
    telegram,
    tour,
)
from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.options import (
    ROOT_FLAGS,
    ROOT_OPTIONS,
    split_root_options,
    take_typer_context,
    with_options,
)

INTRODUCTION = """Long-term memory for AI assistants, and for you.

Name a memory by its id, or by words that occur in no other memory. Root options can stand before
or after the verb. Put words that begin with a dash after --.

\b
Examples:
  rem demo
  rem remember "Keep answers short, code first." --category preference
  rem recall "how should I answer?"
  rem --user ada --store ~/team-memory list --json
"""


class LazyCommands(Mapping[str, Any]):
    """The verbs by name, built on first use: building all of them takes longer than most run."""

    def __getitem__(self, name: str) -> Any:
        return _build_command(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_collect_verbs())

    def __len__(self) -> int:
        return len(_collect_verbs())


class RootGroup(TyperGroup):
    """Lists the commands in groups, and reports errors as a sentence with an exit code."""

    def __init__(self, **attrs: Any) -> None:
        super().__init__(**attrs)
        self.commands = LazyCommands()  # type: ignore[assignment]

    def run(self, args: Sequence[str], **extra: Any) -> int:
        """Run one command line and return its exit code."""
        front, rest = split_root_options(args)
        as_json = "--json" in front
        try:
            code = super().main(
                args=[*front, *rest], prog_name="rem", standalone_mode=False, **extra
            )
        except exit_codes.EXPECTED_ERRORS as error:
            return exit_codes.report_error(error, as_json=as_json)
        except OSError as error:
            return exit_codes.report_error(exit_codes.describe_os_error(error), as_json=as_json)
        return code if isinstance(code, int) else 0

    def main(self, args: Sequence[str] | None = None, *_: Any, **extra: Any) -> Any:
        """Entry point of the console script and the tests: `run`, then exit."""
        extra.pop("prog_name", None)
        sys.exit(self.run(sys.argv[1:] if args is None else args, **extra))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands under the headings of their groups."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            heading = getattr(command, "rich_help_panel", None) or "Commands"
            groups.setdefault(heading, []).append((name.ljust(10), command.get_short_help_str(66)))
        for heading, rows in groups.items():
            with formatter.section(heading):
                formatter.write_dl(rows)


app = typer.Typer(
    cls=RootGroup,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


@app.callback(invoke_without_command=True, help=INTRODUCTION)
@with_options(ROOT_OPTIONS, ROOT_FLAGS)
def root(context: typer.Context, **options: Any) -> None:
    """Store the root options; the verb opens the memory."""
    version, json = options.pop("version"), bool(options.pop("json"))
    cli = CliContext(**options, json=json, shared=context.obj)
    context.obj = cli
    if version:
        from remembrancer import __version__

        cli.print_result(
            {"version": __version__}, lambda _: typer.echo(f"remembrancer {__version__}")
        )
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit


VERBS: dict[str, tuple[Callable[..., None], ...]] = {
    "Writing": (
        remember.remember,
        append.append,
        remember.update,
        remember.confirm,
        remember.link,
        remember.unlink,
    ),
    "Reading": (
        recall.recall,
        context.context,
        recall.get,
        recall.list_,
        recall.history,
        recall.activity,
    ),
    "Learning": (
        learn.learn,
        review.review,
        learn.rejected,
        consolidate.consolidate,
        sessions.sessions,
        sessions.turns,
        sessions.close,
        sessions.rename,
        sessions.archive,
        sessions.delete_session,
        sessions.restore_session,
    ),
    "Changing your mind": (
        remember.forget,
        remember.forget_all,
        remember.restore,
        remember.delete,
        remember.delete_all,
        remember.undo,
    ),
    "Trusting rules": (rules.helpful, rules.harmful, rules.promote, rules.demote, rules.disable),
    "Team": (
        team.propose,
        team.team,
        team_review.team_review,
        team_review.team_approve,
        team_review.team_reject,
        team_review.team_reopen,
        team_review.team_edit,
        team_review.team_importance,
        team_review.team_delete,
        team_settings.team_stats,
        team_settings.team_switch,
    ),
    "Talking": (chat.chat, telegram.telegram, telegram.telegram_link),
    "Coding agents": (install.install, run.run),
    "Serving": (
        *(serve.serve, serve.login, serve.demo, mcp.mcp),
        *(keys.key_create, keys.key_list, keys.key_revoke),
    ),
    "Looking after it": (
        recall.stats,
        audit.audit,
        simulate.simulate,
        jobs.jobs,
        jobs.reembed,
        backup.backup,
        backup.restore_backup,
        backup.move,
        import_export.import_,
        import_export.export,
        import_export.share_instances,
        erase.erase,
        erase.verify_receipt,
        doctor.doctor,
        me.me,
        tour.tour,
    ),
}


@cache
def _collect_verbs() -> dict[str, tuple[Callable[..., None], str]]:
    """The function and the group of each verb, by name."""
    return {
        verb.__name__.rstrip("_").replace("_", "-"): (verb, group)
        for group, verbs in VERBS.items()
        for verb in verbs
    }


@cache
def _build_command(name: str) -> Any:
    verb, group = _collect_verbs()[name]
    info = CommandInfo(name, callback=take_typer_context(verb), rich_help_panel=group)
    return get_command_from_info(info, pretty_exceptions_short=True, rich_markup_mode=None)
