"""A team's memory in SQL, the same on both engines; every statement names the tenant."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Row, Table, and_, bindparam, exists, func, or_, select, tuple_

from remembrancer.search.terms import fingerprint
from remembrancer.store import tables
from remembrancer.store.columns import Moment, periods_since
from remembrancer.store.contract import Embedding, Position
from remembrancer.store.statements import BoundConnection, field_values, value_from_row
from remembrancer.store.team_contract import EmbeddedTeamFact, TeamFilter, TeamState
from remembrancer.types import TeamEntry, TeamFact, TeamKind, TeamOrigin, TeamStatus

PRIVATE_TABLES = frozenset({"team_keys", "team_contributions", "team_conflicts", "team_activity"})
"""The tables that recall cannot read, on either engine."""

FACTS, STATES, VECTORS = tables.team_facts, tables.team_states, tables.team_embeddings
ACTIVITY = tables.team_activity
CONTRIBUTIONS, CONFLICTS = tables.team_contributions, tables.team_conflicts
RECALL_FIELDS = frozenset({"status", "confidence", "importance", "confirmed_at"})
"""The fields that recall uses; a change of one makes every process reload its index."""


class SqlTeamReader(BoundConnection):
    """Reads over one connection, bound to one tenant."""

    key_column = "tenant_id"

    def read_version(self) -> int:
        query = select(tables.teams.c.version).where(self._own(tables.teams))
        return int(self._connection.execute(query).scalar() or 0)

    def load_embedded_facts(
        self, model: str, statuses: Sequence[TeamStatus]
    ) -> list[EmbeddedTeamFact]:
        same_fact = and_(FACTS.c.tenant_id == VECTORS.c.tenant_id, FACTS.c.id == VECTORS.c.fact_id)
        query = (
            select(FACTS, VECTORS.c.vector)
            .join(VECTORS, and_(same_fact, VECTORS.c.model == model))
            .where(self._own(FACTS), self._own(VECTORS), FACTS.c.status.in_(statuses))
            .order_by(FACTS.c.id)
        )
        rows = self._connection.execute(query)
        return [EmbeddedTeamFact(fact_from_row(row), row.vector) for row in rows]

    def list_states_after(self, at: datetime) -> list[TeamState]:
        query = select(STATES).where(self._own(STATES), STATES.c.until > at)
        rows = self._connection.execute(query.order_by(STATES.c.fact_id, STATES.c.number))
        return [value_from_row(TeamState, row) for row in rows]


class SqlTeamWriter(SqlTeamReader):
    """Reads and writes over one connection, which is the tenant's only writer."""

    def load_contributor_key(self) -> bytes:
        table = tables.team_keys
        found = self._connection.execute(select(table.c.key).where(self._own(table))).scalar()
        if found is None:
            found = secrets.token_bytes(32)
            self._insert_rows(table, [{"key": found}])
        return bytes(found)

    def get_fact(self, fact_id: str) -> TeamFact | None:
        query = select(FACTS).where(self._own(FACTS), FACTS.c.id == fact_id)
        row = self._connection.execute(query).first()
        return fact_from_row(row) if row else None

    def list_entries(
        self, criteria: TeamFilter, limit: int, after: Position | None = None
    ) -> list[TeamEntry]:
        query = select(FACTS).where(self._own(FACTS), *self._build_conditions(criteria))
        if after is not None:
            query = query.where(tuple_(FACTS.c.recorded_at, FACTS.c.id) < (after.at, after.id))
        order = (FACTS.c.recorded_at.desc(), FACTS.c.id.desc())
        rows = self._connection.execute(query.order_by(*order))
        # The engines fold case differently, so words are compared here.
        words = (criteria.words or "").casefold()
        fitting = islice((row for row in rows if words in row.content.casefold()), limit)
        return [
            TeamEntry(fact, self.count_contributors(fact.id), tuple(self.list_conflicts(fact.id)))
            for fact in [fact_from_row(row) for row in fitting]
        ]

    def _build_conditions(self, criteria: TeamFilter) -> list[ColumnElement[bool]]:
        wanted = {"status": criteria.statuses, "kind": criteria.kinds, "origin": criteria.origins}
        conditions: list[ColumnElement[bool]] = [
            FACTS.c[name].in_(values) for name, values in wanted.items() if values
        ]
        if criteria.single:
            said = select(func.count()).where(
                self._own(CONTRIBUTIONS), CONTRIBUTIONS.c.fact_id == FACTS.c.id
            )
            conditions.append(said.scalar_subquery() <= 1)
        if criteria.contested:
            conditions.append(self._has_conflict())
        return conditions

    def _has_conflict(self) -> ColumnElement[bool]:
        rival = FACTS.alias()
        pair = or_(
            and_(CONFLICTS.c.first_id == FACTS.c.id, CONFLICTS.c.second_id == rival.c.id),
            and_(CONFLICTS.c.second_id == FACTS.c.id, CONFLICTS.c.first_id == rival.c.id),
        )
        own = self._own(CONFLICTS), rival.c.tenant_id == self._key
        return exists().where(*own, pair, rival.c.status != TeamStatus.REJECTED)

    def add(self, fact: TeamFact, embedding: Embedding) -> None:
        row = field_values(fact) | {"fingerprint": fingerprint(fact.content)}
        self._insert_rows(FACTS, [row])
        self._embed(fact.id, embedding)
        self.bump_version()

    def change(self, fact_id: str, values: Mapping[str, object]) -> None:
        self._update(FACTS, FACTS.c.id == fact_id, **values)
        if RECALL_FIELDS & values.keys():
            self.bump_version()

    def keep_state(self, state: TeamState) -> None:
        number = self._count(STATES, STATES.c.fact_id == state.fact_id)
        self._insert_rows(STATES, [{**field_values(state), "number": number}])

    def reword(self, fact_id: str, content: str, embedding: Embedding) -> None:
        words = fingerprint(content)
        self._update(FACTS, FACTS.c.id == fact_id, content=content, fingerprint=words)
        self._delete(VECTORS, VECTORS.c.fact_id == fact_id)
        self._embed(fact_id, embedding)
        self.bump_version()

    def remove(self, fact_ids: Sequence[str]) -> None:
        ids = list(fact_ids)
        self._delete(CONFLICTS, _has_side(ids))
        self._delete(CONTRIBUTIONS, CONTRIBUTIONS.c.fact_id.in_(ids))
        self._delete(VECTORS, VECTORS.c.fact_id.in_(ids))
        self._delete(STATES, STATES.c.fact_id.in_(ids))
        self._delete(FACTS, FACTS.c.id.in_(ids))
        self.bump_version()

    def add_contribution(self, fact_id: str, contributor: str, at: datetime) -> bool:
        key = {"fact_id": fact_id, "contributor": contributor}
        return self._insert_new(CONTRIBUTIONS, key, contributed_at=at)

    def count_contributors(self, fact_id: str) -> int:
        return self._count(CONTRIBUTIONS, CONTRIBUTIONS.c.fact_id == fact_id)

    def list_contributed_facts(self, contributor: str) -> list[str]:
        query = select(CONTRIBUTIONS.c.fact_id).where(
            self._own(CONTRIBUTIONS), CONTRIBUTIONS.c.contributor == contributor
        )
        return list(self._connection.execute(query.order_by(CONTRIBUTIONS.c.fact_id)).scalars())

    def drop_contribution(self, fact_id: str, contributor: str) -> int:
        table = CONTRIBUTIONS.c
        self._delete(CONTRIBUTIONS, table.fact_id == fact_id, table.contributor == contributor)
        return self.count_contributors(fact_id)

    def drop_contributions(self, contributor: str) -> list[str]:
        said = self.list_contributed_facts(contributor)
        self._delete(CONTRIBUTIONS, CONTRIBUTIONS.c.contributor == contributor)
        return [one for one in said if not self.count_contributors(one)]

    def add_conflict(self, one: str, other: str, at: datetime) -> bool:
        first, second = sorted((one, other))
        key = {"first_id": first, "second_id": second}
        return self._insert_new(CONFLICTS, key, noticed_at=at)

    def _insert_new(self, table: Table, key: Mapping[str, str], **values: object) -> bool:
        """Insert a row unless there is one with this key. True if it was inserted."""
        if self._count(table, *(table.c[name] == value for name, value in key.items())):
            return False
        self._insert_rows(table, [{**key, **values}])
        return True

    def list_conflicts(self, fact_id: str) -> list[str]:
        query = select(CONFLICTS.c.first_id, CONFLICTS.c.second_id)
        query = query.where(self._own(CONFLICTS), _has_side([fact_id]))
        found = {one for row in self._connection.execute(query) for one in row} - {fact_id}
        standing = select(FACTS.c.id).where(
            self._own(FACTS), FACTS.c.id.in_(found), FACTS.c.status != TeamStatus.REJECTED
        )
        return sorted(self._connection.execute(standing).scalars())

    def drop_conflicts(self, fact_id: str) -> None:
        self._delete(CONFLICTS, _has_side([fact_id]))

    def count(self) -> dict[tuple[TeamStatus, TeamKind, TeamOrigin], int]:
        sorts = (FACTS.c.status, FACTS.c.kind, FACTS.c.origin)
        query = select(*sorts, func.count()).where(self._own(FACTS)).group_by(*sorts)
        return {
            (TeamStatus(status), TeamKind(kind), TeamOrigin(origin)): count
            for status, kind, origin, count in self._connection.execute(query)
        }

    def count_contested(self) -> int:
        return self._count(FACTS, self._has_conflict())

    def count_contributions(self) -> int:
        return self._count(CONTRIBUTIONS)

    def count_contributions_by_week(self, now: datetime, weeks: int) -> list[int]:
        at = CONTRIBUTIONS.c.contributed_at
        age = periods_since(at, bindparam("now", now, Moment()), 7).label("age")
        query = select(age, func.count().label("number"))
        query = query.where(self._own(CONTRIBUTIONS), at > now - timedelta(weeks=weeks))
        counts = {row.age: row.number for row in self._connection.execute(query.group_by(age))}
        return [counts.get(week, 0) for week in reversed(range(weeks))]

    def count_activity(self, day: str, origin: TeamOrigin, outcome: str) -> None:
        key = {"day": day, "origin": origin, "outcome": outcome}
        which = and_(*(ACTIVITY.c[name] == value for name, value in key.items()))
        if not self._update(ACTIVITY, which, number=ACTIVITY.c.number + 1):
            self._insert_rows(ACTIVITY, [{**key, "number": 1}])

    def sum_activity(self, first_day: str) -> dict[tuple[TeamOrigin, str], int]:
        sorts = (ACTIVITY.c.origin, ACTIVITY.c.outcome)
        query = select(*sorts, func.sum(ACTIVITY.c.number)).group_by(*sorts)
        rows = self._connection.execute(
            query.where(self._own(ACTIVITY), ACTIVITY.c.day >= first_day)
        )
        return {(TeamOrigin(origin), outcome): int(number) for origin, outcome, number in rows}

    def list_most_recalled(self, limit: int) -> list[TeamFact]:
        query = select(FACTS).where(self._own(FACTS), FACTS.c.recall_count > 0)
        query = query.order_by(FACTS.c.recall_count.desc(), FACTS.c.id).limit(limit)
        return [fact_from_row(row) for row in self._connection.execute(query)]

    def count_recalls(self, counts: Mapping[str, int]) -> None:
        for fact_id, count in counts.items():
            self._update(FACTS, FACTS.c.id == fact_id, recall_count=FACTS.c.recall_count + count)

    def _embed(self, fact_id: str, embedding: Embedding) -> None:
        row = {"fact_id": fact_id, "model": embedding.model, "vector": embedding.vector}
        self._insert_rows(VECTORS, [row])

    def bump_version(self) -> None:
        """Make every process reload its team index."""
        table = tables.teams
        if not self._update(table, version=table.c.version + 1):
            self._insert_rows(table, [{"version": 1}])


def _has_side(ids: Sequence[str]) -> ColumnElement[bool]:
    """The condition that a conflict has one of these facts on either side."""
    return or_(CONFLICTS.c.first_id.in_(ids), CONFLICTS.c.second_id.in_(ids))


def fact_from_row(row: Row[Any]) -> TeamFact:
    return value_from_row(
        TeamFact,
        row,
        kind=TeamKind(row.kind),
        status=TeamStatus(row.status),
        origin=TeamOrigin(row.origin),
    )
