"""Generates attempts to reach what is someone else's, by every verb and under every disguise.

What is and what is not promised: no verb, and no statement that forgot its filter, shows anything
of another person. Whoever may write SQL of their own as the application can name any owner.
"""

from __future__ import annotations

import base64
import json
import random
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from remembrancer.errors import RemembrancerError
from remembrancer.ids import BASE32_ALPHABET
from remembrancer.learn.consolidation.plan import (
    AddStep,
    AffirmStep,
    ConsolidationPlan,
    MergeStep,
    RelateStep,
    ReviseStep,
)
from remembrancer.memory import Memory
from remembrancer.team.service import ProposalOutcome, TeamProposalResult
from remembrancer.types import AsOf, Evidence, Page, Relation, Status, TeamStatus
from tests.security.hoards import TOKEN, Hoard, Words, cursor_of

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
NOTE = "A plain note about nothing in particular."


@dataclass(frozen=True, slots=True)
class Aim:
    """What someone tries to reach, by the names that they have for it."""

    own: str
    """A memory of the one who tries, to which others could be tied."""
    id: str
    other: str
    session: str
    event: str
    words: str
    scope: str
    at: datetime

    @property
    def cursor(self) -> str:
        return cursor_of(self.at, self.id)

    @property
    def plan(self) -> ConsolidationPlan:
        """Everything that a plan can do, to what is not one's own."""
        steps = (
            AddStep(kind="fact", content=NOTE, episodes=(self.id,)),
            ReviseStep(target=self.id, before="", content=NOTE, episodes=(self.other,)),
            AffirmStep(target=self.id, content=""),
            RelateStep(source=self.own, target=self.id, relation=Relation.SUPPORTS),
            MergeStep(kept=self.own, content="", dropped={self.id: "", self.other: ""}),
        )
        return ConsolidationPlan(scope="", made_at=self.at, steps=steps)


Way = Callable[[Memory, Aim], object]

NAMING: Mapping[str, tuple[Way, ...]] = {
    "get": (
        lambda me, aim: me.get(aim.id),
        lambda me, aim: me.get(aim.id, as_of=aim.at),
    ),
    "update": (
        lambda me, aim: me.update(aim.id, "overwritten"),
        lambda me, aim: me.update(aim.id, "overwritten", session_id=aim.session),
    ),
    "confirm": (lambda me, aim: me.confirm(aim.id),),
    "forget": (lambda me, aim: me.forget(aim.id),),
    "delete": (lambda me, aim: me.delete(aim.id),),
    "delete_many": (
        lambda me, aim: me.delete_many([aim.id, aim.other]),
        lambda me, aim: me.delete_many([aim.own, aim.id]),
    ),
    "restore": (lambda me, aim: me.restore(aim.id),),
    "history": (
        lambda me, aim: me.history(aim.id),
        lambda me, aim: me.history(aim.id, as_of=AsOf(aim.at, aim.at)),
    ),
    "links": (lambda me, aim: me.links(aim.id), lambda me, aim: me.links(aim.id, as_of=aim.at)),
    "link": (
        lambda me, aim: me.link(aim.id, aim.other),
        lambda me, aim: me.link(aim.own, aim.id),
        lambda me, aim: me.link(aim.id, aim.own, "contradicts"),
    ),
    "unlink": (
        lambda me, aim: me.unlink(aim.id, aim.other, "supports"),
        lambda me, aim: me.unlink(aim.own, aim.id),
    ),
    "helpful": (lambda me, aim: me.helpful(aim.id, session=aim.session),),
    "harmful": (lambda me, aim: me.harmful(aim.id, "no reason", session=aim.session),),
    "promote": (lambda me, aim: me.promote(aim.id),),
    "demote": (lambda me, aim: me.demote(aim.id),),
    "disable": (lambda me, aim: me.disable(aim.id),),
    "undo": (lambda me, aim: me.undo(aim.event), lambda me, aim: me.undo(aim.id)),
    "resolve": (lambda me, aim: me.resolve(aim.id, tuple(Status)),),
    "several": (lambda me, aim: me.several([aim.id, aim.other]),),
    "event": (lambda me, aim: me.event(aim.event), lambda me, aim: me.event(aim.id)),
    "turns": (
        lambda me, aim: me.turns(aim.session),
        lambda me, aim: me.turns(aim.session, latest=1, as_of=aim.at),
    ),
    "session_memories": (lambda me, aim: me.session_memories(aim.session),),
    "suggest_title": (lambda me, aim: me.suggest_title(aim.session),),
    "count_turns": (lambda me, aim: me.count_turns(aim.session),),
    "view": (
        lambda me, aim: me.view(aim.session),
        lambda me, aim: me.view(aim.session, budget=1),
    ),
    "session": (lambda me, aim: me.session(aim.session),),
    "rename": (lambda me, aim: me.rename(aim.session, "renamed"),),
    "close": (lambda me, aim: me.close(aim.session),),
    "archive": (
        lambda me, aim: me.archive(aim.session),
        lambda me, aim: me.archive(aim.session, back=True),
    ),
    "delete_session": (lambda me, aim: me.delete_session(aim.session),),
    "restore_session": (lambda me, aim: me.restore_session(aim.session),),
    "consolidate": (
        lambda me, aim: me.consolidate(replace(aim.plan, episodes=(aim.id,))),
        lambda me, aim: me.consolidate(replace(aim.plan, steps=aim.plan.steps[1:4])),
    ),
    "withdraw": (lambda me, aim: me.withdraw(aim.id),),
    "explain_proposal": (
        lambda me, aim: me.explain_proposal(
            TeamProposalResult(
                ProposalOutcome.PENDING, status=TeamStatus.PENDING, conflicts=(aim.id,)
            )
        ),
    ),
}
"""By a name: the answer must be the one that a name gets which nobody has."""

SEARCHING: Mapping[str, tuple[Way, ...]] = {
    "inventory": (lambda me, aim: me.inventory(),),
    "recall": (
        lambda me, aim: me.recall(aim.words),
        lambda me, aim: me.recall(aim.words, mode="keyword", kinds=["fact", "rule", "episode"]),
        lambda me, aim: me.recall(aim.words, mode="hybrid", kinds=["turn"], limit=100),
        lambda me, aim: me.recall(aim.id, mode="keyword"),
        lambda me, aim: me.recall(aim.words, tags=[aim.words], minimum_confidence=0),
        lambda me, aim: me.recall(aim.words, as_of=AsOf(true=aim.at)),
        lambda me, aim: me.recall(aim.words, now=aim.at + timedelta(days=7)),
        lambda me, aim: me.recall(aim.words, scope=aim.scope),
    ),
    "context": (
        lambda me, aim: me.context(aim.words),
        lambda me, aim: me.context(aim.words, budget=100_000, style="sections"),
        lambda me, aim: me.context(style="hot_set", as_of=aim.at),
    ),
    "list": (
        lambda me, aim: me.list(limit=1000),
        lambda me, aim: me.list(cursor=aim.cursor, limit=3),
        lambda me, aim: me.list(tags=[aim.words]),
        lambda me, aim: me.list(status="trashed", kinds=["turn"]),
        lambda me, aim: me.list(status="quarantined", cursor=aim.cursor),
        lambda me, aim: me.list(as_of=aim.at, minimum_importance=0),
        lambda me, aim: me.list(scope=aim.scope),
        lambda me, aim: me.list(order="most_used", agent=aim.scope),
        lambda me, aim: me.list(session=aim.session),
    ),
    "sessions": (
        lambda me, aim: me.sessions(limit=1),
        lambda me, aim: me.sessions(trashed=True, cursor=cursor_of(aim.at, aim.session)),
        lambda me, aim: me.sessions(status="archived"),
    ),
    "rejected": (lambda me, aim: me.rejected(), lambda me, aim: me.rejected(cursor=aim.cursor)),
    "activity": (
        lambda me, aim: me.activity(limit=2),
        lambda me, aim: me.activity(limit=2, cursor=cursor_of(aim.at, aim.event)),
    ),
    "stats": (
        lambda me, aim: me.stats(),
        lambda me, aim: me.stats(scope=aim.scope, as_of=aim.at),
    ),
    "scopes": (lambda me, aim: me.scopes(),),
    "survey": (lambda me, aim: me.survey(),),
    "acting_as": (
        lambda me, aim: me.acting_as(aim.scope).list(limit=1000),
        lambda me, aim: me.acting_as(aim.scope).recall(aim.words),
    ),
    "audit": (lambda me, aim: me.audit(),),
    "simulate": (lambda me, aim: me.simulate(30),),
    "plan_consolidation": (lambda me, aim: me.plan_consolidation(),),
    "get": (lambda me, aim: me.get(aim.words),),
    "resolve": (lambda me, aim: me.resolve(aim.words, tuple(Status)),),
    "fact": (
        lambda me, aim: me.fact(aim.words, aim.words),
        lambda me, aim: me.fact(aim.words, "cited", scope=aim.scope, used=True),
        lambda me, aim: me.fact(aim.words, "cited", as_of=aim.at),
    ),
    "markdown": (lambda me, aim: me.markdown(),),
    "history": (lambda me, aim: me.history(aim.words),),
    "restore": (lambda me, aim: me.restore(aim.words),),
    "update": (lambda me, aim: me.update(aim.words, "overwritten"),),
    "delete": (lambda me, aim: me.delete(aim.words),),
    "forget_all": (lambda me, aim: me.forget_all(tags=[aim.words], scope=aim.scope),),
    "delete_all": (lambda me, aim: me.delete_all(tags=[aim.words]),),
    "repair": (lambda me, aim: me.repair(["contradicting", "secret"]),),
    "team": (
        lambda me, aim: me.team(aim.words),
        lambda me, aim: me.team(aim.words, as_of=aim.at),
    ),
    "list_team": (lambda me, aim: me.list_team(limit=1000),),
}
"""By words, places and filters: the answer must hold nothing of others."""

WRITING: Mapping[str, tuple[Way, ...]] = {
    "remember": (
        lambda me, aim: me.remember(NOTE, session_id=aim.session),
        lambda me, aim: me.remember(NOTE, subject=aim.words, predicate=aim.words),
        lambda me, aim: me.remember(NOTE, scope=aim.scope),
        lambda me, aim: me.remember(
            NOTE,
            source="extracted",
            subject=aim.words,
            predicate="cited",
            evidence=(Evidence(aim.session, aim.id, aim.words),),
        ),
    ),
    "import_from": (
        lambda me, aim: brought(me, {"content": NOTE, "id": aim.id}),
        lambda me, aim: brought(me, {"content": NOTE, "subject": aim.words, "predicate": "cited"}),
        lambda me, aim: brought(me, {"role": "user", "content": NOTE, "session": aim.session}),
    ),
    "append": (lambda me, aim: me.append([{"role": "user", "content": NOTE}], aim.session),),
    "learn": (lambda me, aim: me.learn([{"role": "user", "content": NOTE}], aim.session),),
    "learn_now": (lambda me, aim: me.learn_now(aim.session),),
    "context": (lambda me, aim: me.context(session=aim.session, style="sections"),),
    "turns": (lambda me, aim: me.turns(aim.session),),
    "view": (lambda me, aim: me.view(aim.session, budget=1),),
    "session": (lambda me, aim: me.session(aim.session),),
    "delete_session": (lambda me, aim: me.delete_session(aim.session),),
    "restore_session": (lambda me, aim: me.restore_session(aim.session),),
    "audit": (lambda me, aim: me.audit(),),
    "history": (lambda me, aim: me.history(aim.own),),
    "propose": (lambda me, aim: me.propose("The nightly build is green."),),
}
"""By taking the same names for oneself: what comes of it is one's own."""

ON_VALUES = {
    *("principal", "owner", "is_enabled", "profile", "time_zone", "set_time_zone", "citing"),
    "by_model",
    *("new_session", "confidence", "effectiveness", "standing", "forget_everything"),
}
"""These take nothing that could name another's memory, or compute with what the caller holds."""

TRICKS = ("*", "%", "_", "%%", "' OR 1=1 --", "' OR '1'='1", "../", "..", "\\", '"', "(", "?", "{}")

DISGUISES: tuple[Callable[[str], str], ...] = (
    lambda name: name[:-1],
    lambda name: name[: len(name) // 2],
    lambda name: f"{name[:-2]}__",
    lambda name: f"{name[:-1]}%",
    lambda name: f"{name[:-1]}*",
    lambda name: f"{name}' OR '1'='1",
    lambda name: f"../{name}",
    lambda name: f" {name} ",
    lambda name: name.upper(),
    lambda name: f"{name}\u200b",
    lambda name: f'"{name}"',
    lambda name: name.replace("_", "\\_"),
)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call of a verb, and the same call for something that nobody has: the vain one."""

    verb: str
    way: Way
    aim: Aim
    vain: Aim


Ways = Mapping[str, tuple[Way, ...]]


def attempts(chance: random.Random, own: str, theirs: Hoard, *ways: Ways) -> Iterator[Attempt]:
    """Attempts without end at what someone else holds: every way of every verb in turn."""
    each = [(verb, way) for table in ways for verb, some in table.items() for way in some]
    while True:
        for verb, way in chance.sample(each, len(each)):
            named = _named(chance, own, theirs)
            disguise = chance.choice(DISGUISES) if chance.random() < 0.2 else str
            trick = chance.choice(TRICKS) if chance.random() < 0.2 else None
            aim = _disguised(named, disguise, trick)
            vain = _disguised(_nobodys(chance, named), disguise, trick)
            yield Attempt(verb, way, aim, vain)


def _named(chance: random.Random, own: str, theirs: Hoard) -> Aim:
    id, other = chance.sample(theirs.ids, 2)
    session, event = chance.choice(theirs.sessions), chance.choice(theirs.events)
    at = NOON + timedelta(days=chance.choice((-400, -1, 0, 0, 0, 1, 400)))
    principal = theirs.me.principal
    scope = principal.agent or principal.owner.user
    return Aim(own, id, other, session, event, chance.choice(theirs.words), scope, at)


def _nobodys(chance: random.Random, aim: Aim) -> Aim:
    """The same with names of the same shape that nobody has."""
    name = Words(chance.getrandbits(64))
    return replace(
        aim,
        id=_missing(chance, aim.id),
        other=_missing(chance, aim.other),
        event=_missing(chance, aim.event),
        session=name.next(),
        words=name.next(),
    )


def _missing(chance: random.Random, memory_id: str) -> str:
    return memory_id[:-8] + "".join(chance.choices(BASE32_ALPHABET, k=8))


def _disguised(aim: Aim, disguise: Callable[[str], str], trick: str | None) -> Aim:
    return replace(
        aim,
        id=disguise(aim.id),
        session=disguise(aim.session),
        event=disguise(aim.event),
        words=trick or disguise(aim.words),
    )


def brought(me: Memory, row: Mapping[str, str]) -> object:
    """What comes of bringing in a file with one row."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.jsonl"
        file.write_text(json.dumps(row), "utf-8")
        return me.import_from(file, learn=False)


def strangers(chance: random.Random, tenant: str, user: str) -> Iterator[tuple[str, str]]:
    """Names without end that are nearly someone's, and nobody's."""
    cut = chance.randrange(1, len(user))
    names = (
        (tenant, user.upper()),
        (tenant.upper(), user),
        (tenant, user.title()),
        (tenant, f"{user} "),
        (tenant, f" {user}"),
        (tenant, f"{user}\u200b"),
        (tenant, user.replace("u", "ｕ")),
        (tenant, user.replace("u", "u\u0301")),
        (tenant, f"{user}/"),
        (tenant, f"../{user}"),
        (tenant, f"{tenant}/{user}"),
        (f"{tenant}/{user}", user),
        (f"{tenant}/{user[:cut]}", user[cut:]),
        (tenant + user[:cut], user[cut:]),
        (tenant[:-cut], tenant[-cut:] + user),
        (f"{len(tenant)}:{tenant}", user),
        (tenant, f"{user}' OR '1'='1"),
        (tenant, f"{user[:-1]}_"),
        (tenant, f"{user[:cut]}%"),
        ("%", "%"),
        ("*", user),
        (user, tenant),
    )
    while True:
        yield chance.choice(names)


def outcome(attempt: Attempt, me: Memory, aim: Aim) -> str:
    """What comes of it, in full: the answer with what its cursor hides, or the whole error."""
    try:
        return told(attempt.way(me, aim))
    except RemembrancerError as error:
        return f"{type(error).__name__} {error.code} {error} {vars(error)!r}"


def told(answer: object) -> str:
    """Everything that can be read in an answer."""
    if isinstance(answer, Page) and answer.cursor is not None:
        return f"{answer!r} {base64.urlsafe_b64decode(answer.cursor).decode()}"
    return repr(answer)


def alike(text: str, aim: Aim) -> str:
    """An outcome without the names that were asked for, ids and numbers."""
    for name in sorted((aim.id, aim.other, aim.session, aim.event, aim.words), key=len)[::-1]:
        text = text.replace(name, "·").replace(repr(name)[1:-1], "·")
    return re.sub(r"\d+(\.\d+)?", "0", TOKEN.sub("·", text))
