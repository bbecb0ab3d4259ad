"""`rem key-create`, `rem key-list`, `rem key-revoke`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from remembrancer.engine import Remembrancer

Run = Callable[..., Any]


def test_a_key_is_shown_once_and_lets_in_whom_it_was_made_for(
    rem: Run, ask: Run, shelf: Remembrancer
) -> None:
    secret = rem("key-create", "--user", "ada", "--agent", "bot", "--label", "x").stdout.split()[0]

    principal = shelf.principal_of(secret)

    assert principal is not None
    assert (principal.owner.user, principal.agent) == ("ada", "bot")
    assert secret not in rem("key-list").stdout
    (listed,) = ask("key-list", "--user", "ada")
    assert (listed["label"], listed["capabilities"]) == ("x", [])
    assert "ada of home, only as bot" in rem("key-list").stdout


def test_a_revoked_key_opens_nothing(rem: Run, ask: Run, shelf: Remembrancer) -> None:
    made = ask("key-create", "--capability", "users:view", "--expires", "2030-01-01")
    assert made["key"]["capabilities"] == ["users:view"]

    rem("key-revoke", made["key"]["id"])

    assert shelf.principal_of(made["secret"]) is None
    assert "revoked" in rem("key-list").stdout
    rem("key-revoke", "key_nothing", code=3)
    rem("key-create", "--capability", "everything", code=2)
