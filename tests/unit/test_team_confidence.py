"""Confidence of team facts and contradictions, without a store."""

from __future__ import annotations

import math

import numpy as np
import pytest

from remembrancer.team.confidence import decay_confidence, is_contradiction, team_confidence


def test_each_contributor_removes_a_share_of_the_doubt() -> None:
    assert [team_confidence(count) for count in (1, 2, 3)] == [0.4, 0.64, 0.784]
    assert team_confidence(0) == team_confidence(1)


def test_approval_sets_a_floor() -> None:
    assert team_confidence(1, approved=True) == 0.7
    assert team_confidence(5, approved=True) == team_confidence(5)


def test_each_conflict_lowers_confidence_even_of_approved_facts() -> None:
    assert team_confidence(1, 1, approved=True) == pytest.approx(0.49)
    assert team_confidence(2, 2) == pytest.approx(0.64 * 0.49)


def test_confidence_decays_with_the_days_since_the_last_contribution() -> None:
    left = decay_confidence(np.array([0.8, 0.8, 0.8]), np.array([0.0, 250.0, -3.0]))
    assert left == pytest.approx([0.8, 0.8 * math.exp(-1), 0.8])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The API listens on port 8080.", "The API listens on port 9090."),
        ("Backups are encrypted.", "Backups are not encrypted."),
        ("The queue cannot be paused.", "The queue can be paused."),
        ("The build doesn't need Docker.", "The build needs Docker."),
    ],
)
def test_another_number_or_a_negation_contradicts(one: str, other: str) -> None:
    assert is_contradiction(one, other)
    assert is_contradiction(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The API listens on port 8080.", "The API listens on port 8080, always."),
        ("Backups are encrypted.", "Releases are not signed."),
        ("Version 3 of the client needs Python.", "The client needs Python."),
        ("", "Backups are encrypted."),
    ],
)
def test_other_topics_and_missing_numbers_do_not(one: str, other: str) -> None:
    assert not is_contradiction(one, other)
