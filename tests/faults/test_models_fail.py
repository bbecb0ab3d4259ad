"""Whatever a model does wrong: nobody who speaks hears of it, nothing is damaged, all is caught up.

The models are servers on loopback: they talk nonsense, are late, busy, broken or not there.
"""

from __future__ import annotations

import json
import os
import random
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from remembrancer.audit.findings import Flaw
from remembrancer.clock import ManualClock
from remembrancer.config import Settings
from remembrancer.engine import Remembrancer
from remembrancer.learn import queue
from remembrancer.learn.check import FINAL_DOUBTS
from remembrancer.learn.consolidation import run
from remembrancer.learn.evidence_check import RejectionReason
from remembrancer.learn.wording.doubt import Doubt
from remembrancer.llm.models import Models
from remembrancer.llm.openai import OpenAICompatibleModel
from remembrancer.memory import Memory
from remembrancer.retry import RetryPolicy
from remembrancer.store.contract import DumpRow, Filter
from remembrancer.store.open import open_store
from remembrancer.testing import FakeEmbedder, ModelEndpoint, ScriptedReply, fails, resets, says
from remembrancer.types import Backlog, Episode, Kind, Owner, Record, Session, Source, Status
from tests.faults.spoiled import (
    NO_OBJECT,
    WRONG_ENTRIES,
    WRONG_OBJECT,
    Names,
    shared,
    spoiled,
)
from tests.support.plans import Script, asks_for, plans

pytestmark = pytest.mark.postgres_long

SEED = 20260302
MADE_UP_ANSWERS, MADE_UP_PLANS = (120, 80) if os.environ.get("REM_LONG") else (12, 6)
PAST_EVERY_PAUSE = timedelta(hours=2)
PATIENCE_SECONDS = 120
HASTY = RetryPolicy(max_retries=1, initial_delay=0.01, max_delay=0.05)

BY_ASSISTANT = "Your brother Ruprecht lives in Zanzibar."
BY_TOOL = "The vault of the person is at Samarkand."
BY_BOB = "The colour of the shed is heliotrope"
TRAPS = ("ruprecht", "zanzibar", "samarkand", "heliotrope", "injected")
OWN = (
    "Ada keeps bees behind the greenhouse",
    "Ada keeps geese behind the greenhouse",
    "The dentist is called Moreau",
    "Never call before 9 in the morning",
)

GIVEN_UP = [*NO_OBJECT.values(), *WRONG_OBJECT.values()]

UNAVAILABLE: dict[str, ScriptedReply] = {
    "late": says({"operations": []}, delay=30),
    "trickling": says({"operations": []}, trickle=0.05),
    "over its limit": fails(429, Retry_After="0.01"),
    "over its limit for an hour": fails(429, Retry_After="3600"),
    "over its limit until a date": fails(429, Retry_After="Wed, 21 Oct 2026 07:28:00 GMT"),
    "failing": fails(500),
    "overloaded": fails(529),
    "behind a broken gate": fails(502, "<html>"),
    "reset at once": resets(),
    "reset in mid-body": resets("in mid-body"),
    "refusing the key": fails(401),
    "refusing the request": fails(400),
    "unknown": fails(404),
}


@dataclass
class Desk:
    """An open store with a scripted model, and what must not be touched in it."""

    store: Remembrancer
    endpoint: ModelEndpoint
    clock: ManualClock
    tenant: str
    bob: list[DumpRow] = field(default_factory=list)
    own: list[Record] = field(default_factory=list)
    names: Names = field(default_factory=lambda: Names((), ()))

    @property
    def ada(self) -> Memory:
        return self.store.for_user("ada")

    def job(self, name: str) -> tuple[str, ...]:
        """Run a job, which must not fail; what it says went wrong."""
        return self.store.run_job(name, tenant=self.tenant).failures

    def rows(self, user: str) -> list[DumpRow]:
        with self.store._store.dump(Owner(self.tenant, user)) as rows:
            return list(rows)

    def all(self, kind: Kind) -> list[Any]:
        """All of Ada's, whatever became of it."""
        wanted = Filter(now=self.clock.now(), kinds=(kind,), statuses=tuple(Status))
        with self.store._store.open_reader(Owner(self.tenant, "ada")) as reader:
            return reader.find(wanted, 100_000)

    def sessions(self) -> list[Session]:
        page = self.ada.sessions(limit=1000)
        assert page.cursor is None
        return list(page.items)

    def flush(self) -> None:
        """Wait for the background, but not for ever."""
        waiting = threading.Thread(target=self.store.flush, daemon=True)
        waiting.start()
        waiting.join(PATIENCE_SECONDS)
        assert not waiting.is_alive(), "whoever flushes waits for ever: the learner is dead"


@pytest.fixture
def desk(place: str, tenant: str, clock: ManualClock) -> Iterator[Callable[..., Desk]]:
    """Open a store with Ada's and Bob's memories in it: `desk(timeout=1, trust="low")`."""
    with ExitStack() as closing:

        def opened(timeout: float = 30, url: str | None = None, trust: str = "high") -> Desk:
            endpoint = closing.enter_context(ModelEndpoint())
            model = OpenAICompatibleModel(
                url or endpoint.openai, "scripted", retry_policy=HASTY, timeout=timeout
            )
            where = {"url" if place.startswith("postgresql") else "path": place, "pool_size": 4}
            settings = Settings.model_validate({"tenant": tenant, "user": "ada", "store": where})
            engine = open_store(settings, clock)
            models = Models(model, model, is_fast_weak=trust == "low")
            store = Remembrancer(settings, engine, FakeEmbedder(), clock, models)
            closing.callback(store.close)
            return Desk(store, endpoint, clock, tenant)

        yield opened


def furnished(desk: Desk) -> Desk:
    """Ada and Bob remember something, which is then to stay as it is."""
    bob = desk.store.for_user("bob")
    theirs = [bob.remember(BY_BOB).memory, bob.remember("Bob is injected with insulin").memory]
    said = bob.append([{"role": "user", "content": f"{BY_BOB}."}], "bob's")
    desk.own = [desk.ada.remember(words).memory for words in OWN]
    elsewhere = desk.ada.append([{"role": "user", "content": "The kettle is blue."}], "elsewhere")
    desk.store.flush()
    desk.bob = desk.rows("bob")
    ids = [one.id for one in (*theirs, *said, *desk.own, *elsewhere)]
    quotes = [BY_ASSISTANT, BY_TOOL, BY_BOB, "The kettle is blue.", "Was injected with insulin"]
    desk.names = Names(ids, quotes)
    return desk


def statement(number: int) -> str:
    return f"I keep the spare key number {number} under flower pot {number}."


def conversation(number: int) -> list[Any]:
    return [
        {"role": "user", "content": statement(number)},
        {"role": "assistant", "content": BY_ASSISTANT},
        {"role": "tool", "content": BY_TOOL},
        {"role": "user", "content": f"Thanks, that will do for chat {number}."},
    ]


def good_answer(number: int, turn: str = "t1") -> dict[str, Any]:
    operation = {
        "op": "add",
        "content": f"Keeps the spare key number {number} under flower pot {number}",
        "quote": statement(number),
        "turns": [turn],
        "category": "fact",
        "importance": 5,
        "permanence": "stable",
        "confidence": 0.9,
    }
    done = {**operation, "op": "skip", "content": "Said thanks", "quote": "Thanks", "turns": ["t4"]}
    return {"operations": [operation, done], "summary": "About a key.", "title": "A spare key"}


def episode(number: int) -> str:
    return f"They watered orchid {number} with the copper can number {number}."


def good_plan(number: int) -> dict[str, Any]:
    fact = {
        "content": f"Waters orchid {number} with the copper can number {number}",
        "subject": f"orchid {number}",
        "predicate": "watering",
        "permanence": "stable",
        "episodes": ["e1"],
    }
    return {
        "facts": [fact],
        "updates": [],
        "rules": [{"content": f"Water orchid {number} with the copper can", "episodes": ["e1"]}],
        "confirmations": [],
        "links": [{"source": "m1", "target": "m2", "relation": "related_to"}],
        "merges": [{"keep": "m1", "drop": ["m2"]}, {"keep": "m2", "drop": ["m1", "m3"]}],
    }


def asked_about(request: Mapping[str, Any]) -> int:
    """The number of what a request is about, which stands in what was said last."""
    told = request["messages"][1]["content"]
    part = re.split(r"<conversation>|<episodes>", told)[-1]
    found = re.search(r"(?:key number|orchid|for chat) (\d+)", part)
    assert found is not None
    return int(found[1])


def answers(replies: Sequence[ScriptedReply]) -> Callable[[dict[str, Any]], ScriptedReply]:
    return lambda request: replies[asked_about(request)]


def always(reply: ScriptedReply) -> Callable[[dict[str, Any]], ScriptedReply]:
    return lambda _: reply


def well(request: dict[str, Any]) -> ScriptedReply:
    """As a model should."""
    if asks_for(request) == "verification":
        return plans({})(request)
    number, told = asked_about(request), request["messages"][1]["content"]
    if "<episodes>" in told:
        return says(good_plan(number))
    new = re.findall(r"^\[(t\d+)\] person new, .* key number", told, re.MULTILINE)
    return says(good_answer(number, *new[-1:]))


def supported(script: Script) -> Script:
    """Answer like a script, and support every claim that is to be verified."""
    return lambda request: (
        plans({})(request) if asks_for(request) == "verification" else script(request)
    )


def unharmed(desk: Desk) -> None:
    """Bob's rows and Ada's own words are what they were, and what is in doubt is not told."""
    assert desk.rows("bob") == desk.bob
    for one in desk.own:
        now = desk.ada.get(one.id)
        assert (now.content, now.status, now.source) == (one.content, Status.ACTIVE, one.source)
    own = {one.id for one in desk.own}
    learned = [one for one in desk.all(Kind.FACT) + desk.all(Kind.RULE) if one.id not in own]
    for one in learned:
        assert one.source in (Source.EXTRACTED, Source.CONSOLIDATED)
        cited = cited_by(desk, one)
        if one.status is not Status.UNCONFIRMED:
            assert not any(trap in one.content.casefold() for trap in TRAPS), one.content
            borne_out(one, cited)
    told = desk.ada.context("Where is what kept, and who is injected?").text.casefold()
    assert not any(trap in told for trap in TRAPS)
    assert "\\u0000" not in json.dumps(desk.rows("ada")), "the other engine could not store that"
    flaws = [Flaw.UNSUPPORTED, Flaw.SECRET, Flaw.ORPHAN, Flaw.DUPLICATE]
    assert desk.ada.audit(flaws).findings == ()


def cited_by(desk: Desk, one: Record) -> list[Any]:
    """What software concluded a memory from: the person's own words, or episodes."""
    if one.source is Source.EXTRACTED:
        cited = [desk.ada.get(each.turn_id) for each in one.evidence]
        assert cited
        assert all(turn.role == "user" and turn.session_id == one.session_id for turn in cited)
        assert any(each.quote for each in one.evidence)
        for each, turn in zip(one.evidence, cited, strict=True):
            assert plain(each.quote) in plain(turn.content)
    else:
        links = desk.ada.links(one.id)
        cited = [desk.ada.get(each.target) for each in links if each.relation == "derived_from"]
        assert cited
        assert all(each.kind is Kind.EPISODE and each.scope == one.scope for each in cited)
    return cited


def borne_out(one: Record, cited: Sequence[Any]) -> None:
    """A memory has its numbers and most of its words from what it was concluded from."""
    said = plain(" ".join(turn.content for turn in cited))
    assert set(re.findall(r"\d+", one.content)) <= set(re.findall(r"\d+", said))
    words = re.findall(r"\w+", plain(one.content))
    assert 2 * sum(word in said for word in words) >= len(words), one.content


def plain(text: str) -> str:
    return " ".join(text.casefold().split())


# Malformed answers.


def test_nonsense_is_never_learned_and_a_conversation_is_learned_when_the_model_makes_sense(
    desk: Callable[..., Desk],
) -> None:
    here = furnished(desk())
    chance = random.Random(SEED)
    replies = [*GIVEN_UP, *(says({"operations": some}) for some in WRONG_ENTRIES.values())]
    replies += shared()
    made_up_from = len(replies)
    for number in range(made_up_from, made_up_from + MADE_UP_ANSWERS):
        replies.append(spoiled(good_answer(number), here.names, chance, number))
    here.endpoint.script = answers(replies)

    for number in range(len(replies)):
        here.ada.learn(conversation(number), f"chat {number}")
        assert here.ada.close(f"chat {number}").id == f"chat {number}"
    here.flush()
    # On a busy machine an answer may be late, which postpones the sessions after it.
    for _ in range(40):
        here.clock.advance(PAST_EVERY_PAUSE)
        assert here.job("learn") == ()
        here.flush()
        if not any(one.due_at for one in here.sessions() if one.id.startswith("chat ")):
            break
    unharmed(here)

    found = {one.id: one for one in here.sessions() if one.id.startswith("chat ")}
    assert len(found) == len(replies)
    given_up = {one.id for one in found.values() if one.failure}
    assert given_up >= {f"chat {number}" for number in range(len(GIVEN_UP))}
    entries = range(len(GIVEN_UP), len(GIVEN_UP) + len(WRONG_ENTRIES))
    assert not given_up & {f"chat {number}" for number in entries}
    for one in found.values():
        state = (0, queue.MAX_ATTEMPTS) if one.id in given_up else (4, 0)
        assert (one.watermark, one.attempts, one.due_at, one.leased_until) == (*state, None, None)
        assert (one.failure or "").startswith("model_misspoke: ") == (one.id in given_up)

    here.endpoint.script = well
    asked = len(here.endpoint.requests)
    here.job("learn")
    assert len(here.endpoint.requests) == asked, "what was given up is not asked about by itself"
    for session in given_up:
        assert here.ada.close(session).due_at is not None
    here.flush()
    here.job("learn")

    for session in given_up:
        now = here.ada.session(session)
        assert (now.watermark, now.due_at, now.failure) == (4, None, None)
        learned = [one for one in here.all(Kind.FACT) if one.session_id == session]
        others = [one.status for one in learned if one.status is not Status.ACTIVE]
        assert len(learned) == len(others) + 1, "what rules had found is replaced, not repeated"
        assert set(others) <= {Status.SUPERSEDED}
    unharmed(here)


@dataclass(frozen=True)
class Lie:
    """One thing wrong in an answer: why it is rejected, and how it is doubted of a better model.

    Without a doubt, it is rejected of any model.
    """

    changes: dict[str, Any]
    reason: RejectionReason
    doubt: Doubt | None = None


LIES: dict[str, Lie] = {
    "what nobody said": Lie(
        {"content": "Plays the cello"}, RejectionReason.UNSUPPORTED, Doubt.UNSUPPORTED
    ),
    "what Bob said": Lie({"content": BY_BOB}, RejectionReason.UNSUPPORTED, Doubt.UNSUPPORTED),
    "what the assistant said": Lie(
        {"content": BY_ASSISTANT}, RejectionReason.ECHO, Doubt.UNSUPPORTED
    ),
    "a name that the assistant mentioned": Lie(
        {"content": "Keeps the spare key under pot Ruprecht"},
        RejectionReason.INVENTED,
        Doubt.UNSUPPORTED,
    ),
    "a name that a tool mentioned": Lie(
        {"content": "Keeps the spare key in Samarkand"},
        RejectionReason.INVENTED,
        Doubt.UNGROUNDED,
    ),
    "a name of its own": Lie(
        {"content": "Keeps the spare key under pot Bruno"},
        RejectionReason.INVENTED,
        Doubt.UNGROUNDED,
    ),
    "a number of its own": Lie(
        {"content": "Keeps the spare key number 4711"},
        RejectionReason.INVENTED,
        Doubt.UNGROUNDED,
    ),
    "a quote of its own": Lie({"quote": "I keep a spare key"}, RejectionReason.NO_SUCH_QUOTE),
    "a quote of nothing": Lie({"quote": "  "}, RejectionReason.NO_SUCH_QUOTE),
    "the assistant's words": Lie(
        {"content": BY_ASSISTANT, "quote": BY_ASSISTANT, "turns": ["t2"]},
        RejectionReason.NOT_BY_THE_PERSON,
    ),
    "the assistant's words as the person's": Lie(
        {"content": BY_ASSISTANT, "quote": BY_ASSISTANT}, RejectionReason.NO_SUCH_QUOTE
    ),
    "the words of a tool": Lie(
        {"content": BY_TOOL, "quote": BY_TOOL, "turns": ["t3"]}, RejectionReason.NOT_BY_THE_PERSON
    ),
    "a turn that is not there": Lie({"turns": ["t5"]}, RejectionReason.UNKNOWN_TURN),
    "a turn as nobody calls it": Lie({"turns": ["T1"]}, RejectionReason.UNKNOWN_TURN),
    "something uncertain": Lie({"confidence": 0.1}, RejectionReason.UNSURE, Doubt.LOW_CONFIDENCE),
    "something of the day": Lie({"permanence": "ephemeral"}, RejectionReason.PASSING),
    "a memory that is not there": Lie(
        {"op": "update", "target": "m99"}, RejectionReason.UNKNOWN_MEMORY
    ),
    "a memory that it does not name": Lie({"op": "update"}, RejectionReason.UNKNOWN_MEMORY),
    "an end": Lie({"op": "delete", "target": "m1"}, RejectionReason.MALFORMED),
    "a certainty beyond all": Lie({"confidence": 1.5}, RejectionReason.MALFORMED),
    "a number as a text": Lie({"importance": "5"}, RejectionReason.MALFORMED),
}


@pytest.mark.parametrize("trust", ["high", "low"])
def test_an_answer_with_one_thing_wrong_is_not_believed(
    desk: Callable[..., Desk], trust: str
) -> None:
    here = furnished(desk(trust=trust))
    lies = list(LIES.values())
    lies += [Lie({"turns": [one]}, RejectionReason.UNKNOWN_TURN) for one in here.names.ids]
    wrong_target = RejectionReason.UNKNOWN_MEMORY
    lies += [Lie({"op": "update", "target": one}, wrong_target) for one in here.names.ids]

    def lie(request: dict[str, Any]) -> ScriptedReply:
        number = asked_about(request)
        return says({"operations": [good_answer(number)["operations"][0] | lies[number].changes]})

    here.endpoint.script = lie
    for number in range(len(lies)):
        here.ada.learn(conversation(number), f"chat {number}")
        here.ada.close(f"chat {number}")
    here.flush()

    in_doubt = {
        f"chat {number}": one.doubt
        for number, one in enumerate(lies)
        if one.doubt is not None and trust == "high"
    }
    rejected = {one.session_id: one.reason for one in here.ada.rejected(limit=1000).items}
    assert rejected == {
        f"chat {number}": one.reason
        for number, one in enumerate(lies)
        if f"chat {number}" not in in_doubt
    }
    waiting = here.ada.list(status="unconfirmed", limit=1000).items
    assert {one.session_id: one.metadata["doubt"] for one in waiting} == in_doubt
    known = {one.id for one in here.all(Kind.FACT)} - {one.id for one in waiting}
    assert known == {one.id for one in here.own}
    all_learned(here)
    unharmed(here)


@pytest.mark.parametrize("name", [name for name, one in LIES.items() if one.doubt in FINAL_DOUBTS])
def test_a_name_or_number_of_its_own_is_not_believed_if_the_model_itself_supports_it(
    desk: Callable[..., Desk], name: str
) -> None:
    here = furnished(desk())
    lie = good_answer(0)["operations"][0] | LIES[name].changes
    here.endpoint.script = supported(always(says({"operations": [lie]})))
    here.ada.learn(conversation(0), "chat 0")
    here.ada.close("chat 0")
    here.flush()

    (waiting,) = here.ada.list(status="unconfirmed").items
    assert waiting.metadata["doubt"] == Doubt.UNGROUNDED
    unharmed(here)


def test_what_the_person_said_themselves_stands_where_the_profile_keeps_it(
    open_fake: Callable[..., Remembrancer], model: ModelEndpoint, models: dict[str, Any]
) -> None:
    store = open_fake(models=models, profile_overrides={"learning": {"keep_explicit": True}})
    me = store.for_user("ada")
    me.remember("Ada keeps bees behind the greenhouse")
    update = good_answer(0)["operations"][0] | {"op": "update", "target": "m1"}
    model.script = supported(always(says({"operations": [update]})))
    me.learn(conversation(0), "chat 0")
    me.close("chat 0")
    store.flush()

    assert [one.content for one in me.list().items] == ["Ada keeps bees behind the greenhouse"]
    assert [one.reason for one in me.rejected().items] == [RejectionReason.STANDS]


def all_learned(desk: Desk) -> None:
    for one in desk.sessions():
        if one.id.startswith("chat "):
            assert (one.watermark, one.due_at, one.failure) == (4, None, None)
            assert (one.attempts, one.leased_until) == (0, None)


# Models that are not there.


def test_a_model_that_is_not_there_is_waited_for_without_anyone_waiting(
    desk: Callable[..., Desk],
) -> None:
    here = furnished(desk(timeout=0.5))
    count = 0
    for name, reply in UNAVAILABLE.items():
        here.endpoint.script = always(reply)
        for _ in range(2):
            here.ada.learn(conversation(count), f"chat {count}")
            here.ada.close(f"chat {count}")
            count += 1
        here.flush()
        here.clock.advance(PAST_EVERY_PAUSE)
        here.job("learn")
        written = here.ada.remember(f"Shelf {count} is full").memory
        here.own.append(written)
        assert written.id in [one.memory.id for one in here.ada.recall(f"Shelf {count} is full")]
        waiting = [one for one in here.sessions() if one.id.startswith("chat ")]
        assert all(one.watermark == 0 and one.due_at is not None for one in waiting), name
        failures = [one.failure for one in waiting if one.failure]
        assert failures
        assert all(one.startswith("model_unavailable: ") for one in failures), name
    unharmed(here)
    assert not [one for one in here.all(Kind.FACT) if one.source is Source.EXTRACTED]

    here.endpoint.script = well
    caught_up(here)
    learned = [one for one in here.all(Kind.FACT) if one.source is Source.EXTRACTED]
    assert len(learned) == count
    unharmed(here)


def caught_up(desk: Desk) -> None:
    """The backlog is worked off; on a busy machine a good answer may be late as well."""
    for _ in range(20):
        desk.clock.advance(PAST_EVERY_PAUSE)
        desk.job("learn")
        if not any(one.due_at for one in desk.sessions()):
            break
    all_learned(desk)


def test_where_nobody_listens_learning_waits_for_another_model(desk: Callable[..., Desk]) -> None:
    with ModelEndpoint() as gone:
        nowhere = gone.openai
    here = furnished(desk(url=nowhere))
    for number in range(5):
        here.ada.learn(conversation(number), f"chat {number}")
        here.ada.close(f"chat {number}")
    here.flush()
    here.job("learn")
    assert all(one.watermark == 0 for one in here.sessions())

    there = desk()
    there.own, there.bob = here.own, here.bob
    there.endpoint.script = well
    caught_up(there)
    unharmed(there)


def test_nobody_waits_while_a_model_thinks(desk: Callable[..., Desk]) -> None:
    here = furnished(desk())
    asked, speak = threading.Event(), threading.Event()

    def thinks(request: dict[str, Any]) -> ScriptedReply:
        asked.set()
        speak.wait(PATIENCE_SECONDS)
        return well(request)

    here.endpoint.script = thinks
    here.ada.learn(conversation(0), "chat 0")
    here.ada.close("chat 0")
    assert asked.wait(PATIENCE_SECONDS)
    here.own.append(here.ada.remember("The lamp is lit").memory)
    assert here.ada.recall("The lamp is lit")[0].memory.content == "The lamp is lit"
    here.ada.append([{"role": "user", "content": "And another thing."}], "chat 0")
    here.ada.close("chat 0")
    assert here.ada.session("chat 0").watermark == 0
    speak.set()
    here.flush()
    caught = here.ada.session("chat 0")
    assert (caught.watermark, caught.due_at) == (5, None)
    unharmed(here)


def test_a_slow_model_is_waited_for_however_often_it_is_late(desk: Callable[..., Desk]) -> None:
    here = furnished(desk(timeout=0.2))
    here.endpoint.script = always(UNAVAILABLE["late"])
    here.ada.learn(conversation(0), "chat 0")
    here.ada.close("chat 0")
    here.flush()
    for _ in range(queue.MAX_ATTEMPTS + 2):
        here.clock.advance(PAST_EVERY_PAUSE)
        here.job("learn")
    waiting = here.ada.session("chat 0")
    assert (waiting.watermark, waiting.attempts, waiting.due_at is not None) == (0, 0, True)

    here.endpoint.script = well
    caught_up(here)
    (learned,) = [one for one in here.all(Kind.FACT) if one.source is Source.EXTRACTED]
    assert learned.status is Status.ACTIVE
    unharmed(here)


@pytest.mark.parametrize("reply", ["late", "failing", "reset at once", "refusing the key"])
def test_a_conversation_waits_if_the_second_question_is_not_answered(
    desk: Callable[..., Desk], reply: str
) -> None:
    here = furnished(desk(timeout=0.5))
    here.endpoint.script = lambda request: (
        UNAVAILABLE[reply] if asks_for(request) == "verification" else well(request)
    )
    here.ada.learn(conversation(0), "chat 0")
    here.ada.close("chat 0")
    here.flush()
    waiting = here.ada.session("chat 0")
    assert (waiting.watermark, waiting.due_at is not None) == (0, True)
    assert not [one for one in here.all(Kind.FACT) if one.source is Source.EXTRACTED]

    here.endpoint.script = well
    caught_up(here)
    (learned,) = [one for one in here.all(Kind.FACT) if one.source is Source.EXTRACTED]
    assert learned.status is Status.ACTIVE
    unharmed(here)


@pytest.mark.parametrize("times", [1, queue.MAX_ATTEMPTS - 1, queue.MAX_ATTEMPTS + 3])
def test_a_model_that_was_not_there_has_not_answered_wrongly(
    desk: Callable[..., Desk], times: int
) -> None:
    here = furnished(desk())
    here.endpoint.script = always(fails(500))
    here.ada.learn(conversation(0), "chat 0")
    here.ada.close("chat 0")
    here.flush()
    for _ in range(times - 1):
        here.clock.advance(PAST_EVERY_PAUSE)
        here.job("learn")
    here.endpoint.script = always(says("Sorry?"))
    here.clock.advance(PAST_EVERY_PAUSE)
    here.job("learn")

    one = here.ada.session("chat 0")
    assert one.failure is not None
    assert one.failure.startswith("model_misspoke")
    assert one.due_at is not None, "given up after a single answer that was none"


# Plans.


def waiting(desk: Desk, count: int) -> None:
    """An episode of each of so many agents."""
    for number in range(count):
        desk.ada.remember(episode(number), kind="episode", scope=f"agent {number}")


def test_no_plan_that_makes_no_sense_harms_a_memory(desk: Callable[..., Desk]) -> None:
    here = furnished(desk())
    chance = random.Random(SEED)
    replies = list(GIVEN_UP)
    for some in WRONG_ENTRIES.values():
        kinds = ("facts", "updates", "rules", "confirmations", "links", "merges")
        replies.append(says(dict.fromkeys(kinds, some)))
    replies += shared()
    for number in range(len(replies), len(replies) + MADE_UP_PLANS):
        replies.append(spoiled(good_plan(number), here.names, chance, number))
    here.endpoint.script = supported(answers(replies))
    waiting(here, len(replies))

    for attempt in range(1, run.MAX_ATTEMPTS + 1):
        assert here.job("consolidate") == ()
        for one in here.all(Kind.EPISODE):
            assert one.status is Status.ACTIVE
            assert one.attempts in (0, attempt) or one.backlog is not Backlog.PENDING
    unharmed(here)
    found = by_agent(here)
    assert len(found) == len(replies)
    for number, one in found.items():
        dead = one.backlog is Backlog.DEAD
        assert one.backlog in (Backlog.DONE, Backlog.DEAD), (number, one.failure)
        assert one.attempts == (run.MAX_ATTEMPTS if dead else 0)
        assert (one.failure or "").startswith("model_misspoke: ") == dead
    assert all(found[number].backlog is Backlog.DEAD for number in range(len(GIVEN_UP)))
    good = range(len(GIVEN_UP), len(GIVEN_UP) + len(WRONG_ENTRIES))
    assert all(found[number].backlog is Backlog.DONE for number in good)

    here.endpoint.script = well
    asked = len(here.endpoint.requests)
    here.job("consolidate")
    assert len(here.endpoint.requests) == asked
    unharmed(here)


def by_agent(desk: Desk) -> dict[int, Episode]:
    return {int(one.scope.removeprefix("agent ")): one for one in desk.all(Kind.EPISODE)}


def test_episodes_wait_for_a_model_that_is_not_there(desk: Callable[..., Desk]) -> None:
    here = furnished(desk(timeout=0.5))
    waiting(here, 3)
    for name, reply in UNAVAILABLE.items():
        here.endpoint.script = always(reply)
        assert all("model_unavailable" in one for one in here.job("consolidate")), name
        for one in by_agent(here).values():
            assert (one.status, one.backlog) == (Status.ACTIVE, Backlog.PENDING)
            assert (one.attempts, one.failure) == (0, None)
        here.own.append(here.ada.remember(f"While it was {name}, tea was made").memory)
    unharmed(here)

    here.endpoint.script = well
    for _ in range(20):
        here.job("consolidate")
        if all(one.backlog is Backlog.DONE for one in by_agent(here).values()):
            break
    assert {one.backlog for one in by_agent(here).values()} == {Backlog.DONE}
    made = [one for one in here.all(Kind.FACT) if one.source is Source.CONSOLIDATED]
    assert sorted(one.scope for one in made) == ["agent 0", "agent 1", "agent 2"]
    unharmed(here)


DIFFERENT = [
    ("Lives in Porto", "Lives in Lisbon"),
    ("Pays 20 euros", "Pays 30 euros"),
    ("Eats fish with Marta", "Eats fish with Pedro"),
    ("Eats fish", "Does not eat fish"),
    ("Can swim", "Cannot swim"),
    ("Likes the sea", "Never liked the sea"),
]


@pytest.mark.parametrize("source", [Source.EXPLICIT, Source.EXTRACTED])
def test_only_what_says_the_same_is_merged(desk: Callable[..., Desk], source: Source) -> None:
    here = desk()
    pairs = [*DIFFERENT, ("Plays chess", "Plays chess on Mondays")]
    for number, pair in enumerate(pairs):
        for words in pair:
            here.ada.remember(words, scope=f"agent {number}", source=source)
    waiting(here, len(pairs))
    merges = [{"keep": "m1", "drop": ["m2"]}, {"keep": "m2", "drop": ["m1"]}]
    here.endpoint.script = always(says({"merges": merges}))
    assert here.job("consolidate") == ()

    gone = {one.content for one in here.all(Kind.FACT) if one.status is not Status.ACTIVE}
    assert gone == {"Plays chess"}
    assert len(here.all(Kind.FACT)) == 2 * len(pairs)
