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
from remembrancer.store.columns import Moment, times_since
from remembrancer.store.contract import Embedding, Position
from remembrancer.store.team_contract import Known, TeamFilter
from remembrancer.types import TeamEntry, TeamFact, TeamKind, TeamOrigin, TeamStatus

APART = frozenset({"team_keys", "team_contributions", "team_conflicts"})
"""The tables that recall cannot read, on either engine."""

FACTS, SAID, PAIRS = tables.team_facts, tables.team_contributions, tables.team_conflicts
RECALLED = frozenset({"status", "confidence", "importance", "confirmed_at"})
"""What recall goes by: when one of these changes, every process must look again."""


class SqlTeamReader:
    """Reads over one connection, bound to one tenant."""

    def __init__(self, connection: Connection, tenant_id: str) -> None:
        self._connection = connection
        self._tenant_id = tenant_id

    def version(self) -> int:
        query = select(tables.teams.c.version).where(self._own(tables.teams))
        return int(self._connection.execute(query).scalar() or 0)

    def known(self, model: str, statuses: Sequence[TeamStatus]) -> list[Known]:
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
        return [Known(fact_of(row), row.vector) for row in self._connection.execute(query)]

    def _own(self, table: Table) -> ColumnElement[bool]:
        return table.c.tenant_id == self._tenant_id


class SqlTeamDesk(SqlTeamReader):
    """Reads and writes over one connection that is the only one to write for its tenant."""

    def key(self) -> bytes:
        table = tables.team_keys
        found = self._connection.execute(select(table.c.key).where(self._own(table))).scalar()
        if found is None:
            found = secrets.token_bytes(32)
            row = {"tenant_id": self._tenant_id, "key": found}
            self._connection.execute(table.insert(), row)
        return bytes(found)

    def fact(self, fact_id: str) -> TeamFact | None:
        query = select(FACTS).where(self._own(FACTS), FACTS.c.id == fact_id)
        row = self._connection.execute(query).first()
        return fact_of(row) if row else None

    def entries(
        self, wanted: TeamFilter, limit: int, after: Position | None = None
    ) -> list[TeamEntry]:
        query = select(FACTS).where(self._own(FACTS), *self._passing(wanted))
        if after is not None:
            query = query.where(tuple_(FACTS.c.recorded_at, FACTS.c.id) < (after.at, after.id))
        order = (FACTS.c.recorded_at.desc(), FACTS.c.id.desc())
        rows = self._connection.execute(query.order_by(*order))
        # Engines fold letters in ways of their own, so words are compared here.
        words = (wanted.words or "").casefold()
        fitting = islice((row for row in rows if words in row.content.casefold()), limit)
        return [
            TeamEntry(fact_of(row), self.contributors(row.id), tuple(self.contested(row.id)))
            for row in list(fitting)
        ]

    def _passing(self, wanted: TeamFilter) -> list[ColumnElement[bool]]:
        conditions: list[ColumnElement[bool]] = []
        for name, values in (
            ("status", wanted.statuses),
            ("kind", wanted.kinds),
            ("origin", wanted.origins),
        ):
            if values:
                conditions.append(FACTS.c[name].in_(values))
        if wanted.single:
            said = select(func.count()).where(self._own(SAID), SAID.c.fact_id == FACTS.c.id)
            conditions.append(said.scalar_subquery() <= 1)
        if wanted.contested:
            conditions.append(self._has_rival())
        return conditions

    def _has_rival(self) -> ColumnElement[bool]:
        rival = FACTS.alias()
        pair = or_(
            and_(PAIRS.c.first_id == FACTS.c.id, PAIRS.c.second_id == rival.c.id),
            and_(PAIRS.c.second_id == FACTS.c.id, PAIRS.c.first_id == rival.c.id),
        )
        own = self._own(PAIRS), rival.c.tenant_id == self._tenant_id
        return exists().where(*own, pair, rival.c.status != TeamStatus.REJECTED)

    def add(self, fact: TeamFact, embedding: Embedding) -> None:
        values = {one.name: getattr(fact, one.name) for one in fields(fact)}
        row = {
            "tenant_id": self._tenant_id,
            "fingerprint": fingerprint(fact.content),
            **values,
        }
        self._connection.execute(FACTS.insert(), row)
        self._embed(fact.id, embedding)
        self.changed()

    def change(self, fact_id: str, values: Mapping[str, object]) -> None:
        statement = update(FACTS).where(self._own(FACTS), FACTS.c.id == fact_id).values(**values)
        self._connection.execute(statement)
        if RECALLED & values.keys():
            self.changed()

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
        self.changed()

    def remove(self, fact_ids: Sequence[str]) -> None:
        vectors = tables.team_embeddings
        ids = list(fact_ids)
        pair = or_(PAIRS.c.first_id.in_(ids), PAIRS.c.second_id.in_(ids))
        for table, which in (
            (PAIRS, pair),
            (SAID, SAID.c.fact_id.in_(ids)),
            (vectors, vectors.c.fact_id.in_(ids)),
            (FACTS, FACTS.c.id.in_(ids)),
        ):
            self._connection.execute(delete(table).where(self._own(table), which))
        self.changed()

    def contribute(self, fact_id: str, contributor: str, at: datetime) -> bool:
        known = select(SAID.c.contributor).where(
            self._own(SAID), SAID.c.fact_id == fact_id, SAID.c.contributor == contributor
        )
        if self._connection.execute(known).first():
            return False
        row = {
            "tenant_id": self._tenant_id,
            "fact_id": fact_id,
            "contributor": contributor,
            "contributed_at": at,
        }
        self._connection.execute(SAID.insert(), row)
        return True

    def contributors(self, fact_id: str) -> int:
        query = select(func.count()).where(self._own(SAID), SAID.c.fact_id == fact_id)
        return int(self._connection.execute(query).scalar_one())

    def contributed(self, contributor: str) -> list[str]:
        query = select(SAID.c.fact_id).where(self._own(SAID), SAID.c.contributor == contributor)
        return list(self._connection.execute(query.order_by(SAID.c.fact_id)).scalars())

    def withdraw(self, contributor: str) -> list[str]:
        said = self.contributed(contributor)
        which = SAID.c.contributor == contributor
        self._connection.execute(delete(SAID).where(self._own(SAID), which))
        return [one for one in said if not self.contributors(one)]

    def contest(self, one: str, other: str, at: datetime) -> bool:
        first, second = sorted((one, other))
        known = select(PAIRS.c.first_id).where(
            self._own(PAIRS), PAIRS.c.first_id == first, PAIRS.c.second_id == second
        )
        if self._connection.execute(known).first():
            return False
        row = {
            "tenant_id": self._tenant_id,
            "first_id": first,
            "second_id": second,
            "noticed_at": at,
        }
        self._connection.execute(PAIRS.insert(), row)
        return True

    def contested(self, fact_id: str) -> list[str]:
        pair = or_(PAIRS.c.first_id == fact_id, PAIRS.c.second_id == fact_id)
        query = select(PAIRS.c.first_id, PAIRS.c.second_id).where(self._own(PAIRS), pair)
        found = {one for row in self._connection.execute(query) for one in row} - {fact_id}
        standing = select(FACTS.c.id).where(
            self._own(FACTS), FACTS.c.id.in_(found), FACTS.c.status != TeamStatus.REJECTED
        )
        return sorted(self._connection.execute(standing).scalars())

    def uncontest(self, fact_id: str) -> None:
        pair = or_(PAIRS.c.first_id == fact_id, PAIRS.c.second_id == fact_id)
        self._connection.execute(delete(PAIRS).where(self._own(PAIRS), pair))

    def count(self) -> dict[tuple[TeamStatus, TeamKind, TeamOrigin], int]:
        sorts = (FACTS.c.status, FACTS.c.kind, FACTS.c.origin)
        query = select(*sorts, func.count()).where(self._own(FACTS)).group_by(*sorts)
        return {
            (TeamStatus(status), TeamKind(kind), TeamOrigin(origin)): count
            for status, kind, origin, count in self._connection.execute(query)
        }

    def count_contested(self) -> int:
        query = select(func.count()).where(self._own(FACTS), self._has_rival())
        return int(self._connection.execute(query).scalar_one())

    def count_said(self) -> int:
        query = select(func.count()).where(self._own(SAID))
        return int(self._connection.execute(query).scalar_one())

    def said_by_week(self, now: datetime, weeks: int) -> list[int]:
        age = times_since(SAID.c.contributed_at, bindparam("now", now, Moment()), 7).label("age")
        recent = SAID.c.contributed_at > now - timedelta(weeks=weeks)
        query = (
            select(age, func.count().label("number")).where(self._own(SAID), recent).group_by(age)
        )
        counts = {row.age: row.number for row in self._connection.execute(query.group_by(age))}
        return [counts.get(week, 0) for week in reversed(range(weeks))]

    def most_recalled(self, limit: int) -> list[TeamFact]:
        query = select(FACTS).where(self._own(FACTS), FACTS.c.recall_count > 0)
        query = query.order_by(FACTS.c.recall_count.desc(), FACTS.c.id).limit(limit)
        return [fact_of(row) for row in self._connection.execute(query)]

    def refer(self, counts: Mapping[str, int]) -> None:
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

    def changed(self) -> None:
        """Let every process know that what it recalls from is out of date."""
        table = tables.teams
        grown = update(table).where(self._own(table)).values(version=table.c.version + 1)
        if not self._connection.execute(grown).rowcount:
            self._connection.execute(table.insert(), {"tenant_id": self._tenant_id, "version": 1})


def fact_of(row: Row[Any]) -> TeamFact:
    """The team fact that a row holds."""
    values = {one.name: getattr(row, one.name) for one in fields(TeamFact)}
    return TeamFact(
        **{
            **values,
            "kind": TeamKind(row.kind),
            "status": TeamStatus(row.status),
            "origin": TeamOrigin(row.origin),
        }
    )
