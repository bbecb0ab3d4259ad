"""Which conversations are to be learned from now, and what happens when that fails."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from remembrancer.errors import EmbeddingFailed, RemembrancerError, StoreUnavailable
from remembrancer.learn.pipeline import learn
from remembrancer.llm import ModelUnavailable
from remembrancer.remember.embedding import embed_missing
from remembrancer.store.contract import SessionFilter

if TYPE_CHECKING:
    from remembrancer.call import Call, Services
    from remembrancer.types import Principal, Session

MAX_ATTEMPTS = 5
"""After so many answers that were none, a conversation is given up until someone asks again."""

MIN_RETRY_DELAY = timedelta(seconds=30)
MAX_RETRY_DELAY = timedelta(hours=1)
BATCH_SIZE = 100


def learn_due_sessions(services: Services, principal: Principal) -> int:
    """Learn from every conversation of a person that is due; how many were learned from."""
    call = services.build_call(principal)
    done = 0
    with contextlib.suppress(EmbeddingFailed):  # What has no vector is found by its words.
        embed_missing(call)
    with contextlib.suppress(ModelUnavailable):  # The others stay due: they would fare no better.
        while due := _load_due_sessions(call):
            for session in due:
                done += try_learn(services.build_call(principal, session.scope), session)
    return done


def try_learn(call: Call, session: Session) -> bool:
    """Learn from one conversation, or put it off; whether it was learned from."""
    try:
        return bool(learn(call, session.id))
    except ModelUnavailable as error:
        _postpone(call, session, error)
        raise
    except (StoreUnavailable, EmbeddingFailed) as error:
        _postpone(call, session, error)
    except Exception as error:  # Whatever it is, the person's conversation goes on.
        _postpone(call, session, error, counts_as_attempt=True)
    return False


def _load_due_sessions(call: Call) -> list[Session]:
    with call.store.open_reader(call.owner) as reader:
        # In the order in which things were said, so that the latest word replaces an earlier one.
        return reader.list_sessions(SessionFilter(due_by=call.now()), BATCH_SIZE, oldest_first=True)


def _postpone(
    call: Call, session: Session, error: Exception, *, counts_as_attempt: bool = False
) -> None:
    """Note what went wrong and when to try again."""
    known = isinstance(error, RemembrancerError)
    told = f"{error.code}: {error}" if known else type(error).__name__  # type: ignore[attr-defined]
    with call.open_writer() as writer:
        current = writer.get_session(session.id)
        if current is None or writer.next_position(session.id) <= current.watermark:
            return  # Another process has learned it meanwhile.
        attempts = current.attempts + counts_as_attempt
        for_good = counts_as_attempt and attempts >= MAX_ATTEMPTS
        pause = min(MIN_RETRY_DELAY * 2**attempts, MAX_RETRY_DELAY)
        writer.save_session(
            replace(
                current,
                attempts=attempts,
                leased_until=None,
                failure=told,
                due_at=None if for_good else call.now() + pause,
            )
        )
