"""A request that comes again gets the answer it got: who may carry it out, and what was said."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from remembrancer.store.contract import Answer

if TYPE_CHECKING:
    from remembrancer.clock import Clock
    from remembrancer.store.contract import Store
    from remembrancer.types import Owner

GIVEN_UP_AFTER = timedelta(minutes=5)
"""When whoever is at a request must have died."""


class Answers:
    """What was answered to each owner's requests, for every process."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def begin(self, owner: Owner, key: str, request: str) -> Answer | None:
        """Take a request on; or what is known of it, if it was made before."""
        now = self._clock.now()
        with self._store.writing(owner) as writer:
            known = writer.answer(key)
            if known is None or (known.status is None and now - known.at > GIVEN_UP_AFTER):
                writer.keep_answer(Answer(key, request, now))
                return None
            return known

    def finish(self, owner: Owner, answer: Answer) -> None:
        """Keep what was answered, from now on."""
        with self._store.writing(owner) as writer:
            writer.keep_answer(replace(answer, at=self._clock.now()))

    def give_up(self, owner: Owner, key: str) -> None:
        """Nothing came of a request; it may be made again."""
        with self._store.writing(owner) as writer:
            writer.drop_answer(key)
