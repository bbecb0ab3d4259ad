"""Five thousand attempts on each engine to reach what is someone else's; none succeeds."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import psycopg
import pytest

from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from remembrancer.store import pg_roles
from remembrancer.team.activity import TeamActivity
from remembrancer.team.fact_list import TeamListed
from remembrancer.team.review import Review, TeamStats
from remembrancer.team.service import TeamProposalResult
from remembrancer.types import TeamEntry, TeamFact, TeamRecalled, Tenant
from tests.security import sql_attempts
from tests.security.attempts import (
    NAMING,
    ON_VALUES,
    SEARCHING,
    WRITING,
    Attempt,
    Ways,
    alike,
    attempts,
    outcome,
    strangers,
)
from tests.security.hoards import Hoard, Team, Words, filled, proposed, tokens_in
from tests.security.team_attempts import NAMES_PEOPLE, REVIEWING, TeamAttempt, team_attempts
from tests.support.opening import Open

SEED = 20260302
EACH = 625 if os.environ.get("REM_LONG") else 313
"""How many attempts there are of each of the eight classes: 5,000 on both engines, or on each."""


@dataclass(frozen=True, slots=True)
class World:
    """Two tenants of three people each, what they hold, and two agents of one more person."""

    store: Remembrancer
    hoards: list[Hoard]
    teams: list[Team]
    agents: list[Hoard]
    chance: random.Random

    def tokens(self) -> set[str]:
        """All that anyone holds."""
        return {one for hoard in (*self.hoards, *self.agents) for one in hoard.tokens}


@pytest.fixture
def world(open_memory: Open, tenant: str) -> World:
    store, words = open_memory("assistant"), Words(SEED)
    hoards: list[Hoard] = []
    teams = []
    for _ in range(2):
        place = f"{tenant}-{words.next()}"
        people = [person(store, place, words.next()) for _ in range(3)]
        hoards += [filled(me, words) for me in people]
        teams.append(proposed(store, people, words))
        store.review(tenant=place).change_settings(team_recall={"anonymous": True})
    return World(store, hoards, teams, bots(open_memory, words), random.Random(SEED))


def person(store: Remembrancer, tenant: str, name: str) -> Memory:
    return store.for_user(name, tenant=tenant, surface=f"of-{name}")


def bots(open_memory: Open, words: Words) -> list[Hoard]:
    """Two agents of one person that are to know nothing of each other."""
    store, name = open_memory("instances"), words.next()
    return [filled(store.for_user(name, agent=words.next()), words) for _ in range(2)]


def test_none_of_five_thousand_attempts_reaches_anything(world: World, place: str) -> None:
    by_sql = through_sql if place.startswith("postgresql") else in_files
    classes = (
        between_people(world, NAMING),
        between_people(world, SEARCHING),
        by_strangers(world),
        between_agents(world, NAMING),
        between_agents(world, SEARCHING, WRITING),
        at_the_team(world),
        by_sql(world, place),
        between_people(world, WRITING),
    )
    outcomes = [list(one) for one in classes]

    assert [len(some) for some in outcomes] == [EACH] * 8
    assert all(len(set(some)) > 10 for some in outcomes), "attempts that all end alike are one"
    nobody_was_touched(world)


def between_people(world: World, ways: Ways) -> Iterator[str]:
    pairs = [(a, b) for a in world.hoards for b in world.hoards if a is not b]
    tries = [attempts(world.chance, a.ids[-1], b, ways) for a, b in pairs]
    for number in range(EACH):
        actor, _ = pairs[number % len(pairs)]
        foreign = world.tokens() - actor.tokens
        yield try_once(next(tries[number % len(pairs)]), actor, foreign, ways is NAMING)


def between_agents(world: World, *ways: Ways) -> Iterator[str]:
    pairs = [tuple(world.agents), tuple(world.agents[::-1])]
    tries = [attempts(world.chance, a.ids[-1], b, *ways) for a, b in pairs]
    for number in range(EACH):
        actor, theirs = pairs[number % 2]
        foreign = theirs.tokens - actor.tokens
        yield try_once(next(tries[number % 2]), actor, foreign, ways == (NAMING,))


def by_strangers(world: World) -> Iterator[str]:
    """By people who are called nearly the same, and by namespaces beside one's own."""
    names = [
        (theirs, strangers(world.chance, owner.tenant, owner.user))
        for theirs in world.hoards
        if (owner := theirs.me.principal.owner)
    ]
    tries = {id(one): attempts(world.chance, "x", one, NAMING, SEARCHING) for one, _ in names}
    for number in range(EACH):
        theirs, some = names[number % len(names)]
        tenant, user = next(some)
        if number % 2:
            me = world.store.for_namespace((tenant, user, theirs.words[0], ".."))
        else:
            me = world.store.for_user(user, tenant=tenant)
        actor = Hoard(me, tokens=tokens_in((tenant, user)))
        yield try_once(next(tries[id(theirs)]), actor, world.tokens() - actor.tokens, False)


def try_once(attempt: Attempt, actor: Hoard, foreign: set[str], compared: bool) -> str:
    """The outcome holds nothing of others, and is what it would be if they had nothing."""
    actor.typed |= tokens_in((attempt.aim, attempt.vain, actor.me.principal.owner.user))
    text = outcome(attempt, actor.me, attempt.aim)
    seen = (tokens_in(text) & foreign) - actor.typed
    assert not seen, f"{attempt.verb} told {seen}: {text}"
    if compared:
        vain = outcome(attempt, actor.me, attempt.vain)
        assert alike(text, attempt.aim) == alike(vain, attempt.vain), attempt.verb
    return text


def at_the_team(world: World) -> Iterator[str]:
    sides = (world.teams, world.teams[::-1])
    tries = [team_attempts(world.chance, world.hoards, *side) for side in sides]
    for number in range(EACH):
        own, other = sides[number % 2]
        yield ask_once(world, next(tries[number % 2]), own, other)


def ask_once(world: World, attempt: TeamAttempt, own: Team, other: Team) -> str:
    forbidden = own.people | other.people | other.tokens
    if not attempt.reviews:
        forbidden |= own.untold
    forbidden -= {attempt.me.principal.owner.user, *tokens_in((attempt.fact, attempt.words))}
    text = attempt.outcome(world.store, attempt.fact)
    seen = {one for one in forbidden if one in text}
    assert not seen, f"{attempt} told {seen}: {text}"
    if tokens_in(attempt.fact) & other.tokens:
        missing = f"{attempt.fact[:-4]}zzzz"
        vain = attempt.outcome(world.store, missing)
        assert uncounted(text, attempt.fact) == uncounted(vain, missing)
    return text


def uncounted(text: str, fact: str) -> str:
    """What was told, without the id that was asked for and how often something was recalled."""
    return re.sub(r"recall_count=\d+", "", text.replace(fact, "·"))


def through_sql(world: World, place: str) -> Iterator[str]:
    """As each of the roles, having named oneself or nobody; see what is promised in there."""
    with psycopg.connect(place, autocommit=True) as admin:
        admin.execute("ANALYZE")  # so that there are statistics to be looked into
    a, b = world.teams
    with psycopg.connect(place) as connection:
        for number in range(EACH):
            role = pg_roles.ROLES[number % 3]
            actor, theirs = world.chance.sample(world.hoards, 2)
            foreign, allowed = world.tokens() | a.tokens | b.tokens, set(actor.tokens)
            own, victim = actor.me.principal.owner.id, theirs.me.principal.owner.id
            if role != pg_roles.APP_ROLE:
                own, victim = Tenant(a.tenant).id, Tenant(b.tenant).id
                foreign |= a.people | b.people
                allowed = set(a.tokens) | (
                    set(a.people) if role == pg_roles.TEAM_WRITER_ROLE else set()
                )
            some = sql_attempts.statements(world.chance, role, own, victim)
            statement = next(some)
            if statement.named != own:
                allowed = set()
            text = sql_attempts.run(connection, statement)
            seen = (tokens_in(text) & foreign) - allowed - {own, victim}
            yield text
            assert not seen, f"{statement} told {seen}: {text}"


def in_files(world: World, place: str) -> Iterator[str]:
    """There is nothing of others in a person's file, whatever is asked of it."""
    files = {one.me.principal.owner.id: one for one in world.hoards}
    for own, actor in files.items():
        held = sql_attempts.held_in(Path(place, "people", f"{own}.db"))
        assert tokens_in(held) & actor.tokens
        assert not tokens_in(held) & (world.tokens() - actor.tokens - actor.typed)
    for _ in range(EACH):
        own, victim = world.chance.sample(sorted(files), 2)
        file = Path(place, "people", f"{own}.db")
        text = sql_attempts.in_file(world.chance, file, own, victim)
        foreign = world.tokens() - files[own].tokens - files[own].typed
        yield text
        assert not tokens_in(text) & foreign, text


def nobody_was_touched(world: World) -> None:
    """Everything that happened to someone's memory was done by themselves."""
    world.store.flush()
    for one in world.hoards:
        events = one.me.activity(limit=1000).items
        assert {event.surface for event in events} <= {one.me.principal.surface, "jobs"}
    for one in world.agents:
        events = one.me.activity(limit=1000).items
        assert {event.agent for event in events} <= {one.me.principal.agent, None}
        assert all(record.scope == one.me.principal.agent for record in one.me.list().items)
    for team in world.teams:
        entries = world.store.review(tenant=team.tenant).list(limit=1000).items
        assert {one.fact.id for one in entries} >= set(team.facts)
        assert {one.fact.importance for one in entries} == {3}


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def test_every_verb_and_every_view_is_tried() -> None:
    assert public(Memory) == NAMING.keys() | SEARCHING.keys() | WRITING.keys() | ON_VALUES
    assert public(Review) == REVIEWING.keys() | NAMES_PEOPLE | {"require_edit"}


SHARED = (Memory.team, Memory.list_team, Memory.propose, Memory.withdraw)
LEAVING = (
    TeamProposalResult,
    TeamActivity,
    TeamEntry,
    TeamFact,
    TeamListed,
    TeamRecalled,
    TeamStats,
)


def test_nothing_that_leaves_a_team_has_a_field_for_a_person() -> None:
    about_the_team = REVIEWING.keys() - {"person"}  # which tells of one who was named
    verbs = [getattr(Review, name) for name in about_the_team]
    told = [one.__annotations__["return"] for one in (*verbs, *SHARED)]
    kinds = {kind.__name__ for kind in LEAVING} | {"Page", "TeamSettings"}
    assert {word for one in told for word in re.findall(r"[A-Z]\w+", one)} <= kinds

    names = {one.name: one.type for kind in LEAVING for one in fields(kind)}
    persons = {one for one in names if re.search("user|owner|contribut|tenant|author", one)}
    assert persons == {"contributors"}
    assert names["contributors"] == "int"


@pytest.mark.parametrize("place", ["postgres"], indirect=True)
def test_a_caller_with_sql_of_their_own_can_name_anyone_and_that_is_not_promised(
    world: World, place: str
) -> None:
    """Row security stands against a forgotten filter; against foreign SQL stands that none runs."""
    victim = world.hoards[0]
    name = f"SELECT set_config('app.owner_id', '{victim.me.principal.owner.id}', true)"
    with psycopg.connect(place) as connection:
        own = world.hoards[1].me.principal.owner.id
        statement = sql_attempts.Statement(pg_roles.APP_ROLE, own, "facts", f"{name}; TABLE facts")
        text = sql_attempts.run(connection, statement)

    assert tokens_in(text) & victim.tokens
