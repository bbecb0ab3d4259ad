"""The postings count exactly what the documents hold, however they were added."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.search.postings import Postings

TERMS = st.integers(0, 12).map(lambda number: number * 400_000_000 % 2**32)
DOCUMENTS = st.lists(st.lists(TERMS, max_size=8), max_size=30)


def added(batches: list[list[list[int]]]) -> Postings:
    postings = Postings()
    for batch in batches:
        postings.add([np.array(document, dtype=np.uint32) for document in batch])
    return postings


def counted(postings: Postings, term: int) -> dict[int, int]:
    documents, counts = postings.find(term)
    return dict(zip(documents.tolist(), counts.tolist(), strict=True))


@given(st.lists(DOCUMENTS, max_size=6))
def test_every_occurrence_is_counted_whatever_the_batches(batches: list[list[list[int]]]) -> None:
    postings = added(batches)
    documents = [document for batch in batches for document in batch]

    for term in {term for document in documents for term in document} | {7}:
        expected = {
            number: Counter(document)[term]
            for number, document in enumerate(documents)
            if term in document
        }
        assert counted(postings, term) == expected
        assert postings.count_documents(term) == len(expected)
    assert postings.lengths.tolist() == [len(document) for document in documents]


def test_a_term_that_fills_a_document_counts_as_often_as_a_byte_can_tell() -> None:
    postings = added([[[5] * 1000]])
    assert counted(postings, 5) == {0: 255}


def test_a_fork_does_not_see_what_comes_later() -> None:
    postings = added([[[1, 2]], [[2]]])
    fork = postings.fork()
    postings.add([np.array([2], dtype=np.uint32)])

    assert counted(fork, 2) == {0: 1, 1: 1}
    assert counted(postings, 2) == {0: 1, 1: 1, 2: 1}
