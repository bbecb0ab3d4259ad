"""Wrong names and types of arguments are refused in plain words, before anything changes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any, cast

import pytest

import remembrancer
from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidInput, StoreClosed
from remembrancer.memory import Memory
from remembrancer.types import AsOf
from tests.support.http_server import Served

MISTAKES: list[tuple[str, dict[str, Any], str]] = [
    ("forget_all", {"tag": ["food"]}, "There is no option 'tag'. Did you mean 'tags'"),
    ("delete_all", {"scop": "home"}, "There is no option 'scop'. Did you mean 'scope'"),
    ("delete_all", {"category": "event"}, "Did you mean 'categories'"),
    ("list", {"as_off": None}, "Did you mean 'as_of'"),
    ("list", {"sort": "newest"}, "There is no option 'sort'."),
    ("list", {"tags": "food"}, r"tags must be a list: pass \['food'\]"),
    ("recall", {"query": "tea", "top_k": 1}, "There is no option 'top_k'. There are kinds, "),
    ("recall", {"query": "tea", "min_importance": 5}, "Did you mean 'minimum_importance'"),
    ("recall", {"query": "tea", "kinds": "fact"}, r"kinds must be a list: pass \['fact'\]"),
    ("recall", {"query": "tea", "minimum_confidence": 7}, "confidence must be from 0 to 1"),
    ("recall", {"query": "tea", "minimum_confidence": -1}, "confidence must be from 0 to 1"),
    ("list", {"minimum_confidence": 1.01}, "confidence must be from 0 to 1"),
    ("list", {"minimum_confidence": float("nan")}, "confidence must be from 0 to 1"),
    ("list", {"minimum_confidence": "much"}, "minimum_confidence must be a number"),
    (
        "link",
        {"source": "tea", "target": "tea", "relation": "near"},
        "relation: use one of derived_from, supports, contradicts, related_to, not 'near'",
    ),
    ("remember", {"content": "x", "catgory": "fact"}, "Did you mean 'category'"),
    ("remember", {"content": "x", "ttl": 5}, "There is no option 'ttl'. Did you mean"),
    ("remember", {"content": "x", "tags": "food"}, r"tags must be a list: pass \['food'\]"),
    ("remember", {"content": 5}, "content must be text, not 5"),
    ("remember", {"content": "x", "tags": 5}, "tags must be a list of text, not 5"),
    ("remember", {"content": "x", "tags": [5]}, r"tags must be a list of text, not \[5\]"),
    ("remember", {"content": "x", "importance": "high"}, "importance must be a number, not 'high'"),
    ("remember", {"content": "x", "importance": True}, "importance must be a number, not True"),
    ("remember", {"content": "x", "ttl_days": "5"}, "ttl_days must be a number, not '5'"),
    ("remember", {"content": "x", "scope": 5}, "scope must be text, not 5"),
    ("remember", {"content": "x", "metadata": "x"}, "metadata must be a mapping, not 'x'"),
    ("remember", {"content": "x", "valid_from": "x"}, "valid_from must be a datetime, not 'x'"),
    ("recall", {"query": 5}, "query must be text, not 5"),
    ("recall", {"query": "tea", "limit": "5"}, "limit must be a whole number, not '5'"),
    ("recall", {"query": "tea", "minimum_importance": "x"}, "minimum_importance must be a number"),
    ("recall", {"query": "tea", "used": 1}, "used must be true or false, not 1"),
    ("list", {"limit": "a"}, "limit must be a whole number, not 'a'"),
    ("list", {"minimum_confidence": "a"}, "minimum_confidence must be a number"),
    ("forget_all", {"categories": [1]}, r"categories must be a list of text, not \[1\]"),
    ("update", {"reference": "tea", "content": "x", "tag": ["a"]}, "Did you mean 'tags'"),
]


@pytest.mark.postgres_long
def test_an_option_that_does_not_exist_changes_nothing_near_or_far(
    serve: Callable[..., Served],
) -> None:
    server = serve()
    me = server.engine.for_user("ada")
    me.remember("Ada drinks green tea", tags=["home"])
    secret = server.engine.create_key("ada").secret
    with remembrancer.connect(server.address, secret) as remote:
        for memory in (me, remote):
            for verb, arguments, sentence in MISTAKES:
                with pytest.raises(InvalidInput, match=sentence):
                    getattr(memory, verb)(**arguments)
    assert [one.content for one in me.list().items] == ["Ada drinks green tea"]


LOOKING_BACK: dict[str, tuple[object, ...]] = {
    "recall": ("tea",),
    "context": ("What does Ada drink?",),
    "list": (),
    "get": ("tea",),
    "fact": ("ada", "drink"),
    "links": ("tea",),
    "history": ("tea",),
    "stats": (),
    "turns": ("talk",),
    "count_turns": ("talk",),
    "session_memories": ("talk",),
    "team": ("tea",),
    "list_team": (),
}
NO_MOMENTS: list[Any] = [
    *("2020-01-01", date(2020, 1, 1), 0, True),
    *(AsOf(known=cast(Any, "2020-01-01")), AsOf(true=cast(Any, 5))),
]


@pytest.mark.feature("X2")
@pytest.mark.postgres_long
def test_a_moment_is_a_datetime_near_and_far(serve: Callable[..., Served]) -> None:
    server = serve("assistant")
    me = server.engine.for_user("ada")
    me.remember("Ada drinks green tea")
    secret = server.engine.create_key("ada").secret
    with remembrancer.connect(server.address, secret) as remote:
        for memory in (me, remote):
            for verb, arguments in LOOKING_BACK.items():
                ask = getattr(memory, verb)
                for moment in NO_MOMENTS:
                    with pytest.raises(InvalidInput, match="as_of must be a datetime or an AsOf"):
                        ask(*arguments, as_of=moment)
                ask(*arguments, as_of=AsOf())


@pytest.mark.postgres_long
def test_a_query_and_a_user_are_text(store: Remembrancer, me: Memory) -> None:
    number: Any = 5
    with pytest.raises(InvalidInput, match="query must be text, not 5"):
        me.recall(number)
    with pytest.raises(InvalidInput, match="user must be text, not int: pass str"):
        store.for_user(number)


@pytest.mark.postgres_long
def test_nobody_is_not_the_configured_user(store: Remembrancer) -> None:
    nobody: Any = None
    own = store.for_user()
    own.remember("Ada drinks green tea")
    verbs: list[Callable[[], object]] = [
        lambda: store.for_user(nobody),
        lambda: store.create_key(nobody),
        lambda: store.erase(nobody),
        lambda: store.inventory(nobody),
        lambda: list(store.export(nobody)),
        lambda: store.review(nobody),
    ]
    for verb in verbs:
        with pytest.raises(InvalidInput, match=r"names nobody. Pass a user\."):
            verb()
    assert own.principal.owner.user == "ada"
    assert len(own.list().items) == 1


@pytest.mark.postgres_long
def test_a_namespace_is_a_list_of_labels(store: Remembrancer) -> None:
    with pytest.raises(InvalidInput, match=r"pass \['acme'\]"):
        store.for_namespace("acme")


def test_a_closed_store_neither_reads_nor_writes(store: Remembrancer, me: Memory) -> None:
    me.remember("Ada drinks green tea")
    store.close()
    verbs: list[Callable[[], object]] = [
        lambda: me.recall("tea"),
        me.list,
        lambda: me.remember("Ada drinks coffee"),
        lambda: store.for_user("bob").list(),
        lambda: store.for_user("bob").remember("Bob drinks coffee"),
        store.owners,
    ]
    for verb in verbs:
        with pytest.raises(StoreClosed, match=r"The store was closed. Open it again with"):
            verb()
