"""What a person forgets or deletes is gone after its days in the trash, to the last byte.

`REM_LONG=1` deletes from a larger store, one memory at a time.
"""

from __future__ import annotations

import os
import random
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.errors import Conflict, NotAllowed, NotFound, NotUndoable
from remembrancer.memory import Memory
from remembrancer.sessions.turns import TurnInput
from remembrancer.types import FORGOTTEN_MARK, Action, Status
from tests.forgotten.canaries import Canaries, plant_all, plant_items
from tests.support.files import bytes_below
from tests.support.opening import Open
from tests.support.postgres import as_administrator

pytestmark = pytest.mark.feature("P7", "X4")

TRASH = timedelta(days=31)
MEMORIES = ["fact", "rule", "episode"]
NEVER_STORED = {"search", "prompt"}
COMPRESSED = {"long text"}
"""What PostgreSQL stores in compressed form."""

DELETIONS = 1500 if os.environ.get("REM_LONG") else 45


SISTER: list[TurnInput] = [
    {"role": "user", "content": "My sister is called Philippa."},
    {"role": "assistant", "content": "Noted."},
]


def read_all_bytes(place: str) -> bytes:
    """Everything in the files of a store; of PostgreSQL, of the whole server with its log."""
    if not place.startswith("postgresql"):
        return bytes_below(Path(place))
    with as_administrator(place) as connection:
        connection.execute(text("CHECKPOINT"))
        return bytes_below(Path(connection.execute(text("SHOW data_directory")).scalar_one()))


def wait_for_the_trash(store: Remembrancer, clock: ManualClock) -> None:
    clock.advance(TRASH)
    for job in ("trash_purge", "tidy"):
        assert store.run_job(job).note is None


def overwrite_deleted(store: Remembrancer, clock: ManualClock) -> None:
    """On PostgreSQL a job overwrites what was deleted; on SQLite nothing is left to do."""
    clock.advance(TRASH)  # Later than the job ran for other tests on this database.
    assert store.run_job("tidy").note is None


def test_forgetting_everything_and_waiting_leaves_no_word(
    open_memory: Open, place: str, clock: ManualClock, tmp_path: Path
) -> None:
    store = open_memory("assistant")
    canary = plant_all(store, tmp_path)
    me = store.for_user("ada")
    planted = canary.find_in(read_all_bytes(place))
    unseen = set(canary.places.values()) - set(planted) - COMPRESSED
    assert unseen == NEVER_STORED
    assert len(canary.places) == 60

    me.forget_all()
    me.delete_all()
    wait_for_the_trash(store, clock)

    assert canary.find_in(read_all_bytes(place)) == []


@pytest.mark.postgres_long
def test_deleting_everything_for_good_leaves_no_word_at_once(
    open_memory: Open, place: str, clock: ManualClock, tmp_path: Path
) -> None:
    store = open_memory("assistant")
    canary = plant_all(store, tmp_path)
    clock.advance(2 * TRASH)

    store.for_user("ada").delete_all(for_good=True)
    if place.startswith("postgresql"):
        overwrite_deleted(store, clock)

    assert canary.find_in(read_all_bytes(place)) == []


def test_what_is_forgotten_goes_from_conversations_that_stay(
    open_memory: Open, place: str, clock: ManualClock, tmp_path: Path
) -> None:
    store = open_memory("assistant")
    canary = plant_all(store, tmp_path)
    me = store.for_user("ada")
    kept = {
        *("user turn", "assistant turn", "tool turn", "speaker", "turn metadata"),
        *("session name", "given title", "reply", "chat question", "imported turn"),
        "archived turn",
    }

    me.forget_all(kinds=MEMORIES)
    me.delete_all(kinds=MEMORIES)  # What was disabled or is in quarantine, too.
    wait_for_the_trash(store, clock)

    assert set(canary.find_in(read_all_bytes(place))) == kept
    assert next(one.content for one in me.turns("family")) == f"{FORGOTTEN_MARK}."


def test_the_erasure_leaves_no_word_on_the_server(
    open_memory: Open, place: str, tmp_path: Path
) -> None:
    store = open_memory("assistant")
    canary = plant_all(store, tmp_path)
    store.backup_to_shelf()

    receipt = store.erase("ada")

    assert receipt.clean
    assert canary.find_in(read_all_bytes(place)) == []


@pytest.mark.postgres_long
def test_items_of_a_program_leave_no_word(
    open_memory: Open, place: str, clock: ManualClock
) -> None:
    store = open_memory("namespaces")
    canary, me = Canaries(), store.for_user("ada")
    plant_items(me, canary)
    assert len(canary.find_in(read_all_bytes(place))) == len(canary.places)

    me.delete_all()
    wait_for_the_trash(store, clock)

    assert canary.find_in(read_all_bytes(place)) == []


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_deletions_one_by_one_leave_no_word_and_take_no_other(
    open_memory: Open, place: str
) -> None:
    """On SQLite the words are gone at once; PostgreSQL overwrites them in a job."""
    me, chance = open_memory("assistant").for_user("ada"), random.Random(7)
    kept: dict[str, str] = {}
    for number in range(DELETIONS):
        word = f"Quolk{number:05}x"
        told = " ".join(f"wort{chance.randrange(999)}" for _ in range(chance.choice((3, 30, 400))))
        kept[word] = me.remember(f"{word} {told}", kind="episode").memory.id
        if number % 3 == 2:
            gone = chance.choice(list(kept))
            me.delete(kept.pop(gone), for_good=True)
            assert gone.encode() not in read_all_bytes(place)
    assert {one.content.split()[0] for one in me.list(limit=1000).items} == set(kept)


def test_a_profile_without_trash_leaves_no_earlier_version(
    open_memory: Open, place: str, clock: ManualClock
) -> None:
    store = open_memory("instances")
    me = store.for_user("ada", agent="bot")
    first = me.remember("The stable holds the Wurlidrome mare.", scope="bot").memory
    me.update(first.id, "The stable holds the Hinkelpatsch foal.")

    clock.advance(2 * TRASH)
    me.delete(first.id)
    if place.startswith("postgresql"):
        overwrite_deleted(store, clock)

    found = read_all_bytes(place)
    assert b"Wurlidrome" not in found
    assert b"Hinkelpatsch" not in found


@pytest.mark.postgres_long
def test_the_activity_log_says_what_happened_without_words(
    me: Memory, store: Remembrancer, clock: ManualClock
) -> None:
    one = me.remember("The ferret sleeps at noon.", tags=["Zirkonblatt"]).memory
    me.update(one.id, "The ferret sleeps at night.", tags=["Opalstein"])
    with me._call.open_writer() as writer:
        from remembrancer.store.contract import Patch

        event = me._call.new_event(Action.CONSOLIDATED, clock.now())
        writer.apply(event, [Patch(one.id, {"tags": ("Turmalin",)})])
    me.forget("ferret sleeps at night")
    wait_for_the_trash(store, clock)

    log = me.activity(limit=100).items
    assert [event.action for event in log][:2] == [Action.PURGED, Action.FORGOTTEN]
    assert not any(word in repr(log) for word in ("ferret", "Zirkonblatt", "Opalstein", "Turmalin"))


@pytest.mark.postgres_long
def test_undo_reaches_the_trash_and_says_so_when_it_cannot(me: Memory, clock: ManualClock) -> None:
    one = me.remember("The ferret sleeps at noon.").memory
    me.forget(one.id)
    clock.advance(timedelta(days=29))
    me.undo()
    assert me.get(one.id).status is Status.ACTIVE

    deleted = me.delete(one.id, for_good=True)

    assert deleted.event is not None
    for event in (None, deleted.event.id):
        with pytest.raises(NotUndoable):
            me.undo(event)
    with pytest.raises(NotFound):
        me.get(one.id)


@pytest.mark.postgres_long
@pytest.mark.parametrize("how", ["forget", "delete"])
def test_what_is_in_the_trash_can_be_deleted_for_good(me: Memory, how: str) -> None:
    one = me.remember("The ferret sleeps at noon.").memory
    getattr(me, how)(one.id)

    me.delete("ferret sleeps", for_good=True)

    assert not any(me.list(status=status).items for status in Status)


@pytest.mark.postgres_long
def test_delete_all_takes_what_was_forgotten_along(me: Memory) -> None:
    one = me.remember("The ferret sleeps at noon.").memory
    me.forget(one.id)

    me.delete_all()

    assert me.get(one.id).status is Status.TRASHED
    me.undo()
    assert me.get(one.id).status is Status.FORGOTTEN


@pytest.mark.postgres_long
def test_an_agent_cannot_delete_for_good(store: Remembrancer) -> None:
    helper = store.for_user("ada", agent="helper")
    one = helper.remember("The ferret sleeps at noon.").memory

    for attempt in (
        lambda: helper.delete(one.id, for_good=True),
        lambda: helper.delete_many([one.id], for_good=True),
        lambda: helper.delete_all(for_good=True),
    ):
        with pytest.raises(NotAllowed):
            attempt()
    assert helper.get(one.id).status is Status.ACTIVE


@pytest.mark.postgres_long
def test_a_forgotten_version_is_no_end_of_the_memory_that_stays(
    me: Memory, store: Remembrancer, clock: ManualClock
) -> None:
    one = me.remember("The ferret sleeps at noon.").memory
    two = me.update(one.id, "The ferret sleeps at night.").memory
    me.update(two.id, "The ferret sleeps in the rain.")
    me.undo()

    wait_for_the_trash(store, clock)

    assert [one.content for one in me.history(two.id).versions] == [
        "The ferret sleeps at noon.",
        "The ferret sleeps at night.",
    ]


@pytest.mark.postgres_long
def test_a_forgotten_fact_is_not_recalled_from_its_conversation(
    open_memory: Open, clock: ManualClock
) -> None:
    store = open_memory("assistant")
    me = store.for_user("ada")
    said = "My sister is called Philippa. The weather in Bergen was awful on Sunday."
    me.learn([{"role": "user", "content": said}, {"role": "assistant", "content": "Oh."}], "talk")
    store.flush()
    (fact,) = me.list(kinds=["fact"]).items
    assert fact.evidence

    me.forget(fact.id)

    found = me.recall("sister Philippa weather Bergen", kinds=["turn"])
    assert [one.memory.content for one in found if "Bergen" in one.memory.content]
    assert not any("Philippa" in one.memory.content for one in found)
    assert "Philippa" not in me.context("What did I say about my sister and Bergen?").text
    me.restore(fact.id)
    found = me.recall("sister Philippa weather Bergen", kinds=["turn"])
    assert any("Philippa" in one.memory.content for one in found)


@pytest.mark.postgres_long
def test_what_was_forgotten_is_not_learned_or_imported_again(
    open_memory: Open, clock: ManualClock, tmp_path: Path
) -> None:
    store = open_memory("assistant")
    me = store.for_user("ada")
    notes = tmp_path / "notes.md"
    notes.write_text("# Notes\n\n- The boat is called Windschnur.\n")
    me.import_from(notes)
    me.learn(SISTER, "talk")
    store.flush()
    me.forget_all(kinds=MEMORIES)
    wait_for_the_trash(store, clock)

    me.import_from(notes)
    me.learn(
        [{"role": "assistant", "content": "Noted."}, {"role": "user", "content": "Ok."}], "talk"
    )
    store.flush()

    assert not me.list(kinds=["fact"]).items


@pytest.mark.postgres_long
def test_an_export_leaves_out_what_is_in_the_trash(
    open_memory: Open, clock: ManualClock, tmp_path: Path
) -> None:
    store = open_memory("assistant")
    canary = plant_all(store, tmp_path)
    me = store.for_user("ada")
    kept = me.remember("The harp is tuned on Fridays.").memory
    me.delete_session("family")
    me.delete_all(kinds=MEMORIES)
    me.restore(kept.id)

    shown = list(store.export("ada"))
    whole = b"".join(store.export("ada", include_trash=True))

    gone = set(canary.find_in(whole)) - set(canary.find_in(b"".join(shown)))
    assert {"fact", "first version", "tag", "learned", "chat command", "reply"} <= gone
    assert set(canary.find_in(b"".join(shown))) == {
        *("user turn", "assistant turn", "tool turn", "speaker", "turn metadata"),
        *("session name", "given title", "chat question", "imported turn"),
        *("archived turn", "rejected proposal", "rejected quote"),
    }
    store.import_("bob", shown)
    bob = store.for_user("bob")
    assert [one.content for one in bob.list().items] == ["The harp is tuned on Fridays."]
    assert list(store.export("bob"))[1:] == list(store.export("bob", include_trash=True))[1:]


@pytest.mark.postgres_long
def test_a_session_in_the_trash_can_be_deleted_for_good(me: Memory) -> None:
    me.append([{"role": "user", "content": "Where is my Ruebezahl mug?"}], "mug")
    me.delete_session("mug")

    me.delete_session("mug", for_good=True)

    assert not me.sessions(trashed=True).items
    with pytest.raises((Conflict, NotFound, NotUndoable)):
        me.undo()


@pytest.mark.postgres_long
def test_what_was_learned_from_a_deleted_conversation_stays_without_its_quotes(
    open_memory: Open,
) -> None:
    store = open_memory("assistant")
    me = store.for_user("ada")
    me.learn(SISTER, "talk")
    store.flush()
    (fact,) = me.list(kinds=["fact"]).items

    me.delete_session("talk", for_good=True)

    (kept,) = me.list(kinds=["fact"]).items
    assert kept.content == fact.content
    assert [one.quote for one in kept.evidence] == [FORGOTTEN_MARK]
    assert not me.rejected().items
