"""Reports errors: a sentence on stderr, JSON on stdout with --json, and an exit code."""

from __future__ import annotations

from typing import Any

import typer

from remembrancer.errors import (
    Ambiguous,
    Conflict,
    InvalidInput,
    NotFound,
    RemembrancerError,
    Unavailable,
)

EXPECTED_ERRORS = (RemembrancerError, typer.TyperException, typer.Abort)

USAGE_EXIT_CODE = 2
EXIT_CODES: tuple[tuple[type[RemembrancerError], int], ...] = (
    (InvalidInput, USAGE_EXIT_CODE),
    (Ambiguous, 4),
    (NotFound, 3),
    (Conflict, 4),
    (Unavailable, 5),
)


def report_error(error: Exception, *, as_json: bool) -> int:
    """Print the error and return its exit code."""
    if isinstance(error, RemembrancerError):
        code, message = error.code, str(error)
    else:
        code, message = "usage", _format_usage_error(error)
    candidates = error.candidates if isinstance(error, Ambiguous) else ()
    if as_json:
        from remembrancer.cli.json_output import print_json

        found = {"candidates": candidates} if candidates else {}
        print_json({"error": {"code": code, "message": message, **found}})
    typer.echo(f"Error: {message}", err=True)
    if candidates and not as_json:
        from remembrancer.cli.render import print_candidates

        print_candidates(candidates)
    return exit_code(error)


def describe_os_error(error: OSError) -> Unavailable:
    """The error for a file that no verb expected to fail, or for the output."""
    place = f"{error.filename} cannot be used" if error.filename else "The output cannot be written"
    return Unavailable(
        f"{place}: {error.strerror}. What the command has changed until then is stored; look "
        "before you repeat it."
    )


def exit_code(error: Exception) -> int:
    """The exit code of an error; 1 where no other code fits."""
    if isinstance(error, RemembrancerError):
        return next((code for kind, code in EXIT_CODES if isinstance(error, kind)), 1)
    return USAGE_EXIT_CODE if isinstance(error, typer.TyperException) else 1


def _format_usage_error(error: Any) -> str:
    """Typer's message with a hint; words typed by mistake are not repeated."""
    if not isinstance(error, typer.TyperException):
        return "Aborted."
    message = error.format_message().rstrip(".")
    if message.startswith("Got unexpected extra argument"):
        message = "There are too many words: put quotes around each text"
    elif message.startswith("No such option"):
        message += " (words that begin with a dash come after --)"
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "rem"
    end = "" if message.endswith("?") else "."
    return f"{message}{end} Try: {path} --help"
