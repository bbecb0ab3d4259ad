"""What our LangGraph stores share with each other and with LangGraph's own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator, Iterable
from concurrent.futures import Future
from functools import wraps
from typing import Any, ParamSpec, Self, TypedDict, TypeVar

from langgraph.store.base import (
    BaseStore,
    Op,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
)
from langgraph.store.base import IndexConfig as SearchIndex

from remembrancer.integrations.langgraph.items import DetailsOf, ItemPolicy, Namespace
from remembrancer.integrations.langgraph.misuse import (
    InvalidItem,
    check_fields,
    check_namespace,
    check_op,
)
from remembrancer.options import check_options
from remembrancer.profiles import Profile
from remembrancer.types import Origin, parse_enum

Verb = ParamSpec("Verb")
Found = TypeVar("Found")


class TTLOptions(TypedDict, total=False):
    """LangGraph's TTLConfig; programs also give parts of a minute."""

    refresh_on_read: bool
    default_ttl: float | None
    sweep_interval_minutes: float | None


class StoreOptions(TypedDict, total=False):
    """Options of a store.

    `fields` of an item are searched and told, by default its text. `ttl` is LangGraph's. `origin`
    says who vouches for the items, and `details_of` says so of each. Of LangGraph's `index` only
    the fields count: texts are embedded as the memory was opened to do.
    """

    fields: list[str] | None
    index: SearchIndex | None
    ttl: TTLConfig | None
    origin: Origin | str | None
    details_of: DetailsOf | None


def build_policy(profile: Profile, options: StoreOptions) -> ItemPolicy:
    """Return how a store keeps items; raises InvalidItem for options that it cannot keep."""
    check_options(options, StoreOptions)
    check_options(options.get("ttl") or {}, TTLOptions)
    index = options.get("index") or {}
    if index.get("embed") is not None:
        raise InvalidItem(
            "The memory embeds all texts in one way. Say how when you open it: "
            "remembrancer.open(…, embedder=LangChainEmbedder(embeddings, model=…))."
        )
    fields, origin = options.get("fields") or index.get("fields"), options.get("origin")
    return ItemPolicy(
        profile,
        tuple(check_fields(fields, "fields")) if fields else None,
        parse_enum(Origin, origin, "origin") if origin is not None else None,
        options.get("details_of"),
    )


class ItemSearchOp(SearchOp):
    """A search for items of some importance."""

    minimum_importance: float = 0


class AwaitableInt(int):
    """A number that can also be awaited, for programs written for LangGraph's async stores."""

    def __await__(self) -> Generator[None, None, int]:
        yield from ()
        return int(self)


class IdleSweeper(Future[None]):
    """A sweeper that has finished; it can be awaited for the same reason."""

    def __init__(self) -> None:
        super().__init__()
        self.set_result(None)

    def __await__(self) -> Generator[None, None, IdleSweeper]:
        yield from ()
        return self


def _check_first(verb: Callable[Verb, Found]) -> Callable[Verb, Found]:
    """The verb, with our sentence about a namespace that LangGraph's own verb refuses."""

    @wraps(verb)
    def check_first(*args: Verb.args, **options: Verb.kwargs) -> Found:
        check_namespace(options["namespace"] if "namespace" in options else args[1])
        return verb(*args, **options)

    return check_first


def _check_first_async(
    verb: Callable[Verb, Coroutine[Any, Any, Found]],
) -> Callable[Verb, Coroutine[Any, Any, Found]]:
    check = _check_first(verb)

    @wraps(verb)
    async def check_first(*args: Verb.args, **options: Verb.kwargs) -> Found:
        return await check(*args, **options)

    return check_first


class ItemStore(BaseStore):
    """A LangGraph store that programs written for LangGraph's own stores can use.

    There is nothing to set up and nothing to sweep: expired items are not returned, and the jobs of
    the memory remove them.
    """

    __slots__ = ("ttl_config",)
    supports_ttl = True

    get, aget = _check_first(BaseStore.get), _check_first_async(BaseStore.aget)
    put, aput = _check_first(BaseStore.put), _check_first_async(BaseStore.aput)
    delete, adelete = _check_first(BaseStore.delete), _check_first_async(BaseStore.adelete)

    def list_namespaces(
        self, *, prefix: Any = None, suffix: Any = None, **page: Any
    ) -> list[Namespace]:
        """List the namespaces that begin and end with these labels; a star is any one label."""
        for labels in (prefix, suffix):
            check_namespace(labels or ())
        return super().list_namespaces(prefix=prefix, suffix=suffix, **page)

    async def alist_namespaces(
        self, *, prefix: Any = None, suffix: Any = None, **page: Any
    ) -> list[Namespace]:
        """Run `list_namespaces` in a thread."""
        return await asyncio.to_thread(self.list_namespaces, prefix=prefix, suffix=suffix, **page)

    def search(
        self,
        namespace_prefix: Namespace,
        /,
        *,
        query: str | None = None,
        filter: dict[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
        minimum_importance: float = 0,
    ) -> list[SearchItem]:
        """Search items below a namespace; `minimum_importance` leaves out the less important."""
        refresh = self._refreshes_ttl(refresh_ttl)
        op = ItemSearchOp(namespace_prefix, filter, limit, offset, query, refresh)
        op.minimum_importance = minimum_importance
        check_op(op)
        return self.batch([op])[0]  # type: ignore[return-value]

    async def asearch(
        self,
        namespace_prefix: Namespace,
        /,
        *,
        query: str | None = None,
        filter: dict[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
        minimum_importance: float = 0,
    ) -> list[SearchItem]:
        """Run `search` in a thread."""
        return await asyncio.to_thread(
            self.search,
            namespace_prefix,
            query=query,
            filter=filter,
            limit=limit,
            offset=offset,
            refresh_ttl=refresh_ttl,
            minimum_importance=minimum_importance,
        )

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run `batch` in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def setup(self) -> AwaitableInt:
        """Do nothing: the tables of the memory exist."""
        return AwaitableInt()

    def sweep_ttl(self) -> AwaitableInt:
        """Return 0: no item waits to be swept."""
        return AwaitableInt()

    def start_ttl_sweeper(self, sweep_interval_minutes: int | None = None) -> IdleSweeper:
        """Return at once: no item waits to be swept."""
        return IdleSweeper()

    def stop_ttl_sweeper(self, timeout: float | None = None) -> AwaitableInt:
        """Return true: no sweeper runs."""
        return AwaitableInt(True)

    def _refreshes_ttl(self, given: bool | None) -> bool:
        config = self.ttl_config or {}
        return config.get("refresh_on_read", True) if given is None else given

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the memory open: whoever opened it closes it."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Leave the memory open: whoever opened it closes it."""
