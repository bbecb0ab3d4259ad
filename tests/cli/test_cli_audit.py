"""`rem audit` reports and repairs; `rem simulate` looks ahead, in words and as a picture."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import remembrancer
from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.ids import new_id
from remembrancer.memory import Memory
from remembrancer.store.contract import Insert
from remembrancer.types import Action, Fact

Run = Callable[..., Any]
DAY = timedelta(days=1)
SECRET = "hunter2hunter2"
SCRIPT = Path(sys.executable).with_name("rem")


@pytest.fixture
def me(shelf: Remembrancer) -> Memory:
    return shelf.for_user()


@pytest.fixture
def leaky(me: Memory) -> Fact:
    """A fact with a secret in it, as an old import would have left it."""
    call = me._call
    now = call.now()
    fact = Fact(
        id=new_id("fact", now),
        content=f"The wifi password is {SECRET}.",
        importance=5.0,
        category="fact",
        valid_from=now,
        recorded_at=now,
        confirmed_at=now,
    )
    with call.store.open_writer(call.owner) as writer:
        insert = Insert(fact, call.embed("The wifi password is not told."))
        writer.apply(call.new_event(Action.REMEMBERED, now), [insert])
    return fact


@pytest.fixture
def flawed(me: Memory) -> str:
    """A memory that was concluded from nothing; its id."""
    me.remember("The boat is red.")
    return me.remember("Ada likes green boats.", source="extracted").memory.id


def test_an_audit_of_what_is_fine_says_so(rem: Run, ask: Run) -> None:
    assert rem("audit").stdout == "Nothing is wrong with the 0 active memories.\n"
    rem("remember", "The boat is red.")
    assert rem("audit").stdout == "Nothing is wrong with the 1 active memory.\n"
    assert ask("audit")["findings"] == []


def test_findings_are_shown_in_tables_with_rates_and_it_is_still_a_success(
    rem: Run, flawed: str, leaky: Fact
) -> None:
    told = rem("audit").stdout

    assert "Unsupported: not based on anything you said" in told
    assert "“Ada likes green boats.” was extracted, but it cites no turn" in " ".join(told.split())
    assert flawed in told
    assert "forget: --fix forgets it, and undo brings it back." in told
    assert "Secrets: should never have been stored" in told
    assert SECRET not in told
    assert "Affected, of 3 active memories" in told
    assert [line.split() for line in told.splitlines()[-8:]] == [
        ["duplicate", "0.0%"],
        ["stale", "0.0%"],
        ["contradicting", "0.0%"],
        ["unsupported", "33.3%"],
        ["secret", "33.3%"],
        ["orphan", "0.0%"],
        ["misdated", "0.0%"],
        ["junk", "33.3%"],
    ]


def test_kind_narrows_and_an_unknown_one_is_a_mistake(rem: Run, ask: Run, flawed: str) -> None:
    assert ask("audit", "--kind", "duplicate", "--kind", "stale")["findings"] == []
    (found,) = ask("audit", "--kind", "unsupported")["findings"]
    assert (found["kind"], found["ids"], found["fix"]) == ("unsupported", [flawed], "forget")
    assert "use one of" in rem("audit", "--kind", "ugly", code=2).stderr


def test_fixing_needs_a_yes_where_nobody_can_be_asked(rem: Run, me: Memory, flawed: str) -> None:
    told = rem("audit", "--fix", code=2)
    assert "--yes" in told.stderr
    assert me.get(flawed).status == "active"


def test_fixing_names_the_event_that_undo_takes(rem: Run, me: Memory, flawed: str) -> None:
    told = rem("audit", "--fix", "--yes").stdout
    assert "1 finding was fixed." in told
    assert me.get(flawed).status == "forgotten"
    (line,) = [one for one in told.splitlines() if one.startswith("Undo: ")]
    rem(*line.removeprefix("Undo: rem ").split())
    assert me.get(flawed).status == "active"


def test_secrets_are_left_unless_they_are_named(rem: Run, me: Memory, leaky: Fact) -> None:
    told = rem("audit", "--fix", "--yes").stdout
    assert "rem audit --kind secret --fix" in told
    assert me.get(leaky.id).content == leaky.content

    told = rem("audit", "--kind", "secret", "--fix", "--yes").stdout
    assert "cannot be undone" in told
    assert SECRET not in str(me.list().items)


def test_fixing_answers_with_one_json_document(ask: Run, flawed: str) -> None:
    told = ask("audit", "--fix", "--yes")
    assert [one["ids"] for one in told["repair"]["fixed"]] == [[flawed]]
    assert told["repair"]["event"]["action"] == "repaired"
    assert told["repair"]["purge"] is None
    assert told["audit"]["rates"]["junk"] == 0.5


@pytest.fixture
def place(tmp_path: Path) -> Path:
    where = tmp_path / "memory"
    with remembrancer.open(where) as store:
        store.for_user("me").remember("Ada likes green boats.", source="extracted")
    return where


@pytest.mark.parametrize(("answer", "code", "status"), [("y", 0, "forgotten"), ("n", 1, "active")])
def test_on_a_terminal_it_asks_once(
    place: Path, home: dict[str, str], answer: str, code: int, status: str
) -> None:
    terminal, theirs = pty.openpty()
    os.write(terminal, f"{answer}\n".encode())
    done = subprocess.run(
        [str(SCRIPT), "audit", "--fix", "--store", str(place)],
        stdin=theirs,
        capture_output=True,
        env=home,
        timeout=60,
        check=False,
    )
    os.close(terminal)
    os.close(theirs)

    assert done.returncode == code, done.stderr
    assert done.stderr.count(b"Fix what can be fixed?") == 1
    with remembrancer.open(place) as store:
        page = store.for_user("me").list(status=status)
    assert [one.content for one in page.items] == ["Ada likes green boats."]


def test_looking_ahead_shows_the_next_dates_and_three_curves(
    rem: Run, me: Memory, clock: ManualClock
) -> None:
    me.remember("Lunch is at one.", permanence="ephemeral")
    me.remember("The fair is on.", ttl_days=10)
    me.remember("Her name is Ada.", permanence="permanent")

    told = rem("simulate", "--days", "40").stdout.splitlines()

    assert told[0] == "Until 11 Apr 2026, if nobody confirms anything:"
    assert [line.split("  ", 1)[1].strip() for line in told[2:5]] == [
        "expires: The fair is on.",
        "fades: Lunch is at one.",
        "expires: Lunch is at one.",
    ]
    assert told[2].startswith("12 Mar 2026")
    curves = {line.split()[0]: line for line in told[6:9]}
    assert set(curves) == {"recalled", "fading", "expired"}
    assert curves["recalled"].startswith("recalled 3 █")
    assert curves["recalled"].endswith(" 1")
    assert curves["expired"].endswith(" 2")
    assert max(map(len, told)) <= 88
    assert [one.status for one in me.list().items] == ["active"] * 3


def test_the_limit_says_how_many_dates_are_shown(rem: Run, me: Memory) -> None:
    for number in range(5):
        me.remember(f"Fact number {number} of some.", kind="rule", ttl_days=number + 1)

    told = rem("simulate", "--limit", "2").stdout

    assert told.count("expires: ") == 2
    assert "and 3 more; --limit shows them" in told


def test_nothing_to_come_is_said(rem: Run, me: Memory) -> None:
    me.remember("Her name is Ada.", permanence="permanent")
    assert rem("simulate").stdout.startswith("Nothing fades or expires until 2 Mar 2027.")


def test_the_simulation_as_json_has_dates_and_a_day_for_each_day(ask: Run, me: Memory) -> None:
    lunch = me.remember("Lunch is at one.", permanence="ephemeral").memory

    told = ask("simulate", "--days", "30")

    (forecast,) = told["forecasts"]
    assert forecast["id"] == lunch.id
    assert forecast["fades_at"].startswith("2026-03-18")
    assert len(told["series"]) == 31
    assert told["series"][-1] | {"at": ""} == {"at": "", "recalled": 0, "fading": 0, "expired": 1}


def test_the_plot_is_a_picture_of_three_curves(rem: Run, me: Memory, tmp_path: Path) -> None:
    me.remember("Lunch is at one.", permanence="ephemeral")
    file = tmp_path / "fading.svg"

    assert f"Drawn into {file}" in rem("simulate", "--plot", str(file)).stdout

    root = ET.fromstring(file.read_text("utf-8"))
    names = [one.tag.rpartition("}")[2] for one in root.iter()]
    assert names.count("polyline") == 3
    assert "prefers-color-scheme: dark" in file.read_text("utf-8")
    curves = [one for one in root.iter() if one.tag.endswith("polyline")]
    assert all(len(one.attrib["points"].split()) == 366 for one in curves)


def test_a_picture_that_cannot_be_written_is_a_mistake(rem: Run, tmp_path: Path) -> None:
    told = rem("simulate", "--plot", str(tmp_path / "no" / "where.svg"), code=2)
    assert "cannot be written" in told.stderr


def test_days_must_make_sense(rem: Run) -> None:
    error = json.loads(rem("--json", "simulate", "--days", "0", code=2).stdout)["error"]
    assert error["message"] == "The days must be from 1 to 3660."
