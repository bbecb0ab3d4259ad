"""Attempts at a team's memory: at another tenant's words, and at who said what in one's own."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from remembrancer.engine import Remembrancer
from remembrancer.errors import RemembrancerError
from remembrancer.memory import Memory
from remembrancer.team.review import EDIT_CAPABILITY, VIEW_CAPABILITY, Review
from remembrancer.types import TeamKind, TeamOrigin, TeamStatus
from tests.security.attempts import DISGUISES, NOON, TRICKS, told
from tests.security.hoards import Hoard, Team, cursor_of

NOTHING_NEW = "The nightly build is green."

Looking = Callable[[Review, str, str], object]
Asking = Callable[[Remembrancer, Memory, str], object]

REVIEWING: Mapping[str, tuple[Looking, ...]] = {
    "list": (
        lambda review, fact, words: review.list(),
        lambda review, fact, words: review.list(words=words),
        lambda review, fact, words: review.list(contested=True, single=True),
        lambda review, fact, words: review.list(cursor=cursor_of(NOON, words), limit=1),
        *(lambda review, fact, words, one=one: review.list(status=one) for one in TeamStatus),
        *(lambda review, fact, words, one=one: review.list(kind=one) for one in TeamKind),
        *(lambda review, fact, words, one=one: review.list(origin=one) for one in TeamOrigin),
    ),
    "get": (lambda review, fact, words: review.get(fact),),
    "person": (lambda review, fact, words: review.person(fact),),
    "reset_settings": (lambda review, fact, words: review.reset_settings("limit"),),
    "queue": (lambda review, fact, words: review.queue(single=True, limit=1),),
    "stats": (lambda review, fact, words: review.stats(),),
    "settings": (lambda review, fact, words: review.settings(),),
    "approve": (lambda review, fact, words: review.approve(fact),),
    "reject": (lambda review, fact, words: review.reject(fact),),
    "rivals": (
        lambda review, fact, words: review.rivals(
            [replace(one, conflicts=(fact,)) for one in review.list().items]
        ),
    ),
    "reopen": (lambda review, fact, words: review.reopen(fact),),
    "edit": (lambda review, fact, words: review.edit(fact, NOTHING_NEW),),
    "set_importance": (lambda review, fact, words: review.set_importance(fact, 5),),
    "delete": (lambda review, fact, words: review.delete(fact),),
    "change_settings": (lambda review, fact, words: review.change_settings(limit=7),),
}

NAMES_PEOPLE = frozenset({"people"})
"""Whoever looks after a tenant may know who is in it; who said what is another matter."""

ASKING: tuple[Asking, ...] = (
    lambda store, me, words: me.team(words),
    lambda store, me, words: me.context(words),
    lambda store, me, words: me.context(words, style="sections", budget=50_000),
    lambda store, me, words: me.recall(words, kinds=["fact", "turn"], limit=50),
    lambda store, me, words: me.propose(NOTHING_NEW),
    lambda store, me, words: me.list_team(limit=1000),
    lambda store, me, words: store.team_recall(words, tenant=me.principal.owner.tenant, limit=50),
)

CAPABILITIES = (
    (VIEW_CAPABILITY, EDIT_CAPABILITY),
    (EDIT_CAPABILITY,),
    (VIEW_CAPABILITY,),
    (),
    ("users:*",),
    (VIEW_CAPABILITY.upper(),),
    (f"{VIEW_CAPABILITY} ",),
    ("admin", "*", ""),
)


@dataclass(frozen=True, slots=True)
class TeamAttempt:
    """A question to a team's memory, or a look over its desk."""

    me: Memory
    capabilities: tuple[str, ...] | None
    act: Looking | Asking
    fact: str
    words: str

    @property
    def reviews(self) -> bool:
        return self.capabilities is not None

    def outcome(self, store: Remembrancer, fact: str) -> str:
        owner = self.me.principal.owner
        try:
            if self.capabilities is None:
                return told(self.act(store, self.me, self.words))
            desk = store.review(owner.user, tenant=owner.tenant, capabilities=self.capabilities)
            return told(self.act(desk, fact, self.words))
        except RemembrancerError as error:
            return f"{type(error).__name__} {error.code} {error}"


def team_attempts(
    chance: random.Random, hoards: list[Hoard], own: Team, other: Team
) -> Iterator[TeamAttempt]:
    """Attempts without end by the people of one tenant; only others' facts may be changed."""
    looks = [act for some in REVIEWING.values() for act in some]
    people = [one.me for one in hoards if one.me.principal.owner.tenant == own.tenant]
    while True:
        me, words = chance.choice(people), chance.choice((*own.words, *other.words, *TRICKS))
        if chance.random() < 0.4:
            yield TeamAttempt(me, None, chance.choice(ASKING), "", words)
            continue
        capabilities = chance.choice(CAPABILITIES)
        facts = other.facts if EDIT_CAPABILITY in capabilities else (*own.facts, *other.facts)
        fact = chance.choice((str, *DISGUISES))(chance.choice(facts))
        yield TeamAttempt(me, capabilities, chance.choice(looks), fact, words)
