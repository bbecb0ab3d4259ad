"""Memory: one person's handle on a store."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from remembrancer.call import Citation
from remembrancer.conversations import Conversations
from remembrancer.decay import build_belief, effective_confidence, standing_at
from remembrancer.errors import InvalidInput, NotAllowed, NotFound
from remembrancer.guard.redaction import refuse_secret_name
from remembrancer.maintenance.past_stats import count_past
from remembrancer.maintenance.stats import (
    LISTED_KINDS,
    Survey,
    build_survey,
    compute_stats,
    count_by_scope,
)
from remembrancer.options import check_options, check_value
from remembrancer.paging import (
    decode_cursor,
    decode_offset,
    encode_cursor,
    encode_offset,
    read_visible_page,
    validate_limit,
)
from remembrancer.recall.as_of import (
    find_fact,
    list_known,
    load_history,
    load_links,
    load_version,
    restore_known,
)
from remembrancer.recall.context import build_context
from remembrancer.recall.filters import ListFilter, RecallOptions, build_filter
from remembrancer.recall.pipeline import recall
from remembrancer.remember import feedback, lifecycle
from remembrancer.remember.pipeline import remember, update
from remembrancer.remember.resolve import (
    ANY_STATUS,
    RESOLVABLE_KINDS,
    resolve,
    resolve_by_meaning,
    resolve_current,
)
from remembrancer.remember.rule_trust import effectiveness
from remembrancer.remember.slots import find_holder
from remembrancer.remember.statement import FactFields
from remembrancer.remember.undo import undo
from remembrancer.store.contract import ErasureExtent, Filter
from remembrancer.types import (
    AsOf,
    Batch,
    ConfidenceBand,
    Event,
    Fact,
    History,
    Kind,
    Link,
    ListOrder,
    Origin,
    Owner,
    Page,
    Principal,
    Recollection,
    Record,
    Relation,
    Rule,
    Stats,
    Status,
    TeamFact,
    TeamKind,
    TeamOrigin,
    TeamRecalled,
    Turn,
    Verdict,
    Written,
    looks_like_id,
    parse_enum,
    parse_relation,
    to_as_of,
    validate_confidence,
    validate_name,
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
    from remembrancer.recall.prompt_block import Context
    from remembrancer.team.fact_list import TeamListed
    from remembrancer.team.service import TeamProposalResult
    from remembrancer.transfer.import_pipeline import ImportResult
    from remembrancer.types import Progress


class Memory(Conversations):
    """The verbs of one user's memory.

    A reference to a memory is its id, or words that occur in it and in no other.
    """

    @property
    def principal(self) -> Principal:
        """The user and the agent of this handle."""
        return self._call.principal

    @property
    def owner(self) -> Owner:
        """Whose memories these are: the user's, or those of an instance that its users share."""
        return self._call.owner

    def time_zone(self) -> str:
        """The name of the user's time zone, in which dates are shown to them."""
        return self._call.load_zone().key

    def set_time_zone(self, name: str | None) -> str:
        """Set the user's time zone, such as `Europe/Berlin`; None takes the server's default."""
        if self.principal.agent is not None:
            raise NotAllowed("An agent cannot change the settings of its user.")
        self._call.services.time_zones.set(self.principal.owner, name)
        return self.time_zone()

    @property
    def is_enabled(self) -> bool:
        """False if memory is off for this instance: then only manual work reads and writes it."""
        return self._call.is_memory_enabled

    @property
    def profile(self) -> Profile:
        """The profile in force."""
        return self._call.profile

    def acting_as(self, agent: str) -> Memory:
        """The same user's memory for one of their agents, with that agent's profile."""
        refuse_secret_name(agent)
        agent = validate_name(agent, "agent")
        if self.principal.agent not in (None, agent):
            raise NotAllowed("This handle belongs to another agent.")
        principal = replace(self.principal, agent=agent)
        call = self._call.services.build_call(principal, agent)
        return Memory(replace(call, citation=self._call.citation), self._learner)

    def citing(self, message: Turn, *, is_requested: bool) -> Memory:
        """The same memory for the writes of a model that answers a message."""
        citation = Citation(message, is_requested)
        return Memory(replace(self._call, citation=citation), self._learner)

    def by_model(self) -> Memory:
        """The same memory for the writes of a model, which are not the person's own word."""
        if self._call.citation is not None:
            return self
        citation = Citation(None, is_requested=False)
        return Memory(replace(self._call, citation=citation), self._learner)

    def remember(self, content: str, **details: Unpack[FactFields]) -> Written:
        """Store one memory. It supersedes what it restates; a duplicate returns the original."""
        return remember(self._call, content, details)

    def recall(self, query: str, **options: Unpack[RecallOptions]) -> Recollection:
        """Search memories, best first; each result's `.why` explains its score.

        The result's `.sure` is the probability that anything relevant is stored at all.
        """
        return recall(self._call, query, options)

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
        """Memory as prompt text, in the profile's style and within the token budget.

        A `session` keeps its first snapshot; a note is current and leaves out the session's turns.
        `now` is the time of the prompt, for phrases like "last week" and for what is true.
        `exclude` are ids of memories that the conversation has been given already.
        """
        return build_context(
            self._call,
            prompt,
            budget=budget,
            session=session,
            as_of=as_of,
            style=style,
            now=now,
            exclude=exclude,
        )

    def propose(
        self,
        content: str,
        *,
        kind: TeamKind | str = TeamKind.FACT,
        origin: TeamOrigin = TeamOrigin.USER,
        importance: float = 3,
    ) -> TeamProposalResult:
        """Propose a fact to the team: stored as pending without a user, or refused by a rule."""
        from remembrancer.team.service import propose

        return propose(self._call, content, kind=kind, origin=origin, importance=importance)

    def explain_proposal(self, result: TeamProposalResult) -> str:
        """What became of a proposal, in plain words."""
        from remembrancer.team.outcome import explain_proposal

        return explain_proposal(self._call, result)

    def withdraw(self, fact_id: str) -> TeamFact:
        """Take back what you proposed to the team, while it is pending."""
        from remembrancer.team.withdrawal import withdraw

        return withdraw(self._call, fact_id)

    def team(
        self,
        query: str,
        *,
        limit: int | None = None,
        as_of: AsOf | datetime | None = None,
    ) -> builtins.list[TeamRecalled]:
        """Search the team's memory, if the team's settings allow it on this surface.

        `limit` can only lower the team's own limit. `as_of` finds what was approved then, in the
        wording of then.
        """
        from remembrancer.team.service import recall_for_call

        return recall_for_call(self._call, query, limit, to_as_of(as_of))

    def list_team(
        self,
        *,
        origins: Sequence[TeamOrigin | str] = (),
        kind: TeamKind | str | None = None,
        limit: int = 50,
        cursor: str | None = None,
        as_of: AsOf | datetime | None = None,
    ) -> Page[TeamListed]:
        """What the team knows, newest first, with the class of its authors, never the authors."""
        from remembrancer.team.fact_list import list_facts

        return list_facts(
            self._call,
            origins=origins,
            kind=kind,
            limit=limit,
            cursor=cursor,
            as_of=self._call.read_as_of(as_of),
        )

    def get(
        self, reference: str, *, as_of: AsOf | datetime | None = None, used: bool = False
    ) -> Record:
        """One memory, whatever its status; `used` counts a recall.

        With `as_of`, as it was known then, in the version that was true then; that counts no
        recall.
        """
        then = self._call.read_as_of(as_of)
        record = self._resolve_at(reference, then)
        if then is not None:
            return load_version(self._call, record, then)
        if used:
            self._call.count_recalls([record.id])
        return record

    def fact(
        self,
        subject: str,
        predicate: str,
        *,
        scope: str | None = None,
        as_of: AsOf | datetime | None = None,
        used: bool = False,
    ) -> Fact | None:
        """The active fact with that subject and predicate, which `remember` would supersede.

        `used` counts it as recalled, unless `as_of` looks back.
        """
        if (then := self._call.read_as_of(as_of)) is not None:
            return find_fact(self._call, subject, predicate, scope, then)
        holder = self._find_active_fact(subject, predicate, scope)
        if holder is not None and used:
            self._call.count_recalls([holder.id])
        return holder

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
        """Memories from newest to oldest, paginated; by default those in force.

        The order "most_used" begins with what was recalled most often; `never_used` lists only what
        was never recalled. The status "unconfirmed" lists what was learned in doubt and waits for
        `confirm`, `update` or `forget`.
        """
        limit = validate_limit(limit)
        check_value("minimum_confidence", minimum_confidence, float)
        check_options(filters, ListFilter)
        validate_confidence(minimum_confidence)
        order = parse_enum(ListOrder, order, "order")
        record_filter = replace(build_filter(self._call, filters), never_used=never_used)
        if status is not None:
            status = parse_enum(Status, status, "status")
        if (then := self._call.read_as_of(filters.get("as_of"))) is not None:
            _check_past_list(then, status, by_use=never_used or order is ListOrder.MOST_USED)
            status = None
        if not filters.get("kinds"):
            record_filter = replace(record_filter, kinds=LISTED_KINDS)
        decay = self._call.profile.decay
        if record_filter.known_at is None:
            record_filter = replace(
                record_filter, decayed=build_belief(decay, below=decay.expire_below)
            )
        if minimum_confidence:
            below = filters.get("confidence_below", 2)
            bounds = build_belief(decay, at_least=minimum_confidence, below=below)
            record_filter = replace(record_filter, confidence=bounds)
        if status is not None:
            record_filter = replace(record_filter, statuses=(status,))
            if record_filter.statuses == (Status.TRASHED,):
                days = timedelta(days=self._call.profile.deletion.trash_days)
                record_filter = replace(record_filter, retired_after=record_filter.now - days)
        if order is ListOrder.MOST_USED:
            return self._list_most_used(record_filter, limit, cursor)
        if record_filter.known_at is not None:
            return list_known(self._call, record_filter, limit, cursor)
        with self._open_reader() as reader:
            found = reader.find(record_filter, limit + 1, decode_cursor(cursor))
        more = len(found) > limit
        return Page(tuple(found[:limit]), _cursor_after(found[limit - 1]) if more else None)

    def _list_most_used(
        self, record_filter: Filter, limit: int, cursor: str | None
    ) -> Page[Record]:
        start = decode_offset(cursor)
        end = start + limit
        with self._open_reader() as reader:
            found = reader.find_most_used(record_filter, end + 1)
        return Page(tuple(found[start:end]), encode_offset(end) if len(found) > end else None)

    def update(self, reference: str, content: str, **details: Unpack[FactFields]) -> Written:
        """Supersede a memory by a new version; the old one stays in its history."""
        old = resolve_current(self._call, reference, lifecycle.FORGETTABLE)
        return update(self._call, old, content, details)

    def confirm(self, reference: str) -> Written:
        """Confirm that a memory is still true, or that an unconfirmed one is."""
        known = lifecycle.CONFIRMABLE
        return lifecycle.confirm(self._call, resolve_current(self._call, reference, known))

    def forget(self, reference: str) -> Written:
        """Forget a memory: the one referred to, or else the one that is clearly most similar."""
        return lifecycle.forget(self._call, resolve_by_meaning(self._call, reference))

    def forget_all(self, **filters: Unpack[ListFilter]) -> Batch:
        """Forget all memories in force that match, as one event that can be undone."""
        return lifecycle.retire_all(self._call, self._build_bulk_filter(filters), Status.FORGOTTEN)

    def inventory(self) -> Inventory:
        """Count what `forget_everything` removes; nothing is changed. Not for an agent's handle."""
        from remembrancer.erasure.erase import take_inventory

        self._refuse_agent()
        return take_inventory(self._call.services, self._call.owner)

    def forget_everything(self) -> Receipt:
        """Erase all memories and conversations for good, and withdraw what was told to the team.

        Keys, account links and settings stay. The receipt lists where traces were searched for. Not
        for an agent's handle.
        """
        from remembrancer.erasure.erase import erase

        self._refuse_agent()
        self._call.services.usage.flush()
        return erase(self._call.services, self._call.owner, ErasureExtent.MEMORIES)

    def delete_many(self, references: Sequence[str], *, for_good: bool = False) -> Batch:
        """Delete several memories: all, or none if one cannot be found."""
        self._refuse_agent_for_good(for_good)
        records = [self._resolve_to_delete(one, for_good=for_good) for one in references]
        return lifecycle.delete_many(self._call, records, for_good=for_good)

    def delete_all(self, *, for_good: bool = False, **filters: Unpack[ListFilter]) -> Batch:
        """Move all matching memories to the trash, those that were forgotten too.

        `for_good` purges them, and what matches in the trash; that cannot be undone. Not for an
        agent's handle.
        """
        self._refuse_agent_for_good(for_good)
        everything = self._build_bulk_filter(filters)
        statuses = lifecycle.PURGEABLE if for_good else lifecycle.DELETABLE
        return lifecycle.retire_all(
            self._call, replace(everything, statuses=statuses), Status.TRASHED, for_good=for_good
        )

    def restore(self, reference: str) -> Written:
        """Restore a memory that was forgotten or deleted."""
        gone = lifecycle.RESTORABLE
        return lifecycle.restore(self._call, resolve_current(self._call, reference, gone))

    def delete(self, reference: str, *, for_good: bool = False) -> Written:
        """Move a memory with its history to the trash, or purge it if the profile says so.

        `for_good` purges it at once, also from the trash; that cannot be undone. Not for an agent's
        handle.
        """
        self._refuse_agent_for_good(for_good)
        found = self._resolve_to_delete(reference, for_good=for_good)
        return lifecycle.delete(self._call, found, for_good=for_good)

    def undo(self, event_id: str | None = None) -> Written:
        """Undo an event, by default the latest."""
        return undo(self._call, event_id)

    def link(
        self, source: str, target: str, relation: Relation | str = Relation.RELATED_TO
    ) -> Written:
        """Link two memories."""
        call = self._call
        chosen = parse_relation(relation)
        return lifecycle.link(call, resolve(call, source), resolve(call, target), chosen)

    def unlink(
        self, source: str, target: str, relation: Relation | str = Relation.RELATED_TO
    ) -> Written:
        """Remove a link between two memories."""
        call = self._call
        chosen = parse_relation(relation)
        ends = (resolve(call, source, ANY_STATUS), resolve(call, target, ANY_STATUS))
        return lifecycle.unlink(call, *ends, chosen)

    def links(self, reference: str, *, as_of: AsOf | datetime | None = None) -> tuple[Link, ...]:
        """The links of a memory, in both directions."""
        then = self._call.read_as_of(as_of)
        record = self._resolve_at(reference, then)
        with self._open_reader() as reader:
            return load_links(self._call, reader, record, then)

    def helpful(self, rule: str, *, session: str | None = None) -> Written:
        """Record that a rule helped."""
        return feedback.record_verdict(
            self._call, resolve(self._call, rule), Verdict.HELPFUL, session_id=session
        )

    def harmful(
        self, rule: str, reason: str | None = None, *, session: str | None = None
    ) -> Written:
        """Record that a rule did harm; too much harm turns it into a warning."""
        return feedback.record_verdict(
            self._call, resolve(self._call, rule), Verdict.HARMFUL, reason, session_id=session
        )

    def promote(self, rule: str) -> Written:
        """Raise a rule's maturity by one step."""
        return feedback.shift_maturity(self._call, resolve(self._call, rule), 1)

    def demote(self, rule: str) -> Written:
        """Lower a rule's maturity by one step."""
        return feedback.shift_maturity(self._call, resolve(self._call, rule), -1)

    def disable(self, rule: str) -> Written:
        """Stop applying a rule until it is restored."""
        return feedback.disable(self._call, resolve(self._call, rule))

    def effectiveness(self, rule: Rule) -> float:
        """The effectiveness of a rule, from 0 to 1."""
        return effectiveness(rule, self._call.profile.rules)

    def confidence(self, record: Record) -> float:
        """The effective confidence of a memory now, after decay since its confirmation."""
        return effective_confidence(record, self._call.profile.decay, self._call.now())

    def standing(self, record: Record) -> ConfidenceBand:
        """The confidence band: recalled, fading (only shown), or expired (only archived)."""
        return standing_at(record, self._call.profile.decay, self._call.now())

    def resolve(
        self,
        reference: str,
        statuses: Sequence[Status] = (Status.ACTIVE,),
        kinds: Sequence[Kind] = RESOLVABLE_KINDS,
        *,
        known: datetime | None = None,
    ) -> Record:
        """Return the one memory with that id, or of these kinds and statuses with those words.

        With `known`, the words are searched among the memories of then.
        Raises `NotFound` if there is none and `Ambiguous` if several contain the words.
        """
        return resolve(self._call, reference, tuple(statuses), tuple(kinds), known)

    def several(self, ids: Iterable[str], *, known: datetime | None = None) -> dict[str, Record]:
        """The memories with these ids that exist, or did when they were `known`, of any status."""
        named = {one for one in ids if looks_like_id(one)}
        with self._open_reader() as reader:
            found = [one for one in reader.load(named).values() if self._call.can_see(one)]
        if known is not None:
            found = restore_known(self._call, found, known)
        return {one.id: one for one in found}

    def event(self, event_id: str) -> Event:
        """One event of the activity log."""
        with self._open_reader() as reader:
            event = reader.get_event(validate_name(event_id, "event"))
            if event is None or not lifecycle.can_see_event(self._call, reader, event):
                raise NotFound(f"There is no event {event_id}.")
        return event

    def activity(self, *, limit: int = 50, cursor: str | None = None) -> Page[Event]:
        """The activity log, newest first."""
        limit = validate_limit(limit)
        with self._open_reader() as reader:
            return read_visible_page(
                lambda after: reader.list_events(limit=limit + 1, after=after),
                lambda found: lifecycle.filter_visible_events(self._call, reader, found),
                limit,
                cursor,
            )

    def history(self, reference: str, *, as_of: AsOf | datetime | None = None) -> History:
        """All versions of a memory, their events and their links."""
        then = self._call.read_as_of(as_of)
        return load_history(self._call, self._resolve_at(reference, then), then)

    def stats(self, *, scope: str | None = None, as_of: AsOf | datetime | None = None) -> Stats:
        """Counts of memories by kind, category and state.

        With an agent or a scope, only what it can see is counted.
        """
        then = self._call.read_as_of(as_of)
        return (
            compute_stats(self._call, scope)
            if then is None
            else count_past(self._call, scope, then)
        )

    def scopes(self) -> dict[str, int]:
        """The number of active memories per scope."""
        return count_by_scope(self._call)

    def survey(self) -> Survey:
        """Statistics for a dashboard, by a constant number of queries."""
        return build_survey(self._call)

    def audit(self, kinds: Sequence[Flaw | str] | None = None) -> Audit:
        """Find data-quality problems: duplicates, secrets, stale facts, ….

        `kinds` are the flaws to look for, by default all: see `remembrancer.audit.findings.Flaw`.
        """
        from remembrancer.audit.report import audit

        return audit(self._call, kinds)

    def repair(self, kinds: Sequence[Flaw | str] | None = None) -> Repair:
        """Apply the audit's fixes as one event that can be undone.

        Secrets are purged only if `kinds` names them; that cannot be undone.
        """
        from remembrancer.audit.repair import repair

        return repair(self._call, kinds)

    def plan_consolidation(self) -> builtins.list[ConsolidationPlan]:
        """Preview consolidation without changes. Each plan has a `.diff()`.

        Without a model, plans only merge duplicates.
        """
        from remembrancer.learn.consolidation.run import plan_consolidation

        return plan_consolidation(self._call)

    def consolidate(self, plan: ConsolidationPlan | None = None) -> ConsolidationResult:
        """Consolidate episodes into facts and rules, by one plan or by all current ones.

        Each plan is one event that can be undone as a whole.
        """
        from remembrancer.learn.consolidation.run import run_consolidation

        return run_consolidation(self._call, plan)

    def simulate(self, days: int = 365) -> Simulation:
        """Forecast what will fade and expire, and when, if nothing is confirmed."""
        from remembrancer.maintenance.simulate import simulate

        return simulate(self._call, days)

    def import_from(
        self,
        path: str | Path,
        *,
        format: str | None = None,
        of: str | None = None,
        origin: Origin | str | None = None,
        learn: bool | None = None,
        dry_run: bool = False,
        time_zone: str = "UTC",
        progress: Progress | None = None,
    ) -> ImportResult:
        """Import memories of another product or a folder of notes; repeating it adds nothing.

        The format is detected if it is not given; `of` selects the user where a file holds those of
        several. Sessions are learned from in the background, now (`learn=True`) or never (False).
        `time_zone` applies to message times without a zone.
        """
        from zoneinfo import ZoneInfo

        from remembrancer.transfer.import_pipeline import ImportOptions, import_from

        choices = ImportOptions(
            format=format,
            of=of,
            origin=None if origin is None else parse_enum(Origin, origin, "origin"),
            learn=learn,
            dry_run=dry_run,
            zone=ZoneInfo(time_zone),
        )
        imported = import_from(self._call, path, choices, progress)
        if imported.turns and not dry_run and learn is not False:
            self._learner.wake(self._call.owner)
        if learn and not dry_run:
            self._learner.drain()
        return imported

    def markdown(self) -> str:
        """All active memories and all turns as Markdown for reading."""
        from remembrancer.transfer.markdown_export import render_markdown

        return "\n".join(render_markdown(self._call)) + "\n"

    def _refuse_agent(self) -> None:
        if self.principal.agent is not None:
            raise NotAllowed(
                "An agent cannot erase everything about its user. Sign in as the user."
            )

    def _resolve_to_delete(self, reference: str, *, for_good: bool) -> Record:
        """The memory that is deleted; what was forgotten or deleted can be deleted for good."""
        try:
            return resolve_current(self._call, reference, lifecycle.FORGETTABLE)
        except NotFound:
            if not for_good:
                raise
            return resolve_current(self._call, reference, (Status.FORGOTTEN, Status.TRASHED))

    def _resolve_at(self, reference: str, as_of: AsOf | None) -> Record:
        known = as_of.known if as_of else None
        return resolve(self._call, reference, ANY_STATUS, known=known)

    def _find_active_fact(self, subject: str, predicate: str, scope: str | None) -> Fact | None:
        decay = self._call.profile.decay
        in_force = self._call.visible_filter(scope=scope, kinds=(Kind.FACT,))
        in_force = replace(in_force, decayed=build_belief(decay, below=decay.expire_below))
        with self._open_reader() as reader:
            key = (self._call.resolve_write_scope(scope), subject, predicate)
            holder = find_holder(reader, key)
            if holder is None or not reader.matching([holder.id], in_force):
                return None
        return holder

    def _build_bulk_filter(self, filters: ListFilter) -> Filter:
        """Active, expired and unconfirmed memories of all kinds, unless kinds are given."""
        check_options(filters, ListFilter)
        record_filter = build_filter(self._call, {"minimum_importance": 0, **filters})
        kinds = record_filter.kinds if filters.get("kinds") else tuple(Kind)
        return replace(record_filter, kinds=kinds, statuses=lifecycle.CONFIRMABLE)


def _check_past_list(as_of: AsOf, status: Status | None, *, by_use: bool) -> None:
    if by_use and as_of.known is not None:
        raise InvalidInput("Use is known as of now alone: omit as_of, or order and never_used.")
    if status not in (None, Status.ACTIVE):
        raise InvalidInput("as_of lists what was in force then: omit as_of or status.")


def _cursor_after(record: Record) -> str:
    return encode_cursor(record.recorded_at, record.id)
