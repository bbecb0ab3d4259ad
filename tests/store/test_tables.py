"""M1: episodes, facts and rules in tables of their own, and typed links between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidInput, NotFound
from remembrancer.memory import Memory
from remembrancer.types import Action, Episode, Fact, Kind, Maturity, Relation, Rule

pytestmark = pytest.mark.feature("M1")

LINKABLE = ("derived_from", "supports", "contradicts", "related_to")


@pytest.fixture
def me(open_fake: Callable[..., Remembrancer]) -> Memory:
    return open_fake("agents").for_user("ada", agent="health")


@pytest.fixture
def three(me: Memory) -> dict[str, str]:
    """The ids of an episode, a fact and a rule."""
    return {
        "episode": me.remember("Ada logged her weight.", kind="episode").memory.id,
        "fact": me.remember("75 kg", subject="user", predicate="weight").memory.id,
        "rule": me.remember("List ingredients, do not tell them.", kind="rule").memory.id,
    }


def test_M1_each_kind_is_stored_in_its_own_table(
    three: dict[str, str], stored: Callable[[], Any]
) -> None:
    rows = stored()

    for kind, table in (("episode", "episodes"), ("fact", "facts"), ("rule", "rules")):
        ids = {row["id"] for row in rows[table]}
        assert three[kind] in ids
        assert not ids & {other for name, other in three.items() if name != kind}


def test_M1_each_kind_has_what_only_it_has(me: Memory, three: dict[str, str]) -> None:
    episode, fact, rule = (me.get(three[kind]) for kind in ("episode", "fact", "rule"))

    assert isinstance(episode, Episode)
    assert (episode.backlog, episode.attempts) == ("pending", 0)
    assert episode.expires_at is not None
    assert (episode.expires_at - episode.recorded_at).days == 7
    assert isinstance(fact, Fact)
    assert (fact.subject, fact.predicate, fact.content) == ("user", "weight", "75 kg")
    assert isinstance(rule, Rule)
    assert (rule.maturity, rule.success_count, rule.harmful_count) == (Maturity.CANDIDATE, 0, 0)


@pytest.mark.parametrize("kind", ["episode", "fact", "rule"])
def test_M1_reading_can_be_narrowed_to_a_kind(kind: str, me: Memory, three: dict[str, str]) -> None:
    assert [one.id for one in me.list(kinds=[kind]).items] == [three[kind]]
    assert [one.memory.id for one in me.recall("weight of ingredients", kinds=[kind])] == [
        three[kind]
    ]
    assert me.get(three[kind]).kind is Kind(kind)


@pytest.mark.parametrize("relation", LINKABLE)
@pytest.mark.parametrize(("source", "target"), [("fact", "episode"), ("fact", "rule")])
def test_M1_memories_of_any_kind_can_be_linked_and_seen_from_both_ends(
    relation: str, source: str, target: str, me: Memory, three: dict[str, str]
) -> None:
    written = me.link(three[source], three[target], relation)

    expected = (three[source], three[target], Relation(relation))
    for end in (source, target):
        (link,) = me.history(three[end]).links
        assert (link.source, link.target, link.relation) == expected
    assert written.event is not None
    assert written.event.action is Action.LINKED


def test_M1_replacing_makes_the_fifth_relation_and_nothing_else_does(
    me: Memory, three: dict[str, str]
) -> None:
    new = me.update(three["fact"], "74 kg").memory

    (link,) = me.history(new.id).links
    assert link.relation is Relation.SUPERSEDES
    with pytest.raises(InvalidInput):
        me.link(three["rule"], three["episode"], "supersedes")


def test_M1_several_relations_may_hold_between_two_and_each_only_once(
    me: Memory, three: dict[str, str]
) -> None:
    for relation in ("supports", "related_to", "supports"):
        written = me.link(three["fact"], three["rule"], relation)

    assert written.event is None
    assert {link.relation for link in me.history(three["fact"]).links} == {
        Relation.SUPPORTS,
        Relation.RELATED_TO,
    }


def test_M1_a_link_can_be_undone(me: Memory, three: dict[str, str]) -> None:
    me.link(three["fact"], three["rule"], "supports")

    me.undo()

    assert me.history(three["fact"]).links == ()


def test_M1_a_link_needs_two_memories_and_a_known_relation(
    me: Memory, three: dict[str, str]
) -> None:
    with pytest.raises(InvalidInput):
        me.link(three["fact"], three["fact"], "supports")
    with pytest.raises(InvalidInput, match="derived_from, supports, contradicts"):
        me.link(three["fact"], three["rule"], "likes")
    with pytest.raises(NotFound):
        me.link(three["fact"], "fact_" + "0" * 26, "supports")


def test_M1_a_fact_has_both_subject_and_predicate_or_neither(me: Memory) -> None:
    with pytest.raises(InvalidInput, match="both a subject and a predicate"):
        me.remember("75 kg", subject="user")


def test_M1_two_alike_episodes_are_two_and_a_rule_said_twice_is_one(me: Memory) -> None:
    for _ in range(2):
        me.remember("Ada drank tea.", kind="episode")
        me.remember("Offer tea.", kind="rule")

    assert len(me.list(kinds=["episode"]).items) == 2
    assert len(me.list(kinds=["rule"]).items) == 1
