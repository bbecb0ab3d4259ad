"""What is told, in the third person, and which memory a correction puts right."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from remembrancer.learn.extracted_fact import ExtractedFact
from remembrancer.learn.rules.extractor import extract_facts
from remembrancer.learn.rules.told import choose_category, read_told
from remembrancer.learn.wording.change import SaidChange, find_changed
from remembrancer.types import Evidence, Fact, Turn
from tests.support.records import make_fact

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)

TOLD = [
    ("I always want HAR exports, not screenshots.", "Always wants HAR exports, not screenshots"),
    ("I like tea", "Likes tea"),
    ("I'm vegetarian.", "Is vegetarian"),
    ("My dentist is Dr. Braun.", "Dentist is Dr. Braun"),
    ("our staging API is at staging.example.com.", "Staging API is at staging.example.com"),
    ("I live in Lisbon, but only in winter", "Lives in Lisbon, but only in winter"),
    ("I only do funds.", "Only does funds"),
    ("I no longer hold bonds.", "No longer holds bonds"),
    ("I never trade options", "Never trades options"),
    ("I hardly trade", "Hardly trades"),
    ("I barely speak Thai", "Barely speaks Thai"),
    ("I mostly hold bonds", "Mostly holds bonds"),
    ("I only ever buy funds", "Only ever buys funds"),
    ("I do not hold bonds any more", "Does not hold bonds any more"),
    ("I don't only hold funds", "Does not only hold funds"),
    ("I can only swim", "Can only swim"),
    # An adverb behind a negation says what is denied.
    ("I don't just do funds.", "Does not just do funds"),
    ("I don't simply hold bonds.", "Does not simply hold bonds"),
    ("I do not just hold bonds, I hold gold too.", "Does not just hold bonds, they hold gold"),
    ("my wife doesn't just eat fish", "Wife does not just eat fish"),
    ("I don't really like fish", "Does not really like fish"),
    ("I don't merely hold bonds", "Does not merely hold bonds"),
    ("I don't even like fish", "Does not even like fish"),
    ("I'm not always vegan", "Is not always vegan"),
    ("I don't cook a lot", "Does not cook a lot"),
    ("I don't like fish very much", "Does not like fish very much"),
    ("We don't both ski", "We don't both ski"),
    ("I don't currently eat meat", "Does not eat meat"),
    ("I really don't like fish", "Does not like fish"),
    ("Ich esse nicht nur Fisch", "Ich esse nicht nur Fisch"),
    ("No como solo pescado", "No como solo pescado"),
    ("Je ne mange pas seulement du poisson", "Je ne mange pas seulement du poisson"),
    ("I just do funds", "Just does funds"),
    ("I just love tea", "Loves tea"),
    ("I just moved to Berlin", "Moved to Berlin"),
    # Each verb has its ending, where it is certain that it is one.
    ("I cook and bake", "Cooks and bakes"),
    ("I both ski and swim", "Skis and swims"),
    ("I both own a dog and walk it", "Owns a dog and walks it"),
    ("I love cats and hate dogs", "Loves cats and hates dogs"),
    ("I live in Porto and have two cats", "Lives in Porto and has two cats"),
    ("I don't drink and drive", "Does not drink and drive"),
    ("I can ski and swim", "Can ski and swim"),
    ("I like to cook and bake", "Likes to cook and bake"),
    ("I like tea and travel", "Likes tea and travel"),
    ("I live in Berlin and work in Potsdam", "I live in Berlin and work in Potsdam"),
    ("I moved to Berlin and work at Acme", "I moved to Berlin and work at Acme"),
    ("I don't eat meat and love fish", "I don't eat meat and love fish"),
    ("I do not ski but swim", "I do not ski but swim"),
    ("I have kids who ski and hate school", "I have kids who ski and hate school"),
    # What cannot be restated as a whole keeps its words.
    ("I sous-vide my eggs", "I sous-vide my eggs"),
    ("The safe is behind the painting.", "The safe is behind the painting."),
    ("I have two cats. They are called A and B.", "I have two cats. They are called A and B."),
    ("Ich wohne in Hamburg.", "Ich wohne in Hamburg"),
]


@pytest.mark.feature("A2")
@pytest.mark.parametrize(("words", "content"), TOLD)
def test_what_is_told_is_restated_only_as_a_whole(words: str, content: str) -> None:
    assert read_told(words).content == content


@pytest.mark.feature("A2")
def test_what_is_told_has_a_key_unless_something_else_can_hold_beside_it() -> None:
    assert (read_told("I live in Porto.").subject, read_told("I live in Porto.").predicate) == (
        "user",
        "home",
    )
    assert read_told("I don't like fish very much").predicate == "likes fish"
    for words in ("I also work at Globex", "I live in Porto from 1 April"):
        assert read_told(words).predicate is None


CATEGORIES = {
    "preference": (
        "I always want HAR exports, not screenshots.",
        "The user prefers window seats",
        "Ich mag Tee",
        "Prefiero el té al café",
        "Je préfère le thé",
    ),
    "instruction": ("Keep answers short, code first.",),
    "decision": ("We decided to use Postgres", "Wir haben beschlossen, umzuziehen"),
    "event": ("The dentist appointment is on 12 May at 10:00", "La cita es el 12 de mayo"),
    "relationship": ("My wife is called Ana",),
    "fact": ("My main machine is Serebanos-MacBook-Air",),
    None: ("The boat is called Bluebird.",),
}


@pytest.mark.feature("A2")
def test_the_words_choose_the_category() -> None:
    chosen = {one: choose_category(one) for words in CATEGORIES.values() for one in words}
    assert chosen == {one: name for name, words in CATEGORIES.items() for one in words}


def said(text: str) -> list[ExtractedFact]:
    turn = Turn(
        id="turn",
        content=text,
        importance=5,
        valid_from=NOON,
        recorded_at=NOON,
        confirmed_at=NOON,
        position=0,
        role="user",
    )
    return extract_facts([turn])


def known(words: str) -> Fact:
    told = read_told(words)
    fact = make_fact(content=told.content)
    return replace(fact, evidence=(Evidence("chat", "turn", words),))


MEMORIES = [
    known(one)
    for one in (
        "I work mostly on the iOS app.",
        "I use Vim for editing.",
        "We deploy on Fridays.",
        "I have two cats.",
        "I have a dog called Rex.",
        "I get up at 6:30 on weekdays.",
        "I like green tea.",
        "My phone is a Pixel 7.",
        "My brother works at Acme.",
        "My wife works at Siemens.",
        "The payments team has twelve people.",
        "Our test database is on port 5499.",
    )
]
CORRECTIONS = {
    "Actually I moved off the iOS app, I'm on the dashboard now.": "Works mostly on the iOS app",
    "I switched from Vim to VS Code.": "Uses Vim for editing",
    "Actually we deploy on Wednesdays now.": "Deploys on Fridays",
    "No, I have three cats.": "Has two cats",
    "No, I get up at 7:00 on weekdays.": "Gets up at 6:30 on weekdays",
    "I switched from the Pixel 7 to an iPhone 15.": "Phone is a Pixel 7",
    "Actually, my wife works at Bosch now.": "Wife works at Siemens",
    # What only resembles a memory, or is about somebody else, replaces none.
    "Actually I like black tea.": None,
    "I also use Emacs for editing now.": None,
    "I switched from Acme to Globex.": None,
    "I moved from the payments team to the search team.": None,
    "Actually, my sister works at Globex now.": None,
    "I have three meetings on Mondays now.": None,
    "Actually I go to the dentist on Wednesdays now.": None,
    "We deploy on Wednesdays.": None,
}


@pytest.mark.feature("A3")
@pytest.mark.parametrize(("words", "content"), CORRECTIONS.items())
def test_a_correction_is_of_the_one_memory_that_it_puts_right(
    words: str, content: str | None
) -> None:
    changed = [
        find_changed(
            SaidChange(tuple(each.words for each in one.quotes), one.content, "user", None),
            MEMORIES,
        )
        for one in said(words)
    ]
    assert [one.content for one in changed if one] == ([content] if content else [])
