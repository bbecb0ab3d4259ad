"""Sample data of a user with several agents: turns the story into demo actions."""

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
"""The profile's own recipe prefers recent memories, which are often wrong in so small a store."""

JOBS = ("decay_sweep", "episode_cleanup")


def list_actions(store: Remembrancer) -> Iterator[DemoAction]:
    """All actions, unordered."""
    me = store.for_user(surface="web")
    for fact in story.FACTS:
        yield _plan_fact(me, fact)
    for days, query in story.CONFIRMATIONS:
        yield DemoAction(days, partial(me.confirm, query))
    for rule in story.RULES:
        yield from _plan_rule(me, rule)
    for conversation in story.CONVERSATIONS:
        hold = partial(_hold_conversation, store, conversation)
        yield DemoAction(conversation.days, hold)
    for days, source, target in story.LINKS:
        yield DemoAction(days, partial(me.link, source, target, Relation.RELATED_TO))
    for days, content, verb in story.DISMISSED:
        yield DemoAction(days + 1, partial(me.remember, content))
        yield DemoAction(days, partial(getattr(me, verb), content))
    for days, user, content in story.OTHER_USERS_FACTS:
        other = store.for_user(user, surface="web")
        yield DemoAction(days, partial(other.remember, content))
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
    """Store a conversation and learn from it at once."""
    me = store.for_user(surface=conversation.surface)
    name = conversation.title.casefold().replace(" ", "-")
    roles = ("user", "assistant") * len(conversation.messages)
    turns = zip(roles, conversation.messages, strict=False)
    me.learn(
        [TurnInput(role=role, content=content) for role, content in turns],
        name,
        title=conversation.title,
    )
    me.close(name)
    store.flush()


def _hold_visit_chat(store: Remembrancer, me: Memory) -> None:
    """Chat without a model, as on the web."""
    chat = Chat(me, store.models, "the-visit")
    for message in story.VISIT_MESSAGES:
        for _ in chat.say(message):
            pass
    me.rename("the-visit", "The visit")
    chat.close()
    store.flush()


def _plan_agents(store: Remembrancer) -> Iterator[DemoAction]:
    memories = {name: store.for_user(agent=name, surface="mcp") for name in store.settings.agents}
    for agent, fact in story.AGENT_FACTS:
        yield _plan_fact(memories[agent], fact, agent)
    for agent, rule in story.AGENT_RULES:
        yield from _plan_rule(memories[agent], rule, agent)
    for days, agent, content in story.EPISODES:
        store_episode = partial(memories[agent].remember, content, kind="episode", scope=agent)
        yield DemoAction(days, store_episode)


def _plan_team(store: Remembrancer) -> Iterator[DemoAction]:
    for days, content, kind, users in story.TEAM:
        for position, user in enumerate(users):
            propose = partial(store.for_user(user).propose, content, kind=kind)
            yield DemoAction(days - 3 * position, propose)
    for days, question in story.TEAM_QUESTIONS:
        yield DemoAction(days, partial(store.for_user("mary").team, question))
