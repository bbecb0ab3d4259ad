"""P17: each user sees all times in a zone of their own, on every surface."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from typer.testing import CliRunner

from remembrancer.cli.app import app
from remembrancer.clock import ManualClock
from remembrancer.errors import InvalidInput, NotAllowed
from tests.assistant.talk import chat_of, say
from tests.support.http_server import Served
from tests.support.visitor import Visitor

pytestmark = pytest.mark.feature("P17")

LATE = timedelta(hours=8, minutes=30)
"""From noon: 20:30 on 2 March in UTC, 05:30 on the next day in Tokyo, 15:30 in New York."""


@pytest.fixture
def served(serve: Callable[..., Served], clock: ManualClock) -> Served:
    served = serve("advisor", time_zone="Europe/Berlin")
    clock.advance(LATE)
    for user in ("ada", "bob", "eve"):
        served.engine.for_user(user).remember("Only funds.", category="finance_context")
    return served


def seen(served: Served, user: str) -> str:
    kept = served.engine.for_user(user).list().items[0]
    return Visitor(served, user).get(f"/memory/{kept.id}").text


def test_P17_two_users_of_a_server_see_their_own_zones(served: Served) -> None:
    saved = Visitor(served, "ada").send("/settings/time-zone", time_zone="Asia/Tokyo")
    bob = served.of("bob")
    changed = bob.patch("/api/me", json={"time_zone": "America/New_York"})

    assert saved.status_code == 303
    assert changed.json()["time_zone"] == "America/New_York"
    assert "3 March 2026, 05:30" in seen(served, "ada")
    assert "2 March 2026, 15:30" in seen(served, "bob")
    assert "2 March 2026, 21:30" in seen(served, "eve")
    assert "Asia/Tokyo" in Visitor(served, "ada").get("/settings").text
    assert bob.patch("/api/me", json={"time_zone": None}).json()["time_zone"] == "Europe/Berlin"
    assert "2 March 2026, 21:30" in seen(served, "bob")


def test_P17_without_a_zone_of_their_own_the_browsers_counts(served: Served) -> None:
    ada = Visitor(served, "ada")
    kept = served.engine.for_user("ada").list().items[0]
    for zone, time in (("Asia/Tokyo", "3 March 2026, 05:30"), ("no/zone", "2 March 2026, 21:30")):
        ada.client.cookies.set("rem_zone", zone)
        assert time in ada.get(f"/memory/{kept.id}").text


def test_P17_chat_prompt_and_command_line_use_it(served: Served) -> None:
    store = served.engine
    me = store.for_user("ada")
    runner = CliRunner()

    done = runner.invoke(app, ["me", "--time-zone", "Asia/Tokyo"], obj=store)

    assert done.exit_code == 0, done.output
    assert "Asia/Tokyo" in done.output
    listed = say(chat_of(store), "What do you remember about me?").text
    assert "3 Mar 2026" in listed
    assert "3 Mar 2026" in runner.invoke(app, ["recall", "funds"], obj=store).output
    me.remember("Moved to the new flat yesterday.", category="profile")
    assert "said on 3 Mar 2026" in me.context().text
    runner.invoke(app, ["me", "--time-zone", "default"], obj=store)
    assert "said on 2 Mar 2026" in me.context().text


def test_P17_a_day_is_the_same_everywhere(served: Served) -> None:
    me = served.engine.for_user("ada")
    me.set_time_zone("America/New_York")
    day = datetime(2026, 2, 1, tzinfo=UTC)
    me.remember("Has a mortgage.", valid_from=day, valid_until=datetime(2026, 12, 2, tzinfo=UTC))

    assert "valid 1 February – 2 December" in Visitor(served, "ada").get("/journal/memory").text
    assert "until 1 Dec 2026" in me.context().text


def test_P17_an_unknown_zone_is_refused_and_an_agent_sets_none(served: Served) -> None:
    me = served.engine.for_user("ada")
    with pytest.raises(InvalidInput, match="Europe/Berlin"):
        me.set_time_zone("Europe/Berlim")
    with pytest.raises(NotAllowed):
        me.acting_as("health").set_time_zone("UTC")
    answer = served.of("ada").patch("/api/me", json={"time_zone": "../etc/passwd"})
    assert answer.status_code == 400
    assert "is not a time zone" in answer.json()["detail"]
    page = Visitor(served, "ada").send("/settings/time-zone", time_zone="Mars")
    assert page.status_code == 400
    assert "is not a time zone" in page.text
