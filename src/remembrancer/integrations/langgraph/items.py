"""Converts items of a LangGraph store to facts and back."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
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
from remembrancer.guard.quarantine import choose_origin
from remembrancer.guard.redaction import redact_metadata
from remembrancer.ids import id_timestamp
from remembrancer.integrations.langgraph.misuse import check_details, check_json
from remembrancer.integrations.langgraph.run_person import get_run
from remembrancer.profiles import Profile
from remembrancer.remember.items import (
    ITEMS_LABEL,
    NO_EXPIRY_DAYS,
    ItemDetails,
    build_items_scope,
    build_metadata,
    choose_importance,
    choose_ttl_days,
    clip_text,
    read_details,
    render_described,
    render_value,
)
from remembrancer.types import Fact, Json, Origin, Record, parse_enum

Namespace = tuple[str, ...]
Value = Mapping[str, Any]

MINUTES_PER_DAY = 24 * 60


@dataclass(frozen=True, slots=True)
class NamespaceRoot:
    """The prefix of all namespaces of a store, and the scope that it stands for."""

    labels: Namespace = ()
    scope: str | None = None

    def to_scope(self, namespace: Namespace) -> str | None:
        """Return the scope of a namespace; raises an error if it is not below the root."""
        return "/".join(self._to_path(namespace)) or None

    def to_items_scope(self, namespace: Namespace) -> str:
        try:
            return build_items_scope(self._to_path(namespace))
        except InvalidInput as error:
            raise InvalidNamespaceError(f"{namespace}: {error}") from None

    def to_namespace(self, scope: str) -> Namespace | None:
        """Return the namespace of items with that scope, or None if it has no items."""
        *path, last = scope.split("/")
        above = self.scope.split("/") if self.scope else []
        if last != ITEMS_LABEL or path[: len(above)] != above:
            return None
        return (*normalise_labels(self.labels), *path[len(above) :])

    def _to_path(self, namespace: Namespace) -> list[str]:
        labels, own = normalise_labels(namespace), normalise_labels(self.labels)
        if labels[: len(own)] != own:
            raise InvalidNamespaceError(f"{namespace} is not below {self.labels}.")
        path = labels[len(own) :]
        if any("/" in label or not label.strip() for label in path):
            raise InvalidNamespaceError(f"{namespace}: a label must not be blank or have a slash.")
        return [*([self.scope] if self.scope else []), *path]


def normalise_labels(namespace: Namespace) -> Namespace:
    """Return the labels in the Unicode form of stored names."""
    return tuple(unicodedata.normalize("NFC", label) for label in namespace)


class CopyOp(PutOp):
    """Puts an item of another store, with the origin that is given for all of them."""

    origin: Origin | None = None


DetailsOf = Callable[[Namespace, Value], ItemDetails]


@dataclass(frozen=True, slots=True)
class ItemPolicy:
    """How a store turns values into memories: by its profile, and as its owner has set it."""

    profile: Profile
    fields: tuple[str, ...] | None = None
    origin: Origin | None = None
    details_of: DetailsOf | None = None

    def describe(self, namespace: Namespace, value: Value) -> ItemDetails:
        """Return the details of an item: given, or else in its fields `kind` and `importance`."""
        if self.details_of is not None:
            found = self.details_of(namespace, value)
            check_details(found)
            return found
        return read_details(self.profile, value)

    def build_content(self, op: PutOp) -> ItemContent:
        """Build the redacted content of an item that is put."""
        check_json(op.value)
        stored = redact_metadata({"name": op.key, "value": dict(op.value or {})}, "The item")
        if stored["name"] != op.key:
            raise InvalidInput("The key contains a secret, and secrets are never stored.")
        value: Any = stored["value"]
        details = self.describe(op.namespace, value)
        whole = render_described(value, details)
        text = self._find_searched_text(value, op.index, whole)
        told = clip_text(text) if text else whole
        return ItemContent(
            text=told,
            metadata=build_metadata(op.key, value, is_searched=text is not None),
            ttl_days=self._get_ttl_days(op, details),
            category=details.kind or self.profile.default_category,
            importance=choose_importance(self.profile, details),
            origin=self._get_origin(op, details, f"{told}\n{render_value(value)}"),
        )

    def _find_searched_text(
        self, value: Any, index: Sequence[str] | Literal[False] | None, whole: str
    ) -> str | None:
        """Return the text of the indexed fields, or None if nothing is indexed."""
        chosen = self.fields if index is None else index
        if chosen is None:
            return whole
        paths = [chosen] if isinstance(chosen, str) else list(chosen or ())
        texts = [text for path in paths for text in get_text_at_path(value, tokenize_path(path))]
        return "\n".join(texts) or None

    def _get_ttl_days(self, op: PutOp, details: ItemDetails) -> float:
        """Return the time to live that was asked for, or else that of the kind of the item."""
        if op.ttl is not None:
            return op.ttl / MINUTES_PER_DAY
        return choose_ttl_days(self.profile, details)

    def _get_origin(self, op: PutOp, details: ItemDetails, text: str) -> Origin:
        """Return who vouches for an item: nobody for what a graph puts or another store held."""
        of_copy = op.origin if isinstance(op, CopyOp) else None
        given = of_copy or details.origin or self.origin
        if given is not None:
            return parse_enum(Origin, given, "origin")
        is_own = not isinstance(op, CopyOp) and get_run() is None
        return Origin.USER if is_own else choose_origin(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemContent:
    """The text of an item that is told and searched, its value, and what else is stored of it."""

    text: str
    metadata: Mapping[str, Json]
    ttl_days: float
    category: str
    importance: float
    origin: Origin = field(compare=False)

    def matches(self, fact: Fact) -> bool:
        """True if a fact has this content already, and nobody vouches for it now who did not."""
        stored = ItemContent(
            text=fact.content,
            metadata=fact.metadata,
            ttl_days=fact.ttl_days or 0,
            category=fact.category,
            importance=fact.importance,
            origin=self.origin,
        )
        return self == stored and not (fact.tainted and self.origin is Origin.USER)


def has_expiry(record: Record) -> bool:
    return record.ttl_days != NO_EXPIRY_DAYS


def to_item(record: Record, namespace: Namespace) -> Item:
    return Item(**_item_fields(record, namespace))


def to_search_item(record: Record, namespace: Namespace, score: float | None) -> SearchItem:
    return SearchItem(**_item_fields(record, namespace), score=score)


def get_value(record: Record) -> Mapping[str, Json]:
    value = record.metadata["value"]
    assert isinstance(value, dict)
    return value


def _item_fields(record: Record, namespace: Namespace) -> dict[str, Any]:
    # An id holds milliseconds: finer times would make a new item older than itself.
    updated_at = record.confirmed_at
    return {
        "namespace": namespace,
        "key": record.metadata["name"],
        "value": dict(get_value(record)),
        "created_at": id_timestamp(record.lineage),
        "updated_at": updated_at - timedelta(microseconds=updated_at.microsecond % 1000),
    }
