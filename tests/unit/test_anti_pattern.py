"""M4: how a warning is worded, and that its rule can be read from it."""

from __future__ import annotations

import pytest

from remembrancer.remember.anti_pattern import find_rule, format_warning

pytestmark = pytest.mark.feature("M4")

REASONS = ["It broke the build.", "Nobody liked it", "It broke the build"]

COMMANDS = {
    "Skip the greeting": "skip the greeting",
    "Use tabs.": "use tabs",
    "Send a summary before each meeting": "send a summary before each meeting",
    "Answer in French!": "answer in French",
}
QUOTED = (
    "Do not shout",
    "Don't shout",
    "Don’t shout",
    "Never use emojis",
    "Avoid emojis",
    "Always confirm before sending",
    "You must reply within a day",
    "Please skip the greeting",
    "Use no emojis",
    "Use tabs, not spaces",
    "When it is late, do not call",
    "If the user is angry, apologise",
    "SQL goes in store/",
    "Emails go to Bob",
    "Answers should be short",
    "Skip the greeting. Begin with the answer",
    "Quote “x” exactly",
    "Begrüße den Kunden",
    "Antworte kurz",
    "Utilise le français",
    "Responde en tono formal",
)


@pytest.mark.parametrize(("rule", "advice"), COMMANDS.items())
def test_M4_a_warning_against_a_command_says_not_to_and_why(rule: str, advice: str) -> None:
    assert format_warning(rule, []) == f"ANTI-PATTERN: Do NOT {advice}."
    assert format_warning(rule, REASONS) == (
        f"ANTI-PATTERN: Do NOT {advice}. This caused problems because: "
        "It broke the build; Nobody liked it."
    )


@pytest.mark.parametrize("rule", QUOTED)
def test_M4_a_warning_quotes_a_rule_that_cannot_follow_do_not(rule: str) -> None:
    assert format_warning(f"{rule}.", []) == f"ANTI-PATTERN: Do NOT follow “{rule}”."


@pytest.mark.parametrize("reasons", [[], ["Ada said “no”. Twice"]])
@pytest.mark.parametrize("rule", [*COMMANDS, *QUOTED])
def test_M4_the_rule_can_be_read_from_its_warning(rule: str, reasons: list[str]) -> None:
    found = find_rule(format_warning(rule, reasons))

    assert found is not None
    assert found.casefold() == rule.rstrip(".!").casefold()


def test_M4_what_is_no_warning_has_no_rule() -> None:
    assert find_rule("Do not skip the greeting") is None
    assert find_rule("ANTI-PATTERN: Do NOT skip the greeting") == "skip the greeting"
