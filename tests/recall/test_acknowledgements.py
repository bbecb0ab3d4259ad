"""Thanks are not what a question looks for, unless they go on to tell something."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from remembrancer.engine import Remembrancer
from remembrancer.memory import Memory


@pytest.fixture
def me(open_fake: Callable[..., Remembrancer]) -> Memory:
    return open_fake().for_user("ada")


def say(me: Memory, text: str) -> str:
    (turn,) = me.append([{"role": "user", "content": text}], text[:20])
    return turn.id


@pytest.mark.parametrize(
    "told",
    [
        "Thanks, that helps a lot! My daughter started at the music school in Graz. It is far away "
        "from us, so she goes there by tram.",
        "Thank you, my daughter is now at the music school in Graz.",
    ],
)
def test_thanks_that_tell_a_fact_rank_above_mere_thanks(told: str, me: Memory) -> None:
    fact = say(me, told)
    mere = say(me, "Great, thanks for the music school tips!")
    asking = say(
        me,
        "Thanks for that! I still wonder about it. Can you list the music schools in "
        "the region that take children?",
    )

    scores = {one.memory.id: one.why.parts.get("nod", 0.0) for one in me.recall("music school")}

    assert scores[mere] == scores[asking] < scores[fact] <= 0
