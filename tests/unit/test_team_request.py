"""Which messages ask to remember something for the team, and what."""

from __future__ import annotations

import pytest

from remembrancer.assistant.commands import ProposeToTeam, parse_command
from remembrancer.team.request import find_team_requests

pytestmark = pytest.mark.feature("A17")

NIGHT = "The build runs at night."


@pytest.mark.parametrize(
    "message",
    [
        "Remember this for the team: the build runs at night.",
        "remember that for the team: The build runs at night.",
        "Can you please remember for the whole team that the build runs at night.",
        "Note for the team: the build runs at night.",
        "Remember: for the team, the build runs at night.",
        "For the whole team: the build runs at night.",
        "The team should know that the build runs at night.",
        "Tell the team: the build runs at night.",
        "Let the team know that the build runs at night.",
        "Add this to the team's memory: “The build runs at night.”",
        "Remember this for the team.\nThe build runs at night.",
        "The build runs at night. Please remember that for the team.",
    ],
)
def test_a_request_for_the_team_is_understood(message: str) -> None:
    assert parse_command(message) == ProposeToTeam(NIGHT)


@pytest.mark.parametrize(
    "message",
    ["Remember that for the team.", "can you save this for the team?", "Share it with the team!"],
)
def test_a_request_can_refer_to_what_was_said_before(message: str) -> None:
    assert parse_command(message) == ProposeToTeam("")


@pytest.mark.parametrize(
    "message",
    [
        "Remember that I bought a cake for the team",
        "Remember that for the team meeting I need snacks.",
        "The team should know Python",
        "For the team, what should I cook?",
        "What should the team know about this?",
        "I told the team: no deploys today",
        "Did you remember this for the team?",
        "Tell the team meeting organiser that I am late",
    ],
)
def test_mere_mention_of_the_team_asks_nothing(message: str) -> None:
    assert not isinstance(parse_command(message), ProposeToTeam)
    assert not list(find_team_requests(message))


def test_a_request_is_found_within_a_longer_text() -> None:
    text = "I live in Oslo. Please note for the team: the build runs at night.\nBye."
    assert list(find_team_requests(text)) == [NIGHT]
    assert not list(find_team_requests(". Remember " * 20_000))
