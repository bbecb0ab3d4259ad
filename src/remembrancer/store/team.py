"""A team's memory in SQL, the same on both engines; every statement names the tenant."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Table,
    and_,
    bindparam,
    delete,
    exists,
    func,
    or_,
    select,
    tuple_,
    update,
)

from remembrancer.search.terms import fingerprint
from remembrancer.store import tables
from remembrancer.store.columns import Moment, periods_since
from remembrancer.store.contract import Embedding, Position
from remembrancer.store.team_contract import EmbeddedTeamFact, TeamFilter
from remembrancer.types import TeamEntry, TeamFact, TeamKind, TeamOrigin, TeamStatus

PRIVATE_TABLES = frozenset({"team_keys", "team_contributions", "team_conflicts"})
"""The tables that recall cannot read, on either engine."""

FACTS, CONTRIBUTIONS, CONFLICTS = (
    tables.team_facts,
    tables.team_contributions,
    tables.team_conflicts,
)
RECALL_FIELDS = frozenset({"status", "confidence", "importance", "confirmed_at"})
"""The fields that recall uses; a change of one makes every process reload its index."""


class SqlTeamReader:
    """Reads over one connection, bound to one tenant."""

    def __init__(self, connection: Connection, tenant_id: str) -> None:
        self._connection = connection
        self._tenant_id = tenant_id

    def read_version(self) -> int:
        query = select(tables.teams.c.version).where(self._own(tables.teams))
        return int(self._connection.execute(query).scalar() or 0)

    def load_embedded_facts(
        self, model: str, statuses: Sequence[TeamStatus]
    ) -> list[EmbeddedTeamFact]:
        vectors = tables.team_embeddings
        joined = FACTS.join(
            vectors,
            and_(
                FACTS.c.tenant_id == vectors.c.tenant_id,
                FACTS.c.id == vectors.c.fact_id,
                vectors.c.model == model,
            ),
        )
        query = (
            select(FACTS, vectors.c.vector)
            .select_from(joined)
            .where(self._own(FACTS), self._own(vectors), FACTS.c.status.in_(statuses))
            .order_by(FACTS.c.id)
        )
        return [
            EmbeddedTeamFact(fact_from_row(row), row.vector)
            for row in self._connection.execute(query)
        ]

    def _own(self, table: Table) -> ColumnElement[bool]:
        return table.c.tenant_id == self._tenant_id


class SqlTeamWriter(SqlTeamReader):
    """Reads and writes over one connection, which is the tenant's only writer."""

    def load_contributor_key(self) -> bytes:
        table = tables.team_keys
        found = self._connection.execute(select(table.c.key).where(self._own(table))).scalar()
        if found is None:
            found = secrets.token_bytes(32)
            row = {"tenant_id": self._tenant_id, "key": found}
            self._connection.execute(table.insert(), row)
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
            TeamEntry(
                fact_from_row(row),
                self.count_contributors(row.id),
                tuple(self.list_conflicts(row.id)),
            )
            for row in list(fitting)
        ]

    def _build_conditions(self, criteria: TeamFilter) -> list[ColumnElement[bool]]:
        conditions: list[ColumnElement[bool]] = []
        for name, values in (
            ("status", criteria.statuses),
            ("kind", criteria.kinds),
            ("origin", criteria.origins),
        ):
            if values:
                conditions.append(FACTS.c[name].in_(values))
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
        own = self._own(CONFLICTS), rival.c.tenant_id == self._tenant_id
        return exists().where(*own, pair, rival.c.status != TeamStatus.REJECTED)

    def add(self, fact: TeamFact, embedding: Embedding) -> None:
        values = {one.name: getattr(fact, one.name) for one in fields(fact)}
        row = {"tenant_id": self._tenant_id, "fingerprint": fingerprint(fact.content), **values}
        self._connection.execute(FACTS.insert(), row)
        self._embed(fact.id, embedding)
        self.bump_version()

    def change(self, fact_id: str, values: Mapping[str, object]) -> None:
        statement = update(FACTS).where(self._own(FACTS), FACTS.c.id == fact_id).values(**values)
        self._connection.execute(statement)
        if RECALL_FIELDS & values.keys():
            self.bump_version()

    def reword(self, fact_id: str, content: str, embedding: Embedding) -> None:
        values = {"content": content, "fingerprint": fingerprint(content)}
        self._connection.execute(
            update(FACTS).where(self._own(FACTS), FACTS.c.id == fact_id).values(values)
        )
        vectors = tables.team_embeddings
        self._connection.execute(
            delete(vectors).where(self._own(vectors), vectors.c.fact_id == fact_id)
        )
        self._embed(fact_id, embedding)
        self.bump_version()

    def remove(self, fact_ids: Sequence[str]) -> None:
        vectors = tables.team_embeddings
        ids = list(fact_ids)
        pair = or_(CONFLICTS.c.first_id.in_(ids), CONFLICTS.c.second_id.in_(ids))
        for table, which in (
            (CONFLICTS, pair),
            (CONTRIBUTIONS, CONTRIBUTIONS.c.fact_id.in_(ids)),
            (vectors, vectors.c.fact_id.in_(ids)),
            (FACTS, FACTS.c.id.in_(ids)),
        ):
            self._connection.execute(delete(table).where(self._own(table), which))
        self.bump_version()

    def add_contribution(self, fact_id: str, contributor: str, at: datetime) -> bool:
        known = select(CONTRIBUTIONS.c.contributor).where(
            self._own(CONTRIBUTIONS),
            CONTRIBUTIONS.c.fact_id == fact_id,
            CONTRIBUTIONS.c.contributor == contributor,
        )
        if self._connection.execute(known).first():
            return False
        row = {
            "tenant_id": self._tenant_id,
            "fact_id": fact_id,
            "contributor": contributor,
            "contributed_at": at,
        }
        self._connection.execute(CONTRIBUTIONS.insert(), row)
        return True

    def count_contributors(self, fact_id: str) -> int:
        query = select(func.count()).where(
            self._own(CONTRIBUTIONS), CONTRIBUTIONS.c.fact_id == fact_id
        )
        return int(self._connection.execute(query).scalar_one())

    def list_contributed_facts(self, contributor: str) -> list[str]:
        query = select(CONTRIBUTIONS.c.fact_id).where(
            self._own(CONTRIBUTIONS), CONTRIBUTIONS.c.contributor == contributor
        )
        return list(self._connection.execute(query.order_by(CONTRIBUTIONS.c.fact_id)).scalars())

    def drop_contributions(self, contributor: str) -> list[str]:
        said = self.list_contributed_facts(contributor)
        which = CONTRIBUTIONS.c.contributor == contributor
        self._connection.execute(delete(CONTRIBUTIONS).where(self._own(CONTRIBUTIONS), which))
        return [one for one in said if not self.count_contributors(one)]

    def add_conflict(self, one: str, other: str, at: datetime) -> bool:
        first, second = sorted((one, other))
        known = select(CONFLICTS.c.first_id).where(
            self._own(CONFLICTS), CONFLICTS.c.first_id == first, CONFLICTS.c.second_id == second
        )
        if self._connection.execute(known).first():
            return False
        row = {
            "tenant_id": self._tenant_id,
            "first_id": first,
            "second_id": second,
            "noticed_at": at,
        }
        self._connection.execute(CONFLICTS.insert(), row)
        return True

    def list_conflicts(self, fact_id: str) -> list[str]:
        pair = or_(CONFLICTS.c.first_id == fact_id, CONFLICTS.c.second_id == fact_id)
        query = select(CONFLICTS.c.first_id, CONFLICTS.c.second_id).where(
            self._own(CONFLICTS), pair
        )
        found = {one for row in self._connection.execute(query) for one in row} - {fact_id}
        standing = select(FACTS.c.id).where(
            self._own(FACTS), FACTS.c.id.in_(found), FACTS.c.status != TeamStatus.REJECTED
        )
        return sorted(self._connection.execute(standing).scalars())

    def drop_conflicts(self, fact_id: str) -> None:
        pair = or_(CONFLICTS.c.first_id == fact_id, CONFLICTS.c.second_id == fact_id)
        self._connection.execute(delete(CONFLICTS).where(self._own(CONFLICTS), pair))

    def count(self) -> dict[tuple[TeamStatus, TeamKind, TeamOrigin], int]:
        sorts = (FACTS.c.status, FACTS.c.kind, FACTS.c.origin)
        query = select(*sorts, func.count()).where(self._own(FACTS)).group_by(*sorts)
        return {
            (TeamStatus(status), TeamKind(kind), TeamOrigin(origin)): count
            for status, kind, origin, count in self._connection.execute(query)
        }

    def count_contested(self) -> int:
        query = select(func.count()).where(self._own(FACTS), self._has_conflict())
        return int(self._connection.execute(query).scalar_one())

    def count_contributions(self) -> int:
        query = select(func.count()).where(self._own(CONTRIBUTIONS))
        return int(self._connection.execute(query).scalar_one())

    def count_contributions_by_week(self, now: datetime, weeks: int) -> list[int]:
        age = periods_since(
            CONTRIBUTIONS.c.contributed_at, bindparam("now", now, Moment()), 7
        ).label("age")
        recent = CONTRIBUTIONS.c.contributed_at > now - timedelta(weeks=weeks)
        query = (
            select(age, func.count().label("number"))
            .where(self._own(CONTRIBUTIONS), recent)
            .group_by(age)
        )
        counts = {row.age: row.number for row in self._connection.execute(query.group_by(age))}
        return [counts.get(week, 0) for week in reversed(range(weeks))]

    def list_most_recalled(self, limit: int) -> list[TeamFact]:
        query = select(FACTS).where(self._own(FACTS), FACTS.c.recall_count > 0)
        query = query.order_by(FACTS.c.recall_count.desc(), FACTS.c.id).limit(limit)
        return [fact_from_row(row) for row in self._connection.execute(query)]

    def count_recalls(self, counts: Mapping[str, int]) -> None:
        for fact_id, count in counts.items():
            self._connection.execute(
                update(FACTS)
                .where(self._own(FACTS), FACTS.c.id == fact_id)
                .values(recall_count=FACTS.c.recall_count + count)
            )

    def _embed(self, fact_id: str, embedding: Embedding) -> None:
        row = {
            "tenant_id": self._tenant_id,
            "fact_id": fact_id,
            "model": embedding.model,
            "vector": embedding.vector,
        }
        self._connection.execute(tables.team_embeddings.insert(), row)

    def bump_version(self) -> None:
        """Make every process reload its team index."""
        table = tables.teams
        grown = update(table).where(self._own(table)).values(version=table.c.version + 1)
        if not self._connection.execute(grown).rowcount:
            self._connection.execute(table.insert(), {"tenant_id": self._tenant_id, "version": 1})


def fact_from_row(row: Row[Any]) -> TeamFact:
    values = {one.name: getattr(row, one.name) for one in fields(TeamFact)}
    return TeamFact(
        **{
            **values,
            "kind": TeamKind(row.kind),
            "status": TeamStatus(row.status),
            "origin": TeamOrigin(row.origin),
        }
    )
