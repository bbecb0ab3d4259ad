"""M4: which rules say the same in other words."""

from __future__ import annotations

import pytest

from remembrancer.remember.rule_likeness import say_the_same

pytestmark = pytest.mark.feature("M4")

PARAPHRASES = (
    ("Skip the greeting", "Please skip the greeting"),
    ("Skip the greeting", "Omit the greeting"),
    ("Skip the greeting", "Leave out the greeting"),
    ("Skip the greeting", "The greeting should be skipped"),
    ("Skip the greeting", "You should skip the greeting"),
    ("Skip the greeting", "Always skip the greeting"),
    ("Skip the greeting", "Make sure to skip the greeting, please"),
    ("Answer in French", "I would like you to reply in French"),
    ("Never use emojis", "Do not use emojis"),
    ("Keep answers short", "Answers should be brief"),
    ("Send a summary before each meeting", "Before each meeting, send a summary"),
    ("Begrüße den Kunden", "Bitte begrüße den Kunden"),
)
OTHERS = (
    ("Skip the greeting", "Do not skip the greeting"),
    ("Skip the greeting", "You should not skip the greeting"),
    ("Skip the greeting", "Greet first"),
    ("Skip the greeting", "Skip the small talk"),
    ("Skip the greeting", "Skip the goodbye"),
    ("Skip the greeting", "Skip the greeting for admins"),
    ("Skip the greeting", "Skip the greeting for admins only"),
    ("Answer in French", "Answer in German"),
    ("Use tabs, not spaces", "Use spaces, not tabs"),
    ("Ask before deleting files", "Delete files before asking"),
    ("Send a summary before each meeting", "Send a summary after each meeting"),
    ("Keep answers short", "Keep answers long"),
    ("Ask twice", "Ask three times"),
    ("Be brief", "Be verbose"),
    ("Begrüße den Kunden", "Begrüße den Kunden nicht"),
)


@pytest.mark.parametrize(("one", "other"), PARAPHRASES)
def test_M4_rules_say_the_same_in_other_words(one: str, other: str) -> None:
    assert say_the_same(one, other)
    assert say_the_same(other, one)


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_M4_opposite_and_narrower_rules_are_others(one: str, other: str) -> None:
    assert not say_the_same(one, other)
    assert not say_the_same(other, one)
