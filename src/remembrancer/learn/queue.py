"""Learns from the sessions that are due, and postpones those that fail."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from remembrancer.errors import EmbeddingFailed, StoreUnavailable
from remembrancer.learn.pipeline import LearnedBatch, learn
from remembrancer.learn.skipped_turns import describe_error, find_read_by_rules, rewind
from remembrancer.llm import ModelUnavailable
from remembrancer.remember.embedding import embed_missing
from remembrancer.store.contract import SessionFilter

if TYPE_CHECKING:
    from remembrancer.call import Call, Services
    from remembrancer.types import Principal, Session

MAX_ATTEMPTS = 5
"""Invalid model responses after which a session is given up until someone closes it again."""

MIN_RETRY_DELAY = timedelta(seconds=30)
MAX_RETRY_DELAY = timedelta(hours=1)
BATCH_SIZE = 100


def learn_due_sessions(services: Services, principal: Principal) -> Iterator[LearnedBatch]:
    """Learn from every due session of an owner; yields each batch after it is committed.

    It works while it is iterated, so that a later failure loses no result.
    """
    call = services.build_call(principal)
    with contextlib.suppress(EmbeddingFailed):  # Text search works without vectors.
        embed_missing(call)
    with contextlib.suppress(ModelUnavailable):  # It would fail for the other sessions, too.
        while due := _load_due_sessions(call):
            for session in due:
                yield from _learn_or_postpone(
                    services.build_call(principal, session.scope), session
                )


def _learn_or_postpone(call: Call, session: Session) -> Iterator[LearnedBatch]:
    try:
        yield from learn(call, session.id, skip_unanswered=_is_last_attempt(session))
    except ModelUnavailable as error:
        yield from _postpone_or_give_up(call, session, error, counts=not error.transient)
        if not error.refused:
            raise
    except (StoreUnavailable, EmbeddingFailed) as error:
        _postpone(call, session, error)
    except Exception as error:  # A failure here must never reach the user's conversation.
        yield from _postpone_or_give_up(call, session, error, counts=True)


def _is_last_attempt(session: Session) -> bool:
    """True if it is time to find the turns that the model cannot answer about.

    A session that was given up before is not given another series of attempts first.
    """
    was_given_up = find_read_by_rules(session) > session.watermark
    return was_given_up or session.attempts >= MAX_ATTEMPTS - 1


def _postpone_or_give_up(
    call: Call, session: Session, error: Exception, *, counts: bool
) -> Iterator[LearnedBatch]:
    """After the last attempt, learn without the model rather than not at all."""
    given_up = _postpone(call, session, error, counts_as_attempt=counts)
    if given_up is not None:
        with contextlib.suppress(Exception):  # The failure of the model is what is reported.
            yield from learn(call, session.id, with_model=False)
        rewind(call, given_up)


def _load_due_sessions(call: Call) -> list[Session]:
    with call.store.open_reader(call.owner) as reader:
        # Oldest first, so that later statements supersede earlier ones.
        return reader.list_sessions(SessionFilter(due_by=call.now()), BATCH_SIZE, oldest_first=True)


def _postpone(
    call: Call, session: Session, error: Exception, *, counts_as_attempt: bool = False
) -> Session | None:
    """Record the failure and when to try again; returns the session if it is given up."""
    with call.open_writer() as writer:
        current = writer.get_session(session.id)
        if current is None or writer.next_position(session.id) <= current.watermark:
            return None  # Another process has learned from it meanwhile.
        attempts = current.attempts + counts_as_attempt
        given_up = counts_as_attempt and attempts >= MAX_ATTEMPTS
        delay = min(MIN_RETRY_DELAY * 2**attempts, MAX_RETRY_DELAY)
        postponed = replace(
            current,
            attempts=attempts,
            leased_until=None,
            failure=describe_error(error),
            due_at=None if given_up else call.now() + delay,
        )
        writer.save_session(postponed)
    return postponed if given_up else None
