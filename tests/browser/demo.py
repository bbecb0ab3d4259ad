"""A believable person: eight months of a life with assistants, told day by day."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from remembrancer.clock import SetClock
from remembrancer.config import Settings
from remembrancer.embed.cache import CachedEmbedder
from remembrancer.embed.local import LocalEmbedder
from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory
from remembrancer.opening import open_models, open_store
from remembrancer.turns import Said

USER, TENANT = "ada", "difference-works"


def opened(directory: Path, clock: SetClock, profile: str = "agents") -> Remembrancer:
    """A store for the demo, with agents and a team."""
    settings = Settings.model_validate(
        {
            "profile": profile,
            "tenant": TENANT,
            "user": USER,
            "time_zone": "Europe/London",
            "store": {"path": str(directory)},
            "agents": {"gardener": {}, "researcher": {}} if profile == "agents" else {},
            "adjust": {"team": {"enabled": True}} if profile == "agents" else {},
        }
    )
    embedder = CachedEmbedder(LocalEmbedder())
    store = open_store(settings, clock)
    return Remembrancer(settings, store, embedder, clock, open_models(settings.models))


def lived(store: Remembrancer, clock: SetClock, now: datetime) -> Memory:
    """Fill the store as if the person had used it until now."""
    me = store.for_user(USER, tenant=TENANT, surface="web")
    _go_to(clock, now - timedelta(days=230))
    _first_weeks(me, clock)
    _rules(me, clock)
    _go_to(clock, now - timedelta(days=45))
    _conversations(me, clock)
    _go_to(clock, now - timedelta(days=12))
    _corrections(me, clock)
    _go_to(clock, now - timedelta(hours=40))
    _agents(store, clock)
    _team(store, clock)
    _go_to(clock, now)
    return me


def bots(store: Remembrancer, clock: SetClock, now: datetime) -> None:
    """Fill the store of two bots that know nothing of each other."""
    _go_to(clock, now - timedelta(days=20))
    support = store.for_user(USER, tenant=TENANT, agent="support-bot", surface="web")
    for content, category, importance in (
        ("Customers on the old plan keep their price until the end of the year.", "decision", 9),
        ("Prefers a short answer with one link.", "preference", 6),
        ("The outage of the third of May lasted forty minutes.", "event", 4),
        ("Mary is the account manager of the observatory.", "relationship", 7),
        ("Refunds above a hundred pounds need a second signature.", "fact", 8),
    ):
        support.remember(content, category=category, importance=importance)
        clock.move(timedelta(days=3, hours=2))
    sales = store.for_user(USER, tenant=TENANT, agent="sales-bot", surface="web")
    sales.remember("The observatory renews in autumn.", category="fact")
    _go_to(clock, now)


def _go_to(clock: SetClock, moment: datetime) -> None:
    clock.move(moment - clock.now())


def _first_weeks(me: Memory, clock: SetClock) -> None:
    for content, subject, predicate, permanence in (
        ("Lives in London, near the canal.", "ada", "lives_in", "stable"),
        ("Lactose intolerant; oat milk is fine.", "ada", "diet", "permanent"),
        ("Works on the engine's design in the mornings.", "ada", "works", "standard"),
        ("Is reading Dune, slowly.", "ada", "reading", "volatile"),
        ("Byron, the cat, is twelve and needs a pill at eight.", "byron", "care", "stable"),
        ("Charles runs the workshop and prefers letters to calls.", "charles", "prefers", "stable"),
        ("The engine's mill has fifty columns.", "engine", "mill", "standard"),
        ("The store of the engine holds a thousand numbers.", "engine", "store", "standard"),
    ):
        me.remember(content, subject=subject, predicate=predicate, permanence=permanence)
        clock.move(timedelta(days=4, hours=3))


def _rules(me: Memory, clock: SetClock) -> None:
    proven = me.remember("Answer first, explain after, keep it short.", kind="rule").memory
    shown = me.remember("Show the units of every number.", kind="rule").memory
    me.remember("Ask before sending anything to someone else.", kind="rule")
    harmful = me.remember("Round every number to whole thousands.", kind="rule").memory
    for _ in range(16):
        clock.move(timedelta(days=3))
        me.helpful(proven.id)
    for _ in range(6):
        me.helpful(shown.id)
    for reason in ("the drawing was off by a column", "the invoice was wrong", "lost a digit"):
        clock.move(timedelta(days=1))
        found = [one for one in me.list(kinds=["rule"]).items if one.id == harmful.id]
        if found:
            me.harmful(harmful.id, reason)


def _conversations(me: Memory, clock: SetClock) -> None:
    for title, turns in (
        (
            "Planning the week",
            [
                ("user", "Please remember that my sister Annabella visits on the first weekend."),
                ("assistant", "Noted. Shall I keep that Saturday free?"),
                ("user", "Yes. And I prefer trains to flying, always."),
                ("assistant", "Trains it is."),
            ],
        ),
        (
            "Cards for the loom",
            [
                ("user", "I decided to number the cards from the left."),
                ("assistant", "From the left, then. I will renumber the drawings."),
            ],
        ),
        ("Dinner", [("user", "I am allergic to walnuts."), ("assistant", "No walnuts.")]),
    ):
        me.learn(
            [Said(role=role, content=words) for role, words in turns],
            title.casefold().replace(" ", "-"),
            title=title,
        )
        me.close(title.casefold().replace(" ", "-"))
        clock.move(timedelta(days=9, hours=5))
    me._learner.drain()


def _agents(store: Remembrancer, clock: SetClock) -> None:
    gardener = store.for_user(USER, tenant=TENANT, agent="gardener", surface="mcp")
    gardener.remember(
        "The bed by the wall gets sun until four.",
        subject="garden",
        predicate="sun",
        scope="gardener",
    )
    gardener.remember(
        "The tomatoes were planted in the second week of May.",
        subject="tomatoes",
        predicate="planted",
        scope="gardener",
        permanence="volatile",
    )
    gardener.remember("Water in the evening, never at noon.", kind="rule", scope="gardener")
    for what in (
        "Watered the tomatoes; the leaves had curled.",
        "Ordered twelve bamboo canes.",
        "Found slugs under the pots by the door.",
    ):
        gardener.remember(what, kind="episode", scope="gardener")
        clock.move(timedelta(hours=9))
    researcher = store.for_user(USER, tenant=TENANT, agent="researcher", surface="mcp")
    researcher.remember(
        "Menabrea's article on the engine appeared in 1842.",
        subject="menabrea",
        predicate="article",
        scope="researcher",
        permanence="permanent",
    )


def _corrections(me: Memory, clock: SetClock) -> None:
    diet = next(one for one in me.list(subject="ada").items if "Lactose" in one.content)
    me.confirm(diet.id)
    clock.move(timedelta(days=6))
    moved = me.remember(
        "Lives in Ockham, in the house with the lime walk.",
        subject="ada",
        predicate="lives_in",
        permanence="stable",
    ).memory
    cat = next(one for one in me.list(subject="byron").items)
    me.link(moved.id, cat.id, "related_to")
    clock.move(timedelta(days=2))
    store_of = next(one for one in me.list(subject="engine").items if "store" in one.content)
    me.update(store_of.id, "The store of the engine holds a thousand numbers of fifty digits.")
    clock.move(timedelta(hours=30))
    me.remember("The draft of note G is due on the last day of the month.", permanence="ephemeral")
    for words, verb in (
        ("A one-off: parcel at the porter's.", me.forget),
        ("Test, please ignore.", me.delete),
    ):
        clock.move(timedelta(hours=5))
        verb(me.remember(words).memory.id)
    clock.move(timedelta(hours=3))


def _team(store: Remembrancer, clock: SetClock) -> None:
    store.for_user("charles", tenant=TENANT).remember("Prefers brass to iron.")
    for content, kind, voices in (
        ("Deploys are frozen on Fridays.", "fact", ("ada", "charles")),
        ("The staging database is reset every night at two.", "fact", ("ada",)),
        ("To run the tests, call make test in the root.", "howto", ("charles", "mary")),
        ("The mill is the part that computes.", "glossary", ("mary",)),
        ("The deployment guide is in the wiki under Operations.", "reference", ("charles",)),
    ):
        for voice in voices:
            store.for_user(voice, tenant=TENANT).propose(content, kind=kind)
        clock.move(timedelta(hours=2))
