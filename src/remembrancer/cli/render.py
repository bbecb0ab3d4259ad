"""Prints explanations, details, histories, counts and settings as tables.

Rich is imported on first use, as most verbs print no table.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import typer

from remembrancer.cli.terminal import Terminal, escape_controls, format_count, shorten

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from remembrancer.maintenance.runner import ScheduledJob
    from remembrancer.types import Event, History, Recalled, Record, Stats, Why


def print_explanation(out: Terminal, recalled: Recalled) -> None:
    """Print why a memory was recalled, with every number of its score."""
    from remembrancer.remember.provenance import describe_provenance, trace_provenance

    why = recalled.why
    source = why.provenance or trace_provenance(recalled.memory)
    age = format_count(round(why.age_days), "day")
    parts = " + ".join(f"{name} {value:.4f}" for name, value in why.parts.items())
    rows = [
        ("score", f"{recalled.score:.4f} = {parts}  ({why.recipe})"),
        ("by meaning", _format_rank(why.semantic_rank, "similarity", why.similarity)),
        ("by words", _format_rank(why.keyword_rank, "bm25", why.bm25)),
        ("normalised", ", ".join(f"{name} {value:.4f}" for name, value in why.normalised.items())),
        ("confidence", f"{_format_confidence(why)} after {age}"),
        ("passed", "; ".join(why.filters)),
        ("source", describe_provenance(source)),
        ("conversation", source.session_id or ""),
        *(("evidence", f"“{one.quote}” ({one.turn_id})") for one in why.evidence),
        *(("episode", one) for one in source.episodes),
    ]
    print_pairs(out, rows, indent=2)


def _format_confidence(why: Why) -> str:
    if why.confidence == why.effective_confidence:
        return f"{why.confidence:.2f}"
    return f"{why.confidence:.2f}, faded to {why.effective_confidence:.2f},"


def print_memory(out: Terminal, record: Record) -> None:
    """Print all details of one memory."""
    from remembrancer.remember.provenance import (
        EPISODES_KEY,
        describe_provenance,
        trace_provenance,
    )
    from remembrancer.text_format import describe_surface

    source = trace_provenance(record)
    about = filter(None, (_get_text(record, "subject"), _get_text(record, "predicate")))
    rows = [
        ("status", str(record.status)),
        ("true", _format_validity(out, record)),
        ("recorded", out.format_time(record.recorded_at)),
        ("source", f"{describe_provenance(source)}, {describe_surface(record.surface)}"),
        ("confirmed", out.format_time(record.confirmed_at)),
        ("expires", out.format_time(record.expires_at) if record.expires_at else ""),
        ("confidence", f"{record.confidence:.2f}, {record.permanence}"),
        ("importance", f"{record.importance:g}"),
        ("about", " ".join(about)),
        ("summary", _get_text(record, "summary")),
        ("body", _get_text(record, "body")),
        ("scope", record.scope),
        ("recalled", _format_recall_count(out, record)),
        ("replaces", record.supersedes or ""),
        ("conversation", record.session_id or ""),
        *((name, str(value)) for name, value in record.metadata.items() if name != EPISODES_KEY),
        *(("evidence", f"“{one.quote}” ({one.turn_id})") for one in record.evidence),
        *(("episode", one) for one in source.episodes),
    ]
    print_pairs(out, rows)


def print_history(out: Terminal, history: History) -> None:
    """Print the versions of a memory, their events, uses and links."""
    for number, version in enumerate(history.versions, 1):
        out.say(f"{number}  {shorten(version.content, out.width - 3)}")
        out.note(f"{version.status} · true {_format_validity(out, version)}", indent=3)
        out.note(version.id, indent=3)
    out.print_heading("What happened")
    print_events(out, history.events)
    # That a version supersedes another is shown above, by their order.
    links = [one for one in history.links if one.relation != "supersedes"]
    if history.applications:
        out.print_heading("How it worked")
        for used in history.applications:
            out.say(f"{used.verdict}, {out.format_time(used.applied_at)}")
            if used.reason is not None:
                out.note(used.reason, indent=2)
    if links:
        out.print_heading("Linked")
        print_pairs(
            out, ((one.relation.replace("_", " "), f"{one.source} → {one.target}") for one in links)
        )


def print_events(out: Terminal, events: Sequence[Event]) -> None:
    """Print events in the given order."""
    lines = _build_table()
    for event in events:
        lines.add_row(_text(out.format_time(event.at), "dim"), _format_event(event))
    _print(out, lines)


def print_schedule(out: Terminal, jobs: Iterable[ScheduledJob]) -> None:
    """Print when each job runs, ran last and is next due."""
    lines = _build_table()
    for one in jobs:
        last = out.format_time(one.finished_at) if one.finished_at else "never"
        due = out.format_time(one.due_at) if one.due_at else "off"
        lines.add_row(
            _text(one.job),
            _text(one.cron or "off", "dim"),
            _text(f"last {last}"),
            _text(f"next {due}"),
        )
    _print(out, lines)


def print_stats(out: Terminal, stats: Stats) -> None:
    """Print the counts of memories and of those that fade or expire."""
    if not stats.by_kind:
        out.say("No memories yet.")
        out.note("Try: rem remember “Keep answers short, code first.”")
        return
    active = sum(kind.get("active", 0) for kind in stats.by_kind.values())
    out.say(f"{format_count(active, 'memory', 'memories')} in force.")
    out.print_blank_line()
    rows = [
        *((f"{kind}s", format_counts(found)) for kind, found in stats.by_kind.items()),
        ("categories", format_counts(stats.by_category)),
        ("permanence", format_counts(stats.by_permanence)),
        ("scopes", format_counts(stats.by_scope)),
        ("fading", f"{stats.fading} too uncertain to be recalled; confirm or forget them"),
        ("expiring", f"{stats.expiring} within seven days"),
        ("backlog", f"{stats.backlog} episodes to learn from"),
        ("events", str(stats.events)),
    ]
    print_pairs(out, rows)


def print_candidates(candidates: Sequence[Record]) -> None:
    """Print the memories that a reference can mean, on stderr."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(stderr=True, highlight=False, soft_wrap=not sys.stderr.isatty())
    table = Table.grid(padding=(0, 2))
    for one in candidates:
        table.add_row(Text(one.id, style="dim", no_wrap=True), Text(shorten(one.content)))
    console.print(table)


def print_checks(out: Terminal, rows: Iterable[tuple[str, str, str]]) -> None:
    """Print a line per check: level, name and sentence."""
    signs = {"ok": ("✓", "dim"), "warning": ("!", "bold"), "problem": ("✗", "bold")}
    lines = _build_table()
    for level, name, sentence in rows:
        sign, style = signs[level]
        words = sentence if level == "ok" else f"{level.capitalize()}: {sentence}"
        lines.add_row(_text(f"{sign} {name}", style), _text(escape_controls(words)))
    _print(out, lines)


def print_audit_findings(out: Terminal, rows: Iterable[tuple[str, str, str]]) -> None:
    """Print a line per finding: the flaw, the memories and the fix."""
    from rich.table import Table

    lines = Table.grid(padding=(0, 2))
    lines.add_column(overflow="fold", ratio=1)
    lines.add_column(no_wrap=True)
    for sentence, ids, fix in rows:
        text = _text(escape_controls(sentence)).append(f"\n{escape_controls(ids)}", "dim")
        lines.add_row(text, _text(fix, "bold"))
    _print(out, lines)


def print_diff(out: Terminal, lines: Iterable[str]) -> None:
    """Print lines that begin with + in green and those with - in red."""
    from rich.console import Console

    for line in lines:
        # Further lines of an entry are indented below its sign.
        entry = "\n  ".join(escape_controls(line).splitlines())
        if out.is_terminal:
            colour = {"+": "green", "-": "red"}.get(line[:1], "")
            Console(highlight=False, width=out.width).print(_text(entry, colour))
        else:
            out.say(entry)


def print_settings(out: Terminal, rows: Iterable[tuple[str, str, str]]) -> None:
    """Print a line per setting: name, value and meaning."""
    lines = _build_table()
    for name, value, meaning in rows:
        dim = _text("").append(escape_controls(meaning), "dim")
        lines.add_row(_text(escape_controls(name)), _text(escape_controls(value)), dim)
    _print(out, lines)


def _format_event(event: Event) -> Text:
    by = f" by {event.agent}" if event.agent else ""
    line = _text(f"{event.action}{escape_controls(by)}, {event.surface}")
    touched = len({change.memory_id for change in event.changes})
    if touched > 1:
        line.append(f", {touched} memories")
    if event.note is not None:
        line.append(f": {escape_controls(event.note)}")
    if event.undoes is not None:
        line.append(f", took back {event.undoes}")
    if event.undone_by is not None:
        line.append(", taken back since")
    return line.append(f"\n{event.id}", "dim")


def _format_validity(out: Terminal, record: Record) -> str:
    since = f"since {out.format_date(record.valid_from)}"
    return f"{since} until {out.format_date(record.valid_until)}" if record.valid_until else since


def _format_recall_count(out: Terminal, record: Record) -> str:
    if record.recalled_at is None:
        return "never"
    times = "once" if record.recall_count == 1 else f"{record.recall_count} times"
    return f"{times}, last {out.format_time(record.recalled_at)}"


def _format_rank(rank: int | None, name: str, value: float | None) -> str:
    if rank is None:
        return "not found"
    return f"rank {rank}, {name} {value:.3f}" if value is not None else f"rank {rank}"


def _get_text(record: object, name: str) -> str:
    return str(getattr(record, name, None) or "")


def format_counts(counts: Mapping[str, int]) -> str:
    """Numbers with their names: `3 active, 1 forgotten`."""
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def print_pairs(out: Terminal, rows: Iterable[tuple[str, str]], indent: int = 0) -> None:
    """Print names and values; rows without a value are skipped."""
    from rich.padding import Padding

    table = _build_table()
    for name, value in rows:
        if value:
            table.add_row(_text(name, "dim"), _text(escape_controls(value)))
    _print(out, Padding(table, (0, 0, 0, indent)))


def _text(text: str, style: str = "") -> Text:
    from rich.text import Text

    return Text(text, style)


def _build_table() -> Table:
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    return table


def _print(out: Terminal, what: RenderableType) -> None:
    """Print without the trailing spaces of table cells."""
    from rich.console import Console

    console = Console(highlight=False, width=out.width)
    with console.capture() as captured:
        console.print(what)
    for line in captured.get().splitlines():
        typer.echo(line.rstrip())
