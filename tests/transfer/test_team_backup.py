"""M18, X9: backups and moves take along what a team knows, who said so, and the key that tells."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from remembrancer.engine import Remembrancer
from remembrancer.errors import Conflict
from remembrancer.store import dump
from remembrancer.team.service import ProposalOutcome
from remembrancer.testing import FakeEmbedder
from tests.support.full_memory import BRANCH, PORTS, fill_team, members, tables_in, teams

pytestmark = pytest.mark.feature("M18", "X9")

Fresh = Callable[[str], str]
OpenAt = Callable[..., Remembrancer]

FAR = {"sqlite": "postgres", "postgres": "sqlite"}
engines = pytest.mark.parametrize("engine", FAR)


@pytest.fixture
def open_team(open_at: OpenAt) -> OpenAt:
    """Open a store whose people may speak to a team."""
    return lambda place: open_at(place, profile="assistant")


def known(store: Remembrancer, tenant: str | None = None) -> Any:
    """All that anyone is told of a team, except the counts of what one installation refused."""
    review = store.review(tenant=tenant)
    recalled = store.for_user("eve", tenant=tenant).team(PORTS)
    return recalled, review.list(limit=100).items, replace(review.stats(), activity={})


def packed(store: Remembrancer, tmp_path: Path, name: str) -> dict[str, bytes]:
    return members(store.backup(tmp_path / f"{name}.zip").path)


@engines
def test_restored_into_an_empty_place_a_team_knows_what_it_knew(
    fresh: Fresh, open_team: OpenAt, fake_embedder: FakeEmbedder, tmp_path: Path, engine: str
) -> None:
    store = open_team(fresh(engine))
    fill_team(store, fake_embedder)
    fill_team(store, fake_embedder, tenant="elsewhere")
    store.review().change_settings(promote_at=3)
    backup = store.backup(tmp_path / "a.zip")

    empty = open_team(fresh(engine))
    restored = empty.restore_backup(backup.path)

    assert (backup.people, backup.teams, backup.team_facts) == (0, 2, 8)
    assert (restored.teams, restored.team_facts, restored.teams_present) == (2, 8, 0)
    assert store.verify_backup(backup.path) == backup
    assert packed(empty, tmp_path, "b") == members(backup.path)
    for tenant in ("home", "elsewhere"):
        assert known(empty, tenant) == known(store, tenant)
        assert [one.content for one in known(empty, tenant)[0]] == [PORTS]


@engines
def test_there_and_back_is_the_same_byte_by_byte_and_in_every_answer(
    fresh: Fresh, open_team: OpenAt, fake_embedder: FakeEmbedder, tmp_path: Path, engine: str
) -> None:
    first, far, home = open_team(fresh(engine)), fresh(FAR[engine]), fresh(engine)
    fill_team(first, fake_embedder)
    before = packed(first, tmp_path, "before")

    moved = first.move_to(far)
    middle = open_team(far)
    middle.move_to(home)
    last = open_team(home)
    again = first.move_to(home)

    (team,) = (text for name, text in before.items() if name.startswith("teams/"))
    assert tables_in(team) == {table.name for table in dump.TEAM_TABLES}
    assert packed(middle, tmp_path, "there") == before
    assert packed(last, tmp_path, "back") == before
    assert known(middle) == known(first)
    assert known(last) == known(first)
    assert (moved.teams, moved.team_facts, moved.teams_present) == (1, 4, 0)
    assert (again.teams, again.team_facts, again.teams_present, again.rows) == (0, 0, 1, 0)


@engines
def test_whoever_said_it_before_counts_once_afterwards_too(
    fresh: Fresh, open_team: OpenAt, tmp_path: Path, engine: str
) -> None:
    store = open_team(fresh(engine))
    store.for_user("ada").propose(PORTS)
    backup = store.backup(tmp_path / "a.zip").path
    other = open_team(fresh(FAR[engine]))
    other.for_user("ada").propose(BRANCH)  # so it has made a key of its own
    other.restore_backup(backup, replace=True)

    assert other.for_user("ada").propose(PORTS).verdict is ProposalOutcome.KNOWN
    assert other.for_user("bob").propose(PORTS).verdict is ProposalOutcome.APPROVED


@engines
def test_other_memories_of_a_team_are_kept_unless_they_are_to_be_replaced(
    fresh: Fresh, open_team: OpenAt, fake_embedder: FakeEmbedder, tmp_path: Path, engine: str
) -> None:
    store = open_team(fresh(engine))
    fill_team(store, fake_embedder)
    store.for_user("ada").remember("Ada lives in Bonn")
    backup = store.backup(tmp_path / "a.zip").path
    place = fresh(engine)
    other, reader = open_team(place), open_team(place)
    for name in ("ada", "bob"):
        other.for_user(name).propose(BRANCH)
    assert [one.content for one in reader.for_user("eve").team(BRANCH)] == [BRANCH]
    reader.flush()  # how often it was told is counted afterwards
    before = packed(other, tmp_path, "before")

    with pytest.raises(Conflict, match="The team of home has other memories here"):
        other.restore_backup(backup)
    assert packed(other, tmp_path, "refused") == before

    assert other.restore_backup(backup, replace=True).teams == 1
    assert teams(other.backup(tmp_path / "b.zip").path) == teams(backup)
    assert [one.content for one in reader.for_user("eve").team(PORTS)] == [PORTS], (
        "the index in memory has noticed"
    )


@engines
def test_a_team_that_knows_nothing_any_more_is_in_nobodys_way(
    fresh: Fresh, open_team: OpenAt, fake_embedder: FakeEmbedder, tmp_path: Path, engine: str
) -> None:
    store, other = open_team(fresh(engine)), open_team(fresh(engine))
    fill_team(store, fake_embedder)
    other.review().delete(str(other.for_user("ada").propose(BRANCH).fact_id))

    assert other.backup(tmp_path / "none.zip").teams == 0
    other.restore_backup(store.backup(tmp_path / "a.zip").path)
    assert known(other) == known(store)


KILLED = """
import itertools, os, signal, sys
from pathlib import Path
import remembrancer
from remembrancer.config import Settings
from remembrancer.transfer import archive

store = remembrancer.open(sys.argv[1], settings=Settings())
with archive.open_archive(Path(sys.argv[2])) as backup:
    (member,) = backup.members

    def breaking_off(rows):
        yield from itertools.islice(rows, member.rows * 3 // 4)
        os.kill(os.getpid(), signal.SIGKILL)

    with backup.read_rows(member) as rows:
        store._store.load_team(backup.read_data_owner(member), breaking_off(rows), replace=True)
"""


@engines
@pytest.mark.parametrize("occupied", [False, True])
def test_killed_in_the_middle_nothing_of_the_team_is_there_and_all_of_it_when_done_again(
    fresh: Fresh, open_team: OpenAt, tmp_path: Path, engine: str, occupied: bool
) -> None:
    store = open_team(fresh("sqlite"))
    for number in range(100):
        store.for_user("ada").propose(f"The build step number {number} is the one to look at.")
    backup = store.backup(tmp_path / "a.zip").path
    place = fresh(engine)
    target = open_team(place)
    if occupied:
        target.for_user("ada").propose(BRANCH)
    before = teams(target.backup(tmp_path / "before.zip").path)

    command = [sys.executable, "-c", KILLED, place, str(backup)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == -signal.SIGKILL, done.stderr
    assert len(before) == occupied
    assert teams(target.backup(tmp_path / "half.zip").path) == before
    assert target.restore_backup(backup, replace=True).team_facts == 100
    assert teams(target.backup(tmp_path / "whole.zip").path) == teams(backup)


def test_progress_counts_teams_too(
    fresh: Fresh, open_team: OpenAt, fake_embedder: FakeEmbedder, tmp_path: Path
) -> None:
    store = open_team(fresh("sqlite"))
    fill_team(store, fake_embedder)
    store.for_user("ada").remember("Ada lives in Bonn")
    told: list[tuple[int, int]] = []

    store.backup(tmp_path / "a.zip", progress=lambda done, total: told.append((done, total)))

    assert told == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
