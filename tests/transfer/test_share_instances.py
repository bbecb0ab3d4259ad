"""I1: memories that belonged to each user of an instance are copied into the shared one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from remembrancer.engine import Remembrancer

pytestmark = pytest.mark.feature("I1")


def test_what_each_user_had_is_shared_once(open_fake: Callable[..., Remembrancer]) -> None:
    apart = open_fake("instances", profile_overrides={"scopes": {"owner": "person"}})
    for user, town in (("ada", "Leeds"), ("ben", "York")):
        me = apart.for_user(user, agent="support-bot")
        me.remember(f"Office {town} is old.", subject="office", predicate="town")
        me.update("is old", f"The office of {user} is in {town}.")
        me.append([{"role": "user", "content": f"I am in {town}."}], "monday", title=town)
        apart.for_user(user, agent="sales-bot").remember(f"{town} wants looms.")
    together = open_fake("instances")
    assert together.for_user("ada", agent="support-bot").list().items == ()

    assert [together.share_instances(user) for user in ("ada", "ben", "ben")] == [3, 3, 0]

    bot = together.for_user("eve", agent="support-bot")
    said = {
        f"The office of {user} is in {town}." for user, town in (("ada", "Leeds"), ("ben", "York"))
    }
    assert {one.content for one in bot.list().items} == said
    assert sorted(one.title or "" for one in bot.sessions().items) == ["Leeds", "York"]
    assert bot.recall("office York", mode="semantic")
    sales = together.for_user("eve", agent="sales-bot").list().items
    assert {one.content for one in sales} == {"Leeds wants looms.", "York wants looms."}
    together.erase("ben")
    assert [one.content for one in bot.list().items] == ["The office of ada is in Leeds."]
