"""Values as JSON, and back into what the library gives: the inverse of the server's `wire`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from remembrancer.clock import as_utc
from remembrancer.errors import InvalidInput, RemembrancerError
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
)

Value = TypeVar("Value")

KINDS: Mapping[str, type[Record]] = {
    Kind.FACT: Fact,
    Kind.RULE: Rule,
    Kind.EPISODE: Episode,
    Kind.TURN: Turn,
}


class Told(dict[str, Any]):
    """What a server told; to miss something in it is to have asked a stranger."""

    def __missing__(self, name: str) -> Any:
        raise unreadable()


def body_of(said: Mapping[str, Any]) -> bytes:
    """What is said, as JSON."""
    try:
        return json.dumps(said, default=_plain).encode()
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput("That cannot be sent: give plain values, as JSON has them.") from None


def query_of(said: Mapping[str, Any]) -> dict[str, Any]:
    """What is said, as parts of an address."""
    return {
        name: as_utc(value).isoformat() if isinstance(value, datetime) else value
        for name, value in said.items()
    }


def moments(as_of: AsOf | datetime | None) -> dict[str, datetime | None]:
    """The moment to look back to, as a server is asked for it."""
    if isinstance(as_of, datetime):
        as_of = AsOf(known=as_of)
    if as_of is None:
        return {}
    return {
        "known_at": as_of.known and as_utc(as_of.known),
        "true_at": as_of.true and as_utc(as_of.true),
    }


def read(wanted: type[Value], told: Any) -> Value:
    """A value out of what a server told; what is unknown here is left out."""
    with _understanding():
        value: Value = _built(wanted, told)
    return value


def read_all(wanted: type[Value], told: Any) -> tuple[Value, ...]:
    """Several values of one type."""
    with _understanding():
        return tuple(read(wanted, one) for one in told)


def read_page(wanted: type[Value], told: Any) -> Page[Value]:
    """One page of a listing."""
    return Page(read_all(wanted, told["items"]), told["cursor"])


def read_recollection(told: Any) -> Recollection:
    """What a recall brought back."""
    found, late = read_all(Recalled, told["items"]), read_all(str, told["late"])
    return Recollection(found, sure=told["sure"], late=late)


def unreadable() -> RemembrancerError:
    """The error for an answer that is none of ours."""
    return RemembrancerError(
        "The answer cannot be read: check that the address is a Remembrancer server's, "
        "and that its version is the same as here."
    )


@contextmanager
def _understanding() -> Iterator[None]:
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError):
        raise unreadable() from None


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return as_utc(value).isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError


def _built(wanted: Any, told: Any) -> Any:
    if told is None:
        return None
    if get_origin(wanted) is tuple:
        return tuple(_built(get_args(wanted)[0], one) for one in told)
    if NoneType in get_args(wanted):
        return _built(get_args(wanted)[0], told)
    if not isinstance(wanted, type):
        return told
    if issubclass(wanted, Record):
        return _instance(KINDS[told["kind"]], told)
    if is_dataclass(wanted):
        return _instance(wanted, told)
    if wanted is datetime:
        return as_utc(datetime.fromisoformat(told))
    return wanted(told) if issubclass(wanted, Enum) else told


def _instance(wanted: type, told: Mapping[str, Any]) -> Any:
    types = _types(wanted)
    return wanted(**{name: _built(types[name], told[name]) for name in types if name in told})


@cache
def _types(wanted: Any) -> dict[str, Any]:
    hints = get_type_hints(wanted)
    return {one.name: hints[one.name] for one in fields(wanted) if one.init}
