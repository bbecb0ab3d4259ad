"""A prompt can be asked at another time: relative dates, ages and what is true follow it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory

MAY = datetime(2025, 5, 1, tzinfo=UTC)


@pytest.fixture
def me(open_fake: Callable[..., Remembrancer]) -> Memory:
    return open_fake("agents").for_user("ada")


@pytest.mark.parametrize("style", ["sections", "note", "hot_set"])
@pytest.mark.parametrize("prompt", ["Where does she live?", None])
def test_what_was_true_then_is_told(me: Memory, style: str, prompt: str | None) -> None:
    me.remember("Lives in Bergen", valid_from=MAY, valid_until=MAY + timedelta(days=30))
    me.remember("Lives in Oslo", valid_from=MAY + timedelta(days=30))

    then = me.context(prompt, style=style, now=MAY + timedelta(days=7)).text

    assert "Lives in Bergen" in then
    (later,) = (line for line in then.splitlines() if "Lives in Oslo" in line)
    assert "from 31 May 2025" in later
    assert "Lives in Oslo" in me.context(prompt, style=style).text


def test_confidence_has_decayed_by_then(me: Memory, clock: ManualClock) -> None:
    me.remember("Reads a novel", permanence="ephemeral")
    later = clock.now() + timedelta(days=60)

    assert "Reads a novel" in me.context(now=clock.now()).text
    assert "Reads a novel" not in me.context(now=later).text


def test_a_time_without_a_zone_is_read_as_recall_reads_it(me: Memory) -> None:
    me.remember("Lives in Bergen", valid_from=MAY)
    naive = datetime(2025, 6, 1)

    assert me.context("home", now=naive).memories
    assert me.recall("home", now=naive)
