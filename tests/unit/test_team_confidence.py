"""Confidence of team facts, without a store."""

from __future__ import annotations

import math

import numpy as np
import pytest

from remembrancer.team.confidence import decay_confidence, team_confidence


def test_each_contributor_removes_a_share_of_the_doubt() -> None:
    assert [team_confidence(count) for count in (1, 2, 3)] == [0.4, 0.64, 0.784]
    assert team_confidence(0) == team_confidence(1)


def test_approval_halves_the_doubt_and_each_contributor_lowers_it() -> None:
    assert [team_confidence(count, approved=True) for count in (1, 2, 3)] == [0.7, 0.82, 0.892]


def test_each_conflict_lowers_confidence_even_of_approved_facts() -> None:
    assert team_confidence(1, 1, approved=True) == pytest.approx(0.49)
    assert team_confidence(2, 2) == pytest.approx(0.64 * 0.49)


def test_confidence_decays_with_the_days_since_the_last_contribution() -> None:
    left = decay_confidence(np.array([0.8, 0.8, 0.8]), np.array([0.0, 250.0, -3.0]))
    assert left == pytest.approx([0.8, 0.8 * math.exp(-1), 0.8])
