"""A person and a team with something of everything that can be stored, and a look into backups."""

from __future__ import annotations

import json
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.ids import new_id
from remembrancer.memory import Memory
from remembrancer.testing import FakeEmbedder
from remembrancer.types import Rejection


def fill(me: Memory, clock: ManualClock) -> None:
    """Remember, correct, forget, delete, undo, link, judge and converse."""
    me.remember(
        "Ünïcode ✓ \u2028 'quoted' \"twice\" \\ %s :name\nsecond line",
        tags=["a", "b c"],
        metadata={"z": 1, "a": {"deep": [1, 2.5, -0.0, 1e22, 1e-7, None, True, "x"]}},
        summary="short",
        body="long",
        ttl_days=30,
    )
    for city in ("Oslo", "Lima", "Bonn"):
        clock.advance(timedelta(hours=1, microseconds=7))
        me.remember(f"Ada lives in {city}", subject="ada", predicate="city")
    tea = me.remember("Ada prefers tea", category="preference")
    coffee = me.remember("Ada stopped drinking coffee")
    me.link(tea.memory.id, coffee.memory.id, "supports")
    rule = me.remember("Confirm before sending messages", kind="rule")
    me.helpful(rule.memory.id)
    me.harmful(rule.memory.id, "woke the children")
    me.remember("Ada asked to move the dentist to a morning", kind="episode")
    me.forget(me.remember("The old address is Main Street 1").memory.id)
    me.delete(me.remember("Something for the trash").memory.id)
    me.undo()
    sentences = " ".join(f"Sentence {n} of a long turn is about number {n}." for n in range(30))
    me.append([{"role": "user", "content": sentences}, {"role": "assistant", "content": "Yes."}])
    me.append([{"role": "user", "content": "Where is the kettle?"}], "chat/1", title="Kettles")
    call = me._call
    rejected = Rejection(
        id=new_id("rejection", call.now()),
        at=call.now(),
        session_id="chat/1",
        reason="echo",
        content="Likes kettles",
        quote="Where is the kettle?",
        turns=("turn_1",),
    )
    with call.store.open_writer(call.owner) as writer:
        writer.save_rejections([rejected])
    me.recall("tea")


PORTS = "The proxy pool uses ports 9000 to 9999."
OTHER_PORTS = "The proxy pool uses ports 7000 to 7999."
BRANCH = "The release is cut from the main branch."
UNUSED = "The old cache is not used any more."


def fill_team(store: Remembrancer, embedder: FakeEmbedder, tenant: str | None = None) -> None:
    """Propose, corroborate, contradict, approve and reject; needs a profile that has a team."""
    embedder.set_cosine(PORTS, 1)
    embedder.set_cosine(OTHER_PORTS, 0.9)
    ada, bob = (store.for_user(name, tenant=tenant) for name in ("ada", "bob"))
    for me in (ada, bob):
        me.propose(PORTS, importance=4)
    ada.propose(OTHER_PORTS)
    review = store.review(tenant=tenant)
    branch = str(ada.propose(BRANCH).fact_id)
    review.approve(branch)
    review.set_importance(branch, 4)
    review.reject(str(bob.propose(UNUSED).fact_id))


def answers(store: Remembrancer, user: str = "ada") -> dict[str, Any]:
    """What a person is told about everything."""
    me = store.for_user(user)
    everything = [
        one
        for status in ("active", "superseded", "forgotten", "trashed")
        for one in me.list(status=status, limit=1000).items
    ]
    found = {
        "memories": everything,
        "turns": me.turns("chat/1"),
        "sessions": me.sessions().items,
        "rejected": me.rejected().items,
        "activity": me.activity(limit=1000).items,
        "histories": [me.history(one.id) for one in everything],
        "stats": me.stats(),
        "context": me.context("What does Ada drink?").text,
        "recall": [
            (one.memory.id, one.score, one.why)
            for query in ("Where does Ada live?", "tea or coffee", "kettle", "number 7")
            for one in me.recall(query)
        ],
    }
    store.flush()
    return found


def members(path: Path) -> dict[str, bytes]:
    """The members of a backup, without the manifest."""
    with zipfile.ZipFile(path) as file:
        return {one: file.read(one) for one in file.namelist() if one != "manifest.json"}


def people(path: Path) -> dict[str, bytes]:
    """Each person's member."""
    return {name: text for name, text in members(path).items() if name.startswith("people/")}


def teams(path: Path) -> dict[str, bytes]:
    """Each team's member."""
    return {name: text for name, text in members(path).items() if name.startswith("teams/")}


def tables_in(member: bytes) -> set[str]:
    """The tables of which a member has rows."""
    return {json.loads(line)[0] for line in member.splitlines()[1:]}
