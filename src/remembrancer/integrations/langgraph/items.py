"""An item of a LangGraph store as a fact: where it lies, what it says, what it holds. Pure.

A namespace is the scope, in a place below it where nothing but items lies, so that items and what
is learned never take each other's place. The key is the predicate, as an address.
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
"""The last part of the scope of items: no label of a namespace has a dot in it."""

ITEM_SUBJECT = "item"
MINUTES_PER_DAY = 24 * 60
NO_EXPIRY_DAYS = 36_500.0
"""The days of an item that does not expire: as long as a memory can be given."""


@dataclass(frozen=True, slots=True)
class NamespaceRoot:
    """Where the namespaces of a store begin: what they all start with, and the scope it is."""

    labels: Namespace = ()
    scope: str | None = None

    def to_scope(self, namespace: Namespace) -> str | None:
        """The scope that a namespace is, or an error if it is not below the root."""
        labels, own = normalise_labels(namespace), normalise_labels(self.labels)
        if labels[: len(own)] != own:
            raise InvalidNamespaceError(f"{namespace} is not below {self.labels}.")
        path = labels[len(own) :]
        if any("/" in label or not label.strip() for label in path):
            raise InvalidNamespaceError(f"{namespace}: a label is not blank and has no slash.")
        return "/".join((self.scope, *path) if self.scope else path) or None

    def to_items_scope(self, namespace: Namespace) -> str:
        """The scope of the items of a namespace."""
        scope = self.to_scope(namespace)
        try:
            return validate_name(f"{scope}/{ITEMS_LABEL}" if scope else ITEMS_LABEL, "namespace")
        except InvalidInput as error:
            raise InvalidNamespaceError(str(error)) from None

    def to_namespace(self, scope: str) -> Namespace | None:
        """The namespace whose items have that scope, if it is one."""
        *path, last = scope.split("/")
        above = self.scope.split("/") if self.scope else []
        if last != ITEMS_LABEL or path[: len(above)] != above:
            return None
        return (*normalise_labels(self.labels), *path[len(above) :])


def normalise_labels(namespace: Namespace) -> Namespace:
    """The labels in the one form of Unicode in which names are kept."""
    return tuple(unicodedata.normalize("NFC", label) for label in namespace)


def hash_key(key: str) -> str:
    """A key as a predicate, whatever is in it and however long it is."""
    digest = hashlib.blake2b(key.encode(errors="surrogatepass"), digest_size=16)
    return f".{digest.hexdigest()}"


@dataclass(frozen=True, slots=True)
class ItemContent:
    """What an item is as a memory: the words it is found by, what it holds, how long it lasts."""

    text: str
    metadata: Mapping[str, Json]
    ttl_days: float

    def matches(self, fact: Fact) -> bool:
        """Whether a fact is just that already."""
        return (fact.content, fact.metadata, fact.ttl_days) == (
            self.text,
            self.metadata,
            self.ttl_days,
        )


def build_content(op: PutOp, fields: list[str] | None) -> ItemContent:
    """What is put, cleaned of secrets; `fields` are what is searched unless it says so itself."""
    kept = redact_metadata({"name": op.key, "value": dict(op.value or {})}, "The item")
    if kept["name"] != op.key:
        raise InvalidInput("A key holds a secret; secrets are never remembered.")
    value: Any = kept["value"]
    said = _searchable_text(value, fields if op.index is None else op.index)
    days = op.ttl / MINUTES_PER_DAY if op.ttl is not None else NO_EXPIRY_DAYS
    words = (said or _render_value(value)).strip()[:MAX_CONTENT_CHARS] or ITEM_SUBJECT
    return ItemContent(words, {**kept, "searched": said is not None}, days)


def has_expiry(record: Record) -> bool:
    """Whether an item was given a time to live."""
    return record.ttl_days != NO_EXPIRY_DAYS


def is_item(record: Record) -> bool:
    """Whether a store has put it there: whoever names the scope may remember something in it."""
    value, name = record.metadata.get("value"), record.metadata.get("name")
    return record.has_program_key and isinstance(value, dict) and isinstance(name, str)


def to_item(record: Record, namespace: Namespace) -> Item:
    """The item that a fact is."""
    return Item(**_item_fields(record, namespace))


def to_search_item(record: Record, namespace: Namespace, score: float | None) -> SearchItem:
    """The item that a fact is, as one of many."""
    return SearchItem(**_item_fields(record, namespace), score=score)


def get_value(record: Record) -> Mapping[str, Json]:
    """What an item holds."""
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
    """The text of the fields that are to be searched; None if nothing of it is."""
    if index is None:
        return _render_value(value)
    if not index:
        return None
    texts = [text for path in index for text in get_text_at_path(value, tokenize_path(path))]
    return "\n".join(texts) or None


def _render_value(value: Json) -> str:
    """A value as someone would write it down; a single field needs no name."""
    match value:
        case dict() if len(value) == 1:
            return _render_value(next(iter(value.values())))
        case dict():
            return "\n".join(f"{name}: {_render_value(inner)}" for name, inner in value.items())
        case list():
            return ", ".join(map(_render_value, value))
        case _:
            return "" if value is None else str(value)
