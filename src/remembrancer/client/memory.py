"""`RemoteMemory`: the verbs of `Memory` over the REST API of a server."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self, Unpack

from remembrancer.client.codec import (
    ResponseBody,
    build_as_of_params,
    build_list_params,
    check_fact_fields,
    check_list_filter,
    check_recall_options,
    parse_recollection,
    parse_value,
    parse_values,
)
from remembrancer.client.conversations import RemoteConversations
from remembrancer.errors import InvalidInput, NotFound
from remembrancer.options import check_value
from remembrancer.types import (
    AsOf,
    Batch,
    ConfidenceBand,
    Event,
    Fact,
    History,
    Link,
    ListOrder,
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
    parse_relation,
    validate_confidence,
)

if TYPE_CHECKING:
    from remembrancer.audit.findings import Flaw
    from remembrancer.audit.repair import Repair
    from remembrancer.audit.report import Audit
    from remembrancer.erasure.erase import Inventory
    from remembrancer.erasure.receipts import Receipt
    from remembrancer.learn.consolidation.plan import ConsolidationPlan
    from remembrancer.learn.consolidation.run import ConsolidationResult
    from remembrancer.maintenance.simulate import Simulation
    from remembrancer.profiles import Profile
    from remembrancer.recall.filters import ListFilter, RecallOptions
    from remembrancer.recall.prompt_block import Context
    from remembrancer.remember.statement import FactFields
    from remembrancer.team.fact_list import TeamListed
    from remembrancer.team.service import TeamProposalResult


class RemoteMemory(RemoteConversations):
    """The memory of one user on a server.

    A reference to a memory is its id, or words that occur in it and in no other. Words take one
    more request than an id.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()

    def __repr__(self) -> str:
        return f"RemoteMemory({self._server.address!r}, agent={self._server.agent!r})"

    def disconnect(self) -> None:
        """Close the connections to the server; `close` ends a conversation."""
        self._server.close()

    @property
    def principal(self) -> Principal:
        """The owner of this memory, and who acts for them."""
        me = self._server.read("me")
        owner = Owner(me["tenant"], me["user"])
        agent = self._server.agent or me["agent"]
        return Principal(owner, agent, me["surface"], frozenset(me["capabilities"]))

    @property
    def profile(self) -> Profile:
        """The profile in force."""
        from remembrancer.profiles import Profile

        return Profile.model_validate(self._server.read("profile"))

    def time_zone(self) -> str:
        """The name of the user's time zone, in which dates are shown to them."""
        return str(self._server.read("me")["time_zone"])

    def set_time_zone(self, name: str | None) -> str:
        """Set the user's time zone, such as `Europe/Berlin`; None takes the server's default."""
        return str(self._server.write("PATCH", "me", time_zone=name)["time_zone"])

    def remember(self, content: str, **details: Unpack[FactFields]) -> Written:
        """Store one statement; it supersedes an older value, and a duplicate is returned as is."""
        check_fact_fields(content, details)
        return self._write(Written, "POST", "remember", content=content, **details)

    def recall(self, query: str, **options: Unpack[RecallOptions]) -> Recollection:
        """Return the memories that are relevant to a query, best first, each with its `.why`.

        `.sure` of the result is the probability that anything relevant is remembered.
        """
        check_recall_options(query, options)
        body = {**_build_filter_params(options), "query": query, "explain": True}
        return parse_recollection(self._server.query("recall", **body))

    def context(
        self,
        prompt: str | None = None,
        *,
        budget: int | None = None,
        session: str | None = None,
        as_of: AsOf | datetime | None = None,
        style: str | None = None,
        now: datetime | None = None,
        exclude: Sequence[str] = (),
    ) -> Context:
        """Return memory as text for a prompt, in the style of the profile and within the budget.

        A `session` sees the state of its first request. The style "note" sees the current state,
        without what was said in the session. `now` is the time of the prompt, for phrases like
        "last week" and for what is true. `exclude` are ids of memories that the conversation has
        been given already.
        """
        from remembrancer.recall.prompt_block import Context

        body = {"prompt": prompt, "budget": budget, "session": session, "style": style}
        times = {"now": now, **build_as_of_params(as_of)}
        found = self._server.query("context", **body, **times, exclude=list(exclude))
        return parse_value(Context, found)

    def propose(
        self,
        content: str,
        *,
        kind: TeamKind | str = TeamKind.FACT,
        origin: TeamOrigin = TeamOrigin.USER,
        importance: float = 3,
    ) -> TeamProposalResult:
        """Propose a statement to the team; it is stored without its author, or refused."""
        from remembrancer.team.service import TeamProposalResult

        if origin is not TeamOrigin.USER:
            raise InvalidInput("A server takes the origin from the key: leave it out.")
        body = {"content": content, "kind": kind, "importance": importance}
        return self._write(TeamProposalResult, "POST", "team", "propose", **body)

    def team(
        self,
        query: str,
        *,
        limit: int | None = None,
        as_of: AsOf | datetime | None = None,
    ) -> builtins.list[TeamRecalled]:
        """Search team memory, if the team settings allow it for this surface.

        `limit` can only lower the limit of the team settings.
        """
        then = build_as_of_params(as_of)
        found = self._server.query("team", "recall", query=query, limit=limit, **then)
        return [*parse_values(TeamRecalled, found["items"])]

    def list_team(
        self,
        *,
        origins: Sequence[TeamOrigin | str] = (),
        kind: TeamKind | str | None = None,
        limit: int = 50,
        cursor: str | None = None,
        as_of: AsOf | datetime | None = None,
    ) -> Page[TeamListed]:
        """Return a page of what the team knows, newest first, without its authors."""
        from remembrancer.team.fact_list import TeamListed

        params = {"origin": list(origins), "kind": kind, "limit": limit, "cursor": cursor}
        return self._read_page(TeamListed, "team", "facts", **params, **build_as_of_params(as_of))

    def get(
        self, reference: str, *, as_of: AsOf | datetime | None = None, used: bool = False
    ) -> Record:
        """Return one memory, whatever its status; `as_of` returns it as it was known then.

        `used` counts it as recalled, which only a local memory can do.
        """
        if used:
            raise InvalidInput("A server counts only what recall returns: leave out used.")
        if as_of is None:
            return self._look_up(reference, *Status)
        return parse_value(Record, self._read_memory(reference, **build_as_of_params(as_of)))

    def fact(
        self,
        subject: str,
        predicate: str,
        *,
        scope: str | None = None,
        as_of: AsOf | datetime | None = None,
        used: bool = False,
    ) -> Fact | None:
        """Return the active fact with that subject and predicate, which `remember` would replace.

        `used` counts it as recalled.
        """
        key = {"subject": subject, "predicate": predicate, "scope": scope}
        params = {**key, "used": used, **build_as_of_params(as_of)}
        return parse_value(Fact, self._server.read("memory", "fact", **params)["fact"])

    def list(
        self,
        *,
        status: Status | str | None = None,
        minimum_confidence: float = 0,
        order: ListOrder | str = ListOrder.NEWEST,
        never_used: bool = False,
        limit: int = 50,
        cursor: str | None = None,
        **filters: Unpack[ListFilter],
    ) -> Page[Record]:
        """Return a page of memories, newest first; by default the active ones.

        The order "most_used" begins with what was recalled most often; `never_used` lists only what
        was never recalled. The status "unconfirmed" lists what was learned in doubt and waits for
        `confirm`, `update` or `forget`.
        """
        check_value("limit", limit, int)
        check_value("minimum_confidence", minimum_confidence, float)
        check_list_filter(filters)
        validate_confidence(minimum_confidence)
        params = {
            **build_list_params(filters),
            "status": status,
            "min_confidence": minimum_confidence,
            "order": order,
            "never_used": never_used or None,
            "limit": limit,
            "cursor": cursor,
        }
        return self._read_page(Record, "memory", **params)

    def update(self, reference: str, content: str, **details: Unpack[FactFields]) -> Written:
        """Replace a memory with a new version; the old one stays in its history."""
        check_fact_fields(content, details)
        id = self._resolve_id(reference, Status.ACTIVE, Status.UNCONFIRMED)
        return self._write(Written, "PUT", "memory", id, content=content, **details)

    def confirm(self, reference: str) -> Written:
        """Confirm that a memory is still true, or that an unconfirmed one is."""
        from remembrancer.remember.lifecycle import CONFIRMABLE

        return self._post_to_memory(reference, "confirm", *CONFIRMABLE)

    def forget(self, reference: str) -> Written:
        """Forget a memory: the one referred to, or else the one clearly closest in meaning."""
        return self._write(Written, "POST", "forget", what=reference)

    def forget_all(self, **filters: Unpack[ListFilter]) -> Batch:
        """Forget all active memories that match the filter, as one event that can be undone."""
        check_list_filter(filters)
        body = _build_filter_params(filters)
        return self._write(Batch, "POST", "forget-all", sure=True, **body)

    def inventory(self) -> Inventory:
        """Count what `forget_everything` removes; nothing is changed."""
        from remembrancer.erasure.erase import Inventory

        return parse_value(Inventory, self._server.read("erasure"))

    def forget_everything(self) -> Receipt:
        """Erase all memories and conversations for good, and withdraw what was told to the team.

        Keys, account links and settings stay.
        """
        from remembrancer.erasure.receipts import Receipt

        user = self.principal.owner.user
        return self._write(Receipt, "POST", "erasure", user=user, keep_account=True)

    def delete_many(self, references: Sequence[str], *, for_good: bool = False) -> Batch:
        """Delete several memories at once: all of them, or none if one is not found."""
        asked = {"for_good": True} if for_good else {}
        return self._write(Batch, "POST", "delete-many", what=list(references), **asked)

    def delete_all(self, *, for_good: bool = False, **filters: Unpack[ListFilter]) -> Batch:
        """Move all matching memories to the trash, or destroy them if the profile has none.

        `for_good` destroys them, and what matches in the trash.
        """
        check_list_filter(filters)
        body = _build_filter_params(filters) | ({"for_good": True} if for_good else {})
        return self._write(Batch, "POST", "delete-all", sure=True, **body)

    def restore(self, reference: str) -> Written:
        """Restore a memory that was forgotten or deleted."""
        from remembrancer.remember.lifecycle import RESTORABLE

        return self._post_to_memory(reference, "restore", *RESTORABLE)

    def delete(self, reference: str, *, for_good: bool = False) -> Written:
        """Move a memory to the trash, or destroy it if the profile has none.

        `for_good` destroys it at once, also from the trash.
        """
        id = self._resolve_to_delete(reference, for_good=for_good)
        asked = {"for_good": True} if for_good else {}
        return self._write(Written, "DELETE", "memory", id, **asked)

    def undo(self, event_id: str | None = None) -> Written:
        """Undo one event, or the latest."""
        return self._write(Written, "POST", "undo", event=event_id)

    def link(
        self, source: str, target: str, relation: Relation | str = Relation.RELATED_TO
    ) -> Written:
        """Link two memories."""
        ends = [self._resolve_id(one, Status.ACTIVE) for one in (source, target)]
        body = {"target": ends[1], "relation": parse_relation(relation)}
        return self._write(Written, "POST", "memory", ends[0], "links", **body)

    def unlink(
        self, source: str, target: str, relation: Relation | str = Relation.RELATED_TO
    ) -> Written:
        """Remove a link between two memories."""
        ends = [self._resolve_id(one, *Status) for one in (source, target)]
        params = {"target": ends[1], "relation": parse_relation(relation)}
        return self._write(Written, "DELETE", "memory", ends[0], "links", **params)

    def links(self, reference: str, *, as_of: AsOf | datetime | None = None) -> tuple[Link, ...]:
        """Return the links of a memory, in both directions."""
        found = self._read_memory(reference, "links", **build_as_of_params(as_of))
        return parse_values(Link, found["items"])

    def helpful(self, rule: str, *, session: str | None = None) -> Written:
        """Report that following a rule helped, which raises its trust."""
        body = {"rule": rule, "verdict": Verdict.HELPFUL, "session": session}
        return self._write(Written, "POST", "feedback", **body)

    def harmful(
        self, rule: str, reason: str | None = None, *, session: str | None = None
    ) -> Written:
        """Report that following a rule did harm; too much turns the rule into a warning."""
        body = {"rule": rule, "verdict": Verdict.HARMFUL, "reason": reason, "session": session}
        return self._write(Written, "POST", "feedback", **body)

    def promote(self, rule: str) -> Written:
        """Raise the maturity of a rule by one step."""
        return self._post_to_memory(rule, "promote", Status.ACTIVE)

    def demote(self, rule: str) -> Written:
        """Lower the maturity of a rule by one step."""
        return self._post_to_memory(rule, "demote", Status.ACTIVE)

    def disable(self, rule: str) -> Written:
        """Stop following a rule until it is restored."""
        return self._post_to_memory(rule, "disable", Status.ACTIVE)

    def effectiveness(self, rule: Rule) -> float:
        """Return how much a rule helps, from 0 to 1."""
        return float(self._read_memory(rule.id)["effectiveness"])

    def confidence(self, record: Record) -> float:
        """Return the confidence in a memory now, after decay since its last confirmation."""
        return float(self._read_memory(record.id)["effective_confidence"])

    def standing(self, record: Record) -> ConfidenceBand:
        """Return the band of a memory's confidence: recalled, fading, or expired."""
        return ConfidenceBand(self._read_memory(record.id)["standing"])

    def activity(self, *, limit: int = 50, cursor: str | None = None) -> Page[Event]:
        """Return a page of events, newest first."""
        return self._read_page(Event, "memory", "activity", limit=limit, cursor=cursor)

    def history(self, reference: str, *, as_of: AsOf | datetime | None = None) -> History:
        """Return all versions of a memory, with their events and links."""
        then = build_as_of_params(as_of)
        id = self._resolve_id(reference, *Status, known_at=then.get("known_at"))
        history = self._server.read("memory", id, "history", **then)
        links = self._server.read("memory", id, "links", **then)["items"]
        return parse_value(History, {**history, "links": links})

    def stats(self, *, scope: str | None = None, as_of: AsOf | datetime | None = None) -> Stats:
        """Return counts of memories by kind, status and confidence.

        With an agent or a scope, only the memories visible there are counted.
        """
        prefix = () if scope is None else ("agents", scope)
        return self._read(Stats, *prefix, "memory", "stats", **build_as_of_params(as_of))

    def audit(self, kinds: Sequence[Flaw | str] | None = None) -> Audit:
        """Report flaws in the data: duplicates, secrets, stale facts and others.

        `kinds` are the flaws to look for, by default all of `remembrancer.audit.findings.Flaw`.
        """
        from remembrancer.audit.report import Audit

        return self._read(Audit, "audit", kind=kinds)

    def repair(self, kinds: Sequence[Flaw | str] | None = None) -> Repair:
        """Repair the flaws that the audit found, as one event that can be undone.

        Secrets are destroyed only if `kinds` names them, and that cannot be undone.
        """
        from remembrancer.audit.repair import Repair

        return self._write(Repair, "POST", "audit", "repair", kinds=kinds)

    def plan_consolidation(self) -> builtins.list[ConsolidationPlan]:
        """Return what consolidation would do now, without a change. Each plan has a `.diff()`.

        Without a model, the plans only merge duplicates.
        """
        from remembrancer.learn.consolidation.plan import from_json

        plans = self._server.query("consolidation", "plan")
        return [from_json(one["plan"]) for one in plans["items"]]

    def consolidate(self, plan: ConsolidationPlan | None = None) -> ConsolidationResult:
        """Consolidate episodes into lasting memories, by one plan or by all current plans.

        Each plan is one event, which undo reverts as a whole.
        """
        from remembrancer.learn.consolidation.run import ConsolidationResult

        body = {"plan": plan and plan.to_json()}
        return self._write(ConsolidationResult, "POST", "consolidation", "apply", **body)

    def simulate(self, days: int = 365) -> Simulation:
        """Forecast what will fade and expire if nothing is confirmed, without a change."""
        from remembrancer.maintenance.simulate import Simulation

        return self._read(Simulation, "simulate", days=days)

    def _look_up(
        self, reference: str, *statuses: Status, known_at: datetime | None = None
    ) -> Record:
        if looks_like_id(reference):
            return self._read(Record, "memory", reference)
        # Words travel in the body: a path cannot carry all of them, and it ends up in logs.
        body = {"reference": reference, "statuses": statuses, "known_at": known_at}
        found = self._server.query("memory", "lookup", **body)
        return parse_value(Record, found)

    def _resolve_id(
        self, reference: str, *statuses: Status, known_at: datetime | None = None
    ) -> str:
        if looks_like_id(reference):
            return reference
        return self._look_up(reference, *statuses, known_at=known_at).id

    def _resolve_to_delete(self, reference: str, *, for_good: bool) -> str:
        try:
            return self._resolve_id(reference, Status.ACTIVE, Status.UNCONFIRMED)
        except NotFound:
            if not for_good:
                raise
            return self._resolve_id(reference, Status.FORGOTTEN, Status.TRASHED)

    def _read_memory(self, reference: str, *below: str, **params: Any) -> ResponseBody:
        id = self._resolve_id(reference, *Status, known_at=params.get("known_at"))
        return self._server.read("memory", id, *below, **params)

    def _post_to_memory(self, reference: str, verb: str, *statuses: Status) -> Written:
        id = self._resolve_id(reference, *statuses)
        return self._write(Written, "POST", "memory", id, verb)


def _build_filter_params(options: ListFilter | RecallOptions) -> dict[str, Any]:
    params: dict[str, Any] = dict(options)
    as_of = build_as_of_params(params.pop("as_of", None))
    return {**params, **as_of}
