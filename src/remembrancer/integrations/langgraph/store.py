"""A LangGraph store over the memory of one user; each item is a fact."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Unpack, assert_never

from langgraph.store.base import (
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from remembrancer.errors import Conflict, InvalidInput
from remembrancer.integrations.langgraph.filters import (
    check_filter,
    matches_filter,
    select_namespaces,
)
from remembrancer.integrations.langgraph.item_store import (
    ItemSearchOp,
    ItemStore,
    StoreOptions,
    build_policy,
)
from remembrancer.integrations.langgraph.items import (
    ItemContent,
    Namespace,
    NamespaceRoot,
    get_value,
    has_expiry,
    to_item,
    to_search_item,
)
from remembrancer.integrations.langgraph.misuse import InvalidItem, check_namespace, check_op
from remembrancer.memory import Memory
from remembrancer.paging import MAX_LIMIT
from remembrancer.recall.filters import MAX_QUERY_CHARS
from remembrancer.remember.items import ITEM_SUBJECT, hash_key, is_item
from remembrancer.remember.trust import PERSONAL, trust_tier
from remembrancer.types import Fact, Kind, Mode, Permanence, Record, Status

if TYPE_CHECKING:
    from remembrancer.client import RemoteMemory
    from remembrancer.profiles import Profile

FoundItem = tuple[Record, Namespace, float | None]
"""An item, its namespace, and its similarity to the query."""


class RemembrancerStore(ItemStore):
    """A LangGraph store over the memory of one user, local or on a server.

    With `under`, all namespaces begin with these labels and others are refused.
    """

    __slots__ = ("_memory", "_policy", "_root")

    def __init__(
        self,
        memory: Memory | RemoteMemory,
        *,
        under: Namespace = (),
        **options: Unpack[StoreOptions],
    ) -> None:
        from remembrancer.client import RemoteMemory

        if not isinstance(memory, Memory | RemoteMemory):
            raise InvalidItem(
                f"A store needs the memory of a user, not {type(memory).__name__}: "
                "pass people.for_user(…) or remembrancer.connect(…)."
            )
        check_profile(memory.profile)
        check_namespace(under)
        self._memory = memory
        self._root = NamespaceRoot(under, memory.principal.agent)
        self._policy = build_policy(memory.profile, options)
        self.ttl_config = options.get("ttl")

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run the reads, then the writes; of several writes to one key only the last."""
        ops = list(ops)
        for op in ops:
            check_op(op)
            if isinstance(op, SearchOp):
                check_filter(op.filter)
        puts = {(tuple(op.namespace), op.key): op for op in ops if isinstance(op, PutOp)}
        writes = [
            (op, self._root.to_items_scope(op.namespace), self._build_content(op))
            for op in puts.values()
        ]
        results = [self._read(op) for op in ops]
        for write in writes:
            self._write(*write)
        return results

    def _read(self, op: Op) -> Result:
        match op:
            case GetOp():
                return self._get(op)
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return select_namespaces(self._iter_namespaces(), op)
            case PutOp():
                return None
            case never:
                assert_never(never)

    def _get(self, op: GetOp) -> Item | None:
        scope = self._root.to_items_scope(op.namespace)
        found = self._find(op.key, scope, used=op.refresh_ttl)
        return to_item(found, op.namespace) if found and is_item(found) else None

    def _find(self, key: str, scope: str, *, used: bool = False) -> Fact | None:
        """Return an item by its key, even in quarantine: only its program reads it there."""
        predicate = hash_key(key)
        found = self._memory.fact(ITEM_SUBJECT, predicate, scope=scope, used=used)
        if found is not None:
            return found
        quarantined = self._iter_quarantined(scope)
        return next((one for one in quarantined if one.predicate == predicate), None)

    def _iter_quarantined(self, scope: str) -> Iterator[Fact]:
        wanted: Any = {"kinds": [Kind.FACT], "subject": ITEM_SUBJECT, "scope": scope}
        cursor = None
        while True:
            page = self._memory.list(
                status=Status.QUARANTINED, limit=MAX_LIMIT, cursor=cursor, **wanted
            )
            yield from (one for one in page.items if isinstance(one, Fact) and one.scope == scope)
            if (cursor := page.cursor) is None:
                return

    def _build_content(self, op: PutOp) -> ItemContent | None:
        return self._policy.build_content(op) if op.value is not None else None

    def _write(self, op: PutOp, scope: str, content: ItemContent | None) -> None:
        known = self._find(op.key, scope)
        if content is None:
            self._forget(known)
        elif known is None:
            self._remember(op.key, scope, content)
        elif content.matches(known):
            self._confirm(known, op.key, content)
        elif content.origin.is_untrusted or known.status is Status.QUARANTINED:
            self._replace_apart(known, op.key, content)
        else:
            self._replace(known, op.key, content)

    def _remember(self, key: str, scope: str, content: ItemContent) -> None:
        self._memory.remember(
            content.text,
            scope=scope,
            subject=ITEM_SUBJECT,
            predicate=hash_key(key),
            permanence=Permanence.PERMANENT,
            **_build_fields(content),
        )

    def _confirm(self, known: Fact, key: str, content: ItemContent) -> None:
        if known.status is not Status.ACTIVE:
            return
        try:
            self._memory.confirm(known.id)
        except Conflict:  # deleted by another task in the meantime
            self._remember(key, known.scope, content)

    def _replace(self, known: Fact, key: str, content: ItemContent) -> None:
        try:
            self._memory.update(known.id, content.text, **_build_fields(content))
        except Conflict:  # deleted by another task in the meantime
            self._remember(key, known.scope, content)

    def _replace_apart(self, known: Fact, key: str, content: ItemContent) -> None:
        """Forget an item and put another in its place, which can be quarantined by itself."""
        if trust_tier(known) == PERSONAL and content.origin.is_untrusted:
            raise Conflict(
                f"{key}: text from a tool or a document cannot replace what the person said."
            )
        self._forget(known)
        self._remember(key, known.scope, content)

    def _forget(self, known: Fact | None) -> None:
        if known is None:
            return
        with contextlib.suppress(Conflict):  # forgotten by another task in the meantime
            if known.status is Status.QUARANTINED:
                self._memory.delete(known.id)
            else:
                self._memory.forget(known.id)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        query = (op.query or "").strip()[:MAX_QUERY_CHARS]
        found = self._recall_items(op, query) if query else self._list_items(op)
        shown = list(islice(found, op.offset, op.offset + op.limit))
        if op.refresh_ttl:
            for one, _, _ in shown:
                self._count_use(one)
        return [to_search_item(*one) for one in shown]

    def _count_use(self, record: Record) -> None:
        if has_expiry(record) and isinstance(record, Fact) and record.predicate:
            self._memory.fact(ITEM_SUBJECT, record.predicate, scope=record.scope, used=True)

    def _list_items(self, op: SearchOp) -> Iterator[FoundItem]:
        """Yield the items that match the filter, newest first."""
        filter, cursor = self._build_filter(op), None
        for limit in _growing_limits(op):
            page = self._memory.list(limit=limit, cursor=cursor, **filter)
            for one in page.items:
                if (namespace := self._match_namespace(one, op)) is not None:
                    yield one, namespace, None
            if (cursor := page.cursor) is None:
                return

    def _recall_items(self, op: SearchOp, query: str) -> list[FoundItem]:
        """Return the matching items, best first; recalls more until there are enough."""
        found: list[FoundItem] = []
        for limit in _growing_limits(op):
            best = self._memory.recall(
                query, mode=Mode.SEMANTIC, limit=limit, used=False, **self._build_filter(op)
            )
            found = [
                (one.memory, namespace, one.why.similarity)
                for one in best
                if one.memory.metadata.get("searched")
                and (namespace := self._match_namespace(one.memory, op)) is not None
            ]
            if len(found) >= op.offset + op.limit or len(best) < limit or limit == MAX_LIMIT:
                break
        return found

    def _build_filter(self, op: SearchOp) -> Any:
        """Return the filter for all facts below a namespace, including those that are not items."""
        scope = self._root.to_scope(op.namespace_prefix)
        least = op.minimum_importance if isinstance(op, ItemSearchOp) else 0
        return {"kinds": [Kind.FACT], "scope": scope, "minimum_importance": least}

    def _match_namespace(self, record: Record, op: SearchOp) -> Namespace | None:
        """Return the namespace of an item that matches the filter, or None."""
        if not is_item(record) or not matches_filter(get_value(record), op.filter):
            return None
        return self._root.to_namespace(record.scope)

    def _iter_namespaces(self) -> Iterator[Namespace]:
        scopes = self._memory.stats().by_scope
        return (one for scope in scopes if (one := self._root.to_namespace(scope)) is not None)


def _growing_limits(op: SearchOp) -> Iterator[int]:
    """Yield growing page sizes, because a filter can drop most of a page."""
    limit = op.offset + op.limit + 1
    while True:
        yield max(1, min(limit, MAX_LIMIT))
        limit *= 4


def check_profile(profile: Profile) -> None:
    """Raise InvalidInput for a profile without namespaces."""
    if profile.scopes.visibility != "nested":
        raise InvalidInput(
            f"The profile {profile.name!r} has no namespaces: "
            "open the memory with profile='namespaces'."
        )


def _build_fields(content: ItemContent) -> Any:
    return {
        "category": content.category,
        "importance": content.importance,
        "metadata": content.metadata,
        "origin": content.origin,
        "ttl_days": content.ttl_days,
    }
