"""Checks the steps of a plan with one more question to the model: do their sources say so?

If it is not asked, memories are only merged or confirmed if they share their words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from remembrancer.learn.consolidation.plan import (
    AddStep,
    AffirmStep,
    MergeStep,
    PlanStep,
    RelateStep,
    ReviseStep,
)
from remembrancer.learn.consolidation.shown import ShownRecords, render_shown
from remembrancer.learn.consolidation.validate import (
    MIN_RULE_EPISODES,
    ParsedPlan,
    doubt_revision,
)
from remembrancer.learn.evidence_check import MIN_SUPPORTED_SHARE, word_coverage
from remembrancer.learn.second_question import (
    DOUBT_OF_MANNER,
    ClaimVerdict,
    ask_for_verdicts,
    build_question,
)
from remembrancer.llm import Model
from remembrancer.llm.prompts import load_prompt
from remembrancer.recall.prompt_block import escape_for_prompt
from remembrancer.remember.attributes import USER_SUBJECT
from remembrancer.types import Record

MAX_ANSWER_TOKENS = 4000
USER_NAMES = frozenset({"", "user", "person", "the user", "the person"})

UNSUPPORTED = "its sources do not say so"
STORED_UNCONFIRMED = f"{UNSUPPORTED}; it is stored as unconfirmed"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepClaim:
    """What the step at a position claims, and the short names of the records that must say so.

    `dropped` is the memory that a merge would drop. `assumed` is whether the claim counts as
    supported if no model is asked.
    """

    position: int
    content: str
    sources: tuple[str, ...]
    about: str | None = None
    dropped: str = ""
    assumed: bool = True


def verify_steps(model: Model | None, shown: ShownRecords, plan: ParsedPlan) -> int:
    """Refuse or doubt the steps that their sources do not support; returns the tokens spent.

    Raises InvalidModelResponse if the model does not answer with verdicts.
    """
    claims = [
        claim
        for position, step in enumerate(plan.steps)
        for claim in _iter_claims(position, step, shown, plan)
    ]
    tokens = 0
    failed = [one for one in claims if not one.assumed]
    if model is not None and claims:
        failed, tokens = _ask(model, shown, claims)
    by_position: dict[int, list[StepClaim]] = {}
    for one in failed:
        by_position.setdefault(one.position, []).append(one)
    plan.steps = [
        kept
        for position, step in enumerate(plan.steps)
        for kept in _apply_verdicts(step, by_position.get(position, ()), shown, plan)
    ]
    return tokens


def _iter_claims(
    position: int, step: PlanStep, shown: ShownRecords, plan: ParsedPlan
) -> Iterator[StepClaim]:
    match step:
        case AddStep(unconfirmed=False):
            yield StepClaim(
                position=position,
                content=_state_claim(step),
                sources=tuple(shown.list_names(step.episodes)),
                about=step.subject,
                assumed=step not in plan.uncued,
            )
        case ReviseStep():
            sources = shown.list_names([*step.episodes, step.target])
            yield StepClaim(position=position, content=step.content, sources=tuple(sources))
        case AffirmStep():
            yield _build_affirm_claim(position, step, shown)
        case MergeStep():
            for dropped, content in step.dropped.items():
                if word_coverage(content, step.content) < 1:
                    yield StepClaim(
                        position=position,
                        content=content,
                        sources=tuple(shown.list_names([step.kept])),
                        dropped=dropped,
                        assumed=False,
                    )
        case AddStep() | RelateStep():
            pass


def _state_claim(step: AddStep) -> str:
    """The content; a rule of a single episode also claims that the person asked for it."""
    alone = step.kind == "rule" and len(step.episodes) < MIN_RULE_EPISODES
    return f"The person asked or corrected the assistant: {step.content}" if alone else step.content


def _build_affirm_claim(position: int, step: AffirmStep, shown: ShownRecords) -> StepClaim:
    trusted = {name: one for name, one in shown.episodes.items() if not one.tainted}
    shared = (word_coverage(step.content, one.content) for one in trusted.values())
    return StepClaim(
        position=position,
        content=step.content,
        sources=tuple(trusted),
        assumed=max(shared, default=0.0) >= MIN_SUPPORTED_SHARE,
    )


def _ask(
    model: Model, shown: ShownRecords, claims: Sequence[StepClaim]
) -> tuple[list[StepClaim], int]:
    """The claims that the model does not accept, and the tokens spent."""
    question = build_question(
        load_prompt("verify_plan"),
        render_shown(shown),
        [_render_claim(one) for one in claims],
        required=("claim", "supported"),
        max_tokens=MAX_ANSWER_TOKENS,
    )
    verdicts, tokens = ask_for_verdicts(model, question, ClaimVerdict)
    named = {f"c{number}": one for number, one in enumerate(claims, 1)}
    accepted = {
        one.claim for one in verdicts if one.claim in named and _accepts(one, named[one.claim])
    }
    return [one for name, one in named.items() if name not in accepted], tokens


def _accepts(verdict: ClaimVerdict, claim: StepClaim) -> bool:
    """True if it is said, seriously, and of the user where the claim is about the user."""
    said_of = (verdict.about or "").strip().casefold()
    same_person = claim.about != USER_SUBJECT or said_of in USER_NAMES
    return verdict.supported and same_person and verdict.manner not in DOUBT_OF_MANNER


def _render_claim(claim: StepClaim) -> str:
    about = f"about {escape_for_prompt(claim.about)}, " if claim.about else ""
    return f"({about}from {', '.join(claim.sources)}) {escape_for_prompt(claim.content)}"


def _apply_verdicts(
    step: PlanStep, failed: Collection[StepClaim], shown: ShownRecords, plan: ParsedPlan
) -> list[PlanStep]:
    """The step, what remains of it, or nothing; each refusal is added to the plan."""
    if not failed:
        return [step]
    match step:
        case AddStep(kind="fact"):
            plan.refuse("facts", STORED_UNCONFIRMED, step.content)
            return [replace(step, unconfirmed=True)]
        case AddStep():
            plan.refuse("rules", UNSUPPORTED, step.content)
        case ReviseStep():
            return _doubt(step, _find_record(step.target, shown), plan)
        case AffirmStep():
            plan.refuse("confirmations", "no episode supports it", step.content)
        case MergeStep():
            return _shrink_merge(step, {one.dropped for one in failed}, plan)
        case RelateStep():
            pass
    return []


def _doubt(step: ReviseStep, old: Record, plan: ParsedPlan) -> list[PlanStep]:
    doubted = doubt_revision(step, old)
    plan.refuse("updates", STORED_UNCONFIRMED if doubted else UNSUPPORTED, step.content)
    return [doubted] if doubted else []


def _shrink_merge(step: MergeStep, failed: set[str], plan: ParsedPlan) -> list[PlanStep]:
    """The merge without the memories that say something else."""
    for one in failed:
        plan.refuse("merges", "one says something that the other does not", step.dropped[one])
    dropped = {key: value for key, value in step.dropped.items() if key not in failed}
    return [replace(step, dropped=dropped)] if dropped else []


def _find_record(memory_id: str, shown: ShownRecords) -> Record:
    return next(one for one in shown.memories.values() if one.id == memory_id)
