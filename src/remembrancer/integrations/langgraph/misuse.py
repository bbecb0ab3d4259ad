"""Checks what is passed to a LangGraph store, and says in a sentence what is wrong."""

from __future__ import annotations

import json
from typing import Any

from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    Op,
    PutOp,
    SearchOp,
    validate_op_namespace,
)

from remembrancer.errors import InvalidInput
from remembrancer.options import check_value
from remembrancer.remember.items import ItemDetails

MAX_TTL_MINUTES = 36_500 * 24 * 60
MAX_VALUE_DEPTH = 100


class InvalidItem(InvalidInput, ValueError, TypeError):
    """An argument that no LangGraph store takes; theirs raise ValueError or TypeError."""


def check_namespace(namespace: Any) -> None:
    """Raise InvalidNamespaceError for text, and for a label with a period: they can be quoted."""
    if not isinstance(namespace, tuple | list):
        instead = f"pass ({namespace!r},)" if isinstance(namespace, str) else f"not {namespace!r}"
        raise InvalidNamespaceError(f"A namespace is a tuple of labels: {instead}.")
    for label in namespace:
        if not isinstance(label, str):
            raise InvalidNamespaceError(f"Labels must be strings, but got {label!r}: pass str(…).")
        if "." in label:
            raise InvalidNamespaceError(
                f"{label!r}: labels cannot contain periods. For the name of a user or an "
                f"organisation, open SharedStore(…, quoted=True) and pass quote_label({label!r})."
            )


def check_op(op: Op) -> None:
    """Raise InvalidItem, or InvalidNamespaceError, for values that cannot be meant."""
    match op:
        case GetOp() | PutOp():
            check_namespace(op.namespace)
        case SearchOp():
            check_namespace(op.namespace_prefix)
        case ListNamespacesOp():
            for one in op.match_conditions or ():
                check_namespace(one.path)
    validate_op_namespace(op)
    match op:
        case PutOp():
            _check_put(op)
        case SearchOp():
            _check_numbers(limit=op.limit, offset=op.offset)
            check_item_value("query", op.query, str | None)
            check_item_value("minimum_importance", getattr(op, "minimum_importance", 0), float)
        case ListNamespacesOp():
            _check_numbers(limit=op.limit, offset=op.offset)
            if op.max_depth is not None:
                _check_numbers(max_depth=op.max_depth)
        case _:
            return


def check_item_value(name: str, value: object, hint: Any) -> None:
    """Raise InvalidItem unless a value has the type."""
    try:
        check_value(name, value, hint)
    except InvalidInput as error:
        raise InvalidItem(str(error)) from None


def check_details(details: object) -> None:
    """Raise InvalidItem unless a function has returned the details of an item."""
    if not isinstance(details, ItemDetails):
        raise InvalidItem(
            f"details_of must return ItemDetails(…), not {type(details).__name__}: "
            "ItemDetails() for an item without any."
        )
    check_item_value("kind", details.kind, str | None)
    check_item_value("importance", details.importance, float | None)


def check_json(value: Any, path: str = "", depth: int = 0) -> None:
    """Raise InvalidItem for the first part of a value that JSON has no form for."""
    if depth > MAX_VALUE_DEPTH:
        raise InvalidItem(
            f"The value is nested more than {MAX_VALUE_DEPTH} levels deep, or contains itself."
        )
    match value:
        case None | bool() | int() | str():
            return
        case float() if value - value == 0:
            return
        case dict():
            for name, inner in value.items():
                if not isinstance(name, str):
                    raise InvalidItem(f"The key {name!r} of the value is not text.")
                check_json(inner, f"{path}.{name}" if path else name, depth + 1)
        case list() | tuple():
            for index, inner in enumerate(value):
                check_json(inner, f"{path}[{index}]", depth + 1)
        case _:
            found = json.dumps(value) if isinstance(value, float) else type(value).__name__
            raise InvalidItem(f"The field {path!r} of the value is {found}, which is not JSON.")


def check_fields(fields: Any, name: str) -> list[str]:
    """Return the paths of fields; raises InvalidItem for anything but a list of text."""
    if isinstance(fields, list | tuple) and all(isinstance(one, str) for one in fields):
        return list(fields)
    pass_instead = f"pass [{fields!r}]" if isinstance(fields, str) else f"not {fields!r}"
    raise InvalidItem(f"{name} must be a list of the names of fields: {pass_instead}.")


def _check_numbers(**numbers: object) -> None:
    for name, number in numbers.items():
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise InvalidItem(f"The {name} must be a whole number from 0, not {number!r}.")


def _check_put(op: PutOp) -> None:
    if op.index is not None and op.index is not False and not isinstance(op.index, str):
        check_fields(op.index, "index")
    if op.value is not None and not isinstance(op.value, dict):
        raise InvalidItem(
            f"The value must be a mapping, not {type(op.value).__name__}: "
            f'pass {{"text": …}} for a text.'
        )
    if op.ttl is None:
        return
    if not isinstance(op.ttl, int | float) or isinstance(op.ttl, bool):
        raise InvalidItem(f"The ttl must be a number of minutes, not {op.ttl!r}.")
    if not 0 < op.ttl <= MAX_TTL_MINUTES:
        raise InvalidItem(
            f"The ttl must be more than 0 and at most {MAX_TTL_MINUTES} minutes, not {op.ttl}."
        )
