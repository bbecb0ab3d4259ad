"""Converts items of a LangGraph store to facts and back.

A namespace becomes a scope that ends in `.items`, so that items and learned facts cannot replace
each other. A hash of the key becomes the predicate.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from langgraph.store.base import (
    InvalidNamespaceError,
    Item,
    PutOp,
    SearchItem,
    get_text_at_path,
    tokenize_path,
)

from remembrancer.errors import InvalidInput
from remembrancer.guard.redaction import redact_metadata
from remembrancer.ids import id_timestamp
from remembrancer.remember.statement import MAX_CONTENT_CHARS
from remembrancer.types import Fact, Json, Record, validate_name

Namespace = tuple[str, ...]

ITEMS_LABEL = ".items"
"""Last label of the scope of items; LangGraph allows no dots in a namespace label."""

ITEM_SUBJECT = "item"
MINUTES_PER_DAY = 24 * 60
NO_EXPIRY_DAYS = 36_500.0
"""Lifetime of an item that does not expire: the longest that a memory can have."""


@dataclass(frozen=True, slots=True)
class NamespaceRoot:
    """The prefix of all namespaces of a store, and the scope that it stands for."""

    labels: Namespace = ()
    scope: str | None = None

    def to_scope(self, namespace: Namespace) -> str | None:
        """Return the scope of a namespace; raises an error if it is not below the root."""
        labels, own = normalise_labels(namespace), normalise_labels(self.labels)
        if labels[: len(own)] != own:
            raise InvalidNamespaceError(f"{namespace} is not below {self.labels}.")
        path = labels[len(own) :]
        if any("/" in label or not label.strip() for label in path):
            raise InvalidNamespaceError(f"{namespace}: a label must not be blank or have a slash.")
        return "/".join((self.scope, *path) if self.scope else path) or None

    def to_items_scope(self, namespace: Namespace) -> str:
        scope = self.to_scope(namespace)
        try:
            return validate_name(f"{scope}/{ITEMS_LABEL}" if scope else ITEMS_LABEL, "namespace")
        except InvalidInput as error:
            raise InvalidNamespaceError(str(error)) from None

    def to_namespace(self, scope: str) -> Namespace | None:
        """Return the namespace of items with that scope, or None if it has no items."""
        *path, last = scope.split("/")
        above = self.scope.split("/") if self.scope else []
        if last != ITEMS_LABEL or path[: len(above)] != above:
            return None
        return (*normalise_labels(self.labels), *path[len(above) :])


def normalise_labels(namespace: Namespace) -> Namespace:
    """Return the labels in the Unicode form of stored names."""
    return tuple(unicodedata.normalize("NFC", label) for label in namespace)


def hash_key(key: str) -> str:
    """Return a predicate for any key, of any length."""
    digest = hashlib.blake2b(key.encode(errors="surrogatepass"), digest_size=16)
    return f".{digest.hexdigest()}"


@dataclass(frozen=True, slots=True)
class ItemContent:
    """The searchable text, the stored value and the lifetime of an item."""

    text: str
    metadata: Mapping[str, Json]
    ttl_days: float

    def matches(self, fact: Fact) -> bool:
        """True if a fact has this content already."""
        own = (self.text, self.metadata, self.ttl_days)
        return (fact.content, fact.metadata, fact.ttl_days) == own


def build_content(op: PutOp, fields: list[str] | None) -> ItemContent:
    """Build the redacted content; `fields` are searched unless the operation has an index."""
    stored = redact_metadata({"name": op.key, "value": dict(op.value or {})}, "The item")
    if stored["name"] != op.key:
        raise InvalidInput("The key contains a secret, and secrets are never stored.")
    value: Any = stored["value"]
    searchable = _searchable_text(value, fields if op.index is None else op.index)
    days = op.ttl / MINUTES_PER_DAY if op.ttl is not None else NO_EXPIRY_DAYS
    text = (searchable or _render_value(value)).strip()[:MAX_CONTENT_CHARS] or ITEM_SUBJECT
    return ItemContent(text, {**stored, "searched": searchable is not None}, days)


def has_expiry(record: Record) -> bool:
    return record.ttl_days != NO_EXPIRY_DAYS


def is_item(record: Record) -> bool:
    """True if a store has written the record; other callers can use the scope as well."""
    value, name = record.metadata.get("value"), record.metadata.get("name")
    return record.has_program_key and isinstance(value, dict) and isinstance(name, str)


def to_item(record: Record, namespace: Namespace) -> Item:
    return Item(**_item_fields(record, namespace))


def to_search_item(record: Record, namespace: Namespace, score: float | None) -> SearchItem:
    return SearchItem(**_item_fields(record, namespace), score=score)


def get_value(record: Record) -> Mapping[str, Json]:
    value = record.metadata["value"]
    assert isinstance(value, dict)
    return value


def _item_fields(record: Record, namespace: Namespace) -> dict[str, Any]:
    return {
        "namespace": namespace,
        "key": record.metadata["name"],
        "value": dict(get_value(record)),
        "created_at": id_timestamp(record.lineage),
        "updated_at": record.confirmed_at,
    }


def _searchable_text(value: Any, index: list[str] | Literal[False] | None) -> str | None:
    """Return the text of the indexed fields, or None if nothing is indexed."""
    if index is None:
        return _render_value(value)
    if not index:
        return None
    texts = [text for path in index for text in get_text_at_path(value, tokenize_path(path))]
    return "\n".join(texts) or None


def _render_value(value: Json) -> str:
    """Return a value as readable text; a single field is shown without its name."""
    match value:
        case dict() if len(value) == 1:
            return _render_value(next(iter(value.values())))
        case dict():
            return "\n".join(f"{name}: {_render_value(inner)}" for name, inner in value.items())
        case list():
            return ", ".join(map(_render_value, value))
        case _:
            return "" if value is None else str(value)
