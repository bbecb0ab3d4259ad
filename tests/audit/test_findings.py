"""X11: `audit` finds what is wrong in the data, `repair` does what it offers, `undo` takes it back.

What our own verbs refuse to store is written below them, as an old import would have.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from remembrancer.audit.findings import Finding, Fix, Flaw
from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidInput, NotUndoable, ScopeRequired
from remembrancer.ids import new_id
from remembrancer.memory import Memory
from remembrancer.store.contract import Patch, Purge
from remembrancer.store.tables import facts
from remembrancer.store.transaction import SqlTransaction
from remembrancer.testing import FakeEmbedder
from remembrancer.types import (
    Action,
    AsOf,
    Backlog,
    Evidence,
    Record,
    Relation,
    Rule,
    Source,
    Status,
)
from tests.support.imported import changed, ends, imported, keep

pytestmark = pytest.mark.feature("X11")

DAY = timedelta(days=1)
SECRET = "sk-proj-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1hJ3"


@pytest.fixture
def store(open_fake: Callable[..., Remembrancer]) -> Remembrancer:
    return open_fake()


@pytest.fixture
def me(store: Remembrancer) -> Memory:
    return store.for_user("ada")


def findings(me: Memory, kind: str) -> list[Finding]:
    found = me.audit([kind]).findings
    assert {one.kind for one in found} <= {Flaw(kind)}
    everything = me.audit().findings
    assert [one for one in everything if one.kind == kind] == list(found)
    return list(found)


def status(me: Memory, record: Record) -> Status:
    return me.get(record.id).status


def repaired_and_back(me: Memory, kind: str, after: dict[str, Status]) -> None:
    """Repairing gives these memories these statuses; undoing gives all of it back."""
    found = findings(me, kind)
    before = {one: me.get(one) for one in after}
    done = me.repair([kind])
    assert done.event is not None
    assert done.event.action is Action.REPAIRED
    assert done.purge is None
    patched = [one.memory_id for one in done.event.changes if "link" not in (one.after or {})]
    assert len(patched) == len(set(patched))
    assert {one: me.get(one).status for one in after} == after
    assert [one for one in findings(me, kind) if one.fix is not None] == []
    assert me.repair([kind]).event is None

    me.undo(done.event.id)

    assert {one: me.get(one) for one in after} == before
    assert findings(me, kind) == found


def test_X11_nothing_is_wrong_with_what_our_own_verbs_stored(
    me: Memory, clock: ManualClock
) -> None:
    (said,) = me.append([{"role": "user", "content": "I moved to Lima in May."}], "chat")
    me.remember("Ada lives in Lima", subject="ada", predicate="city")
    me.remember("Ada lives in Oslo", subject="ada", predicate="city")
    cited = (Evidence("chat", said.id, "moved to  LIMA"),)
    me.remember("Ada moved in May", source="extracted", evidence=cited, confidence=0.8)
    me.remember("Confirm before sending", kind="rule")
    me.remember("We talked about boats", kind="episode")
    me.forget(me.remember("The wifi at the cabin is slow and its password is hunter2").memory.id)
    clock.advance(1 * DAY)

    assert me.audit().findings == ()
    assert set(me.audit().rates.values()) == {0.0}
    assert me.repair().event is None


def test_X11_an_empty_memory_has_no_flaws_and_none_is_made_by_looking(
    store: Remembrancer, me: Memory
) -> None:
    assert me.audit().findings == ()
    assert me.audit().memories == 0
    assert me.principal.owner not in store.owners()


def test_X11_the_same_words_twice_are_a_duplicate_and_the_younger_goes(
    me: Memory, clock: ManualClock
) -> None:
    first = imported(me, "The boat is red.")
    clock.advance(DAY)
    second = imported(me, "the boat  is RED.")
    elsewhere = imported(me, "The boat is red.", scope="coder")

    (found,) = findings(me, "duplicate")

    assert found.ids == (first.id, second.id)
    assert found.fix is Fix.FORGET
    assert "twice" in found.message
    repaired_and_back(
        me,
        "duplicate",
        {first.id: Status.ACTIVE, second.id: Status.FORGOTTEN, elsewhere.id: Status.ACTIVE},
    )


def test_X11_facts_of_the_same_sense_are_duplicates_from_the_threshold_on(
    me: Memory, fake_embedder: FakeEmbedder
) -> None:
    fake_embedder.set_cosine("The boat is red.", 1.0)
    fake_embedder.set_cosine("Her boat has the colour red.", 0.9)
    fake_embedder.set_cosine("The ship is reddish.", 0.8999)
    one = imported(me, "The boat is red.")
    other = imported(me, "Her boat has the colour red.")
    apart = imported(me, "The ship is reddish.", subject="ship", predicate="colour")

    found = findings(me, "duplicate")

    # The last two are closer to each other than either is to the first.
    assert [each.ids for each in found] == [(one.id, other.id)]
    assert status(me, apart) is Status.ACTIVE


def test_X11_what_is_known_to_be_about_different_things_is_no_duplicate(me: Memory) -> None:
    imported(me, "Yes", subject="ada", predicate="vegetarian")
    imported(me, "Yes", subject="ada", predicate="married")

    assert findings(me, "duplicate") == []
    assert findings(me, "contradicting") == []


@pytest.mark.parametrize(("inclusive", "count"), [(True, 1), (False, 0)])
def test_X11_the_profile_says_whether_the_threshold_itself_is_close_enough(
    open_fake: Callable[..., Remembrancer], fake_embedder: FakeEmbedder, inclusive: bool, count: int
) -> None:
    me = open_fake(profile_overrides={"dedup": {"inclusive": inclusive}}).for_user("ada")
    fake_embedder.set_cosine("The boat is red.", 1.0)
    fake_embedder.set_cosine("Her boat has the colour red.", 0.9)
    imported(me, "The boat is red.")
    imported(me, "Her boat has the colour red.")

    assert len(findings(me, "duplicate")) == count


def test_X11_a_duplicate_of_a_duplicate_is_not_lost_if_it_is_about_something_else(
    me: Memory, fake_embedder: FakeEmbedder
) -> None:
    for text in ("boat colour: It is red.", "It is red.", "house colour: It is red."):
        fake_embedder.set_cosine(text, 1.0)
    fake_embedder.set_cosine("boat colour: Red it is.", 1.0)
    boat = imported(me, "Red it is.", subject="boat", predicate="colour")
    bare = imported(me, "It is red.", confidence=0.9)
    house = imported(me, "It is red.", subject="house", predicate="colour", confidence=0.8)

    assert [one.ids for one in findings(me, "duplicate")] == [(boat.id, bare.id)]
    me.repair(["duplicate"])
    assert status(me, house) is Status.ACTIVE


def test_X11_what_was_true_once_is_no_rival_of_what_is_true_now(
    me: Memory, clock: ManualClock
) -> None:
    imported(me, "Oslo", subject="ada", predicate="city", valid_until=clock.now() + DAY)
    imported(me, "The boat is red.", valid_until=clock.now() + DAY)
    imported(me, "The boat is red.")
    imported(me, "Lima", subject="Ada", predicate="city")
    assert len(me.audit(["duplicate", "contradicting"]).findings) == 2
    clock.advance(2 * DAY)

    assert me.audit(["duplicate", "contradicting"]).findings == ()


def test_X11_rules_are_duplicates_by_their_words(me: Memory) -> None:
    now = me._call.now()
    rules = [
        Rule(
            id=new_id("rule", now),
            content="Answer in French.",
            importance=5.0,
            valid_from=now,
            recorded_at=now,
            confirmed_at=now,
        )
        for _ in range(3)
    ]
    for rule in rules:
        keep(me, rule)

    (found,) = findings(me, "duplicate")

    assert found.ids == tuple(rule.id for rule in rules)
    assert "3 times" in found.message


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"confidence": 0.5}, {"source": Source.EXTRACTED, "confidence": 1.0}),
        ({"confidence": 0.9}, {"confidence": 0.8}),
        (
            {"source": Source.EXTRACTED, "cited": True, "confidence": 0.5},
            {"source": Source.EXTRACTED, "confidence": 0.9},
        ),
    ],
    ids=["a person's word", "the surer one", "the supported one"],
)
def test_X11_of_duplicates_the_more_trusted_one_stands(
    better: dict[str, Any], worse: dict[str, Any], me: Memory, clock: ManualClock
) -> None:
    (said,) = me.append([{"role": "user", "content": "The boat is red."}], "chat")
    cited = (Evidence("chat", said.id, "boat"),)
    evidence = {"evidence": cited} if better.pop("cited", False) else {}
    lesser = imported(me, "The boat is red.", **worse)
    clock.advance(DAY)
    stands = imported(me, "The boat is red.", **better, **evidence)
    better.update({"cited": True} if evidence else {})

    (found,) = findings(me, "duplicate")

    assert found.ids == (stands.id, lesser.id)


def test_X11_the_links_of_a_duplicate_move_to_the_one_that_stands(me: Memory) -> None:
    stands, doubled = imported(me, "The boat is red."), imported(me, "The boat is red.")
    third = imported(me, "The boat is red.")
    harbour, paint = imported(me, "The harbour is big."), imported(me, "Paint is dear.")
    me.link(doubled.id, harbour.id, "supports")
    me.link(stands.id, harbour.id, "supports")
    me.link(paint.id, doubled.id, "related_to")
    me.link(doubled.id, third.id, "related_to")
    before = [me.links(one.id) for one in (stands, doubled, third, harbour, paint)]

    done = me.repair(["duplicate"])

    assert done.event is not None
    assert ends(me.links(stands.id)) == {
        (stands.id, harbour.id, Relation.SUPPORTS),
        (paint.id, stands.id, Relation.RELATED_TO),
    }
    assert me.links(doubled.id) == ()
    me.undo(done.event.id)
    assert [set(me.links(one.id)) for one in (stands, doubled, third, harbour, paint)] == [
        set(links) for links in before
    ]


def test_X11_what_fades_is_stale_and_yours_to_confirm(me: Memory, clock: ManualClock) -> None:
    fading = me.remember("Lunch is at one.", permanence="ephemeral").memory
    clock.advance(20 * DAY)

    (found,) = findings(me, "stale")

    assert (found.ids, found.fix) == ((fading.id,), None)
    assert "confidence 14%" in found.message
    assert me.repair(["stale"]).event is None
    me.confirm(fading.id)
    assert findings(me, "stale") == []


def test_X11_what_is_overdue_is_stale_and_expires(me: Memory, clock: ManualClock) -> None:
    faded = me.remember("Lunch is at one.", permanence="ephemeral").memory
    timed = me.remember("The fair is on.", ttl_days=10).memory
    clock.advance(31 * DAY)

    found = findings(me, "stale")

    assert {(one.ids, one.fix) for one in found} == {
        ((faded.id,), Fix.EXPIRE),
        ((timed.id,), Fix.EXPIRE),
    }
    assert any("expiry date was 12 Mar 2026" in one.message for one in found)
    repaired_and_back(me, "stale", {faded.id: Status.EXPIRED, timed.id: Status.EXPIRED})


def test_X11_a_scope_is_judged_by_the_rules_of_its_agent(
    open_fake: Callable[..., Remembrancer], clock: ManualClock
) -> None:
    patient = {"decay": {"recall_at": 0.01, "expire_below": 0.001}}
    me = open_fake(agents={"diary": patient}).for_user("ada")
    usual = me.remember("Lunch is at one.", permanence="ephemeral").memory
    me.remember("Lunch was at one.", permanence="ephemeral", scope="diary")
    clock.advance(31 * DAY)

    assert [one.ids for one in findings(me, "stale")] == [(usual.id,)]


def test_X11_linked_contradictions_and_rivals_are_told_and_never_decided(me: Memory) -> None:
    tea, coffee = imported(me, "Ada drinks tea."), imported(me, "Ada drinks no tea.")
    me.link(tea.id, coffee.id, "contradicts")
    oslo = imported(me, "Ada lives in Oslo.", subject="Ada", predicate="city")
    lima = imported(me, "Ada lives in Lima.", subject="ada", predicate="City", scope="coder")
    imported(me, "Ada lives in Rome.", subject="ADA", predicate="city", scope="travel")

    found = findings(me, "contradicting")

    pairs = {frozenset(one.ids) for one in found}
    assert {tea.id, coffee.id} in pairs
    assert {oslo.id, lima.id} in pairs
    assert len(pairs) == 3, "coder and travel never see each other's"
    assert {one.fix for one in found} == {None}
    assert me.repair(["contradicting"]).fixed == ()
    me.forget(coffee.id)
    assert len(findings(me, "contradicting")) == 2


def test_X11_a_contradiction_is_no_duplicate_however_alike(
    me: Memory, fake_embedder: FakeEmbedder
) -> None:
    for text in ("Ada city: in Oslo", "ada city: in Lima", "It rains.", "It rains not."):
        fake_embedder.set_cosine(text, 1.0)
    imported(me, "in Oslo", subject="Ada", predicate="city")
    imported(me, "in Lima", subject="ada", predicate="city", scope="other")
    imported(me, "in Lima", subject="ada", predicate="city")
    rain, sun = (
        imported(me, "It rains.", scope="weather"),
        imported(me, "It rains not.", scope="weather"),
    )
    me.link(rain.id, sun.id, "contradicts")

    assert findings(me, "duplicate") == []


@pytest.mark.parametrize(
    ("profile", "meets"), [("instances", False), ("namespaces", True)], ids=["isolated", "nested"]
)
def test_X11_rivals_meet_where_the_profile_lets_them(
    open_fake: Callable[..., Remembrancer], tenant: str, profile: str, meets: bool
) -> None:
    store = open_fake(profile)
    outer = store.for_user("ada", agent="work")
    imported(outer, "Oslo", subject="ada", predicate="city", scope="work")
    imported(outer, "Lima", subject="ada", predicate="city", scope="work/trip")

    assert bool(findings(outer, "contradicting")) is meets


def test_X11_what_software_concluded_from_nothing_is_unsupported(me: Memory) -> None:
    user, assistant = me.append(
        [
            {"role": "user", "content": "I like red boats."},
            {"role": "assistant", "content": "You surely like green ones, too."},
        ],
        "chat",
    )
    gone = new_id("turn", me._call.now())
    cases = {
        "Ada likes boats.": (),
        "Ada likes ships.": (Evidence("chat", gone, "ships"),),
        "Ada likes rafts.": (Evidence("elsewhere", user.id, "red boats"),),
        "Ada likes canoes.": (Evidence("chat", "message-17", "canoes"),),
        "Ada likes green boats.": (Evidence("chat", assistant.id, "green ones"),),
        "Ada likes blue boats.": (Evidence("chat", user.id, "blue boats"),),
    }
    bad = {
        me.remember(words, source="extracted", evidence=cited).memory.id
        for words, cited in cases.items()
    }
    fine = me.remember(
        "Ada likes red boats.",
        source="extracted",
        evidence=(Evidence("chat", gone, "red"), Evidence("chat", user.id, "red  BOATS")),
    ).memory
    alone = me.remember("She sails.", source="consolidated").memory
    derived = me.remember("She sails often.", source="consolidated").memory
    me.link(derived.id, fine.id, "derived_from")

    found = findings(me, "unsupported")

    assert {one.ids[0] for one in found} == {*bad, alone.id}
    told = " ".join(one.message for one in found)
    for reason in ("cites no turn", "does not exist", "is not by the user", "does not contain"):
        assert reason in told
    forgotten = dict.fromkeys([*bad, alone.id], Status.FORGOTTEN)
    kept = {fine.id: Status.ACTIVE, derived.id: Status.ACTIVE}
    repaired_and_back(me, "unsupported", forgotten | kept)


def kept_of(me: Memory, stored: Callable[[], Any]) -> str:
    """All that the database holds of a person, in words."""
    owner = me.principal.owner.id
    rows = [row for rows in stored().values() for row in rows if row.get("owner_id") == owner]
    return str(rows)


def hiding() -> dict[str, dict[str, Any]]:
    return {
        "content": {"content": f"The key is {SECRET}, keep it."},
        "summary": {"summary": f"key {SECRET}"},
        "body": {"body": f"A long story about {SECRET}."},
        "tags": {"tags": ("keys", SECRET)},
        "metadata": {"metadata": {"deep": [{"token": SECRET}]}},
        "evidence": {"evidence": (Evidence("chat", "turn-1", f"it is {SECRET}"),)},
        "name": {"subject": "wifi", "predicate": "password", "content": "hunter2hunter2"},
    }


@pytest.mark.parametrize("where", list(hiding()))
def test_X11_a_secret_is_found_wherever_it_is_and_destroyed_only_when_named(
    where: str, me: Memory, stored: Callable[[], Any]
) -> None:
    values = {"content": "Something to keep.", **hiding()[where]}
    secret = SECRET if where != "name" else "hunter2hunter2"
    old = imported(me, **values)
    assert secret in kept_of(me, stored)

    (found,) = findings(me, "secret")

    assert (found.ids, found.fix) == ((old.id,), Fix.REDACT)
    assert secret not in found.message
    assert "cannot be undone" in found.message
    assert me.repair().purge is None
    assert status(me, old) is Status.ACTIVE

    done = me.repair(["secret"])

    assert done.purge is not None
    assert done.event is None
    assert secret not in kept_of(me, stored)
    assert findings(me, "secret") == []
    (new,) = me.list().items
    assert new.id != old.id
    assert (new.lineage, new.recorded_at, new.confirmed_at) == (
        old.lineage,
        old.recorded_at,
        old.confirmed_at,
    )
    with pytest.raises(NotUndoable):
        me.undo(done.purge.id)


def test_X11_the_clean_version_has_all_that_the_old_one_had(me: Memory) -> None:
    rule = me.remember("Send the report with the tool.", kind="rule").memory
    me.helpful(rule.id)
    me.helpful(rule.id)
    current = me.get(rule.id)
    now = me._call.now()
    leaky = replace(current, id=new_id("rule", now), content=f"Send {SECRET} with it.", lineage="")
    leaky = replace(leaky, lineage=leaky.id)
    keep(me, leaky)
    me.helpful(leaky.id)
    first = imported(me, f"The key was {SECRET}.", status=Status.SUPERSEDED)
    second = imported(me, f"The key is {SECRET}!", supersedes=first.id, lineage=first.id)
    me.link(second.id, leaky.id, "supports")

    me.repair(["secret"])

    (clean,) = [one for one in me.list().items if one.content.startswith("The key is")]
    versions = me.history(clean.id).versions
    assert [one.status for one in versions] == [Status.SUPERSEDED, Status.ACTIVE]
    assert clean.supersedes == versions[0].id
    assert all(SECRET not in one.content for one in versions)
    (link,) = me.links(clean.id)
    assert (link.source, link.relation) == (clean.id, Relation.SUPPORTS)
    sent = me.get(link.target)
    assert isinstance(sent, Rule)
    assert sent.success_count == 3
    assert len(me.history(sent.id).applications) == 1
    assert me.recall("the key")[0].memory.id == clean.id
    assert findings(me, "orphan") == []


def test_X11_after_secrets_are_gone_undo_still_takes_back_what_was_before(me: Memory) -> None:
    imported(me, f"The key is {SECRET}.")
    forgotten = me.remember("The boat is red.").memory
    me.forget(forgotten.id)

    me.repair(["secret"])
    me.undo()

    assert status(me, forgotten) is Status.ACTIVE


def test_X11_a_secret_in_a_turn_is_told_and_left_to_the_person(me: Memory) -> None:
    (said,) = me.append([{"role": "user", "content": "Here it is."}], "chat")
    leaky = replace(said, id=new_id("turn", me._call.now()), content=SECRET, position=1)
    keep(me, leaky)

    (found,) = findings(me, "secret")

    assert (found.ids, found.fix) == ((leaky.id,), None)
    assert me.repair(["secret"]).purge is None


def test_X11_evidence_that_is_gone_is_told_of_what_the_person_said_themselves(
    store: Remembrancer, me: Memory, clock: ManualClock, tenant: str
) -> None:
    (said,) = me.append([{"role": "user", "content": "I like boats."}], "chat")
    cited = (Evidence("chat", said.id, "boats"),)
    likes = me.remember("Ada likes boats.", evidence=cited).memory
    assert findings(me, "orphan") == []
    me.delete(said.id)
    clock.advance(31 * DAY)
    store.run_job("trash_purge", tenant=tenant)

    (found,) = findings(me, "orphan")

    assert (found.ids, found.fix) == ((likes.id,), None)
    assert said.id in found.message


def test_X11_an_old_version_whose_successor_was_destroyed_is_an_orphan(
    open_fake: Callable[..., Remembrancer], clock: ManualClock
) -> None:
    me = open_fake().for_user("ada")
    old = me.remember("Ada lives in Oslo", subject="ada", predicate="city").memory
    clock.advance(DAY)
    new = me.remember("Ada lives in Lima", subject="ada", predicate="city").memory
    assert findings(me, "orphan") == []
    with me._call.open_writer() as writer:
        writer.apply(me._call.new_event(Action.DELETED, clock.now()), [Purge(new.id)])

    (found,) = findings(me, "orphan")

    assert (found.ids, found.fix) == ((old.id,), Fix.FORGET)
    repaired_and_back(me, "orphan", {old.id: Status.FORGOTTEN})
    me.repair(["orphan"])
    assert me.list(as_of=AsOf(true=old.recorded_at)).items == ()
    assert me.restore(old.id).memory.status is Status.SUPERSEDED


def test_X11_an_episode_that_was_never_given_back_is_released(
    me: Memory, clock: ManualClock
) -> None:
    episode = me.remember("We talked about boats.", kind="episode").memory
    taken = {"backlog": Backlog.LEASED, "leased_until": clock.now() + timedelta(minutes=10)}
    changed(me, episode, **taken)
    assert findings(me, "orphan") == []
    clock.advance(2 * DAY)

    (found,) = findings(me, "orphan")

    assert (found.ids, found.fix) == ((episode.id,), Fix.RELEASE)
    repaired_and_back(me, "orphan", {episode.id: Status.ACTIVE})
    me.repair(["orphan"])
    assert me.get(episode.id).backlog is Backlog.PENDING  # type: ignore[attr-defined]


def test_X11_what_has_no_vector_is_told_once_and_reembedding_is_offered(
    store: Remembrancer, me: Memory, tenant: str
) -> None:
    kept = [imported(me, f"Fact number {number}.") for number in range(3)]
    bare = [
        replace(kept[0], id=new_id("fact", me._call.now()), content=f"Bare {number}.", lineage="")
        for number in range(2)
    ]
    for one in bare:
        keep(me, replace(one, lineage=one.id), vector=False)

    (found,) = findings(me, "orphan")

    assert set(found.ids) == {one.id for one in bare}
    assert found.fix is Fix.REEMBED
    assert "rem reembed" in found.message
    assert me.repair(["orphan"]).event is None
    store.run_job("reembed", tenant=tenant)
    assert findings(me, "orphan") == []


def test_X11_an_empty_conversation_is_told_when_it_is_not_about_to_begin(
    me: Memory, clock: ManualClock
) -> None:
    me.append([], "nothing", title="An empty one")
    assert findings(me, "orphan") == []
    clock.advance(DAY)

    (found,) = findings(me, "orphan")

    assert (found.ids, found.fix) == (("nothing",), None)
    me.append([{"role": "user", "content": "Hello!"}], "nothing")
    assert findings(me, "orphan") == []


def test_X11_everything_is_repaired_in_one_event_and_each_memory_once(
    me: Memory, clock: ManualClock
) -> None:
    stands = imported(me, "The boat is red.")
    doubled = imported(me, "The boat is red.", source=Source.EXTRACTED, ttl_days=None)
    overdue = imported(
        me, "The sea is blue.", source=Source.EXTRACTED, expires_at=clock.now() + DAY
    )
    leaky = imported(me, f"The key is {SECRET}.")
    clock.advance(2 * DAY)

    done = me.repair()

    assert done.event is not None
    assert len({one.memory_id for one in done.event.changes}) == len(done.event.changes) == 2
    assert done.event.note == "1 duplicate, 1 stale, 2 unsupported"
    assert [status(me, one) for one in (stands, doubled, overdue, leaky)] == [
        Status.ACTIVE,
        Status.FORGOTTEN,
        Status.FORGOTTEN,
        Status.ACTIVE,
    ]
    me.undo()
    assert {status(me, one) for one in (stands, doubled, overdue)} == {Status.ACTIVE}


def test_X11_only_what_the_principal_may_see_is_looked_at_and_repaired(
    store: Remembrancer, me: Memory, clock: ManualClock
) -> None:
    mine = [imported(me, "The boat is red.", scope="coder") for _ in range(2)]
    imported(me, f"The key is {SECRET}.", scope="coder")
    bare = replace(mine[0], id=new_id("fact", clock.now()), content="Bare.", scope="coder")
    keep(me, replace(bare, lineage=bare.id), vector=False)
    store.for_user("ada", agent="coder").append([], "nothing")
    clock.advance(DAY)
    other = store.for_user("ada", agent="cook")

    assert other.audit().findings == ()
    assert other.repair(["duplicate", "secret"]).fixed == ()
    assert store.for_user("bob").audit().findings == ()
    assert len(store.for_user("ada", agent="coder").audit().findings) == 4
    assert {status(me, one) for one in mine} == {Status.ACTIVE}


def test_X11_instances_are_audited_one_by_one(open_fake: Callable[..., Remembrancer]) -> None:
    with pytest.raises(ScopeRequired):
        open_fake("instances").for_user("ada").audit()


def test_X11_an_unknown_flaw_is_refused_with_those_there_are(me: Memory) -> None:
    with pytest.raises(InvalidInput, match="duplicate, stale, contradicting"):
        me.audit(["ugly"])
    with pytest.raises(InvalidInput):
        me.repair(["ugly"])


def test_X11_what_changed_since_it_was_looked_at_is_left_alone(me: Memory) -> None:
    first, second = imported(me, "The boat is red."), imported(me, "The boat is red.")
    call = me._call

    with ThreadPoolExecutor(1) as pool:
        with call.store.open_writer(call.owner) as writer:
            repairing = pool.submit(me.repair, ["duplicate"])
            time.sleep(0.5)  # enough to look, and then it waits for us
            now = call.now()
            gone = Patch(second.id, {"status": Status.FORGOTTEN, "retired_at": now})
            writer.apply(call.new_event(Action.FORGOTTEN, now), [gone])
        done = repairing.result()

    assert (done.fixed, done.event) == ((), None)
    assert [status(me, one) for one in (first, second)] == [Status.ACTIVE, Status.FORGOTTEN]


def test_X11_versions_that_a_wrong_clock_put_out_of_order_are_put_in_order(
    open_fake: Callable[..., Remembrancer], clock: ManualClock
) -> None:
    me, start = open_fake().for_user("ada"), clock.now()
    key = {"subject": "ada", "predicate": "city"}
    lima, rome, bern = (
        me.remember(f"Ada lives in {city}", subject="ada", predicate="city").memory
        for city in ("Lima", "Rome", "Bern")
    )
    assert findings(me, "misdated") == []
    ahead = start + 3650 * DAY
    date(me, lima, valid_until=ahead, retired_at=ahead)
    date(me, rome, recorded_at=ahead, valid_from=ahead, confirmed_at=ahead, valid_until=start)
    clock.advance(DAY)

    found = findings(me, "misdated")

    assert {one.ids for one in found} == {(lima.id,), (rome.id,)}
    repaired_and_back(me, "misdated", dict.fromkeys((lima.id, rome.id), Status.SUPERSEDED))
    me.repair(["misdated"])
    assert me.get(lima.id).valid_until == bern.valid_from
    assert me.get(rome.id).valid_until == me.get(rome.id).valid_from
    for moment in (None, AsOf(true=clock.now())):
        assert me.fact(**key, as_of=moment) == me.get(bern.id)
        assert [one.id for one in me.list(as_of=moment).items] == [bern.id]


def date(me: Memory, record: Record, **moments: datetime) -> None:
    """Date a fact as a version that trusted a wrong clock would have."""
    with me._call.open_writer() as writer:
        assert isinstance(writer, SqlTransaction)
        writer._update(facts, facts.c.id == record.id, **moments)
