"""API keys: shown once, stored as a digest; all invalid keys get the same response."""

from __future__ import annotations

from datetime import timedelta

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidInput, NotFound
from remembrancer.guard import redact
from remembrancer.types import Owner


def test_a_key_lets_in_whom_it_was_made_for(store: Remembrancer, tenant: str) -> None:
    made = store.create_key("bob", agent="helper", capabilities=["users:view"], label="laptop")

    principal = store.principal_of(made.secret, surface="web")

    assert principal is not None
    assert (principal.owner, principal.agent) == (Owner(tenant, "bob"), "helper")
    assert (principal.surface, principal.capabilities) == ("web", frozenset({"users:view"}))


def test_what_opens_nothing_looks_alike(store: Remembrancer, clock: ManualClock) -> None:
    until = clock.now() + timedelta(hours=1)
    expired = store.create_key(expires_at=until)
    revoked = store.create_key()
    assert store.principal_of(expired.secret) is not None
    store.revoke_key(revoked.key.id)
    clock.advance(timedelta(hours=1))

    for secret in (expired.secret, revoked.secret, "rem_" + "0" * 52, "", "\udcff", "x" * 100_000):
        assert store.principal_of(secret) is None


def test_the_secret_is_stored_nowhere(store: Remembrancer) -> None:
    made = store.create_key(label="laptop")

    assert made.secret.removeprefix("rem_") not in repr(store.list_keys())
    with store._store.dump_system() as rows:
        assert made.secret not in repr(list(rows))


def test_the_last_use_is_noted_at_most_once_a_minute(
    store: Remembrancer, clock: ManualClock
) -> None:
    made, start = store.create_key(), clock.now()
    owner = made.key.owner

    store.principal_of(made.secret)
    clock.advance(timedelta(seconds=59))
    store.principal_of(made.secret)
    assert [one.used_at for one in store.list_keys(owner)] == [start]
    clock.advance(timedelta(seconds=1))
    store.principal_of(made.secret)

    assert [one.used_at for one in store.list_keys(owner)] == [start + timedelta(minutes=1)]


def test_nobody_revokes_the_key_of_another(store: Remembrancer, tenant: str) -> None:
    made = store.create_key("ada")

    with pytest.raises(NotFound):
        store.revoke_key(made.key.id, Owner(tenant, "bob"))
    assert store.principal_of(made.secret) is not None


def test_a_key_is_refused_for_what_does_not_exist(store: Remembrancer, clock: ManualClock) -> None:
    for mistake in (
        {"capabilities": ["everything"]},
        {"expires_at": clock.now()},
        {"agent": ""},
        {"label": "x" * 201},
    ):
        with pytest.raises(InvalidInput):
            store.create_key(**mistake)  # type: ignore[arg-type]


def test_a_key_that_is_said_is_redacted(store: Remembrancer) -> None:
    secret = store.create_key().secret

    assert redact(f"My key is {secret}, keep it.").text == (
        "My key is [secret: remembrancer-key], keep it."
    )
    written = store.for_user("ada").remember(f"The server lets me in with {secret}")
    assert secret not in written.memory.content


def test_keys_that_open_nothing_are_destroyed_after_some_time(
    store: Remembrancer, clock: ManualClock
) -> None:
    lasting, revoked = store.create_key(), store.create_key()
    store.create_key(expires_at=clock.now() + timedelta(hours=1))
    store.revoke_key(revoked.key.id)
    clock.advance(timedelta(days=29))
    store.run_job("tidy")
    assert len(store.list_keys(lasting.key.owner)) == 3
    clock.advance(timedelta(days=2))
    store.run_job("tidy")
    assert store.list_keys(lasting.key.owner) == [lasting.key]
