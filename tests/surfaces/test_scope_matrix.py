"""Who may do what to whose memory is the same on every surface, and what is foreign is missing."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from remembrancer.engine import Remembrancer
from remembrancer.types import Action
from tests.support.http_server import served
from tests.support.opening import Open
from tests.surfaces.ways import (
    DONE,
    LIBRARY,
    Aim,
    Caller,
    Way,
    by_library,
    by_mcp,
    by_rest,
    by_shell,
)

VERBS = tuple(LIBRARY)


@pytest.fixture(params=["agents", "instances"])
def engine(request: pytest.FixtureRequest, open_memory: Open) -> Remembrancer:
    return open_memory(request.param)


def aim_of(engine: Remembrancer, caller: Caller) -> Aim:
    """Things that a caller has."""
    me = engine.for_user(caller.user, tenant=caller.tenant, agent=caller.agent)
    mark = secrets.token_hex(8)
    fact = me.remember(f"I drink tea number {mark}.")
    rule = me.remember(f"Ask before writing to {mark}.", kind="rule")
    session = me.append([{"role": "user", "content": f"I am called {mark}."}])[0].session_id
    assert fact.event is not None
    assert session is not None
    return Aim(fact.memory.id, rule.memory.id, fact.event.id, session)


@contextmanager
def ways(engine: Remembrancer, caller: Caller) -> Iterator[dict[str, Way]]:
    with ExitStack() as stack:
        server = stack.enter_context(served(engine))
        yield {
            "library": by_library(engine, caller),
            "shell": by_shell(engine, caller),
            "rest": by_rest(server, caller),
            "mcp": stack.enter_context(by_mcp(engine, caller)),
        }


def missing(aim: Aim) -> Aim:
    """The same ids, but of nobody."""
    parts = (aim.fact, aim.rule, aim.event, aim.session)
    return Aim(*(f"{one[:-6]}000000" for one in parts))


def test_what_is_foreign_is_missing_on_every_surface(engine: Remembrancer) -> None:
    tenant = engine.settings.tenant
    ada = Caller("ada", tenant, "helper")
    others = [Caller("ada", f"{tenant}-other", "helper")]
    if engine.settings.profile == "instances":
        others += [Caller("ada", tenant, "another"), Caller("bob", tenant, "another")]
    else:
        others += [Caller("bob", tenant, "helper"), Caller("Ada", tenant, "helper")]
    hers = aim_of(engine, ada)
    before = engine.for_user("ada", tenant=tenant, agent="helper").list().items
    for other in others:
        with ways(engine, other) as by_surface:
            told = {
                verb: {
                    name: (do(verb, hers), do(verb, missing(hers)))
                    for name, do in by_surface.items()
                }
                for verb in VERBS
            }
        for verb, outcomes in told.items():
            same = {one for one in outcomes.values() if one != (None, None)}
            assert len(same) == 1, f"{other} {verb}: {outcomes}"
            ((foreign, absent),) = same
            assert foreign == absent != DONE, f"{other} {verb}: {outcomes}"
    mine = engine.for_user("ada", tenant=tenant, agent="helper")
    assert mine.list().items == before
    actions = {one.action for one in mine.activity().items}
    assert actions <= {Action.REMEMBERED, Action.HEARD, Action.LEARNED}


def test_what_is_own_is_done_on_every_surface(open_memory: Open) -> None:
    engine = open_memory("assistant")
    ada = Caller("ada", engine.settings.tenant, "helper")
    with ways(engine, ada) as by_surface:
        told = {
            verb: {name: do(verb, aim_of(engine, ada)) for name, do in by_surface.items()}
            for verb in VERBS
        }
    for verb, outcomes in told.items():
        same = {one for one in outcomes.values() if one is not None}
        assert len(same) == 1, f"{verb}: {outcomes}"
