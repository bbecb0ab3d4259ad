"""Vectors in memory are smaller than those stored, and still find the nearest."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from remembrancer.search.vectors import BLOCK_ROWS, MIN_SKETCH_ROWS, Vectors

Floats = NDArray[np.float32]


def clustered(count: int, seed: int = 1) -> Floats:
    """Vectors as texts have them: most of their differences lie in few directions."""
    random = np.random.default_rng(seed)
    spread = np.linspace(1, 0.02, 384) ** 2
    rows = random.standard_normal((count, 384)) * spread
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def holding(rows: Floats, batch: int = 1000) -> Vectors:
    vectors = Vectors()
    for start in range(0, len(rows), batch):
        vectors.add(list(rows[start : start + batch]))
    return vectors


@pytest.mark.parametrize("count", [1, 5, BLOCK_ROWS - 1, BLOCK_ROWS, BLOCK_ROWS + 3])
def test_a_similarity_is_right_to_three_hundredths_of_ten(count: int) -> None:
    rows = clustered(count)
    found = holding(rows, batch=700).similarities(rows[0])
    assert np.abs(found - rows @ rows[0]).max() < 0.003


def test_99_of_100_of_the_nearest_are_found_through_the_sketch() -> None:
    rows, queries = clustered(MIN_SKETCH_ROWS + 3000), clustered(30, seed=2)
    vectors = holding(rows)

    shares = []
    for query in queries:
        exact = rows @ query
        found = np.argsort(-vectors.similarities(query))[:50]
        # Random vectors lie closer together than the error of a byte; texts do not.
        shares.append(np.mean(exact[found] >= np.sort(exact)[-50] - 0.003))

    assert np.mean(shares) >= 0.99


def test_a_view_stays_as_it_was_while_rows_are_added() -> None:
    rows = clustered(MIN_SKETCH_ROWS + 100)
    vectors = holding(rows[:-50])
    view = vectors.view()
    vectors.add(list(rows[-50:]))

    assert len(view.similarities(rows[0])) == len(rows) - 50
    assert len(vectors.similarities(rows[0])) == len(rows)


@pytest.mark.parametrize("count", [10, MIN_SKETCH_ROWS + 10])
def test_a_fork_grows_on_its_own(count: int) -> None:
    rows = clustered(count + 2)
    vectors = holding(rows[:count])
    fork = vectors.fork()
    fork.add([rows[-1]])
    vectors.add([rows[-2]])

    assert fork.similarities(rows[-1])[-1] == pytest.approx(1, abs=0.003)
    assert vectors.similarities(rows[-2])[-1] == pytest.approx(1, abs=0.003)
