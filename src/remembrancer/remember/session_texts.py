"""The title and the summaries of a session, which can quote its turns. No I/O."""

from __future__ import annotations

from dataclasses import replace

from remembrancer.remember.forgotten_words import ForgottenWords, says_nothing
from remembrancer.types import Session

TITLE_SOURCE_KEY = "titled"
"""Metadata key for what derived the title; missing if a person gave it."""

BRIEF_KEY = "brief"
"""Metadata key of a session for the summary of its first turns, up to `summarised`.

The session's own summary is a few sentences for people and for learning.
"""


def clear_texts(session: Session) -> Session:
    """The session without its title and its summaries, which can quote its turns."""
    return _drop_summaries(replace(session, title=None))


def clear_derived_texts(session: Session) -> Session:
    """The session without what was derived from its turns; a title that a person gave stays."""
    return (
        clear_texts(session) if TITLE_SOURCE_KEY in session.metadata else _drop_summaries(session)
    )


def mask_texts(session: Session, words: ForgottenWords) -> Session:
    """The session without what its title and its summaries say of forgotten memories.

    What was derived from the turns is derived again, if it can be about them.
    """
    brief = session.metadata.get(BRIEF_KEY)
    texts = (session.summary, brief if isinstance(brief, str) else None)
    if any(map(words.shares_terms, texts)):
        session = _drop_summaries(session)
    if session.title is None:
        return session
    if TITLE_SOURCE_KEY in session.metadata:
        return replace(session, title=None) if words.shares_terms(session.title) else session
    title = words.mask(session.title)
    return replace(session, title=None if says_nothing(title) else title)


def _drop_summaries(session: Session) -> Session:
    metadata = {name: value for name, value in session.metadata.items() if name != BRIEF_KEY}
    return replace(session, summary=None, summarised=0, metadata=metadata)
