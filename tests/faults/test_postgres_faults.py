"""What PostgreSQL refuses or leaves open is said plainly, and the next call works.

A change whose confirmation is lost is looked for; what is told is what is stored.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import psycopg
import pytest
from sqlalchemy import make_url
from typer.testing import CliRunner

from remembrancer.cli.app import app
from remembrancer.config import Settings
from remembrancer.engine import Remembrancer
from remembrancer.errors import (
    OutcomeUnknown,
    StoreBusy,
    StoreDamaged,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)
from remembrancer.store import postgres
from remembrancer.store.open import open_store
from remembrancer.testing import FakeEmbedder
from tests.support.http_server import served

STATES = {
    "53100": (StoreFull, 507, "disk"),
    "53200": (StoreBusy, 503, "memory"),
    "25006": (StoreReadOnly, 503, "read-only"),
    "57014": (StoreBusy, 503, "too long"),
    "40001": (StoreBusy, 503, "Another transaction"),
    "XX001": (StoreDamaged, 503, "damaged"),
    "XX002": (StoreDamaged, 503, "damaged"),
    "58030": (StoreUnavailable, 503, "files"),
}


@pytest.fixture
def url(postgres_server: Callable[..., str], request: pytest.FixtureRequest) -> str:
    """A database of this test's own, because it is spoiled."""
    request.getfixturevalue("next_database")  # creates the template
    return postgres_server(f"faulty_{abs(hash(request.node.name)) % 10**9}", "migrated")


def open_at(url: str, **store: object) -> Remembrancer:
    settings = Settings.model_validate({"user": "ada", "store": {"url": url, **store}})
    return Remembrancer(settings, open_store(settings, None), FakeEmbedder())


@pytest.fixture
def store(url: str) -> Iterator[Remembrancer]:
    with open_at(url) as opened:
        yield opened


@contextmanager
def failing(url: str, state: str) -> Iterator[None]:
    """Let every write of a fact fail with an SQLSTATE."""
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(
            "CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$BEGIN RAISE EXCEPTION 'the reason' USING ERRCODE = '{state}'; END$$"
        )
        admin.execute(
            "CREATE TRIGGER failing BEFORE INSERT ON facts FOR EACH ROW EXECUTE FUNCTION fail()"
        )
        try:
            yield
        finally:
            admin.execute("DROP TRIGGER failing ON facts")


def contents(store: Remembrancer) -> set[str]:
    return {one.content for one in store.for_user("ada").list().items if one.content}


def test_what_the_server_refuses_is_said_and_not_stored(store: Remembrancer, url: str) -> None:
    store.for_user("ada").remember("The kettle is red.")
    with served(store) as site:
        ada = site.of("ada")
        for state, (kind, status, words) in STATES.items():
            with failing(url, state):
                with pytest.raises(kind, match=words) as caught:
                    store.for_user("ada").remember("The lamp is yellow.")
                assert type(caught.value) is kind
                answer = ada.post("/api/remember", json={"content": "The lamp is yellow."})
                assert (answer.status_code, answer.json()["code"]) == (status, kind.code)
            assert contents(store) == {"The kettle is red."}
    store.for_user("ada").remember("The lamp is yellow.")


def test_on_the_command_line_the_reason_is_one_sentence(store: Remembrancer, url: str) -> None:
    with failing(url, "53100"):
        done = CliRunner().invoke(app, ["--store", url, "remember", "The lamp is yellow."])
    assert (done.exit_code, done.stdout) == (5, "")
    assert "disk" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_standby_can_be_read_and_is_not_ready_to_write(store: Remembrancer, url: str) -> None:
    store.for_user("ada").remember("The kettle is red.")
    name = make_url(url).database
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        with open_at(url) as standby, served(standby) as site:
            assert contents(standby) == {"The kettle is red."}
            with pytest.raises(StoreReadOnly, match="primary"):
                standby.for_user("ada").remember("The lamp is yellow.")
            assert site.client().get("/readyz").json()["code"] == "store_read_only"
            assert site.client().get("/healthz").status_code == 200
        admin.execute("SET default_transaction_read_only = off")
        admin.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")
    with open_at(url) as primary:
        primary.for_user("ada").remember("The lamp is yellow.")


def test_too_many_connections_pass(url: str) -> None:
    open_at(url).close()
    role = f"crowd_{make_url(url).database}"
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {role} LOGIN CONNECTION LIMIT 1 IN ROLE remembrancer_app")
        try:
            crowded = make_url(url).set(username=role).render_as_string(hide_password=False)
            with psycopg.connect(crowded), pytest.raises(StoreBusy, match="max_connections"):
                open_at(crowded)
        finally:
            admin.execute(f"DROP ROLE {role}")


def test_a_pool_that_is_used_up_says_so(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_at(url, pool_size=1) as store:
        store.for_user("ada").remember("The kettle is red.")
        monkeypatch.setattr(store._store._engine.pool, "_timeout", 0.1)  # type: ignore[attr-defined]
        with store._store.open_reader(store.owners()[0]):
            with pytest.raises(StoreBusy, match="pool_size"):
                store.for_user("ada").list()
        assert contents(store) == {"The kettle is red."}


class Relay:
    """Stands between us and the server; cuts the next commit off, or only its confirmation."""

    def __init__(self, url: str) -> None:
        self._server = psycopg.conninfo.conninfo_to_dict(url)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.cuts = "nothing"
        self.refuses_more = False
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        port = self._listener.getsockname()[1]
        user, database = self._server["user"], self._server["dbname"]
        return f"postgresql://{user}@127.0.0.1:{port}/{database}"

    def close(self) -> None:
        """Refuse further connections."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _connect(self) -> socket.socket:
        folder, port = str(self._server["host"]), int(str(self._server.get("port", 5432)))
        if not folder.startswith("/"):
            return socket.create_connection((folder, port))
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{folder}/.s.PGSQL.{port}")
        return server

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server, is_cut = self._connect(), threading.Event()
            ways = ((client, server, True), (server, client, False))
            for source, target, is_ours in ways:
                args = (source, target, is_ours, is_cut)
                threading.Thread(target=self._pass_on, args=args, daemon=True).start()

    def _pass_on(
        self, source: socket.socket, target: socket.socket, is_ours: bool, is_cut: threading.Event
    ) -> None:
        with source, target, contextlib.suppress(OSError):
            while piece := source.recv(65536):
                if is_ours and b"COMMIT" in piece and self.cuts != "nothing":
                    cuts, self.cuts = self.cuts, "nothing"
                    if self.refuses_more:
                        self.close()
                    if cuts == "the commit":
                        break
                    is_cut.set()
                if is_cut.is_set() and not is_ours:
                    break
                target.sendall(piece)
            for one in (source, target):
                one.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def relay(url: str) -> Iterator[Relay]:
    with closing(Relay(url)) as made:
        yield made


def test_a_change_whose_confirmation_is_lost_is_stored_and_told_so(relay: Relay) -> None:
    with open_at(relay.url) as store:
        store.for_user("ada").remember("The kettle is red.")
        relay.cuts = "its confirmation"
        store.for_user("ada").remember("The lamp is yellow.")
        assert relay.cuts == "nothing", "the connection was cut"
        assert contents(store) == {"The kettle is red.", "The lamp is yellow."}


def test_a_change_that_never_arrived_is_refused(relay: Relay) -> None:
    with open_at(relay.url) as store:
        for words in ("The kettle is red.", "The lamp is yellow."):
            relay.cuts = "the commit"
            with pytest.raises(StoreUnavailable, match="Nothing was stored") as caught:
                store.for_user("ada").remember(words)
            assert type(caught.value) is StoreUnavailable
            assert words not in contents(store)
            store.for_user("ada").remember(words)


def test_a_change_that_nobody_can_look_for_is_told_as_unknown(
    relay: Relay, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "OUTCOME_TIMEOUT_SECONDS", 0.2)
    with open_at(relay.url) as store:
        store.for_user("ada").remember("The kettle is red.")
        relay.cuts, relay.refuses_more = "its confirmation", True
        with pytest.raises(OutcomeUnknown, match="Look before you repeat it"):
            store.for_user("ada").remember("The lamp is yellow.")
    with open_at(url) as store:
        assert "The lamp is yellow." in contents(store)


def test_a_server_that_is_gone_is_said(relay: Relay) -> None:
    with open_at(relay.url) as store:
        store.for_user("ada").remember("The kettle is red.")
        relay.close()
        store._store._engine.dispose()  # type: ignore[attr-defined]
        with pytest.raises(StoreUnavailable, match="does not answer"):
            store.for_user("ada").list()
