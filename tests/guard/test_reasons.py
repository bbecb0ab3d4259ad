"""Whoever is refused is told why in a sentence."""

from __future__ import annotations

from remembrancer.guard.instructions import order_model
from remembrancer.guard.instructions.detector import INSTRUCTION_RULES
from remembrancer.guard.persons.detector import PERSON_RULES
from remembrancer.guard.reasons import REASONS, explain_rules


def test_every_rule_of_the_gate_has_its_sentence() -> None:
    assert set(REASONS) == {*PERSON_RULES, *INSTRUCTION_RULES, order_model.RULE}
    for sentence in REASONS.values():
        assert sentence.endswith(".")
        assert len(sentence) < 78


def test_each_reason_is_given_once() -> None:
    assert explain_rules(("email", "phone", "email")) == (REASONS["email"], REASONS["phone"])
