"""Who said what in a team is out of reach for recall, by the database and not only by the code."""

from __future__ import annotations

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DatabaseError
from sqlalchemy.pool import NullPool

from remembrancer.engine import Remembrancer
from remembrancer.errors import StoreReadOnly
from remembrancer.store import pg_roles
from remembrancer.types import Tenant
from tests.support.opening import Open

PORTS = "The proxy pool uses ports 9000 to 9999."
on_postgres = pytest.mark.parametrize("place", ["postgres"], indirect=True)
"""On SQLite a team is a file of its own, which nothing else opens."""

APART = ("team_contributions", "team_keys", "team_conflicts", "team_activity")


@pytest.fixture
def store(open_memory: Open) -> Remembrancer:
    opened = open_memory("assistant")
    for name in ("ada", "bob"):
        opened.for_user(name).propose(PORTS)
    return opened


@pytest.mark.parametrize("table", APART)
def test_recall_cannot_read_who_said_it(store: Remembrancer, table: str, tenant: str) -> None:
    with pytest.raises(DatabaseError), store._store.open_team_reader(Tenant(tenant)) as reader:
        reader._connection.execute(text(f"SELECT * FROM {table}"))  # type: ignore[attr-defined]

    assert store.for_user("ada").team("proxy ports")


@pytest.mark.parametrize(
    "trick",
    [
        "SELECT f.content FROM team_facts f JOIN team_contributions c ON c.fact_id = f.id",
        "SELECT count(*) FROM (SELECT 1 FROM team_contributions) AS hidden",
        "SELECT content FROM team_facts WHERE id IN (SELECT fact_id FROM team_contributions)",
    ],
)
def test_not_even_by_a_detour(store: Remembrancer, trick: str, tenant: str) -> None:
    with pytest.raises(DatabaseError), store._store.open_team_reader(Tenant(tenant)) as reader:
        reader._connection.execute(text(trick)).all()  # type: ignore[attr-defined]


@on_postgres
def test_recall_cannot_change_anything(store: Remembrancer, tenant: str) -> None:
    with pytest.raises(StoreReadOnly), store._store.open_team_reader(Tenant(tenant)) as reader:
        reader._connection.execute(text("DELETE FROM team_facts"))  # type: ignore[attr-defined]


@on_postgres
@pytest.mark.parametrize("table", [*APART, "team_facts", "team_states", "team_embeddings", "teams"])
def test_the_application_as_such_sees_nothing_of_any_team(
    store: Remembrancer, place: str, table: str
) -> None:
    engine = create_engine(
        place.replace("postgresql://", "postgresql+psycopg://"), poolclass=NullPool
    )
    with engine.connect() as connection:
        connection.exec_driver_sql(f"SET ROLE {pg_roles.APP_ROLE}")
        with pytest.raises(DatabaseError, match="permission denied"):
            connection.execute(text(f"SELECT * FROM {table}"))
    engine.dispose()


@on_postgres
@pytest.mark.parametrize("role", [pg_roles.TEAM_RECALL_ROLE, pg_roles.TEAM_WRITER_ROLE])
def test_without_naming_a_tenant_there_is_nothing(
    store: Remembrancer, place: str, role: str
) -> None:
    engine = create_engine(
        place.replace("postgresql://", "postgresql+psycopg://"), poolclass=NullPool
    )
    with engine.connect() as connection:
        connection.exec_driver_sql(f"SET ROLE {role}")
        for table in ("team_facts", "team_states"):
            assert connection.execute(text(f"SELECT * FROM {table}")).all() == []
    engine.dispose()
