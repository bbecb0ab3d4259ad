"""Renders memories as response models, with their confidence at the moment of the response."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from datetime import datetime
from functools import cached_property
from typing import Any

from pydantic import TypeAdapter
from starlette.responses import Response

from remembrancer.decay import effective_confidence, standing_at
from remembrancer.memory import Memory
from remembrancer.remember.provenance import describe_provenance, trace_provenance
from remembrancer.server import schemas
from remembrancer.types import Kind, Record, Rule, Written

_MODELS: dict[Kind, type[schemas.MemoryResponse]] = {
    Kind.FACT: schemas.FactResponse,
    Kind.RULE: schemas.RuleResponse,
    Kind.EPISODE: schemas.EpisodeResponse,
    Kind.TURN: schemas.TurnResponse,
}


class MemoryRenderer:
    """Renders the memories of one response; it asks the clock once, so they share one moment."""

    def __init__(self, me: Memory, clock: Callable[[], datetime]) -> None:
        self._me = me
        self._clock = clock

    @cached_property
    def _now(self) -> datetime:
        return self._clock()

    def memory(self, record: Record) -> Any:
        model = _MODELS[record.kind]
        decay = self._me.profile.decay
        values = {name: getattr(record, name, None) for name in model.model_fields}
        values["provenance"] = build_provenance(record)
        values["standing"] = standing_at(record, decay, self._now)
        values["effective_confidence"] = round(effective_confidence(record, decay, self._now), 4)
        if isinstance(record, Rule):
            values["effectiveness"] = round(self._me.effectiveness(record), 4)
        return model.model_validate(values)

    def memories(self, records: Iterable[Record]) -> list[Any]:
        return [self.memory(record) for record in records]

    def write(self, result: Written) -> schemas.WriteResponse:
        return schemas.WriteResponse(
            memory=self.memory(result.memory),
            event=result.event,
            replaced=self.memory(result.replaced) if result.replaced else None,
            refusal=result.refusal,
            conflicts=self.memories(result.conflicts),
            secrets=list(result.secrets),
        )


def build_provenance(record: Record) -> schemas.ProvenanceResponse:
    provenance = trace_provenance(record)
    return schemas.ProvenanceResponse(
        description=describe_provenance(provenance), **asdict(provenance)
    )


def build_json_response(adapter: TypeAdapter[Any], values: object) -> Response:
    """Serialise in the current thread; FastAPI would use another one."""
    response = adapter.validate_python(values, from_attributes=True)
    return Response(adapter.dump_json(response), media_type="application/json")
