"""`rem audit`: finds flaws in the data and, with --fix, repairs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Option

from remembrancer.cli import render
from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.options import Yes, confirm_or_abort
from remembrancer.cli.terminal import Terminal, format_count

if TYPE_CHECKING:
    from remembrancer.audit.repair import Repair
    from remembrancer.audit.report import Audit

SECRET = "secret"  # noqa: S105 - it is the name of a flaw
MAX_FINDINGS_SHOWN = 20
"""Findings shown per kind; --json prints all."""

TITLES = {
    "duplicate": "Duplicates: stored more than once",
    "stale": "Stale: not confirmed for a long time",
    "contradicting": "Contradicting: both cannot be true",
    "unsupported": "Unsupported: not based on anything you said",
    SECRET: "Secrets: should never have been stored",
    "orphan": "Orphans: belong to something that no longer exists",
    "misdated": "Misdated: a wrong clock put their versions out of order",
}
FIXES = {
    "forget": "--fix forgets it, and undo brings it back.",
    "expire": "--fix lets it expire, and undo brings it back.",
    "release": "--fix lets it be learned from again, and undo takes that back.",
    "redate": "--fix puts the dates in order, and undo takes that back.",
    "redact": "--fix --kind secret puts a clean version in its place, which cannot be undone.",
    "reembed": "rem reembed computes what is missing.",
}


def audit(
    cli: CliContext,
    kinds: Annotated[
        list[str] | None,
        Option(
            "--kind",
            metavar="NAME",
            help="Only duplicate, stale, contradicting, unsupported, secret, orphan or misdated; "
            "repeatable.",
        ),
    ] = None,
    fix: Annotated[bool, Option("--fix", help="Apply the fixes, after asking.")] = False,
    yes: Yes = False,
) -> None:
    """Find duplicates, contradictions and other flaws.

    Lists duplicate, stale, contradicting and unsupported memories, secrets, orphans and misdated
    versions, and how many of your memories are affected. --fix applies the fixes as one change that
    `rem undo` takes back. Secrets are removed only with --kind secret, which cannot be undone.
    Contradictions are for you to decide.

    \b
    Examples:
      rem audit
      rem audit --kind duplicate --fix
      rem audit --kind secret --fix --yes
    """
    with cli.open_memory() as me:
        found = me.audit(kinds)
        if not (fix and cli.json):
            cli.print_result(found, lambda out: _print_audit(out, found))
        if not fix:
            return
        question = "Fix what can be fixed?"
        if SECRET in (kinds or ()):
            question += " Destroying what holds a secret cannot be undone."
        confirm_or_abort(yes, question)
        done = me.repair(kinds)
    cli.print_result(
        {"audit": found, "repair": done}, lambda out: _print_repair(out, done, kinds or [])
    )


def _print_audit(out: Terminal, found: Audit) -> None:
    memories = format_count(found.memories, "active memory", "active memories")
    if not found.findings:
        out.say(f"Nothing is wrong with the {memories}.")
        return
    for kind, title in TITLES.items():
        _print_section(out, found, kind, title)
    out.print_heading(f"Affected, of {memories}")
    render.print_pairs(out, ((name, f"{rate:.1%}") for name, rate in found.rates.items()))


def _print_section(out: Terminal, found: Audit, kind: str, title: str) -> None:
    some = [one for one in found.findings if one.kind == kind]
    if not some:
        return
    out.print_heading(title)
    render.print_audit_findings(
        out,
        ((one.message, _format_ids(one.ids), one.fix or "") for one in some[:MAX_FINDINGS_SHOWN]),
    )
    if len(some) > MAX_FINDINGS_SHOWN:
        out.note(f"and {len(some) - MAX_FINDINGS_SHOWN} more; --json has all of them")
    for fix in dict.fromkeys(one.fix for one in some if one.fix is not None):
        out.note(f"{fix}: {FIXES[fix]}")


def _format_ids(ids: tuple[str, ...]) -> str:
    return " ".join([*ids[:3], *(["…"] if len(ids) > 3 else [])])


def _print_repair(out: Terminal, done: Repair, kinds: list[str]) -> None:
    out.print_blank_line()
    out.say(f"{format_count(len(done.fixed), 'finding was', 'findings were')} fixed.")
    out.print_undo_hint(done.event)
    if done.purge is not None:
        out.note("What held a secret is destroyed; that cannot be undone.")
    if SECRET not in kinds:
        out.note("Secrets are left as they are: rem audit --kind secret --fix")
