"""X2 on the command line: --as-of and --true-at change what is printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from remembrancer.clock import ManualClock
from remembrancer.config import Settings
from remembrancer.embed.cache import CachedEmbedder
from remembrancer.engine import Remembrancer
from remembrancer.store.open import open_store

pytestmark = pytest.mark.feature("X2")

Run = Callable[..., Any]
HOUR = timedelta(hours=1)
HOME = ("--subject", "ada", "--predicate", "home")


@pytest.fixture
def shelf(clock: ManualClock, embedder: CachedEmbedder) -> Iterator[Remembrancer]:
    """A store in memory with a team's memory."""
    settings = Settings(profile="assistant")
    store = open_store(settings, clock, in_memory=True)
    with Remembrancer(settings, store, embedder, clock) as opened:
        yield opened


@pytest.fixture
def story(ask: Run, shelf: Remembrancer, clock: ManualClock) -> list[datetime]:
    """Oslo, then Lima, each told in a conversation; the moments before, between and after."""
    me, moments = shelf.for_user(), [clock.now()]
    for city, month in (("Oslo", "01"), ("Lima", "02")):
        clock.advance(HOUR)
        me.append([{"role": "user", "content": f"We move to {city}."}], "move")
        ask("remember", f"Ada lives in {city}", *HOME, "--valid-from", f"2026-{month}-01")
        moments.append(clock.now())
    clock.advance(HOUR)
    return moments


def at(moment: datetime) -> tuple[str, str]:
    return "--as-of", moment.isoformat()


def test_X2_get_shows_the_version_that_was_true(ask: Run, rem: Run, story: Any) -> None:
    lima = ask("get", "Lima")["id"]
    assert ask("get", lima, "--true-at", "2026-01-15")["content"] == "Ada lives in Oslo"
    assert ask("get", "Oslo", *at(story[1]))["status"] == "active"
    assert ask("get", "Oslo")["status"] == "superseded"
    assert "not known then" in rem("get", lima, *at(story[1]), code=3).stderr


def test_X2_context_prints_what_was_known(rem: Run, story: Any) -> None:
    prompt = ("context", "Where does Ada live?")
    assert rem(*prompt, *at(story[0])).stdout == ""
    assert "Oslo" in rem(*prompt, *at(story[1])).stdout
    assert "Lima" not in rem(*prompt, *at(story[1])).stdout
    assert "Lima" in rem(*prompt).stdout
    assert "Oslo" in rem(*prompt, "--true-at", "2026-01-15").stdout


def test_X2_history_stats_and_turns_are_those_of_the_moment(ask: Run, story: Any) -> None:
    lima = ask("get", "Lima")["id"]

    def look(*moment: str) -> tuple[int, Any, list[str]]:
        versions = ask("history", lima, *moment)["versions"]
        counts = ask("stats", *moment)["by_kind"]
        turns = ask("turns", "move", *moment)["turns"]
        return len(versions), counts.get("fact", {}), [one["content"] for one in turns]

    assert look(*at(story[0])) == (0, {}, [])
    assert look(*at(story[1])) == (1, {"active": 1}, ["We move to Oslo."])
    assert look() == (
        2,
        {"active": 1, "superseded": 1},
        ["We move to Oslo.", "We move to Lima."],
    )
    assert look("--true-at", "2026-01-15")[:2] == (1, {"active": 1})


def test_X2_list_and_recall_find_what_was_known(ask: Run, story: Any) -> None:
    for verb in (("list", "--kind", "fact"), ("recall", "where does Ada live?", "--kind", "fact")):
        then = ask(*verb, *at(story[1]))["items"]
        assert [one.get("memory", one)["content"] for one in then] == ["Ada lives in Oslo"]


def test_X2_the_team_is_asked_about_the_past(ask: Run, clock: ManualClock) -> None:
    first, later = "The proxy pool uses ports 9000.", "The proxy pool uses ports 7000."
    fact = ask("propose", first)["fact_id"]
    moments = [(clock.now(), [])]
    for verb, expected in (
        (("team-approve", fact), [first]),
        (("team-edit", fact, later), [later]),
        (("team-reject", fact), []),
    ):
        clock.advance(HOUR)
        ask(*verb)
        moments.append((clock.now(), expected))
    clock.advance(HOUR)
    for moment, expected in moments:
        found = ask("team", "which ports does the proxy use?", *at(moment))["items"]
        assert [one["content"] for one in found] == expected


def test_X2_a_date_alone_means_the_end_of_that_day(ask: Run, rem: Run, clock: ManualClock) -> None:
    rem("remember", "Ada lives in Oslo", *HOME)
    oslo = ask("get", "Oslo")["id"]
    clock.advance(timedelta(days=1))
    rem("remember", "Ada lives in Lima", *HOME)
    for option in ("--as-of", "--true-at"):
        for day, content in (("2026-03-02", "Oslo"), ("2026-03-03", "Lima")):
            found = ask("list", option, day)["items"]
            assert [one["content"] for one in found] == [f"Ada lives in {content}"]
    assert ask("list", "--as-of", "2026-03-02T11:00Z")["items"] == []
    assert ask("get", oslo, "--as-of", "2026-03-02")["status"] == "active"


def test_X2_lists_recall_and_the_team_tell_what_was_true(ask: Run, story: Any) -> None:
    for day, city in (("2026-01-15", "Oslo"), ("2026-02-15", "Lima")):
        then = ("--true-at", day)
        listed = ask("list", "--kind", "fact", *then)["items"]
        recalled = ask("recall", "where does Ada live?", "--kind", "fact", *then)["items"]
        found = [*listed, *(one["memory"] for one in recalled)]
        assert [one["content"] for one in found] == [f"Ada lives in {city}"] * 2


def test_X2_the_team_as_true_at_a_moment_is_the_team_as_known_today(ask: Run) -> None:
    said = "The proxy pool uses ports 9000."
    ask("team-approve", ask("propose", said)["fact_id"])
    question = ("team", "which ports does the proxy use?")
    assert [one["content"] for one in ask(*question, "--true-at", "2026-01-15")["items"]] == [said]
