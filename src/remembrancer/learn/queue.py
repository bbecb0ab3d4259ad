"""Which conversations are to be learned from now, and what happens when that fails."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from remembrancer.errors import EmbeddingFailed, RemembrancerError, StoreUnavailable
from remembrancer.learn.pipeline import learn
from remembrancer.llm import ModelUnavailable
from remembrancer.remember.embedding import embed_anew
from remembrancer.store.contract import SessionFilter

if TYPE_CHECKING:
    from remembrancer.call import Call, Parts
    from remembrancer.types import Principal, Session

MOST_ATTEMPTS = 5
"""After so many answers that were none, a conversation is given up until someone asks again."""

FIRST_PAUSE = timedelta(seconds=30)
LONGEST_PAUSE = timedelta(hours=1)
AT_ONCE = 100


def learn_what_is_due(parts: Parts, principal: Principal) -> int:
    """Learn from every conversation of a person that is due; how many were learned from."""
    call = parts.call(principal)
    done = 0
    with contextlib.suppress(EmbeddingFailed):  # What has no vector is found by its words.
        embed_anew(call)
    with contextlib.suppress(ModelUnavailable):  # The others stay due: they would fare no better.
        while due := _due(call):
            for session in due:
                done += attempt(parts.call(principal, session.scope), session)
    return done


def attempt(call: Call, session: Session) -> bool:
    """Learn from one conversation, or put it off; whether it was learned from."""
    try:
        return bool(learn(call, session.id))
    except ModelUnavailable as error:
        _put_off(call, session, error)
        raise
    except (StoreUnavailable, EmbeddingFailed) as error:
        _put_off(call, session, error)
    except Exception as error:  # Whatever it is, the person's conversation goes on.
        _put_off(call, session, error, counts=True)
    return False


def _due(call: Call) -> list[Session]:
    with call.store.reading(call.owner) as reader:
        # In the order in which things were said, so that the latest word replaces an earlier one.
        return reader.sessions(SessionFilter(due_by=call.now()), AT_ONCE, oldest=True)


def _put_off(call: Call, session: Session, error: Exception, *, counts: bool = False) -> None:
    """Note what went wrong and when to try again."""
    known = isinstance(error, RemembrancerError)
    told = f"{error.code}: {error}" if known else type(error).__name__  # type: ignore[attr-defined]
    with call.writing() as writer:
        current = writer.session(session.id)
        if current is None or writer.next_position(session.id) <= current.watermark:
            return  # Another process has learned it meanwhile.
        attempts = current.attempts + counts
        for_good = counts and attempts >= MOST_ATTEMPTS
        pause = min(FIRST_PAUSE * 2**attempts, LONGEST_PAUSE)
        writer.keep_session(
            replace(
                current,
                attempts=attempts,
                leased_until=None,
                failure=told,
                due_at=None if for_good else call.now() + pause,
            )
        )
