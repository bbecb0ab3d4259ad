"""N1: two names that look the same are one person, or the second is refused."""

from __future__ import annotations

import unicodedata

import pytest

from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidInput
from remembrancer.guard.lookalike_names import explain_lookalike
from remembrancer.types import Owner
from tests.mcp.talk import inside, principal
from tests.support.opening import Open

pytestmark = pytest.mark.feature("N1")

LOOKALIKES = (
    "eve\u200b",
    "e\u00adve",
    "\u202eeve",
    "eve ",
    "eve  x",
    "eve\u00a0x",
    "\u0435ve",  # a Cyrillic e
    "ev\u03b5",  # a Greek epsilon
    "\uff45ve",  # a wide e
    "eve\u200d",
    "eve\u3164",
)
PLAIN = (
    "eve",
    "Eve O'Neill-Smith",
    "Ольга",
    "田中",
    "田中Ken",
    "김하늘",
    "علی\u200cرضا",
    "José",
    "ada@example.com",
    "Ольга Smith",
    "Ångström",
    "नेहा",
    "Ελένη",
    "agent 🤖",
)


@pytest.mark.parametrize("name", PLAIN)
def test_N1_plain_names_of_all_scripts_are_fine(name: str) -> None:
    assert explain_lookalike(name) is None


@pytest.mark.postgres_long
@pytest.mark.parametrize("name", LOOKALIKES)
def test_N1_a_name_that_looks_like_another_is_refused_before_it_has_a_memory(
    store: Remembrancer, tenant: str, name: str
) -> None:
    store.for_user("eve").remember("Keeps bees.")

    other = store.for_user(name)
    assert not other.list().items
    with pytest.raises(InvalidInput, match=r"The user .+: "):
        other.remember("Keeps wasps.")
    with pytest.raises(InvalidInput, match="The user"):
        store.create_key(name)
    assert [one.user for one in store.owners() if one.tenant == tenant] == ["eve"]


@pytest.mark.parametrize("name", LOOKALIKES[:2])
def test_N1_every_surface_refuses_it(store: Remembrancer, name: str) -> None:
    with inside(store, principal(store, name)) as talk:
        error = talk.fails("remember", content="Keeps wasps.")
    assert "cannot be seen" in str(error)
    with pytest.raises(InvalidInput, match="The agent"):
        store.for_user("eve", agent=name)
    with pytest.raises(InvalidInput, match="The agent"):
        store.for_user("eve").acting_as(name)
    with pytest.raises(InvalidInput, match="The agent"):
        store.create_key("eve", agent=name)


def test_N1_a_name_is_the_same_in_each_normal_form(store: Remembrancer) -> None:
    for name in (unicodedata.normalize("NFC", "Zoë"), unicodedata.normalize("NFD", "Zoë")):
        store.for_user(name).remember(f"Was written with {len(name)} characters.")

    assert len(store.for_user("Zoë").list().items) == 2


def test_N1_it_is_no_second_voice_in_the_team(open_memory: Open) -> None:
    store = open_memory("assistant")
    store.for_user("eve").propose("The proxy pool uses ports 9000 to 9999.")
    with pytest.raises(InvalidInput, match="The user"):
        store.for_user("eve\u200b").propose("The proxy pool uses ports 9000 to 9999.")


def test_N1_who_has_such_a_name_already_keeps_their_memory(open_memory: Open, tenant: str) -> None:
    store = open_memory()
    store.for_user("eve").remember("Keeps bees.")
    lines = list(store.export("eve"))
    # A backup of an older version can hold such a name: to restore it is no new name.
    store.import_("eve\u200b", [line.replace(b'"eve"', b'"eve\\u200b"') for line in lines])

    me = store.for_user("eve\u200b")
    assert [one.content for one in me.list().items] == ["Keeps bees."]
    me.remember("Keeps wasps.")
    assert store.create_key("eve\u200b").key.owner == Owner(tenant, "eve\u200b")
