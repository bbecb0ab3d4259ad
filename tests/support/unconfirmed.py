"""Stores memories that were learned in doubt, without a model that doubts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from remembrancer.memory import Memory
from remembrancer.remember.doubt import DOUBT_KEY
from remembrancer.remember.embedding import TextVectors
from remembrancer.remember.statement import Statement, build_record
from remembrancer.store.contract import Insert
from remembrancer.types import Action, Evidence, Record, Source, Status

CHAT = "chat-about-plans"


def learn_in_doubt(
    me: Memory,
    content: str,
    doubt: str = "hypothetical",
    *,
    said: str = "",
    **details: Any,
) -> Record:
    """Store a fact that waits for confirmation; `said` is the turn that it was learned from."""
    call = me._call
    turns = me.append([{"role": "user", "content": said}], CHAT) if said else ()
    evidence = tuple(Evidence(CHAT, turn.id, said) for turn in turns)
    values = {"source": Source.EXTRACTED, "confidence": 0.4, "metadata": {DOUBT_KEY: doubt}}
    statement = Statement(content=content, evidence=evidence, **{**values, **details})
    now = call.now()
    record = replace(build_record(call, statement, now), status=Status.UNCONFIRMED)
    vectors = TextVectors(call, [record.search_text])
    with call.open_writer() as writer:
        insert = Insert(record, vectors.get(record.search_text))
        writer.apply(call.new_event(Action.REMEMBERED, now), [insert])
    return record
