"""A year with assistants that share one memory: the story as things that were done."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from remembrancer.assistant.chat import Chat
from remembrancer.demo import story
from remembrancer.demo.actions import Deed
from remembrancer.remember.statement import Details
from remembrancer.sessions.turns import Said
from remembrancer.types import Relation

if TYPE_CHECKING:
    from remembrancer.engine import Remembrancer
    from remembrancer.memory import Memory

SETTINGS = {
    "agents": {"gardener": {}, "researcher": {}, "cook": {}},
    "adjust": {"team": {"enabled": True}, "recall": {"recipe": "evidence"}},
}
"""Recall by what answers the question: the recipe of the profile prefers what is recent, which
among so few memories is most of the time another one."""

JOBS = ("decay_sweep", "episode_cleanup")


def deeds(store: Remembrancer) -> Iterator[Deed]:
    """Everything that was done, in no order."""
    me = store.for_user(surface="web")
    for fact in story.FACTS:
        yield _fact(me, fact)
    for days, words in story.CONFIRMED:
        yield Deed(days, partial(me.confirm, words))
    for rule in story.RULES:
        yield from _rule(me, rule)
    for talk in story.TALKS:
        yield Deed(talk.days, partial(_talk, store, talk))
    for days, one, other in story.LINKED:
        yield Deed(days, partial(me.link, one, other, Relation.RELATED_TO))
    for days, words, verb in story.DISMISSED:
        yield Deed(days + 1, partial(me.remember, words))
        yield Deed(days, partial(getattr(me, verb), words))
    for days, who, words in story.OTHERS:
        yield Deed(days, partial(store.for_user(who, surface="web").remember, words))
    yield Deed(0, partial(_visit, store, me))
    yield from _agents(store)
    yield from _team(store)
    for job in JOBS:
        yield Deed(1, partial(store.run_job, job))


def _fact(me: Memory, fact: story.Fact, scope: str = "global") -> Deed:
    details = Details(
        subject=fact.subject, predicate=fact.predicate, permanence=fact.permanence, scope=scope
    )
    return Deed(fact.days, partial(me.remember, fact.content, **details))


def _rule(me: Memory, rule: story.Rule, scope: str = "global") -> Iterator[Deed]:
    yield Deed(rule.days, partial(me.remember, rule.content, kind="rule", scope=scope))
    for days in rule.helped:
        yield Deed(days, partial(me.helpful, rule.content))
    for days, reason in rule.harmed:
        yield Deed(days, partial(me.harmful, rule.content, reason))


def _talk(store: Remembrancer, talk: story.Talk) -> None:
    """Have a conversation, and learn from it at once."""
    me = store.for_user(surface=talk.surface)
    name = talk.title.casefold().replace(" ", "-")
    roles = ("user", "assistant") * len(talk.said)
    told = zip(roles, talk.said, strict=False)
    me.learn([Said(role=role, content=words) for role, words in told], name, title=talk.title)
    me.close(name)
    store.flush()


def _visit(store: Remembrancer, me: Memory) -> None:
    """Talk without a model, as the pages do."""
    chat = Chat(me, store.models, "the-visit", time_zone=store.settings.time_zone)
    for words in story.VISIT:
        for _ in chat.say(words):
            pass
    me.rename("the-visit", "The visit")
    chat.close()
    store.flush()


def _agents(store: Remembrancer) -> Iterator[Deed]:
    named = {one: store.for_user(agent=one, surface="mcp") for one in store.settings.agents}
    for agent, fact in story.AGENT_FACTS:
        yield _fact(named[agent], fact, agent)
    for agent, rule in story.AGENT_RULES:
        yield from _rule(named[agent], rule, agent)
    for days, agent, words in story.EPISODES:
        yield Deed(days, partial(named[agent].remember, words, kind="episode", scope=agent))


def _team(store: Remembrancer) -> Iterator[Deed]:
    for days, words, kind, voices in story.TEAM:
        for late, voice in enumerate(voices):
            tell = partial(store.for_user(voice).propose, words, kind=kind)
            yield Deed(days - 3 * late, tell)
    for days, question in story.ASKED:
        yield Deed(days, partial(store.for_user("mary").team, question))
