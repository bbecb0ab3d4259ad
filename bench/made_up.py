"""Conversations that nobody had, as many as wanted: for measuring speed, never quality."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from remembrancer.sessions.turns import TurnInput

SPEAKERS = ("Noor", "Piet")
TURNS = 20
"""How many turns a conversation has."""

SENTENCES = 20_000
"""How many different sentences there are to speak: embedding each once takes about a minute."""

WHO = (
    "I we my-sister our-neighbour the-dentist my-boss a-colleague grandpa the-plumber my-cousin "
    "the-landlord our-coach the-teacher my-flatmate the-librarian an-old-friend the-nurse Ravi "
    "Ingrid Tomasz"
).split()
DID = (
    "visited repaired painted sold bought forgot borrowed cooked planted photographed cancelled "
    "moved cleaned broke finished started ordered measured lost found wrapped carried designed "
    "tested described planned rented returned sketched weighed"
).split()
WHAT = (
    "the-bicycle a-lamp the-garden-shed two-tickets the-old-piano a-lemon-cake the-rental-car "
    "a-pair-of-boots the-tomato-seeds the-kitchen-sink a-chess-set the-tax-papers a-telescope "
    "the-wedding-invitations a-sourdough-loaf the-bookshelf a-violin the-tent the-dog-collar "
    "a-solar-panel the-passport a-vase the-router the-curtains a-kayak the-insurance a-microscope "
    "the-aquarium a-raincoat the-printer"
).split()
WHERE = (
    "in-Lisbon at-the-lake near-the-station after-the-concert before-breakfast in-the-attic "
    "with-the-children during-the-storm at-the-market on-the-ferry in-the-workshop by-the-river "
    "at-the-clinic behind-the-school on-Tuesday in-the-evening last-week for-the-exhibition "
    "without-any-help in-Bergen"
).split()


def sentences(seed: int = 1) -> list[str]:
    """Different sentences in no order."""
    every = list(itertools.product(WHO, DID, WHAT, WHERE))
    chosen = random.Random(seed).sample(every, SENTENCES)
    return [" ".join(words).replace("-", " ").capitalize() + "." for words in chosen]


def conversations(turns: int, seed: int = 1) -> Iterator[list[TurnInput]]:
    """So many turns in all, each of one to three sentences, a conversation at a time."""
    pick = random.Random(seed)
    pool = sentences()
    day = datetime(2020, 1, 1, tzinfo=UTC)
    for start in range(0, turns, TURNS):
        day += timedelta(hours=7)
        yield [_turn(pick, pool, number, day) for number in range(min(TURNS, turns - start))]


def questions(count: int, seed: int = 2) -> list[str]:
    """Questions about such conversations, no two alike."""
    pick = random.Random(seed)
    asked: dict[str, None] = {}
    while len(asked) < count:
        what, where = (_plain(pick.choice(words)) for words in (WHAT, WHERE))
        who = pick.choice((*SPEAKERS, *map(_plain, WHO[2:])))
        verb = pick.choice(("do with", "say about", "plan for", "think of", "tell about"))
        asked[f"What did {who} {verb} {what} {where}?"] = None
    return list(asked)


def _turn(pick: random.Random, pool: Sequence[str], number: int, day: datetime) -> TurnInput:
    return {
        "role": "user" if number % 2 == 0 else "assistant",
        "speaker": SPEAKERS[number % 2],
        "content": " ".join(pick.choices(pool, k=pick.choice((1, 1, 2, 3)))),
        "said_at": day + timedelta(minutes=number),
    }


def _plain(words: str) -> str:
    return words.replace("-", " ")
