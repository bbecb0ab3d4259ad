"""Persons who are named by a word, a login or a description stay out of team memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from remembrancer.guard.persons.detector import detect_personal_data

pytestmark = pytest.mark.feature("A14")

FOLDER = Path(__file__).parent / "plain_persons"


def read(name: str) -> list[str]:
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines]


PERSONAL = read("personal.jsonl")
TECHNICAL = read("technical.jsonl")


def test_at_most_one_personal_statement_in_twenty_can_be_shared() -> None:
    passed = [text for text in PERSONAL if not detect_personal_data(text)]
    assert len(PERSONAL) >= 60
    assert len(passed) <= 0.05 * len(PERSONAL), passed


def test_technical_statements_with_the_same_words_can_be_shared() -> None:
    refused = [text for text in TECHNICAL if detect_personal_data(text)]
    assert len(TECHNICAL) >= 100
    assert len(refused) <= 0.02 * len(TECHNICAL), refused


@pytest.mark.parametrize(
    ("personal", "technical"),
    [
        ("Brown fixed the importer.", "Brown noise is louder than pink noise."),
        ("Page is moving to Berlin.", "Page is moving to a new template engine."),
        ("mwright81 has root on the build host.", "node81 has root in its container."),
        ("The Okafors are hosting the offsite.", "The headers are hosting the tokens."),
        ("Our new CFO hates dashboards.", "Our new CFO dashboard is behind a flag."),
        ("The only woman in the team writes Rust.", "The only service in the team is a gateway."),
        ("Klein hat den Test repariert.", "Klein geschriebene Namen sind Pflicht."),
        ("Rossi ha corretto il test.", "Rossi sono i log di errore."),
    ],
)
def test_what_a_word_does_tells_a_person_from_a_thing(personal: str, technical: str) -> None:
    assert detect_personal_data(personal)
    assert not detect_personal_data(technical)
