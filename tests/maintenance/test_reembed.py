"""M18: changing the embedding model re-embeds everything while recall keeps working."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from remembrancer.clock import ManualClock
from remembrancer.config import Settings
from remembrancer.embed import Embedder
from remembrancer.engine import Remembrancer
from remembrancer.sessions.turns import TurnInput
from remembrancer.store.open import open_store
from remembrancer.testing import FakeEmbedder
from remembrancer.types import Owner

pytestmark = pytest.mark.feature("M18")

LONG: list[TurnInput] = [
    {
        "role": "user",
        "content": "My sister plays the cello in an orchestra. "
        "Last week we went to the lake together and swam. "
        "The weather was wonderful on all of those days.",
    }
]


class Other(FakeEmbedder):
    """Another model: other vectors, of another length."""

    def __init__(self) -> None:
        super().__init__("another-model", dimensions=96)

    def _make_vector(self, text: str) -> np.ndarray:
        return super()._make_vector(text.strip(" .").lower())


class Failing(Other):
    """Gives up after some texts, as an endpoint may."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.left = after

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.left -= len(texts)
        if self.left < 0:
            raise KeyboardInterrupt
        return super().embed(texts)


Opening = Callable[[Embedder], Remembrancer]


@pytest.fixture
def opened(place: str, clock: ManualClock, tenant: str) -> Iterator[Opening]:
    stores: list[Remembrancer] = []

    def start(embedder: Embedder) -> Remembrancer:
        where = {"url" if place.startswith("postgresql") else "path": place, "pool_size": 4}
        settings = Settings.model_validate({"tenant": tenant, "user": "ada", "store": where})
        stores.append(Remembrancer(settings, open_store(settings, clock), embedder, clock))
        return stores[-1]

    yield start
    for store in stores:
        store.close()


def fill(store: Remembrancer, count: int = 5) -> None:
    me = store.for_user("ada")
    for number in range(count):
        me.remember(f"Statement number {number}.")
    me.remember("Confirm before sending.", kind="rule")
    me.append(LONG, session="monday")


def vectors(store: Remembrancer) -> dict[str, int]:
    me = store.for_user("ada")
    with me._call.store.open_reader(me._call.owner) as reader:
        return reader.count_embedded()


def test_M18_everything_gets_vectors_of_the_new_model(opened: Opening, tenant: str) -> None:
    fill(opened(FakeEmbedder()))
    store = opened(Other())
    told: list[tuple[int, int]] = []

    outcome = store.reembed(lambda done, total: told.append((done, total)), tenant=tenant)

    assert outcome.changed == 7
    assert told[-1] == (7, 7)
    assert vectors(store) == {"fake": 7, "another-model": 7}
    assert store.reembed(tenant=tenant).changed == 0


def test_M18_sentences_are_embedded_as_they_were_when_they_were_said(
    opened: Opening, tenant: str, stored: Callable[[], dict[str, list[dict[str, object]]]]
) -> None:
    fill(opened(FakeEmbedder()), count=0)
    opened(Other()).reembed(tenant=tenant)

    own = [one for one in stored()["embeddings"] if one["owner_id"] == Owner(tenant, "ada").id]
    rows = [one for one in own if str(one["memory_id"]).startswith("turn")]
    parts = {
        model: sorted(str((one["part"], one["marks"])) for one in rows if one["model"] == model)
        for model in ("fake", "another-model")
    }

    assert len(parts["another-model"]) == 3
    assert parts["another-model"] == parts["fake"]


def test_M18_recall_is_right_before_in_the_middle_of_it_and_afterwards(
    opened: Opening, tenant: str
) -> None:
    fill(opened(FakeEmbedder()))
    with pytest.raises(KeyboardInterrupt):
        opened(Failing(after=0)).reembed(tenant=tenant)
    store = opened(Other())
    me = store.for_user("ada")

    def found() -> str:
        return me.recall("Statement number 3.", kinds=["fact"])[0].memory.content

    assert found() == "Statement number 3."
    assert [one.why.semantic_rank for one in me.recall("Statement number 3.")] == [None] * 7
    me.remember("Statement number 6.")
    (new,) = me.recall("Statement number 6.", mode="semantic", limit=1)
    assert new.why.similarity == pytest.approx(1, abs=1e-2)

    store.reembed(tenant=tenant)

    (old,) = me.recall("Statement number 3.", mode="semantic", limit=1)
    assert (old.memory.content, old.why.semantic_rank) == ("Statement number 3.", 1)
    assert old.why.similarity == pytest.approx(1, abs=1e-2)


def test_M18_an_interrupted_run_goes_on_where_it_was(opened: Opening, tenant: str) -> None:
    fill(opened(FakeEmbedder()), count=300)
    with pytest.raises(KeyboardInterrupt):
        opened(Failing(after=200)).reembed(tenant=tenant)
    store = opened(Other())
    done = vectors(store)["another-model"]
    assert 0 < done < 302

    assert store.reembed(tenant=tenant).changed == 302 - done

    assert vectors(store)["another-model"] == 302


def test_M18_the_old_vectors_go_when_they_are_dropped(opened: Opening, tenant: str) -> None:
    first = opened(FakeEmbedder())
    fill(first)
    store = opened(Other())

    store.reembed(tenant=tenant, drop_old=True)

    assert vectors(store) == {"another-model": 7}
    assert store.for_user("ada").recall("Statement number 3.", mode="semantic", limit=1)
