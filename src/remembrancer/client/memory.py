"""The verbs of a memory that a server keeps: `RemoteMemory` is used as `Memory` is."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self, Unpack

from remembrancer.client.codec import (
    ResponseBody,
    build_as_of_params,
    build_list_params,
    parse_page,
    parse_recollection,
    parse_value,
    parse_values,
)
from remembrancer.client.conversations import RemoteConversations
from remembrancer.errors import InvalidInput
from remembrancer.types import (
    AsOf,
    Batch,
    ConfidenceBand,
    Event,
    Fact,
    History,
    Link,
    Owner,
    Page,
    Principal,
    Recollection,
    Record,
    Relation,
    Rule,
    Stats,
    Status,
    TeamKind,
    TeamOrigin,
    TeamRecalled,
    Verdict,
    Written,
    looks_like_id,
)

if TYPE_CHECKING:
    from remembrancer.audit.findings import Flaw
    from remembrancer.audit.repair import Repair
    from remembrancer.audit.report import Audit
    from remembrancer.learn.consolidation.plan import ConsolidationPlan
    from remembrancer.learn.consolidation.run import ConsolidationResult
    from remembrancer.maintenance.simulate import Simulation
    from remembrancer.recall.filters import ListFilter, RecallOptions
    from remembrancer.recall.prompt_block import Context
    from remembrancer.remember.statement import FactFields
    from remembrancer.team.service import TeamProposalResult


class RemoteMemory(RemoteConversations):
    """Everything one person can do with their memory on a server.

    Where a memory is to be named, give its id, or words that occur in it and in no other; an id
    takes one request, words take several.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()

    def __repr__(self) -> str:
        return f"RemoteMemory({self._server.address!r}, agent={self._server.agent!r})"

    def disconnect(self) -> None:
        """Let go of the connections; `close` ends a conversation."""
        self._server.close()

    @property
    def principal(self) -> Principal:
        """Whose memory this is and who acts for them."""
        told = self._server.read("me")
        owner = Owner(told["tenant"], told["user"])
        agent = self._server.agent or told["agent"]
        return Principal(owner, agent, told["surface"], frozenset(told["capabilities"]))

    def remember(self, content: str, **details: Unpack[FactFields]) -> Written:
        """Keep one thing. What it restates is replaced, what it repeats is returned as it is."""
        return parse_value(
            Written, self._server.write("POST", "remember", content=content, **details)
        )

    def recall(self, query: str, **wanted: Unpack[RecallOptions]) -> Recollection:
        """Bring back what matters for a query, best first; each result's `.why` explains itself.

        The result's `.sure` tells how likely it is that anything relevant is remembered at all.
        """
        said = {**_build_filter_params(wanted), "query": query, "explain": True}
        return parse_recollection(self._server.query("recall", **said))

    def context(
        self,
        prompt: str | None = None,
        *,
        budget: int | None = None,
        session: str | None = None,
        as_of: AsOf | datetime | None = None,
        style: str | None = None,
    ) -> Context:
        """Memory as text to put into a prompt, in the profile's style, never over the budget.

        A `session` keeps to what was known when it first asked; a note is of this moment, and
        leaves out what was said in the session itself.
        """
        from remembrancer.recall.prompt_block import Context

        said = {"prompt": prompt, "budget": budget, "session": session, "style": style}
        return parse_value(
            Context, self._server.query("context", **said, **build_as_of_params(as_of))
        )

    def propose(
        self,
        content: str,
        *,
        kind: TeamKind | str = TeamKind.FACT,
        origin: TeamOrigin = TeamOrigin.USER,
        importance: float = 3,
    ) -> TeamProposalResult:
        """Say something to the team: kept without a person and pending, or refused by a rule."""
        from remembrancer.team.service import TeamProposalResult

        if origin is not TeamOrigin.USER:
            raise InvalidInput("A server knows by the key who proposes: leave out the origin.")
        said = {"content": content, "kind": kind, "importance": importance}
        return parse_value(
            TeamProposalResult, self._server.write("POST", "team", "propose", **said)
        )

    def team(self, query: str, *, limit: int | None = None) -> builtins.list[TeamRecalled]:
        """What the team knows about something, if this surface is told.

        A limit can only lower what the switch `limit` says.
        """
        told = self._server.query("team", "recall", query=query, limit=limit)
        return [*parse_values(TeamRecalled, told["items"])]

    def get(
        self, reference: str, *, as_of: AsOf | datetime | None = None, used: bool = False
    ) -> Record:
        """One memory, whatever became of it; `as_of` shows it as it was known then.

        `used` counts it as recalled, which only a memory that is kept here can do.
        """
        if used:
            raise InvalidInput("A server counts only what recall returns: leave out used.")
        if as_of is None:
            return self._look_up(reference, *Status)
        return parse_value(Record, self._read_memory(reference, **build_as_of_params(as_of)))

    def fact(
        self, subject: str, predicate: str, *, scope: str | None = None, used: bool = False
    ) -> Fact | None:
        """The fact in force with that subject and predicate: the one `remember` would replace.

        `used` counts it as recalled.
        """
        said = {"subject": subject, "predicate": predicate, "scope": scope, "used": used}
        return parse_value(Fact, self._server.read("memory", "fact", **said)["fact"])

    def list(
        self,
        *,
        status: Status | str | None = None,
        minimum_confidence: float = 0,
        limit: int = 50,
        cursor: str | None = None,
        **narrowing: Unpack[ListFilter],
    ) -> Page[Record]:
        """Memories from the newest to the oldest, a page at a time; by default those in force."""
        params = {
            **build_list_params(narrowing),
            "status": status,
            "min_confidence": minimum_confidence,
            "limit": limit,
            "cursor": cursor,
        }
        return parse_page(Record, self._server.read("memory", **params))

    def update(self, reference: str, content: str, **details: Unpack[FactFields]) -> Written:
        """Replace a memory by a new version; the old one stays in its history."""
        id = self._resolve_id(reference, Status.ACTIVE)
        return parse_value(
            Written, self._server.write("PUT", "memory", id, content=content, **details)
        )

    def confirm(self, reference: str) -> Written:
        """Say that a memory is still true."""
        return self._post_to_memory(reference, "confirm", Status.ACTIVE, Status.EXPIRED)

    def forget(self, reference: str) -> Written:
        """End a memory: the one named, or else the one whose sense is clearly closest."""
        return parse_value(Written, self._server.write("POST", "forget", what=reference))

    def forget_all(self, **narrowing: Unpack[ListFilter]) -> Batch:
        """End all memories that are in force, or those that are meant; one event, undoable."""
        said = _build_filter_params(narrowing)
        return parse_value(Batch, self._server.write("POST", "forget-all", sure=True, **said))

    def delete_many(self, references: Sequence[str]) -> Batch:
        """Delete several memories at once: all of them, or none if one is not to be found."""
        return parse_value(Batch, self._server.write("POST", "delete-many", what=list(references)))

    def delete_all(self, **narrowing: Unpack[ListFilter]) -> Batch:
        """Put everything into the trash, or destroy it where the profile says so."""
        said = _build_filter_params(narrowing)
        return parse_value(Batch, self._server.write("POST", "delete-all", sure=True, **said))

    def restore(self, reference: str) -> Written:
        """Bring back what was forgotten or deleted."""
        from remembrancer.remember.lifecycle import RESTORABLE

        return self._post_to_memory(reference, "restore", *RESTORABLE)

    def delete(self, reference: str) -> Written:
        """Put a memory into the trash, or destroy it where the profile says so."""
        id = self._resolve_id(reference, Status.ACTIVE)
        return parse_value(Written, self._server.write("DELETE", "memory", id))

    def undo(self, event_id: str | None = None) -> Written:
        """Take back one change: that of the event, or the latest."""
        return parse_value(Written, self._server.write("POST", "undo", event=event_id))

    def link(
        self, source: str, target: str, relation: Relation | str = Relation.RELATED_TO
    ) -> Written:
        """Relate two memories."""
        ends = [self._resolve_id(one, Status.ACTIVE) for one in (source, target)]
        said = {"target": ends[1], "relation": relation}
        return parse_value(Written, self._server.write("POST", "memory", ends[0], "links", **said))

    def unlink(
        self, source: str, target: str, relation: Relation | str = Relation.RELATED_TO
    ) -> Written:
        """Take a relation between two memories away."""
        ends = [self._resolve_id(one, *Status) for one in (source, target)]
        said = {"target": ends[1], "relation": relation}
        return parse_value(
            Written, self._server.write("DELETE", "memory", ends[0], "links", **said)
        )

    def links(self, reference: str) -> tuple[Link, ...]:
        """How a memory is related to others, in both directions."""
        return parse_values(Link, self._read_memory(reference, "links")["items"])

    def helpful(self, rule: str, *, session: str | None = None) -> Written:
        """Say that following a rule helped; it earns trust."""
        return self._send_feedback(rule=rule, verdict=Verdict.HELPFUL, session=session)

    def harmful(
        self, rule: str, reason: str | None = None, *, session: str | None = None
    ) -> Written:
        """Say that following a rule did harm; too much of it turns the rule into a warning."""
        return self._send_feedback(
            rule=rule, verdict=Verdict.HARMFUL, reason=reason, session=session
        )

    def promote(self, rule: str) -> Written:
        """Trust a rule one step more."""
        return self._post_to_memory(rule, "promote", Status.ACTIVE)

    def demote(self, rule: str) -> Written:
        """Trust a rule one step less."""
        return self._post_to_memory(rule, "demote", Status.ACTIVE)

    def disable(self, rule: str) -> Written:
        """Keep a rule without following it, until it is restored."""
        return self._post_to_memory(rule, "disable", Status.ACTIVE)

    def effectiveness(self, rule: Rule) -> float:
        """How far a rule helps, from 0 to 1."""
        return float(self._read_memory(rule.id)["effectiveness"])

    def confidence(self, record: Record) -> float:
        """How far a memory is believed now, after what it has lost since it was confirmed."""
        return float(self._read_memory(record.id)["effective_confidence"])

    def standing(self, record: Record) -> ConfidenceBand:
        """Whether a memory is recalled, only shown as fading, or only kept in the archive."""
        return ConfidenceBand(self._read_memory(record.id)["standing"])

    def activity(self, *, limit: int = 50, cursor: str | None = None) -> Page[Event]:
        """What happened to the memories, from the latest to the earliest."""
        return parse_page(
            Event, self._server.read("memory", "activity", limit=limit, cursor=cursor)
        )

    def history(self, reference: str) -> History:
        """All versions of a memory, what happened to them, and what they are linked to."""
        id = self._resolve_id(reference, *Status)
        told = self._server.read("memory", id, "history")
        return parse_value(
            History, {**told, "links": self._server.read("memory", id, "links")["items"]}
        )

    def stats(self, *, scope: str | None = None) -> Stats:
        """How many memories there are, of what sort, and how they are doing.

        An agent is told of what it sees; so is whoever asks for a scope.
        """
        above = () if scope is None else ("agents", scope)
        return parse_value(Stats, self._server.read(*above, "memory", "stats"))

    def audit(self, kinds: Sequence[Flaw | str] | None = None) -> Audit:
        """What is wrong in the data, and how much of it: duplicates, secrets, stale facts, ….

        `kinds` are the flaws to look for, by default all: see `remembrancer.audit.findings.Flaw`.
        """
        from remembrancer.audit.report import Audit

        return parse_value(Audit, self._server.read("audit", kind=kinds))

    def repair(self, kinds: Sequence[Flaw | str] | None = None) -> Repair:
        """Do what the audit offers as one event that can be undone.

        Secrets are destroyed only if `kinds` names them, and that cannot be undone.
        """
        from remembrancer.audit.repair import Repair

        return parse_value(Repair, self._server.write("POST", "audit", "repair", kinds=kinds))

    def plan_consolidation(self) -> builtins.list[ConsolidationPlan]:
        """What consolidation would do now; nothing is changed. Each plan has a `.diff()`.

        Without a model, the plans are only to merge what says the same.
        """
        from remembrancer.learn.consolidation.plan import from_json

        told = self._server.query("consolidation", "plan")
        return [from_json(one["plan"]) for one in told["items"]]

    def consolidate(self, plan: ConsolidationPlan | None = None) -> ConsolidationResult:
        """Turn episodes into lasting memories: by one plan, or by all that there are now.

        Each plan is one event that undo takes back as a whole.
        """
        from remembrancer.learn.consolidation.run import ConsolidationResult

        said = {"plan": plan and plan.to_json()}
        return parse_value(
            ConsolidationResult, self._server.write("POST", "consolidation", "apply", **said)
        )

    def simulate(self, days: int = 365) -> Simulation:
        """What will fade and expire, and when, if nobody confirms anything; nothing is changed."""
        from remembrancer.maintenance.simulate import Simulation

        return parse_value(Simulation, self._server.read("simulate", days=days))

    def _look_up(self, reference: str, *statuses: Status) -> Record:
        if looks_like_id(reference):
            return parse_value(Record, self._server.read("memory", reference))
        # Words travel in the body: a path cannot carry all of them, and it ends up in logs.
        found = self._server.query("memory", "lookup", reference=reference, statuses=statuses)
        return parse_value(Record, found)

    def _resolve_id(self, reference: str, *statuses: Status) -> str:
        return reference if looks_like_id(reference) else self._look_up(reference, *statuses).id

    def _read_memory(self, reference: str, *below: str, **params: Any) -> ResponseBody:
        return self._server.read("memory", self._resolve_id(reference, *Status), *below, **params)

    def _post_to_memory(self, reference: str, verb: str, *statuses: Status) -> Written:
        id = self._resolve_id(reference, *statuses)
        return parse_value(Written, self._server.write("POST", "memory", id, verb))

    def _send_feedback(self, **judgement: str | None) -> Written:
        return parse_value(Written, self._server.write("POST", "feedback", **judgement))


def _build_filter_params(wanted: ListFilter | RecallOptions) -> dict[str, Any]:
    """What is wanted, with the moment to look back to as a server is asked for it."""
    said: dict[str, Any] = dict(wanted)
    then = build_as_of_params(said.pop("as_of", None))
    return {**said, **then}
