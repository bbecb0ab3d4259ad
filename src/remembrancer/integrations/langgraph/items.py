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
from remembrancer.guard.redaction import metadata_without_secrets
from remembrancer.ids import made_at
from remembrancer.remember.statement import CONTENT_LIMIT
from remembrancer.types import Fact, Json, Record, checked_name

Namespace = tuple[str, ...]

SHELF = ".items"
"""The last part of the scope of items: no label of a namespace has a dot in it."""

SUBJECT = "item"
MINUTES_A_DAY = 24 * 60
FOREVER = 36_500.0
"""The days of an item that does not expire: as long as a memory can be given."""


@dataclass(frozen=True, slots=True)
class Root:
    """Where the namespaces of a store begin: what they all start with, and the scope it is."""

    labels: Namespace = ()
    scope: str | None = None

    def below(self, namespace: Namespace) -> str | None:
        """The scope that a namespace is, or an error if it is not below the root."""
        labels, own = canonical(namespace), canonical(self.labels)
        if labels[: len(own)] != own:
            raise InvalidNamespaceError(f"{namespace} is not below {self.labels}.")
        path = labels[len(own) :]
        if any("/" in label or not label.strip() for label in path):
            raise InvalidNamespaceError(f"{namespace}: a label is not blank and has no slash.")
        return "/".join((self.scope, *path) if self.scope else path) or None

    def shelf(self, namespace: Namespace) -> str:
        """The scope of the items of a namespace."""
        scope = self.below(namespace)
        try:
            return checked_name(f"{scope}/{SHELF}" if scope else SHELF, "namespace")
        except InvalidInput as error:
            raise InvalidNamespaceError(str(error)) from None

    def namespace(self, scope: str) -> Namespace | None:
        """The namespace whose items have that scope, if it is one."""
        *path, last = scope.split("/")
        above = self.scope.split("/") if self.scope else []
        if last != SHELF or path[: len(above)] != above:
            return None
        return (*canonical(self.labels), *path[len(above) :])


def canonical(namespace: Namespace) -> Namespace:
    """The labels in the one form of Unicode in which names are kept."""
    return tuple(unicodedata.normalize("NFC", label) for label in namespace)


def address(key: str) -> str:
    """A key as a predicate, whatever is in it and however long it is."""
    digest = hashlib.blake2b(key.encode(errors="surrogatepass"), digest_size=16)
    return f".{digest.hexdigest()}"


@dataclass(frozen=True, slots=True)
class Content:
    """What an item is as a memory: the words it is found by, what it holds, how long it lasts."""

    words: str
    metadata: Mapping[str, Json]
    days: float

    def is_of(self, fact: Fact) -> bool:
        """Whether a fact is just that already."""
        return (fact.content, fact.metadata, fact.ttl_days) == (
            self.words,
            self.metadata,
            self.days,
        )


def content(op: PutOp, fields: list[str] | None) -> Content:
    """What is put, cleaned of secrets; `fields` are what is searched unless it says so itself."""
    kept = metadata_without_secrets({"name": op.key, "value": dict(op.value or {})}, "The item")
    if kept["name"] != op.key:
        raise InvalidInput("A key holds a secret; secrets are never remembered.")
    value: Any = kept["value"]
    said = _words(value, fields if op.index is None else op.index)
    days = op.ttl / MINUTES_A_DAY if op.ttl is not None else FOREVER
    words = (said or _in_words(value)).strip()[:CONTENT_LIMIT] or SUBJECT
    return Content(words, {**kept, "searched": said is not None}, days)


def expires(record: Record) -> bool:
    """Whether an item was given a time to live."""
    return record.ttl_days != FOREVER


def is_item(record: Record) -> bool:
    """Whether a store has put it there: whoever names the scope may remember something in it."""
    value, name = record.metadata.get("value"), record.metadata.get("name")
    return record.is_addressed and isinstance(value, dict) and isinstance(name, str)


def item(record: Record, namespace: Namespace) -> Item:
    """The item that a fact is."""
    return Item(**_told(record, namespace))


def search_item(record: Record, namespace: Namespace, score: float | None) -> SearchItem:
    """The item that a fact is, as one of many."""
    return SearchItem(**_told(record, namespace), score=score)


def value_of(record: Record) -> Mapping[str, Json]:
    """What an item holds."""
    value = record.metadata["value"]
    assert isinstance(value, dict)
    return value


def _told(record: Record, namespace: Namespace) -> dict[str, Any]:
    return {
        "namespace": namespace,
        "key": record.metadata["name"],
        "value": dict(value_of(record)),
        "created_at": made_at(record.lineage),
        "updated_at": record.confirmed_at,
    }


def _words(value: Any, index: list[str] | Literal[False] | None) -> str | None:
    """The text of the fields that are to be searched; None if nothing of it is."""
    if index is None:
        return _in_words(value)
    if not index:
        return None
    texts = [text for path in index for text in get_text_at_path(value, tokenize_path(path))]
    return "\n".join(texts) or None


def _in_words(value: Json) -> str:
    """A value as someone would write it down; a single field needs no name."""
    match value:
        case dict() if len(value) == 1:
            return _in_words(next(iter(value.values())))
        case dict():
            return "\n".join(f"{name}: {_in_words(inner)}" for name, inner in value.items())
        case list():
            return ", ".join(map(_in_words, value))
        case _:
            return "" if value is None else str(value)
