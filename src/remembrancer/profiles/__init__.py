"""Profiles: named sets of policies, and the six that ship. No code depends on a profile's name."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from remembrancer.errors import InvalidSetting
from remembrancer.types import Json, Kind, Maturity, Mode, Permanence, TeamKind

PROFILE_NAMES = ("default", "assistant", "instances", "agents", "advisor", "namespaces")

Fraction = Annotated[float, Field(ge=0, le=1)]
Days = Annotated[float, Field(gt=0)]
PositiveInt = Annotated[int, Field(ge=1)]


class ProfileTable(BaseModel):
    """One table of a profile. Unknown keys are errors, and values are immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Category(ProfileTable):
    """A category of facts, with the defaults that its facts inherit.

    A fact without a category gets the last one that has some of its `words`; `*` stands for the
    rest of a word.
    """

    description: str = ""
    words: tuple[str, ...] = ()
    permanence: Permanence = Permanence.STANDARD
    ttl_days: Days | None = None
    importance: float | None = None
    budget_tokens: PositiveInt | None = None


class ImportanceScale(ProfileTable):
    """The scale of importance, from 1 to `max`."""

    max: Annotated[int, Field(ge=2, le=10)] = 10
    default: Annotated[float, Field(ge=1, le=10)] = 5


class DedupPolicy(ProfileTable):
    """The similarity from which a new fact supersedes the nearest old one.

    With `paraphrases`, consolidation also merges facts that say the same in other words.
    """

    threshold: Fraction = 0.9
    inclusive: bool = True
    paraphrases: bool = False

    def is_met_by(self, similarity: float) -> bool:
        return similarity >= self.threshold if self.inclusive else similarity > self.threshold


class ScopePolicy(ProfileTable):
    """The scopes that an agent sees.

    `shared`: its own and the global scope; `isolated`: only its own; `nested`: its own and those
    below it. With the owner `instance` an agent's memories belong to the agent: all users of the
    tenant who have access to it share them.
    """

    visibility: Literal["shared", "isolated", "nested"] = "shared"
    write: Literal["global", "own"] = "own"
    owner: Literal["person", "instance"] = "person"

    @model_validator(mode="after")
    def _check_owner(self) -> ScopePolicy:
        if self.owner == "instance" and self.visibility != "isolated":
            raise ValueError('owner = "instance" needs visibility = "isolated"')
        return self


class DeletionPolicy(ProfileTable):
    """Deletes memories at once, or keeps them in the trash for some days."""

    mode: Literal["trash", "hard"] = "trash"
    trash_days: Days = 30


class DecayPolicy(ProfileTable):
    """The memories that lose confidence over time, what resets it, and the thresholds."""

    applies_to: Literal["all", "extracted", "none"] = "all"
    reset_by: Literal["confirmation", "use"] = "confirmation"
    recall_at: Fraction = 0.2
    expire_below: Fraction = 0.05


class TtlPolicy(ProfileTable):
    """Extends the time to live of a memory each time it is recalled, if enabled.

    After `max_times` its time to live since it was stored or confirmed, it expires all the same.
    """

    extend_on_use: bool = False
    max_times: Annotated[float, Field(ge=1, le=20)] = 4


class CompositeWeights(ProfileTable):
    """The weights of the composite score."""

    relevance: Fraction = 0.4
    importance: Fraction = 0.3
    recency: Fraction = 0.2
    confidence: Fraction = 0.1


class Nudges(ProfileTable):
    """The most that importance and recency move a result that is ranked by similarity."""

    importance: Annotated[float, Field(ge=0)] = 0.02
    recency: Annotated[float, Field(ge=0)] = 0.05
    recency_days: Days = 30


class EvidenceWeights(ProfileTable):
    """The weights of the evidence recipe; search/signals.py computes the signals."""

    meaning: float = 1.0
    words: float = 0.3
    phrases: float = 0.15
    passage: float = 0.12
    before: float = 0.3
    after: float = 0.35
    asking: float = 0.05
    speaker: float = 0.25
    assistant: float = 0.45
    standing: float = 0.35
    preference: float = 0.05
    nod: float = 0.1
    time: float = 0.35
    dates: float = 0.1
    order: float = 0.03
    unwanted: float = 0.3


Weight = Annotated[float, Field(ge=0)]
MATURITY_WEIGHTS: dict[Maturity, float] = {Maturity.CANDIDATE: 0.9, Maturity.PROVEN: 1.1}


class RecallPolicy(ProfileTable):
    """Defaults of recall: the recipe, the kinds, the limit and the weights.

    A kind or a maturity without a weight has 1.
    """

    recipe: Literal["evidence", "rrf", "nudged", "composite"] = "evidence"
    mode: Mode = Mode.HYBRID
    limit: PositiveInt = 20
    kinds: tuple[Kind, ...] = (Kind.FACT, Kind.RULE, Kind.EPISODE, Kind.TURN)
    kind_weights: dict[Kind, Weight] = {Kind.EPISODE: 0.9, Kind.TURN: 0.8}
    maturity_weights: dict[Maturity, Weight] = MATURITY_WEIGHTS
    minimum_importance: float = 0
    deadline_ms: Annotated[float, Field(gt=0)] | None = None
    rrf_k: PositiveInt = 60
    evidence: EvidenceWeights = EvidenceWeights()
    weights: CompositeWeights = CompositeWeights()
    nudges: Nudges = Nudges()


class ContextPolicy(ProfileTable):
    """The size and the style of the memories in a prompt.

    With `relevant_only`, a prompt gets the facts that it needs, else the best by score. `details`
    adds the permanence, age, maturity and scope of each memory.
    """

    budget_tokens: PositiveInt = 3000
    style: Literal["sections", "note", "hot_set"] = "sections"
    inject_extracted_at: Fraction = 0.7
    relevant_only: bool = True
    details: bool = False


class EpisodePolicy(ProfileTable):
    """The time to live of episodes, and their maximum number."""

    ttl_days: Days = 7
    cap: PositiveInt = 10_000


class Promotion(ProfileTable):
    """The requirements for a rule to reach a maturity."""

    successes: PositiveInt
    effectiveness: Fraction
    age_days: Annotated[float, Field(ge=0)] = 0


class RulePolicy(ProfileTable):
    """The confidence of a new rule, and the thresholds at which rules gain and lose trust."""

    confidence: Fraction = 0.5
    established: Promotion = Promotion(successes=5, effectiveness=0.6)
    proven: Promotion = Promotion(successes=15, effectiveness=0.8, age_days=30)
    harm_weight: Annotated[float, Field(gt=0)] = 4
    invert_at_harms: PositiveInt = 3
    invert_below: Fraction = 0.3


class LearningPolicy(ProfileTable):
    """When conversations are learned from, how many turns at a time, and what is believed.

    With `verify` the model is asked a second time whether the conversation supports what it
    proposed. With `keep_explicit` a statement made directly outranks later words in conversations.
    The model is shown `window` messages before the new ones or, with `window_includes_new`, with
    them. What is learned is `about` the person and those around them, or about the domain of the
    conversation: whoever and whatever is talked about.
    """

    when: Literal["after_reply", "on_close", "every_turns", "never"] = "on_close"
    window: PositiveInt = 15
    window_includes_new: bool = False
    about: Literal["person", "domain"] = "person"
    every_turns: PositiveInt = 10
    minimum_confidence: Fraction = 0.5
    verify: bool = True
    keep_explicit: bool = False


class SessionPolicy(ProfileTable):
    """When a quiet session is closed and archived, and the size at which it is summarised.

    Without `archive_days` no session is archived by itself.
    """

    idle_minutes: PositiveInt = 30
    archive_days: PositiveInt | None = 30
    context_tokens: PositiveInt = 32_000
    summarise_at: Fraction = 0.8


class TeamPolicy(ProfileTable):
    """The kinds that a team shares, and the number of people that approves a fact."""

    enabled: bool = False
    kinds: tuple[TeamKind, ...] = tuple(TeamKind)
    promote_at: PositiveInt | None = 2
    dedup_threshold: Fraction = 0.5
    recall_confidence: Fraction = 0.3
    limit: PositiveInt = 5


class ToolPolicy(ProfileTable):
    """The set of names under which the tools are offered."""

    names: Literal["plain", "memory", "assistant", "preferences"] = "plain"


class Profile(ProfileTable):
    """A named set of policies for all the choices in which memory products differ."""

    name: str
    description: str
    default_category: str
    categories: dict[str, Category]
    importance: ImportanceScale = ImportanceScale()
    dedup: DedupPolicy = DedupPolicy()
    scopes: ScopePolicy = ScopePolicy()
    deletion: DeletionPolicy = DeletionPolicy()
    decay: DecayPolicy = DecayPolicy()
    ttl: TtlPolicy = TtlPolicy()
    recall: RecallPolicy = RecallPolicy()
    context: ContextPolicy = ContextPolicy()
    episodes: EpisodePolicy = EpisodePolicy()
    rules: RulePolicy = RulePolicy()
    learning: LearningPolicy = LearningPolicy()
    sessions: SessionPolicy = SessionPolicy()
    team: TeamPolicy = TeamPolicy()
    tools: ToolPolicy = ToolPolicy()

    @model_validator(mode="after")
    def _check_default_category(self) -> Profile:
        if self.default_category not in self.categories:
            names = ", ".join(self.categories)
            raise ValueError(f"default_category must be one of: {names}")
        return self

    def find_category(self, text: str) -> str | None:
        """The last category some of whose words are in the text; None if there is none."""
        found = [
            name
            for name, one in self.categories.items()
            if one.words and _compile_words(one.words).search(text)
        ]
        return found[-1] if found else None

    def resolve_category(self, name: str | None) -> tuple[str, Category]:
        """The category with this name, or the default category if there is no name."""
        chosen = name or self.default_category
        if chosen not in self.categories:
            raise InvalidSetting(
                f"The profile {self.name!r} has no category {chosen!r}: "
                f"use one of {', '.join(self.categories)}."
            )
        return chosen, self.categories[chosen]


@cache
def _compile_words(words: tuple[str, ...]) -> re.Pattern[str]:
    either = "|".join(re.escape(one).replace(r"\*", r"\w*") for one in words)
    return re.compile(rf"(?<!\w)(?:{either})(?!\w)", re.IGNORECASE)


@cache
def load_profile_values(name: str) -> Mapping[str, Json]:
    """The values of a shipped profile; cached, because every call needs its profile."""
    if name not in PROFILE_NAMES:
        raise InvalidSetting(
            f"profile: {name!r} is unknown; use one of {', '.join(PROFILE_NAMES)}."
        )
    text = resources.files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return {"name": name, **tomllib.loads(text)}
