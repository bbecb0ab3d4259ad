"""`rem review`: decides about memories that were learned in doubt, one by one."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.options import Cursor, Limit
from remembrancer.cli.recall import print_entry
from remembrancer.cli.terminal import Terminal, format_count

if TYPE_CHECKING:
    from remembrancer.memory import Memory
    from remembrancer.types import Page, Record, Written

NOTHING_TO_REVIEW = "There is nothing to review."
CHOICES = "y = keep, n = forget, e = edit, s = skip, q = quit"
OUTCOMES = {"y": "kept", "n": "forgotten", "e": "corrected", "s": "skipped"}


def review(cli: CliContext, limit: Limit = 20, cursor: Cursor = None) -> None:
    """Decide about what was learned in doubt.

    Shows each memory that is not confirmed, with your words and why it is in doubt, and asks: y
    keeps it, n forgets it, e corrects it, s skips it, q quits. No assistant is told of it before
    you keep it. In a pipe or with --json it prints the list and asks nothing.

    \b
    Examples:
      rem review
      rem review --json --limit 100
    """
    asks = not cli.json and sys.stdin.isatty() and sys.stdout.isatty()
    with cli.open_memory(embeds=asks) as me:
        if asks:
            _ask_about_each(Terminal(lambda: cli.zone), me)
            return
        found = _load_page(me, limit, cursor)
    cli.print_result(_to_json(found), lambda out: _print_page(out, found))


def _load_page(me: Memory, limit: int, cursor: str | None) -> Page[Record]:
    return me.list(status="unconfirmed", minimum_importance=0, limit=limit, cursor=cursor)


def _iter_unconfirmed(me: Memory) -> Iterator[Record]:
    cursor = None
    while True:
        page = _load_page(me, 20, cursor)
        yield from page.items
        if (cursor := page.cursor) is None:
            return


def _ask_about_each(out: Terminal, me: Memory) -> None:
    done = Counter[str]()
    choice = ""
    for record in out.separate(_iter_unconfirmed(me)):
        _print_doubtful(out, record)
        if (choice := _ask()) == "q":
            break
        done[OUTCOMES[choice]] += 1
        if (written := _carry_out(me, record, choice)) is not None:
            out.print_undo_hint(written.event)
    out.say(_summarise(done) if choice else NOTHING_TO_REVIEW)


def _summarise(done: Counter[str]) -> str:
    counts = ", ".join(f"{count} {name}" for name, count in done.items())
    return f"{counts}." if counts else "Nothing was changed."


def _ask() -> str:
    """The letter that the person typed, asked again until it is one of the choices."""
    while True:
        answer = str(typer.prompt(f"Keep it? ({CHOICES})")).strip().lower()[:1]
        if answer in (*OUTCOMES, "q"):
            return answer


def _carry_out(me: Memory, record: Record, choice: str) -> Written | None:
    match choice:
        case "y":
            return me.confirm(record.id)
        case "n":
            return me.forget(record.id)
        case "e":
            return me.update(record.id, typer.prompt("Corrected text"))
        case _:
            return None


def _print_page(out: Terminal, found: Page[Record]) -> None:
    if not found.items:
        out.say(NOTHING_TO_REVIEW)
        return
    for record in out.separate(found.items):
        _print_doubtful(out, record)
    out.print_blank_line()
    count = format_count(len(found.items), "memory is", "memories are")
    out.say(f"{count} not confirmed.")
    out.note('Keep: rem confirm ID · Forget: rem forget ID · Correct: rem update ID "…"')
    out.print_more_hint(found.cursor)


def _print_doubtful(out: Terminal, record: Record) -> None:
    print_entry(out, record)
    for one in record.evidence:
        if one.quote:
            out.note(f"You said: “{one.quote}”", indent=2)


def _to_json(found: Page[Record]) -> dict[str, Any]:
    from remembrancer.remember.doubt import describe_doubt

    items = [
        {
            "memory": record,
            "why": describe_doubt(record),
            "commands": {
                "keep": f"rem confirm {record.id}",
                "forget": f"rem forget {record.id}",
                "correct": f'rem update {record.id} "…"',
            },
        }
        for record in found.items
    ]
    return {"items": items, "cursor": found.cursor}
