"""What does not fit into a sentence: explanations, lives, counts and choices as quiet tables."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import typer
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from remembrancer.cli.console import Page, safe, short

if TYPE_CHECKING:
    from remembrancer.maintenance.runner import Scheduled
    from remembrancer.types import Event, Fact, History, Recalled, Record, Stats, Why


def reasons(page: Page, recalled: Recalled) -> None:
    """Why a memory was recalled."""
    why = recalled.why
    parts = " + ".join(f"{name} {value:.4f}" for name, value in why.parts.items())
    rows = [
        ("score", f"{recalled.score:.4f} = {parts}  ({why.recipe})"),
        ("by meaning", _rank(why.semantic_rank, "similarity", why.similarity)),
        ("by words", _rank(why.keyword_rank, "bm25", why.bm25)),
        ("normalised", ", ".join(f"{name} {value:.4f}" for name, value in why.normalised.items())),
        ("confidence", f"{_faded(why)} after {_days(why.age_days)}"),
        ("passed", "; ".join(why.filters)),
        *(("evidence", f"“{one.quote}” ({one.turn_id})") for one in why.evidence),
    ]
    _grid(page, rows, indent=2)


def _faded(why: Why) -> str:
    if why.confidence == why.effective_confidence:
        return f"{why.confidence:.2f}"
    return f"{why.confidence:.2f}, faded to {why.effective_confidence:.2f},"


def particulars(page: Page, record: Record) -> None:
    """All that is known about one memory."""
    by = f"{record.agent} on {record.surface}" if record.agent else record.surface
    fact: Fact | Record = record
    rows = [
        ("status", str(record.status)),
        ("true", _span(page, record)),
        ("recorded", page.time(record.recorded_at)),
        ("by", f"{record.source}, through {by}"),
        ("confirmed", page.time(record.confirmed_at)),
        ("expires", page.time(record.expires_at) if record.expires_at else ""),
        ("confidence", f"{record.confidence:.2f}, {record.permanence}"),
        ("importance", f"{record.importance:g}"),
        ("about", " ".join(filter(None, (_text(fact, "subject"), _text(fact, "predicate"))))),
        ("summary", _text(fact, "summary")),
        ("body", _text(fact, "body")),
        ("scope", record.scope),
        ("recalled", _times(page, record)),
        ("replaces", record.supersedes or ""),
        ("conversation", record.session_id or ""),
        *((name, str(value)) for name, value in record.metadata.items()),
        *(("evidence", f"“{one.quote}” ({one.turn_id})") for one in record.evidence),
    ]
    _grid(page, rows)


def life(page: Page, history: History) -> None:
    """The versions of a memory, what happened to them, and what they are linked to."""
    for number, version in enumerate(history.versions, 1):
        page.say(f"{number}  {short(version.content, page.width - 3)}")
        page.note(f"{version.status} · true {_span(page, version)}", indent=3)
        page.note(version.id, indent=3)
    page.heading("What happened")
    happenings(page, history.events)
    # That a version supersedes another is shown above, by their order.
    links = [one for one in history.links if one.relation != "supersedes"]
    if history.applications:
        page.heading("How it worked")
        for used in history.applications:
            page.say(f"{used.verdict}, {page.time(used.applied_at)}")
            if used.reason is not None:
                page.note(used.reason, indent=2)
    if links:
        page.heading("Linked")
        _grid(page, [(_spaced(one.relation), f"{one.source} → {one.target}") for one in links])


def happenings(page: Page, events: Sequence[Event]) -> None:
    """Events in the order they are given."""
    lines = _table()
    for event in events:
        lines.add_row(Text(page.time(event.at), style="dim"), _happened(event))
    _print(page, lines)


def schedule(page: Page, jobs: Iterable[Scheduled]) -> None:
    """When each job runs, when it was done last and when it is next due."""
    lines = _table()
    for one in jobs:
        last = page.time(one.finished_at) if one.finished_at else "never"
        due = page.time(one.due_at) if one.due_at else "off"
        lines.add_row(
            Text(one.job),
            Text(one.cron or "off", style="dim"),
            Text(f"last {last}"),
            Text(f"next {due}"),
        )
    _print(page, lines)


def counts(page: Page, stats: Stats) -> None:
    """How many of what, and how they are doing."""
    if not stats.by_kind:
        page.say("Nothing is remembered yet.")
        page.note("Try: rem remember “Keep answers short, code first.”")
        return
    active = sum(kind.get("active", 0) for kind in stats.by_kind.values())
    page.say(f"{active} {'memory' if active == 1 else 'memories'} in force.")
    page.gap()
    rows = [
        *((f"{kind}s", _listed(found)) for kind, found in stats.by_kind.items()),
        ("categories", _listed(stats.by_category)),
        ("permanence", _listed(stats.by_permanence)),
        ("scopes", _listed(stats.by_scope)),
        ("fading", f"{stats.fading} too uncertain to be recalled; confirm or forget them"),
        ("expiring", f"{stats.expiring} within seven days"),
        ("backlog", f"{stats.backlog} episodes to learn from"),
        ("events", str(stats.events)),
    ]
    _grid(page, rows)


def choices(candidates: Sequence[Record]) -> None:
    """The memories that were possibly meant, for the error stream."""
    console = Console(stderr=True, highlight=False, soft_wrap=not sys.stderr.isatty())
    table = Table.grid(padding=(0, 2))
    for one in candidates:
        table.add_row(Text(one.id, style="dim", no_wrap=True), Text(short(one.content)))
    console.print(table)


def findings(page: Page, rows: Iterable[tuple[str, str, str]]) -> None:
    """Lines of level, name and sentence."""
    signs = {"ok": ("✓", "dim"), "warning": ("!", "bold"), "problem": ("✗", "bold")}
    lines = _table()
    for level, name, sentence in rows:
        sign, style = signs[level]
        words = sentence if level == "ok" else f"{level.capitalize()}: {sentence}"
        lines.add_row(Text(f"{sign} {name}", style=style), Text(safe(words)))
    _print(page, lines)


def flaws(page: Page, rows: Iterable[tuple[str, str, str]]) -> None:
    """Lines of what is wrong, with which memories, and what could be done about it."""
    lines = Table.grid(padding=(0, 2))
    lines.add_column(overflow="fold", ratio=1)
    lines.add_column(no_wrap=True)
    for sentence, ids, fix in rows:
        told = Text(safe(sentence)).append(f"\n{safe(ids)}", style="dim")
        lines.add_row(told, Text(fix, style="bold"))
    _print(page, lines)


def diff(page: Page, lines: Iterable[str]) -> None:
    """Lines that begin with what becomes of them: + is new and green, - is gone and red."""
    for line in lines:
        # What goes on in further lines belongs to the sign before it.
        told = "\n  ".join(safe(line).splitlines())
        if page.is_terminal:
            Console(highlight=False, width=page.width).print(
                Text(told, style={"+": "green", "-": "red"}.get(line[:1], ""))
            )
        else:
            page.say(told)


def pairs(page: Page, rows: Iterable[tuple[str, str]]) -> None:
    """Names and what there is to say about each."""
    _grid(page, rows)


def settings(page: Page, rows: Iterable[tuple[str, str, str]]) -> None:
    """Names, values, and what each does."""
    lines = _table()
    for name, value, meaning in rows:
        dim = Text().append(safe(meaning), style="dim")
        lines.add_row(Text(safe(name)), Text(safe(value)), dim)
    _print(page, lines)


def _happened(event: Event) -> Text:
    by = f" by {event.agent}" if event.agent else ""
    line = Text(f"{event.action}{safe(by)}, {event.surface}")
    touched = len({change.memory_id for change in event.changes})
    if touched > 1:
        line.append(f", {touched} memories")
    if event.note is not None:
        line.append(f": {safe(event.note)}")
    if event.undoes is not None:
        line.append(f", took back {event.undoes}")
    if event.undone_by is not None:
        line.append(", taken back since")
    return line.append(f"\n{event.id}", style="dim")


def _span(page: Page, record: Record) -> str:
    since = f"since {page.date(record.valid_from)}"
    return f"{since} until {page.date(record.valid_until)}" if record.valid_until else since


def _times(page: Page, record: Record) -> str:
    if record.recalled_at is None:
        return "never"
    times = "once" if record.recall_count == 1 else f"{record.recall_count} times"
    return f"{times}, last {page.time(record.recalled_at)}"


def _rank(rank: int | None, name: str, value: float | None) -> str:
    if rank is None:
        return "not found"
    return f"rank {rank}, {name} {value:.3f}" if value is not None else f"rank {rank}"


def _days(days: float) -> str:
    return f"{days:.0f} {'day' if round(days) == 1 else 'days'}"


def _text(record: object, name: str) -> str:
    return str(getattr(record, name, None) or "")


def _listed(found: object) -> str:
    assert isinstance(found, dict)
    return ", ".join(f"{count} {name}" for name, count in found.items())


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _grid(page: Page, rows: Iterable[tuple[str, str]], indent: int = 0) -> None:
    """Names and values; what has no value is left out."""
    table = _table()
    for name, value in rows:
        if value:
            table.add_row(Text(name, style="dim"), Text(safe(value)))
    _print(page, Padding(table, (0, 0, 0, indent)))


def _table() -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    return table


def _print(page: Page, what: RenderableType) -> None:
    """Print without the spaces that fill a table's lines to its width."""
    console = Console(highlight=False, width=page.width)
    with console.capture() as captured:
        console.print(what)
    for line in captured.get().splitlines():
        typer.echo(line.rstrip())
