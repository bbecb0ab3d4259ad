"""What texts still say of a forgotten memory is masked; what they say of others stays."""

from __future__ import annotations

import pytest

from remembrancer.clock import ManualClock
from remembrancer.ids import new_id
from remembrancer.remember.forgotten_words import build_forgotten_words, says_nothing
from remembrancer.types import FORGOTTEN_MARK, Evidence, Fact, Source
from tests.support.opening import NOON

pytestmark = pytest.mark.feature("P7")

TURN = "turn_1"


def fact(content: str, *quotes: str, turn: str = TURN, subject: str = "user") -> Fact:
    now = ManualClock(NOON).now()
    return Fact(
        id=new_id("fact", now),
        content=content,
        subject=subject,
        source=Source.EXTRACTED,
        evidence=tuple(Evidence("chat", turn, one) for one in quotes),
        category="context",
        importance=5,
        valid_from=now,
        recorded_at=now,
        confirmed_at=now,
    )


@pytest.mark.parametrize(
    ("content", "quote", "text", "left"),
    [
        (
            "Lives in Lisbon",
            "I live in Lisbon",
            "Hello! I live in Lisbon. My cat is old.",
            f"Hello! {FORGOTTEN_MARK}. My cat is old.",
        ),
        (
            "Is allergic to peanuts",
            "I'm allergic to peanuts",
            "I’m  allergic\nto PEANUTS, so no satay for me.",
            f"{FORGOTTEN_MARK}, so no satay for me.",
        ),
        ("Owns a red kayak", "I own a red kayak", "I own a red kayak", FORGOTTEN_MARK),
        (
            "Has 3 (three) dogs [old]",
            "I have 3 (three) dogs [old",
            "Look: I have 3 (three) dogs [old], and then six cats and eleven tiny parrots.",
            f"Look: {FORGOTTEN_MARK}], and then six cats and eleven tiny parrots.",
        ),
        ('Says "hi" a lot', 'I say "hi" a lot', "And I say “hi” a lot.", f"{FORGOTTEN_MARK}."),
    ],
)
def test_the_quoted_words_of_a_turn_are_masked(
    content: str, quote: str, text: str, left: str
) -> None:
    words = build_forgotten_words([fact(content, quote)])

    assert words.mask(text, TURN) == left


@pytest.mark.parametrize(
    "text",
    [
        "Forget that I live in Lisbon.",
        "I will remember that: “Lives in Lisbon”",
        "As I said, I live in Lisbon.",
        "i live in lisbon",
        "You live in Lisbon, then.",
    ],
)
def test_other_turns_that_say_the_same_are_masked(text: str) -> None:
    words = build_forgotten_words([fact("Lives in Lisbon", "I live in Lisbon")])

    assert "lisbon" not in words.mask(text, "turn_2").casefold()


@pytest.mark.parametrize(
    "text",
    [
        "I love Lisbon's food.",
        "My sister and her four children have moved away from Lisbon to live by the sea in Porto.",
        "I live in a small house.",
        "Where do people live?",
        "",
    ],
)
def test_what_is_about_something_else_stays(text: str) -> None:
    words = build_forgotten_words([fact("Lives in Lisbon", "I live in Lisbon")])

    assert words.mask(text, "turn_2") == text


def test_words_of_one_term_are_only_masked_where_they_were_learned() -> None:
    words = build_forgotten_words([fact("Tea", "tea")])

    assert words.mask("I would like tea", TURN) == f"I would like {FORGOTTEN_MARK}"
    assert words.mask("I would like tea", "turn_2") == "I would like tea"


def test_the_words_that_another_memory_rests_on_stay() -> None:
    said = "I'm vegan and Ida lives in Rome."
    gone = fact("Ida lives in Rome", "I'm vegan and Ida lives in Rome", subject="Ida")
    kept = fact("Is vegan", "I'm vegan")

    words = build_forgotten_words([gone], [kept])

    assert words.mask(said, TURN) == f"I'm vegan{FORGOTTEN_MARK}."
    assert words.mask_quote(kept.evidence[0]) == kept.evidence[0]


def test_a_quote_of_the_same_words_goes_from_other_memories_too() -> None:
    gone = fact("Ida lives in Rome", "I'm vegan and Ida lives in Rome", subject="Ida")
    kept = fact("Is vegan", "I'm vegan and Ida lives in Rome")

    words = build_forgotten_words([gone], [kept])

    assert words.mask_quote(kept.evidence[0]).quote == FORGOTTEN_MARK


def test_what_a_program_keeps_under_a_key_masks_nothing() -> None:
    gone = build_forgotten_words([fact('{"city": "Lisbon", "live": true}', subject="app")])
    item = fact("live in Lisbon")
    keyed = Fact(**{**{n: getattr(item, n) for n in item.__dataclass_fields__}, "predicate": ".a"})

    assert gone.tellings
    assert build_forgotten_words([keyed]).is_empty


def test_masks_side_by_side_are_one() -> None:
    words = build_forgotten_words([fact("Has a blue boat", "a blue boat", "which is new")])

    masked = words.mask("a blue boat, which is new", TURN)

    assert masked == FORGOTTEN_MARK
    assert says_nothing(masked)
