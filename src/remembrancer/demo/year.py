"""A year with assistants that share one memory: the story as things that were done."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from remembrancer.assistant.chat import Chat
from remembrancer.demo import story
from remembrancer.demo.actions import DemoAction
from remembrancer.remember.statement import FactFields
from remembrancer.sessions.turns import TurnInput
from remembrancer.types import Relation

if TYPE_CHECKING:
    from remembrancer.engine import Remembrancer
    from remembrancer.memory import Memory

SETTINGS = {
    "agents": {"gardener": {}, "researcher": {}, "cook": {}},
    "profile_overrides": {"team": {"enabled": True}, "recall": {"recipe": "evidence"}},
}
"""Recall by what answers the question: the recipe of the profile prefers what is recent, which
among so few memories is most of the time another one."""

JOBS = ("decay_sweep", "episode_cleanup")


def list_actions(store: Remembrancer) -> Iterator[DemoAction]:
    """Everything that was done, in no order."""
    me = store.for_user(surface="web")
    for fact in story.FACTS:
        yield _plan_fact(me, fact)
    for days, words in story.CONFIRMATIONS:
        yield DemoAction(days, partial(me.confirm, words))
    for rule in story.RULES:
        yield from _plan_rule(me, rule)
    for talk in story.CONVERSATIONS:
        yield DemoAction(talk.days, partial(_hold_conversation, store, talk))
    for days, one, other in story.LINKS:
        yield DemoAction(days, partial(me.link, one, other, Relation.RELATED_TO))
    for days, words, verb in story.DISMISSED:
        yield DemoAction(days + 1, partial(me.remember, words))
        yield DemoAction(days, partial(getattr(me, verb), words))
    for days, who, words in story.OTHER_USERS_FACTS:
        yield DemoAction(days, partial(store.for_user(who, surface="web").remember, words))
    yield DemoAction(0, partial(_hold_visit_chat, store, me))
    yield from _plan_agents(store)
    yield from _plan_team(store)
    for job in JOBS:
        yield DemoAction(1, partial(store.run_job, job))


def _plan_fact(me: Memory, fact: story.DemoFact, scope: str = "global") -> DemoAction:
    details = FactFields(
        subject=fact.subject, predicate=fact.predicate, permanence=fact.permanence, scope=scope
    )
    return DemoAction(fact.days, partial(me.remember, fact.content, **details))


def _plan_rule(me: Memory, rule: story.DemoRule, scope: str = "global") -> Iterator[DemoAction]:
    yield DemoAction(rule.days, partial(me.remember, rule.content, kind="rule", scope=scope))
    for days in rule.helped:
        yield DemoAction(days, partial(me.helpful, rule.content))
    for days, reason in rule.harmed:
        yield DemoAction(days, partial(me.harmful, rule.content, reason))


def _hold_conversation(store: Remembrancer, conversation: story.DemoConversation) -> None:
    """Have a conversation, and learn from it at once."""
    me = store.for_user(surface=conversation.surface)
    name = conversation.title.casefold().replace(" ", "-")
    roles = ("user", "assistant") * len(conversation.messages)
    told = zip(roles, conversation.messages, strict=False)
    me.learn(
        [TurnInput(role=role, content=words) for role, words in told],
        name,
        title=conversation.title,
    )
    me.close(name)
    store.flush()


def _hold_visit_chat(store: Remembrancer, me: Memory) -> None:
    """Talk without a model, as the pages do."""
    chat = Chat(me, store.models, "the-visit", time_zone=store.settings.time_zone)
    for words in story.VISIT_MESSAGES:
        for _ in chat.say(words):
            pass
    me.rename("the-visit", "The visit")
    chat.close()
    store.flush()


def _plan_agents(store: Remembrancer) -> Iterator[DemoAction]:
    named = {one: store.for_user(agent=one, surface="mcp") for one in store.settings.agents}
    for agent, fact in story.AGENT_FACTS:
        yield _plan_fact(named[agent], fact, agent)
    for agent, rule in story.AGENT_RULES:
        yield from _plan_rule(named[agent], rule, agent)
    for days, agent, words in story.EPISODES:
        yield DemoAction(days, partial(named[agent].remember, words, kind="episode", scope=agent))


def _plan_team(store: Remembrancer) -> Iterator[DemoAction]:
    for days, words, kind, voices in story.TEAM:
        for late, voice in enumerate(voices):
            tell = partial(store.for_user(voice).propose, words, kind=kind)
            yield DemoAction(days - 3 * late, tell)
    for days, question in story.TEAM_QUESTIONS:
        yield DemoAction(days, partial(store.for_user("mary").team, question))
