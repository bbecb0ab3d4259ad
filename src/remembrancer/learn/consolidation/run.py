"""Consolidation: from episodes to plans for lasting memories, which are then carried out.

What a model proposes is checked before it is part of a plan, and no proposal deletes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from remembrancer.call import Call
from remembrancer.errors import Conflict, RemembrancerError
from remembrancer.learn.consolidation.apply import apply
from remembrancer.learn.consolidation.plan import Merge, Plan
from remembrancer.learn.consolidation.validate import READERS, SCHEMA, Shown, steps_of
from remembrancer.llm import ModelMisspoke, Question
from remembrancer.llm.prompts import prompt
from remembrancer.recall.prompt_block import as_data
from remembrancer.store.contract import Filter, Patch, Visibility, Write
from remembrancer.store.nearest import nearest
from remembrancer.types import Action, Backlog, Batch, Episode, Kind, Record

AT_ONCE = 50
"""How many episodes a model is shown together."""

SHOWN = 40
SHOWN_PER_EPISODE = 5
MOST_ATTEMPTS = 5
MOST_TOKENS = 4000
COMPARED_AT_MOST = 10_000
EVERYTHING = 100_000


@dataclass(frozen=True, slots=True)
class Consolidated:
    """What came of it: a batch for each plan that was carried out, and what went wrong."""

    batches: tuple[Batch, ...]
    failures: tuple[str, ...] = ()


def plans(call: Call) -> list[Plan]:
    """What consolidation would do now: a plan for each agent, and one for what says the same."""
    found = [proposed(call, scope, episodes) for scope, episodes in groups(call)]
    tidy = tidying(call)
    return [*found, tidy] if tidy is not None else found


def groups(call: Call, scope: str | None = None) -> list[tuple[str, list[Episode]]]:
    """The episodes that wait, by agent, oldest first; none if there is no model to read them."""
    if call.models.smart is None:
        return []
    return [
        (agent, episodes[start : start + AT_ONCE])
        for agent, episodes in _waiting(call, call.visible(scope)).items()
        for start in range(0, len(episodes), AT_ONCE)
    ]


def tidying(call: Call) -> Plan | None:
    """A plan to merge what says the same, which needs no model; None if there is nothing.

    Everything is compared with everything, so of very many memories nothing is.
    """
    from remembrancer.audit import audit
    from remembrancer.audit.finding import Flaw

    facts = Filter(now=call.now(), kinds=(Kind.FACT, Kind.RULE), visible=call.visible())
    with call.store.reading(call.owner) as reader:
        if reader.count(facts) > COMPARED_AT_MOST:
            return None
    found = audit(call, [Flaw.DUPLICATE]).findings
    with call.store.reading(call.owner) as reader:
        steps = [
            Merge(
                kept=one.ids[0],
                content=records[one.ids[0]].content,
                dropped={each: records[each].content for each in one.affected},
            )
            for one in found
            if (records := reader.load(one.ids))
        ]
    return Plan(scope="", made_at=call.now(), steps=tuple(steps)) if steps else None


def scopes_waiting(call: Call) -> list[str]:
    """The scopes of a person in which episodes wait to be consolidated."""
    return list(_waiting(call, Visibility()))


def _waiting(call: Call, visible: Visibility) -> dict[str, list[Episode]]:
    pending = Filter(
        now=call.now(), kinds=(Kind.EPISODE,), visible=visible, backlogs=(Backlog.PENDING,)
    )
    found: dict[str, list[Episode]] = {}
    with call.store.reading(call.owner) as reader:
        for one in reader.find(pending, EVERYTHING, oldest=True):
            if isinstance(one, Episode):
                found.setdefault(one.scope, []).append(one)
    return found


def planned(call: Call, scope: str, episodes: Sequence[Episode]) -> Plan:
    """What a model would make of some episodes, in order to do it.

    An answer that is none counts as an attempt; after some, the episodes are put aside.
    """
    try:
        return proposed(call, scope, episodes)
    except ModelMisspoke as error:
        _count_attempt(call, episodes, error)
        raise


def proposed(call: Call, scope: str, episodes: Sequence[Episode]) -> Plan:
    """What a model would make of some episodes."""
    assert call.models.smart is not None
    memories = _nearby(call, scope, episodes)
    shown = Shown(
        {f"e{number}": one for number, one in enumerate(episodes, 1)},
        {f"m{number}": one for number, one in enumerate(memories, 1)},
    )
    question = Question(prompt("consolidate"), _told(shown), SCHEMA, "plan", MOST_TOKENS)
    answer = call.models.smart.answer(question)
    if not any(isinstance(answer.value.get(name), list) for name in READERS):
        raise ModelMisspoke("The model did not answer with a plan.")
    steps, refused = steps_of(answer.value, shown)
    return Plan(
        scope=scope,
        made_at=call.now(),
        episodes=tuple(one.id for one in episodes),
        steps=tuple(steps),
        refused=tuple(refused),
        model=answer.model,
        tokens=answer.tokens_in + answer.tokens_out,
    )


def _nearby(call: Call, scope: str, episodes: Sequence[Episode]) -> list[Record]:
    """What is remembered already of what the episodes tell."""
    near = Filter(now=call.now(), kinds=(Kind.FACT, Kind.RULE), visible=call.visible(scope))
    found: dict[str, Record] = {}
    vectors = [call.embed(one.searchable) for one in episodes]
    with call.store.reading(call.owner) as reader:
        for vector in vectors:
            hits = nearest(reader, vector, near, SHOWN_PER_EPISODE)
            found |= reader.load(hit.id for hit in hits)
    # What a program keeps at an address is its own to change.
    return [one for one in found.values() if not one.is_addressed][:SHOWN]


def _told(shown: Shown) -> str:
    parts: dict[str, Mapping[str, Record]] = {
        "remembered": shown.memories,
        "episodes": shown.episodes,
    }
    return "\n\n".join(_listed(name, some) for name, some in parts.items() if some)


def _listed(name: str, records: Mapping[str, Record]) -> str:
    lines = [f"[{key}] {as_data(one.content)}" for key, one in records.items()]
    return "\n".join([f"<{name}>", *lines, f"</{name}>"])


def _count_attempt(call: Call, episodes: Sequence[Episode], error: RemembrancerError) -> None:
    """Note that nothing came of it; after some attempts the episodes are put aside."""
    with call.writing() as writer:
        fresh = writer.load(one.id for one in episodes)
        writes: list[Write] = [
            Patch(
                one.id,
                {
                    "attempts": one.attempts + 1,
                    "failure": f"{error.code}: {error}",
                    "backlog": Backlog.DEAD if one.attempts + 1 >= MOST_ATTEMPTS else one.backlog,
                },
            )
            for one in fresh.values()
            if isinstance(one, Episode) and one.backlog is Backlog.PENDING
        ]
        if writes:
            note = f"{len(writes)} episodes were not consolidated: {error.code}"
            writer.apply(call.event(Action.LEARNED, call.now(), note=note), writes)


def consolidate(call: Call, scope: str | None = None) -> Consolidated:
    """Plan and carry out, agent by agent; what fails for one is left for the next time."""
    batches: list[Batch] = []
    failures: list[str] = []
    for agent, episodes in groups(call, scope):
        try:
            batches.append(apply(call, planned(call, agent, episodes)))
        except (ModelMisspoke, Conflict) as error:
            failures.append(f"{error.code}: {error}")
    return Consolidated(tuple(batches), tuple(failures))


def carried_out(call: Call, plan: Plan | None) -> Consolidated:
    """One plan, or all that consolidation would do now."""
    if plan is not None:
        return Consolidated((apply(call, plan),))
    done = consolidate(call)
    tidy = tidying(call)
    return replace(done, batches=(*done.batches, apply(call, tidy))) if tidy else done
