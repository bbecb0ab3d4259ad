"""A21: switches are stored per tenant and seen by every process within a second."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from remembrancer.errors import InvalidInput, NotAllowed
from remembrancer.team.review import VIEW_CAPABILITY
from tests.support.opening import Open

pytestmark = pytest.mark.feature("A21")

PORTS = "The proxy pool uses ports 9000 to 9999."


def test_A21_another_process_goes_by_it_within_a_second(open_memory: Open) -> None:
    one, other = open_memory("assistant"), open_memory("assistant")
    assert other.review().settings().promote_at == 2
    one.review().change_settings(promote_at=3)
    time.sleep(1)

    assert other.review().settings().promote_at == 3
    assert other.review().stats().switches == one.review().settings()


def test_A21_team_recall_is_switched_by_surface_and_for_nobody(open_memory: Open) -> None:
    store = open_memory("assistant")
    for name in ("ada", "bob"):
        store.for_user(name).propose(PORTS)
    assert not store.team_recall("proxy ports")

    store.review().change_settings(team_recall={"telegram": False, "anonymous": True})

    assert store.team_recall("proxy ports")
    assert not store.for_user("ada", surface="telegram").team("proxy ports")
    assert store.for_user("ada", surface="web").team("proxy ports")
    store.review().change_settings(team_recall={"anonymous": False})
    assert not store.team_recall("proxy ports")
    assert not store.for_user("ada", surface="telegram").team("proxy ports")


@pytest.mark.parametrize(
    "mistake", [{"promote_at": 0}, {"limit": "many"}, {"dedup_threshold": 2}, {"nonsense": True}]
)
def test_A21_a_mistake_changes_nothing(open_memory: Open, mistake: dict[str, object]) -> None:
    store = open_memory("assistant")
    before = store.review().settings()

    with pytest.raises(InvalidInput):
        store.review().change_settings(**mistake)  # type: ignore[arg-type]

    assert store.review().settings() == before


def test_A21_changes_that_race_are_all_kept(open_memory: Open) -> None:
    stores = [open_memory("assistant") for _ in range(4)]

    def change(number: int) -> None:
        stores[number % 4].review().change_settings(team_recall={f"surface-{number}": False})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(change, range(24)))

    time.sleep(1)
    assert len(stores[0].review().settings().team_recall) == 24


def test_A21_a_switch_is_left_to_the_profile_again(open_memory: Open) -> None:
    review = open_memory("assistant").review()
    before = review.settings()
    review.change_settings(promote_at=None, limit=9, team_recall={"web": False, "telegram": False})

    assert review.reset_settings("promote_at").promote_at == before.promote_at
    assert review.settings().limit == 9
    assert review.reset_settings("team_recall.web", "limit").team_recall == {"telegram": False}
    assert review.reset_settings("team_recall", "dedup_threshold") == before


@pytest.mark.parametrize("mistake", ["nonsense", "limit.web", "team_recall.", "team_recall.\udcff"])
def test_A21_a_mistake_leaves_nothing_to_the_profile(open_memory: Open, mistake: str) -> None:
    review = open_memory("assistant").review()
    review.change_settings(limit=9)

    with pytest.raises(InvalidInput):
        review.reset_settings("limit", mistake)

    assert review.settings().limit == 9


def test_A21_only_who_may_edit_leaves_a_switch_to_the_profile(open_memory: Open) -> None:
    store = open_memory("assistant")

    with pytest.raises(NotAllowed):
        store.review(capabilities=(VIEW_CAPABILITY,)).reset_settings("limit")
