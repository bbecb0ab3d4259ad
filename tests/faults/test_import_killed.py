"""An import that is killed at any moment and begun again: everything is there once, in order.

`REM_LONG=1` kills forty times on each engine instead of a few.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path

import remembrancer
from remembrancer import config
from remembrancer.config import Settings
from remembrancer.engine import Remembrancer
from remembrancer.testing import FakeEmbedder
from remembrancer.types import Action
from tests.support.processes import forked

LONG = bool(os.environ.get("REM_LONG"))
KILLS = 40 if LONG else 2
TALKS, TURNS, FACTS = 20, 8, 40
ALL = FACTS + TALKS * TURNS
STEP = 20
WINDOW_SECONDS = 0.05
PATIENCE_SECONDS = 60


def opened(place: str, tenant: str) -> Remembrancer:
    settings = Settings.model_validate({"tenant": tenant, "user": "ada"})
    return remembrancer.open(
        settings=config.set_store_location(settings, place), embedder=FakeEmbedder()
    )


def written(path: Path) -> Path:
    rows = [{"content": f"Locker {number} holds bag {number * 7}."} for number in range(FACTS)]
    turns = [
        {"role": "user", "content": f"Turn {turn} of talk {talk}.", "session": f"talk {talk}"}
        for talk in range(TALKS)
        for turn in range(TURNS)
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in [*rows, *turns]), "utf-8")
    return path


def bring_in(place: str, tenant: str, path: Path, line: Connection) -> None:
    """What the other process does until it is killed."""
    from remembrancer.transfer import import_pipeline

    import_pipeline.BATCH_SIZE = STEP
    with opened(place, tenant) as store:
        me = store.for_user("ada")
        line.send(0)
        me.import_from(path, learn=False, progress=lambda done, _: line.send(done))
    line.send(ALL + 1)


def waited(line: Connection, until: int) -> None:
    """Wait until the other process says that it has come so far."""
    done = -1
    while done < until:
        assert line.poll(PATIENCE_SECONDS)
        done = line.recv()


def killed(place: str, tenant: str, path: Path, chance: random.Random) -> None:
    """Let another process bring in a part of it."""
    ours, theirs = forked.Pipe()
    process = forked.Process(target=bring_in, args=(place, tenant, path, theirs))
    process.start()
    theirs.close()
    waited(ours, chance.randrange(ALL))
    time.sleep(chance.uniform(0, WINDOW_SECONDS))
    process.kill()  # unless it was faster
    process.join()


def test_an_import_that_is_killed_goes_on_and_nothing_comes_twice(
    place: str, tenant: str, tmp_path: Path
) -> None:
    path, chance, amid = written(tmp_path / "rows.jsonl"), random.Random(), 0
    for _ in range(KILLS):
        killed(place, tenant, path, chance)
        with opened(place, tenant) as store:
            there = store.for_user("ada").stats().by_kind
            count = sum(sum(one.values()) for one in there.values())
        amid += 0 < count < ALL
    with opened(place, tenant) as store:
        me = store.for_user("ada")
        done = me.import_from(path, learn=False)
        assert done.memories + done.turns + done.present == ALL
        again = me.import_from(path, learn=False)
        assert (again.memories, again.turns) == (0, 0)

        facts = Counter(one.content for one in me.list(kinds=["fact"], limit=1000).items)
        assert facts == Counter(f"Locker {n} holds bag {n * 7}." for n in range(FACTS))
        sessions = {one.title: one.id for one in me.sessions(limit=1000).items}
        assert sessions.keys() == {f"talk {talk}" for talk in range(TALKS)}
        for talk in range(TALKS):
            turns = me.turns(sessions[f"talk {talk}"])
            assert [one.position for one in turns] == [*range(TURNS)]
            assert [one.content for one in turns] == [
                f"Turn {turn} of talk {talk}." for turn in range(TURNS)
            ]
        steps = [one for one in me.activity(limit=500).items if one.action is Action.IMPORTED]
        assert sum(len(one.changes) for one in steps) == ALL
        with store._store.open_reader(me.principal.owner) as reader:
            assert reader.list_unembedded("fake", 1) == [], "what is there can be found"
    print(f"{amid} of {KILLS} kills came when some of it was there")
    assert amid or not LONG, "kill it later"


def test_two_who_bring_in_the_same_at_once_bring_it_once(
    place: str, tenant: str, tmp_path: Path
) -> None:
    path = written(tmp_path / "rows.jsonl")
    lines, workers = [], []
    with opened(place, tenant) as store:
        store.for_user("ada").remember("There is someone here.")
    for _ in range(2):
        ours, theirs = forked.Pipe()
        workers.append(forked.Process(target=bring_in, args=(place, tenant, path, theirs)))
        workers[-1].start()
        lines.append(ours)
    for line in lines:
        waited(line, ALL + 1)
    for worker in workers:
        worker.join()
    with opened(place, tenant) as store:
        me = store.for_user("ada")
        assert len(me.list(kinds=["fact"], limit=1000).items) == FACTS + 1
        assert sum(me.count_turns(one.id) for one in me.sessions(limit=1000).items) == TALKS * TURNS
