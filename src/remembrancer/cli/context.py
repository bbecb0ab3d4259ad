"""`rem context`: prints memory as text for a prompt, ready to be piped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.options import AS_OF_OPTIONS, parse_moment, read_words, with_options
from remembrancer.cli.terminal import Terminal

if TYPE_CHECKING:
    from remembrancer.recall.prompt_block import Context


@with_options(AS_OF_OPTIONS)
def context(
    cli: CliContext,
    words: Annotated[list[str] | None, Argument(metavar="PROMPT", hidden=True)] = None,
    *,
    budget: Annotated[
        int | None, Option(metavar="TOKENS", help="The maximum length, headings included.")
    ] = None,
    style: Annotated[
        str | None,
        Option(metavar="NAME", help="sections, note or hot_set; default: the profile's."),
    ] = None,
    session: Annotated[
        str | None, Option(metavar="ID", help="Only what was known when this chat first asked.")
    ] = None,
    now: Annotated[
        str | None, Option(metavar="DATE", help="The time of the prompt; default: now.")
    ] = None,
    **moment: Any,
) -> None:
    """Print memory as text for a prompt.

    Prints the memories that matter for PROMPT, or the most important ones without it, and nothing
    else. If nothing is known it prints nothing. PROMPT can be - to read it from stdin. With --now,
    "last week" is the week before that date, and only what was true then is printed.

    \b
    Examples:
      rem context "Plan my week" --budget 500
      rem context --style hot_set --session monday-chat
      rem context "What did I do last week?" --now 2025-03-01
    """
    prompt = read_words(words) if words else None
    then = cli.parse_as_of(**moment)
    asked_at = parse_moment(now, cli.zone, "--now") if now else None
    with cli.open_memory(embeds=prompt is not None) as me:
        found = me.context(
            prompt, budget=budget, session=session, as_of=then, style=style, now=asked_at
        )
    cli.print_result(found, lambda out: _print_verbatim(out, found))


def _print_verbatim(out: Terminal, found: Context) -> None:
    typer.echo(found.text, nl=out.is_terminal and bool(found.text))
