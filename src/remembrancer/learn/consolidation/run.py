"""Plans the consolidation of pending episodes into facts and rules, and applies the plans.

A model's proposals are checked before they become steps, and no step deletes a memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from remembrancer.call import Call
from remembrancer.errors import Conflict, RemembrancerError
from remembrancer.learn.consolidation.apply import apply_plan
from remembrancer.learn.consolidation.backlog import load_pending_episodes
from remembrancer.learn.consolidation.merges import plan_merges
from remembrancer.learn.consolidation.plan import ConsolidationPlan
from remembrancer.learn.consolidation.shown import ShownRecords, render_shown
from remembrancer.learn.consolidation.validate import PARSERS, SCHEMA, parse_steps
from remembrancer.learn.consolidation.verify import verify_steps
from remembrancer.learn.nearby import load_nearby
from remembrancer.llm import InvalidModelResponse, Question
from remembrancer.llm.prompts import load_prompt
from remembrancer.store.contract import Filter, Patch, Visibility, Write
from remembrancer.text_format import pluralize
from remembrancer.types import Action, Backlog, Batch, Episode, Kind, Maturity, Record

BATCH_SIZE = 50
"""Episodes per request to the model."""

MAX_FACTS_SHOWN = 2 * BATCH_SIZE
MAX_RULES_SHOWN = BATCH_SIZE
MAX_WARNINGS_SHOWN = 50
MAX_MEMORIES_PER_EPISODE = 5
"""Of each kind."""

MAX_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class ConsolidationResult:
    """A batch for each applied plan, and the messages of plans that failed."""

    batches: tuple[Batch, ...]
    failures: tuple[str, ...] = ()


def plan_consolidation(call: Call) -> list[ConsolidationPlan]:
    """Plan without applying: one plan for each batch of episodes, and one to merge duplicates."""
    plans = [propose_plan(call, scope, episodes) for scope, episodes in list_batches(call)]
    merges = plan_merges(call)
    return [*plans, merges] if merges is not None else plans


def list_batches(call: Call, scope: str | None = None) -> list[tuple[str, list[Episode]]]:
    """Pending episodes by scope, oldest first; none without a model."""
    if call.models.smart is None:
        return []
    return [
        (agent_scope, episodes[start : start + BATCH_SIZE])
        for agent_scope, episodes in load_pending_episodes(
            call, call.resolve_visibility(scope)
        ).items()
        for start in range(0, len(episodes), BATCH_SIZE)
    ]


def list_pending_scopes(call: Call) -> list[str]:
    """The scopes with pending episodes."""
    return list(load_pending_episodes(call, Visibility()))


def plan_batch(call: Call, scope: str, episodes: Sequence[Episode]) -> ConsolidationPlan:
    """Like `propose_plan`, but an invalid response counts as a failed attempt of the episodes."""
    try:
        return propose_plan(call, scope, episodes)
    except InvalidModelResponse as error:
        _record_failed_attempt(call, episodes, error)
        raise


def propose_plan(call: Call, scope: str, episodes: Sequence[Episode]) -> ConsolidationPlan:
    """Ask the model for a plan; raises InvalidModelResponse if the response is none."""
    assert call.models.smart is not None
    memories = _load_memories_to_show(call, scope, episodes)
    shown = ShownRecords(
        scope,
        call.now(),
        {f"e{number}": one for number, one in enumerate(episodes, 1)},
        {f"m{number}": one for number, one in enumerate(memories, 1)},
    )
    question = Question(load_prompt("consolidate"), render_shown(shown), SCHEMA, "plan")
    answer = call.models.smart.answer(question)
    if not any(isinstance(answer.value.get(name), list) for name in PARSERS):
        raise InvalidModelResponse("The model did not answer with a plan.")
    parsed = parse_steps(answer.value, shown)
    verifier = call.models.smart if call.profile.learning.verify else None
    verification_tokens = verify_steps(verifier, shown, parsed)
    return ConsolidationPlan(
        scope=scope,
        made_at=call.now(),
        episodes=tuple(one.id for one in episodes),
        steps=tuple(parsed.steps),
        refused=tuple(parsed.refused),
        reasons=tuple(parsed.reasons),
        model=answer.model,
        tokens=answer.tokens_in + answer.tokens_out + verification_tokens,
    )


def _load_memories_to_show(call: Call, scope: str, episodes: Sequence[Episode]) -> list[Record]:
    """The facts and rules nearest to each episode, and the warnings, the latest first."""
    nearby = load_nearby(
        call,
        [one.search_text for one in episodes],
        kinds=(Kind.FACT, Kind.RULE),
        scope=scope,
        per_text=MAX_MEMORIES_PER_EPISODE,
    )
    facts = [one for one in nearby if one.kind is Kind.FACT]
    rules = [one for one in nearby if one.kind is Kind.RULE]
    warnings = Filter(
        now=call.now(),
        kinds=(Kind.RULE,),
        visible=call.resolve_visibility(scope),
        maturities=(Maturity.ANTI_PATTERN,),
    )
    with call.store.open_reader(call.owner) as reader:
        harmful = reader.find(warnings, MAX_WARNINGS_SHOWN)
    shown = (*facts[:MAX_FACTS_SHOWN], *rules[:MAX_RULES_SHOWN], *harmful)
    return list({one.id: one for one in shown}.values())


def _record_failed_attempt(
    call: Call, episodes: Sequence[Episode], error: RemembrancerError
) -> None:
    """Count the attempt; after the last one the episodes leave the backlog."""
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
            verb = "was" if len(writes) == 1 else "were"
            note = f"{pluralize(len(writes), 'episode')} {verb} not consolidated: {error.code}"
            writer.apply(call.new_event(Action.LEARNED, call.now(), note=note), writes)


def consolidate(call: Call, scope: str | None = None) -> ConsolidationResult:
    """Plan and apply batch by batch; a batch that fails stays pending."""
    batches: list[Batch] = []
    failures: list[str] = []
    for agent_scope, episodes in list_batches(call, scope):
        try:
            batches.append(apply_plan(call, plan_batch(call, agent_scope, episodes)))
        except (InvalidModelResponse, Conflict) as error:
            failures.append(f"{error.code}: {error}")
    return ConsolidationResult(tuple(batches), tuple(failures))


def run_consolidation(call: Call, plan: ConsolidationPlan | None) -> ConsolidationResult:
    """Apply the given plan, or plan and apply everything that is pending."""
    if plan is not None:
        return ConsolidationResult((apply_plan(call, plan),))
    result = consolidate(call)
    merges = plan_merges(call)
    if merges is None:
        return result
    return replace(result, batches=(*result.batches, apply_plan(call, merges)))
