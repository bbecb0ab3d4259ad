"""Encodes requests as JSON and parses responses into the types of the library."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin, get_type_hints

from remembrancer.clock import as_utc
from remembrancer.errors import InvalidInput, RemembrancerError
from remembrancer.options import check_options, check_value
from remembrancer.types import (
    AsOf,
    Episode,
    Fact,
    Kind,
    Page,
    Recalled,
    Recollection,
    Record,
    Rule,
    Turn,
    to_as_of,
    validate_confidence,
)

if TYPE_CHECKING:
    from remembrancer.recall.filters import ListFilter, RecallOptions
    from remembrancer.remember.statement import FactFields

Value = TypeVar("Value")

UNSUPPORTED_FILTERS = {"permanences", "backlogs", "confidence_below"}
"""Filters of `Memory.list` that the REST API does not have."""

RECORD_CLASSES: Mapping[str, type[Record]] = {
    Kind.FACT: Fact,
    Kind.RULE: Rule,
    Kind.EPISODE: Episode,
    Kind.TURN: Turn,
}


class ResponseBody(dict[str, Any]):
    """The object in a response; a missing key means that the server is not ours."""

    def __missing__(self, name: str) -> Any:
        raise invalid_response_error()


def encode_body(params: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(params, default=_to_json_value).encode()
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput("The values cannot be sent: use only values that JSON has.") from None


def encode_query(params: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: as_utc(value).isoformat() if isinstance(value, datetime) else value
        for name, value in params.items()
    }


def build_as_of_params(as_of: AsOf | datetime | None) -> dict[str, datetime | None]:
    then = to_as_of(as_of)
    return {} if then is None else {"known_at": then.known, "true_at": then.true}


def build_list_params(filters: ListFilter) -> dict[str, Any]:
    if unsupported := sorted(UNSUPPORTED_FILTERS & filters.keys()):
        raise InvalidInput(f"A server cannot filter by {unsupported[0]}: leave it out.")
    params = {
        "kind": filters.get("kinds"),
        "scope": filters.get("scope"),
        "agent": filters.get("agent"),
        "session": filters.get("session"),
        "tag": filters.get("tags"),
        "min_importance": filters.get("minimum_importance"),
        "subject": filters.get("subject"),
        "category": filters.get("categories"),
        "maturity": filters.get("maturities"),
        "from": filters.get("recorded_from"),
        "to": filters.get("recorded_before"),
        **build_as_of_params(filters.get("as_of")),
    }
    return {name: value for name, value in params.items() if value not in (None, (), [])}


def check_fact_fields(content: str, given: FactFields) -> None:
    """Raise InvalidInput for a field that no memory has."""
    from remembrancer.remember.statement import FactFields

    check_value("content", content, str)
    check_options(given, FactFields)


def check_list_filter(given: ListFilter) -> None:
    """Raise InvalidInput for an option that no listing has."""
    from remembrancer.recall.filters import ListFilter

    check_options(given, ListFilter)


def check_recall_options(query: str, given: RecallOptions) -> None:
    """Raise InvalidInput for an option that no recall has."""
    from remembrancer.recall.filters import RecallOptions

    check_value("query", query, str)
    check_options(given, RecallOptions)
    validate_confidence(given.get("minimum_confidence", 0))


def parse_value(type_: type[Value], data: Any) -> Value:
    """Build a value from a response; unknown keys are ignored."""
    with _translate_parse_errors():
        value: Value = _convert(type_, data)
    return value


def parse_values(type_: type[Value], data: Any) -> tuple[Value, ...]:
    with _translate_parse_errors():
        return tuple(parse_value(type_, one) for one in data)


def parse_page(type_: type[Value], data: Any) -> Page[Value]:
    return Page(parse_values(type_, data["items"]), data["cursor"])


def parse_recollection(data: Any) -> Recollection:
    found, late = parse_values(Recalled, data["items"]), parse_values(str, data["late"])
    return Recollection(found, sure=data["sure"], late=late)


def invalid_response_error() -> RemembrancerError:
    return RemembrancerError(
        "The response cannot be read: check that the address is a Remembrancer server, "
        "and that it has the same version."
    )


@contextmanager
def _translate_parse_errors() -> Iterator[None]:
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError):
        raise invalid_response_error() from None


def _to_json_value(value: object) -> object:
    if isinstance(value, datetime):
        return as_utc(value).isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError


def _convert(type_: Any, data: Any) -> Any:
    if data is None:
        return None
    if get_origin(type_) is tuple:
        return tuple(_convert(get_args(type_)[0], one) for one in data)
    if NoneType in get_args(type_):
        return _convert(get_args(type_)[0], data)
    if not isinstance(type_, type):
        return data
    if issubclass(type_, Record):
        return _build_instance(RECORD_CLASSES[data["kind"]], data)
    if is_dataclass(type_):
        return _build_instance(type_, data)
    if type_ is datetime:
        return as_utc(datetime.fromisoformat(data))
    return type_(data) if issubclass(type_, Enum) else data


def _build_instance(type_: type, data: Mapping[str, Any]) -> Any:
    types = _field_types(type_)
    return type_(**{name: _convert(types[name], data[name]) for name in types if name in data})


@cache
def _field_types(type_: Any) -> dict[str, Any]:
    hints = get_type_hints(type_)
    return {one.name: hints[one.name] for one in fields(type_) if one.init}
