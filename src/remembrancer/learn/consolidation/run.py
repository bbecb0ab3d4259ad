"""Consolidation: from episodes to plans for lasting memories, which are then carried out.

What a model proposes is checked before it is part of a plan, and no proposal deletes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from remembrancer.call import Call
from remembrancer.errors import Conflict, RemembrancerError
from remembrancer.learn.consolidation.apply import apply_plan
from remembrancer.learn.consolidation.plan import ConsolidationPlan, MergeStep
from remembrancer.learn.consolidation.validate import PARSERS, SCHEMA, ShownRecords, parse_steps
from remembrancer.llm import InvalidModelResponse, Question
from remembrancer.llm.prompts import load_prompt
from remembrancer.recall.prompt_block import escape_for_prompt
from remembrancer.store.contract import Filter, Patch, Visibility, Write
from remembrancer.store.nearest import find_nearest
from remembrancer.types import Action, Backlog, Batch, Episode, Kind, Record

BATCH_SIZE = 50
"""How many episodes a model is shown together."""

MAX_MEMORIES_SHOWN = 40
MAX_MEMORIES_PER_EPISODE = 5
MAX_ATTEMPTS = 5
MAX_ANSWER_TOKENS = 4000
MAX_COMPARED_MEMORIES = 10_000
MAX_PENDING_EPISODES = 100_000


@dataclass(frozen=True, slots=True)
class ConsolidationResult:
    """What came of it: a batch for each plan that was carried out, and what went wrong."""

    batches: tuple[Batch, ...]
    failures: tuple[str, ...] = ()


def plan_consolidation(call: Call) -> list[ConsolidationPlan]:
    """What consolidation would do now: a plan for each agent, and one for what says the same."""
    found = [propose_plan(call, scope, episodes) for scope, episodes in list_batches(call)]
    tidy = plan_merges(call)
    return [*found, tidy] if tidy is not None else found


def list_batches(call: Call, scope: str | None = None) -> list[tuple[str, list[Episode]]]:
    """The episodes that wait, by agent, oldest first; none if there is no model to read them."""
    if call.models.smart is None:
        return []
    return [
        (agent, episodes[start : start + BATCH_SIZE])
        for agent, episodes in _load_pending_episodes(call, call.resolve_visibility(scope)).items()
        for start in range(0, len(episodes), BATCH_SIZE)
    ]


def plan_merges(call: Call) -> ConsolidationPlan | None:
    """A plan to merge what says the same, which needs no model; None if there is nothing.

    Everything is compared with everything, so of very many memories nothing is.
    """
    from remembrancer.audit.findings import Flaw
    from remembrancer.audit.report import audit

    facts = Filter(now=call.now(), kinds=(Kind.FACT, Kind.RULE), visible=call.resolve_visibility())
    with call.store.open_reader(call.owner) as reader:
        if reader.count(facts) > MAX_COMPARED_MEMORIES:
            return None
    found = audit(call, [Flaw.DUPLICATE]).findings
    with call.store.open_reader(call.owner) as reader:
        steps = [
            MergeStep(
                kept=one.ids[0],
                content=records[one.ids[0]].content,
                dropped={each: records[each].content for each in one.affected},
            )
            for one in found
            if (records := reader.load(one.ids))
        ]
    return ConsolidationPlan(scope="", made_at=call.now(), steps=tuple(steps)) if steps else None


def list_pending_scopes(call: Call) -> list[str]:
    """The scopes of a person in which episodes wait to be consolidated."""
    return list(_load_pending_episodes(call, Visibility()))


def _load_pending_episodes(call: Call, visible: Visibility) -> dict[str, list[Episode]]:
    pending = Filter(
        now=call.now(), kinds=(Kind.EPISODE,), visible=visible, backlogs=(Backlog.PENDING,)
    )
    found: dict[str, list[Episode]] = {}
    with call.store.open_reader(call.owner) as reader:
        for one in reader.find(pending, MAX_PENDING_EPISODES, oldest_first=True):
            if isinstance(one, Episode):
                found.setdefault(one.scope, []).append(one)
    return found


def plan_batch(call: Call, scope: str, episodes: Sequence[Episode]) -> ConsolidationPlan:
    """What a model would make of some episodes, in order to do it.

    An answer that is none counts as an attempt; after some, the episodes are put aside.
    """
    try:
        return propose_plan(call, scope, episodes)
    except InvalidModelResponse as error:
        _record_failed_attempt(call, episodes, error)
        raise


def propose_plan(call: Call, scope: str, episodes: Sequence[Episode]) -> ConsolidationPlan:
    """What a model would make of some episodes."""
    assert call.models.smart is not None
    memories = _load_nearby(call, scope, episodes)
    shown = ShownRecords(
        {f"e{number}": one for number, one in enumerate(episodes, 1)},
        {f"m{number}": one for number, one in enumerate(memories, 1)},
    )
    question = Question(
        load_prompt("consolidate"), _render_shown(shown), SCHEMA, "plan", MAX_ANSWER_TOKENS
    )
    answer = call.models.smart.answer(question)
    if not any(isinstance(answer.value.get(name), list) for name in PARSERS):
        raise InvalidModelResponse("The model did not answer with a plan.")
    steps, refused = parse_steps(answer.value, shown)
    return ConsolidationPlan(
        scope=scope,
        made_at=call.now(),
        episodes=tuple(one.id for one in episodes),
        steps=tuple(steps),
        refused=tuple(refused),
        model=answer.model,
        tokens=answer.tokens_in + answer.tokens_out,
    )


def _load_nearby(call: Call, scope: str, episodes: Sequence[Episode]) -> list[Record]:
    """What is remembered already of what the episodes tell."""
    near = Filter(
        now=call.now(), kinds=(Kind.FACT, Kind.RULE), visible=call.resolve_visibility(scope)
    )
    found: dict[str, Record] = {}
    vectors = [call.embed(one.search_text) for one in episodes]
    with call.store.open_reader(call.owner) as reader:
        for vector in vectors:
            hits = find_nearest(reader, vector, near, MAX_MEMORIES_PER_EPISODE)
            found |= reader.load(hit.id for hit in hits)
    # What a program keeps at an address is its own to change.
    return [one for one in found.values() if not one.has_program_key][:MAX_MEMORIES_SHOWN]


def _render_shown(shown: ShownRecords) -> str:
    parts: dict[str, Mapping[str, Record]] = {
        "remembered": shown.memories,
        "episodes": shown.episodes,
    }
    return "\n\n".join(_render_section(name, some) for name, some in parts.items() if some)


def _render_section(name: str, records: Mapping[str, Record]) -> str:
    lines = [f"[{key}] {escape_for_prompt(one.content)}" for key, one in records.items()]
    return "\n".join([f"<{name}>", *lines, f"</{name}>"])


def _record_failed_attempt(
    call: Call, episodes: Sequence[Episode], error: RemembrancerError
) -> None:
    """Note that nothing came of it; after some attempts the episodes are put aside."""
    with call.open_writer() as writer:
        fresh = writer.load(one.id for one in episodes)
        writes: list[Write] = [
            Patch(
                one.id,
                {
                    "attempts": one.attempts + 1,
                    "failure": f"{error.code}: {error}",
                    "backlog": Backlog.DEAD if one.attempts + 1 >= MAX_ATTEMPTS else one.backlog,
                },
            )
            for one in fresh.values()
            if isinstance(one, Episode) and one.backlog is Backlog.PENDING
        ]
        if writes:
            note = f"{len(writes)} episodes were not consolidated: {error.code}"
            writer.apply(call.new_event(Action.LEARNED, call.now(), note=note), writes)


def consolidate(call: Call, scope: str | None = None) -> ConsolidationResult:
    """Plan and carry out, agent by agent; what fails for one is left for the next time."""
    batches: list[Batch] = []
    failures: list[str] = []
    for agent, episodes in list_batches(call, scope):
        try:
            batches.append(apply_plan(call, plan_batch(call, agent, episodes)))
        except (InvalidModelResponse, Conflict) as error:
            failures.append(f"{error.code}: {error}")
    return ConsolidationResult(tuple(batches), tuple(failures))


def run_consolidation(call: Call, plan: ConsolidationPlan | None) -> ConsolidationResult:
    """One plan, or all that consolidation would do now."""
    if plan is not None:
        return ConsolidationResult((apply_plan(call, plan),))
    done = consolidate(call)
    tidy = plan_merges(call)
    return replace(done, batches=(*done.batches, apply_plan(call, tidy))) if tidy else done
