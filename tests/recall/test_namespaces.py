"""N1: a namespace is an organisation, a user and a path; a prefix finds what is below it only."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidInput, NotFound
from remembrancer.guard.lookalike_names import explain_lookalike

pytestmark = pytest.mark.feature("N1")

Space = tuple[str, ...]


@pytest.fixture
def spaces(open_fake: Callable[..., Remembrancer]) -> Remembrancer:
    return open_fake("namespaces")


@pytest.fixture
def org(tenant: str) -> str:
    """An organisation of this test's own."""
    return tenant


def put(store: Remembrancer, space: Space, words: str | None = None) -> str:
    return store.for_namespace(space).remember(words or f"This is of {space!r}.").memory.id


def found(store: Remembrancer, space: Space) -> set[str]:
    """All that a namespace shows, by every way of reading; they must agree."""
    memory = store.for_namespace(space)
    listed = {one.content for one in memory.list(limit=1000).items}
    searched = {one.memory.content for one in memory.recall("This is of", limit=1000)}
    by_words = {
        one.memory.content for one in memory.recall("this is of", limit=1000, mode="keyword")
    }
    assert listed == searched
    assert by_words <= listed
    return listed


TRICKY: list[tuple[Space, Space]] = [
    (("acme", "ada"), ("acme", "ada2")),
    (("acme", "ada"), ("acme2", "ada")),
    (("acme", "ada"), ("acmeada", "x")),
    (("ab", "c"), ("a", "bc")),
    (("a", "b/c"), ("a", "b", "c")),
    (("a/b", "c"), ("a", "b/c")),
    (("a/b", "c"), ("a", "b", "c")),
    (("acme", "%"), ("acme", "ada")),
    (("acme", "_da"), ("acme", "ada")),
    (("acme", "ada", "%"), ("acme", "ada", "notes")),
    (("acme", "ada", "n_tes"), ("acme", "ada", "notes")),
    (("acme", "ada", "note"), ("acme", "ada", "notes")),
    (("acme", "ada", "notes"), ("acme", "ada", "notes2", "x")),
    (("acme", "ada", "a", "b"), ("acme", "ada", "a b")),
    (("acme", "ada", "a.b"), ("acme", "ada", "a", "b")),
    (("acme", "ada", "É"), ("acme", "ada", "E")),
    (("acme", "Ada"), ("acme", "ada")),
    (("acme", "日本"), ("acme", "日")),
    (("acme", "ada", "日"), ("acme", "ada", "日本")),
    (("acme", "straße"), ("acme", "strasse")),
    (("acme", "ada'; --"), ("acme", "ada")),
    (("acme", "*"), ("acme", "ada")),
    (("acme", "..", "x"), ("acme", "x")),
    (("acme", "ada", "..", "x"), ("acme", "ada", "x")),
    (("1:a", "b"), ("1", ":ab")),
]


@pytest.mark.parametrize(("one", "other"), TRICKY)
def test_N1_names_that_look_alike_share_nothing(
    one: Space, other: Space, spaces: Remembrancer, org: str
) -> None:
    first, second = (f"{org} {one[0]}", *one[1:]), (f"{org} {other[0]}", *other[1:])
    put(spaces, first, "This is of the first.")
    put(spaces, second, "This is of the second.")

    assert found(spaces, first) == {"This is of the first."}
    assert found(spaces, second) == {"This is of the second."}


def test_N1_a_prefix_finds_everything_below_it_and_nothing_beside(
    spaces: Remembrancer, org: str
) -> None:
    tree: list[Space] = [
        (org, "ada", "work"),
        (org, "ada", "work", "alpha"),
        (org, "ada", "work", "alpha", "notes"),
        (org, "ada", "work", "beta"),
        (org, "ada", "workshop"),
        (org, "ada", "home", "work"),
        (org, "bob", "work", "alpha"),
    ]
    for space in tree:
        put(spaces, space)

    for asked in [*tree, (org, "ada"), (org, "bob"), (org, "carol"), (org, "ada", "work", "gamma")]:
        below = {space for space in tree if space[: len(asked)] == asked}
        assert found(spaces, asked) == {f"This is of {space!r}." for space in below}


def test_N1_a_users_own_memories_do_not_show_in_a_namespace_called_global(
    spaces: Remembrancer, org: str
) -> None:
    put(spaces, (org, "ada"), "This is of the root.")
    put(spaces, (org, "ada", "global"), "This is of a path.")

    assert found(spaces, (org, "ada", "global")) == {"This is of a path."}
    assert found(spaces, (org, "ada")) == {"This is of the root.", "This is of a path."}


def test_N1_the_same_name_in_two_encodings_is_one_namespace(spaces: Remembrancer, org: str) -> None:
    composed = unicodedata.normalize("NFC", "zoé")
    decomposed = unicodedata.normalize("NFD", "zoé")
    assert composed != decomposed
    put(spaces, (org, composed, composed), "This is of Zoé.")

    assert found(spaces, (org, decomposed, decomposed)) == {"This is of Zoé."}


def test_N1_a_namespace_cannot_be_left_by_naming_another_scope(
    spaces: Remembrancer, org: str
) -> None:
    put(spaces, (org, "ada", "work"), "This is of work.")
    put(spaces, (org, "ada", "home"), "This is of home.")
    home = spaces.for_namespace((org, "ada", "home"))

    for scope in ("work", "../work", "homework", "hom", "/", "%", ""):
        with pytest.raises(InvalidInput):
            home.recall("This is of", scope=scope)
        with pytest.raises(InvalidInput):
            home.list(scope=scope)
        with pytest.raises(InvalidInput):
            home.remember("Smuggled.", scope=scope)

    assert {one.content for one in home.list(scope="home").items} == {"This is of home."}


def test_N1_the_id_of_a_memory_opens_no_other_namespace(spaces: Remembrancer, org: str) -> None:
    work = put(spaces, (org, "ada", "work"))

    for beside in ((org, "ada", "home"), (org, "ada", "work", "deep"), (org, "bob"), ("x", "ada")):
        memory = spaces.for_namespace(beside)
        attempts: list[Callable[[str], Any]] = [
            memory.get,
            memory.forget,
            memory.delete,
            memory.confirm,
            memory.history,
        ]
        for attempt in attempts:
            with pytest.raises(NotFound):
                attempt(work)
        with pytest.raises(NotFound):
            memory.undo()


def test_N1_the_same_words_in_two_namespaces_are_two_memories(
    spaces: Remembrancer, org: str
) -> None:
    ids = {
        put(spaces, space, "This is of all.")
        for space in ((org, "ada", "work"), (org, "ada", "home"), (org, "ada"), (org, "bob"))
    }

    assert len(ids) == 4


@pytest.mark.parametrize("name", ["ada ", "ﬁ", "аda", "a\u200bda"])
def test_N1_a_user_whose_name_looks_like_another_is_refused(
    spaces: Remembrancer, org: str, name: str
) -> None:
    with pytest.raises(InvalidInput):
        put(spaces, (org, name))


@pytest.mark.parametrize("space", [(), ("acme",), ("acme", ""), ("", "ada"), ("acme", "ada", "")])
def test_N1_a_namespace_needs_an_organisation_a_user_and_no_empty_part(
    space: Space, spaces: Remembrancer
) -> None:
    with pytest.raises(InvalidInput):
        spaces.for_namespace(space)


part = st.text(alphabet="ab/%_.é日' ", min_size=1, max_size=3).filter(
    lambda name: explain_lookalike(name) is None
)
step = part.filter(lambda name: "/" not in name)
space_names = st.tuples(part, part, st.lists(step, max_size=2)).map(lambda t: (t[0], t[1], *t[2]))


@settings(
    deadline=None,
    max_examples=8,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(names=st.lists(space_names, min_size=2, max_size=4, unique=True), run=st.uuids())
def test_N1_whatever_the_names_only_a_true_prefix_finds(
    spaces: Remembrancer, names: list[Space], run: object
) -> None:
    tree = [(f"{run} {name[0]}", *name[1:]) for name in names]
    for space in tree:
        put(spaces, space)

    for asked, other in permutations(tree, 2):
        is_below = other[: len(asked)] == asked
        assert (f"This is of {other!r}." in found(spaces, asked)) == is_below
