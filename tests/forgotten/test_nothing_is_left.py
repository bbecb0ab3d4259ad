"""X2, X4: what a person forgets or deletes is gone after its days in the trash, to the last byte."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from remembrancer.clock import ManualClock
from remembrancer.maintenance.runner import JOB_NAMES
from tests.forgotten.canaries import plant_all
from tests.support.files import bytes_of
from tests.support.opening import Open

pytestmark = pytest.mark.feature("X2", "X4")

TRASH = timedelta(days=31)


def test_forgetting_everything_and_waiting_leaves_no_word(
    open_memory: Open, place: str, clock: ManualClock, tmp_path: Path
) -> None:
    store = open_memory("assistant")
    canary = plant_all(store, tmp_path)
    me = store.for_user("ada")
    before = canary.find_in(bytes_of(place))
    print(len(canary.places), sorted(set(canary.places.values()) - set(before)))

    me.forget_all()
    me.delete_all()
    clock.advance(TRASH)
    for name in JOB_NAMES:
        if name != "backup":
            store.run_job(name)

    assert canary.find_in(bytes_of(place)) == []


def test_scratch_forget_keeps_conversation(
    open_memory: Open, place: str, clock: ManualClock, tmp_path: Path
) -> None:
    store = open_memory("assistant")
    canary = plant_all(store, tmp_path)
    me = store.for_user("ada")
    if place.startswith("postgres"):
        pytest.skip()
    me.forget_all(kinds=["fact", "rule", "episode"])
    clock.advance(TRASH)
    store.run_job("trash_purge")
    left = canary.find_in(bytes_of(place))
    print(left)
    for s in me.sessions().items:
        print(s.id, s.title, s.summary, s.metadata)
        for t in me.turns(s.id):
            print("   ", t.role, t.content, dict(t.metadata))
    print([r for r in me.rejected().items])


def test_scratch_residue(open_memory: Open, place: str, clock: ManualClock) -> None:
    import random

    if place.startswith("postgres"):
        pytest.skip()
    from tests.forgotten.canaries import make_canary

    store = open_memory("assistant")
    me = store.for_user("ada")
    rng = random.Random(5)
    ids = {}
    for n in range(400):
        word = make_canary(n)
        text = f"Thing {word} " + " ".join(
            make_canary(500 + rng.randrange(400)) for _ in range(rng.choice([1, 5, 30, 300]))
        )
        ids[word] = me.remember(text, kind="episode").memory.id
        if n % 3 == 0 and n > 30:
            gone = rng.choice(list(ids))
            me.delete(ids.pop(gone), for_good=True)
            data = bytes_of(place)
            if gone.encode() in data:
                print("LEFT", n, gone, data.count(gone.encode()))
    data = bytes_of(place)
    print("end", [w for w in map(make_canary, range(400)) if w not in ids and w.encode() in data])


def test_scratch_pg_erase(
    open_memory: Open, place: str, clock: ManualClock, tmp_path: Path
) -> None:
    if not place.startswith("postgres"):
        pytest.skip()
    import time

    from sqlalchemy import create_engine, text

    store = open_memory("assistant")
    canary = plant_all(store, tmp_path)
    engine = create_engine(place.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as c:
        data = c.execute(text("SHOW data_directory")).scalar_one()
        print(c.execute(text("SELECT count(*), sum(size) from pg_ls_waldir()")).one())
        print(
            c.execute(
                text("SELECT rolname, rolsuper from pg_roles where rolname=current_user")
            ).one()
        )
    t = time.time()
    receipt = store.erase("ada")
    print("erase", time.time() - t, receipt.left, receipt.searched)
    with engine.connect() as c:
        print(c.execute(text("SELECT count(*), sum(size) from pg_ls_waldir()")).one())
    engine.dispose()
    for f in sorted(Path(data).rglob("*")):
        if f.is_file():
            left = canary.find_in(f.read_bytes())
            if left:
                print(f, len(left), left[:4])
