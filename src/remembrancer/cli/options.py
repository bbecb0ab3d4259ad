"""Options that several verbs share, and the parsing of words, dates and root options."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Annotated, Any, TypeVar

import typer
from typer import Argument, Option

from remembrancer.errors import InvalidInput

Function = TypeVar("Function", bound=Callable[..., None])
OptionTable = Mapping[str, Any]


def _option(kind: Any, flag: str, metavar: str | None, help: str) -> Any:
    return Annotated[kind | None, Option(flag, metavar=metavar, help=help)]


Limit = Annotated[int, Option(metavar="NUMBER", help="The maximum number of results.")]
Cursor = Annotated[
    str | None, Option(metavar="TEXT", help="The cursor that the last page printed.")
]
Yes = Annotated[bool, Option("--yes", help="Do not ask.")]
ForGood = Annotated[
    bool, Option("--for-good", help="Destroy it at once, also from the trash. It asks first.")
]
Words = Annotated[list[str], Argument(metavar="WORDS", hidden=True)]
Reference = Annotated[list[str], Argument(metavar="MEMORY", hidden=True)]
Content = Annotated[str, Argument(metavar="CONTENT", hidden=True)]

ROOT_OPTIONS: OptionTable = {
    "user": _option(str, "--user", "NAME", "The user."),
    "tenant": _option(str, "--tenant", "NAME", "The organisation of the user."),
    "agent": _option(str, "--agent", "NAME", "The agent that acts for the user."),
    "profile": _option(str, "--profile", "NAME", "What to keep, and for how long."),
    "config": _option(str, "--config", "FILE", "The configuration file (TOML)."),
    "store": _option(
        str, "--store", "PLACE", "A directory, a postgresql:// URL, or :memory: to try it."
    ),
}
ROOT_FLAGS: OptionTable = {
    "json": Annotated[bool, Option("--json", help="Print one JSON document.")],
    "version": Annotated[bool, Option("--version", help="Print the version.")],
}
ROOT_NAMES = tuple(f"--{name}" for name in ROOT_OPTIONS)

FACT_OPTIONS: OptionTable = {
    "category": _option(str, "--category", "NAME", "A category of the profile."),
    "subject": _option(str, "--subject", "NAME", "What it is about, with --predicate."),
    "predicate": _option(str, "--predicate", "NAME", "The property of the subject it states."),
    "importance": _option(float, "--importance", "NUMBER", "From 1 to the profile's maximum."),
    "permanence": _option(str, "--permanence", "NAME", "How fast it fades: permanent … ephemeral."),
    "tags": _option(list[str], "--tag", "NAME", "A tag; repeatable."),
    "scope": _option(str, "--scope", "NAME", "The agent whose memory it belongs to."),
    "kind": _option(str, "--kind", "NAME", "fact, rule or episode."),
    "valid_from": _option(str, "--valid-from", "DATE", "When it became or becomes true."),
    "valid_until": _option(str, "--valid-until", "DATE", "When it stops being true."),
    "ttl_days": _option(float, "--ttl-days", "DAYS", "Expire after this many days."),
    "summary": _option(str, "--summary", "TEXT", "A short version for prompts."),
    "body": _option(str, "--body", "TEXT", "A long version, stored but not searched."),
}

FILTER_OPTIONS: OptionTable = {
    "limit": _option(int, "--limit", "NUMBER", "The maximum number of results."),
    "kinds": _option(list[str], "--kind", "NAME", "Only facts, rules or episodes; repeatable."),
    "categories": _option(list[str], "--category", "NAME", "Only these categories; repeatable."),
    "tags": _option(list[str], "--tag", "NAME", "Only memories with all these tags; repeatable."),
    "scope": _option(str, "--scope", "NAME", "Only what this agent can see."),
    "agent": _option(str, "--by", "NAME", "Only what this agent stored, or led to."),
}

AS_OF_OPTIONS: OptionTable = {
    "as_of": _option(str, "--as-of", "DATE", "As known at the end of this day, or at a time."),
    "true_at": _option(
        str, "--true-at", "DATE", "What was true at the end of this day, as known today."
    ),
}

RANKING_OPTIONS: OptionTable = {
    "mode": _option(str, "--mode", "NAME", "hybrid, semantic or keyword."),
    "minimum_importance": _option(float, "--min-importance", "NUMBER", "The minimum importance."),
    "minimum_confidence": _option(
        float, "--min-confidence", "SHARE", "The minimum confidence, 0–1."
    ),
}

USE_OPTIONS: OptionTable = {
    "order": _option(str, "--order", "NAME", "newest or most_used."),
    "never_used": _option(bool, "--never-used", None, "Only what was never recalled."),
}

PAGING_OPTIONS: OptionTable = {
    "status": _option(str, "--status", "NAME", "active, unconfirmed, superseded, forgotten, …"),
    "cursor": _option(str, "--cursor", "TEXT", "The cursor that the last page printed."),
}


def with_options(*tables: OptionTable) -> Callable[[Function], Function]:
    """Add the options of these tables to a verb, which receives them as keyword arguments."""

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function, eval_str=True)
        named = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
        options = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=option)
            for table in tables
            for name, option in table.items()
        ]
        function.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*named, *options]
        )
        return function

    return decorate


def take_typer_context(verb: Callable[..., None]) -> Callable[..., None]:
    """The function that Typer calls for a verb: it takes Typer's context, the verb its `obj`."""
    signature = inspect.signature(verb, eval_str=True)
    first, *others = signature.parameters.values()

    @functools.wraps(verb)
    def call_verb(context: typer.Context, **values: Any) -> None:
        verb(context.obj, **values)

    context = first.replace(name="context", annotation=typer.Context)
    call_verb.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[context, *others]
    )
    return call_verb


def collect_root_options(source: object) -> dict[str, str]:
    """The root options that were given, with their dashes, from an object with a field for each."""
    return drop_unset({f"--{name}": getattr(source, name) for name in ROOT_OPTIONS})


def drop_unset(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given a value."""
    return {name: value for name, value in options.items() if value is not None}


def read_words(words: Sequence[str]) -> str:
    """The words as one text; a single dash reads stdin."""
    return read_stdin() if list(words) == ["-"] else _require_unicode(" ".join(words))


def read_stdin() -> str:
    """All of stdin, without the line break at its end."""
    try:
        return _require_unicode(sys.stdin.read().rstrip("\r\n"))
    except UnicodeDecodeError:
        raise InvalidInput("The text on stdin is not UTF-8.") from None


def _require_unicode(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput("The words are not valid Unicode text.") from None
    return text


def confirm_or_abort(yes: bool, question: str) -> None:
    """Ask for confirmation unless `yes`; without a terminal, `yes` is required."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidInput("Cannot prompt: stdin is not a terminal. Pass --yes to confirm.")
    typer.confirm(question, abort=True, err=True)


def parse_moment(text: str, zone: tzinfo, option: str) -> datetime:
    """Parse a date or a date and time; without a zone it is in the user's."""
    try:
        moment = datetime.fromisoformat(text)
        return moment if moment.tzinfo else moment.replace(tzinfo=zone)
    except ValueError:
        raise InvalidInput(
            f"{option}: give a date such as 2026-03-02 or 2026-03-02T14:30, not {text!r}."
        ) from None


def split_root_options(args: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split the root options, wherever they stand before a --, from the other arguments."""
    front: list[str] = []
    rest: list[str] = []
    remaining = iter(args)
    for arg in remaining:
        if arg == "--":
            rest += [arg, *remaining]
        elif arg == "--json" or arg.startswith(tuple(f"{name}=" for name in ROOT_NAMES)):
            front.append(arg)
        elif arg in ROOT_NAMES:
            value = [one for one in [next(remaining, None)] if one is not None]
            if arg == "--user" and rest[:1] == ["install"] and "".join(value)[:2] in ("", "--"):
                # `rem install --user` has a flag of that name: install for this user.
                later_front, later_rest = split_root_options([*value, *remaining])
                return [*front, *later_front], [*rest, arg, *later_rest]
            front += [arg, *value]
        else:
            rest.append(arg)
    return front, rest
