"""Anthropic's memory tool over memories: its six commands, their history, and no way out."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest

import remembrancer
from remembrancer.engine import Remembrancer
from remembrancer.errors import Conflict, InvalidInput, NotAllowed, NotFound
from remembrancer.integrations.memory_files import REMEMBERED_FILE, MemoryFiles
from remembrancer.memory import Memory
from tests.support.http_server import Served

TEA = "/memories/likes/tea.md"


@pytest.fixture
def files(me: Memory) -> MemoryFiles:
    return MemoryFiles(me)


def test_a_file_is_created_viewed_edited_moved_and_deleted(files: MemoryFiles, me: Memory) -> None:
    assert files.create(TEA, "Green tea\n\tno sugar\n") == f"File created successfully at: {TEA}"
    assert files.view(TEA) == (
        f"Here's the content of {TEA} with line numbers:\n"
        "     1\tGreen tea\n     2\t\tno sugar\n     3\t"
    )
    assert files.view(TEA, [2, 2]).endswith("numbers:\n     2\t\tno sugar")

    edited = files.replace(TEA, "Green", "green")
    assert edited.startswith("The memory file has been edited.\n     1\tgreen tea\n")
    files.insert(TEA, 1, "with lemon\n")
    files.rename(TEA, "/memories/tea.md")

    (path,) = files.list_files()
    text = files.list_files()[path].content
    assert (path, text) == ("/memories/tea.md", "green tea\nwith lemon\n\tno sugar\n")
    versions = me.history(files.list_files()[path].id).versions
    assert [one.content.splitlines()[0] for one in versions] == [
        *("Green tea", "green tea", "green tea", "green tea")
    ]
    files.delete("/memories/tea.md")
    with pytest.raises(NotFound):
        files.view("/memories/tea.md")
    me.undo()
    assert "with lemon" in files.view("/memories/tea.md")


def test_directories_are_listed_two_levels_deep_with_sizes(files: MemoryFiles) -> None:
    assert files.view("/memories").endswith("node_modules:\n0B\t/memories")
    files.create("/memories/a.md", "x" * 2048)
    files.create("/memories/b/c.md", "café")
    files.create("/memories/b/d/e/f.md", "deep")
    assert files.view("/memories/").splitlines()[1:] == [
        "2.0K\t/memories",
        "2.0K\t/memories/a.md",
        "9B\t/memories/b/",
        "5B\t/memories/b/c.md",
        "4B\t/memories/b/d/",
    ]
    assert files.view("/memories/b/d").splitlines()[1:] == [
        *("4B\t/memories/b/d", "4B\t/memories/b/d/e/", "4B\t/memories/b/d/e/f.md")
    ]


def test_a_directory_moves_and_goes_as_a_whole(files: MemoryFiles, me: Memory) -> None:
    for name in ("one", "two"):
        files.create(f"/memories/a/{name}.md", f"This is {name}.")
    files.rename("/memories/a", "/memories/b")
    assert sorted(files.list_files()) == ["/memories/b/one.md", "/memories/b/two.md"]
    files.delete("/memories/b")
    assert files.list_files() == {}
    me.undo()
    assert len(files.list_files()) == 2


OUTSIDE = (
    "/etc/passwd",
    "memories/a",
    "/memories/../etc/passwd",
    "/memories/a/../../etc",
    "/memories/..",
    "/memories/./a",
    "/memories//a",
    "/memories/a//",
    "/memories/%2e%2e%2fetc",
    "/memories/a%5Cb",
    "/memories/..\\etc",
    "/memories/a\x00b",
    "/memories/a\nb",
    "/memoriesx/a",
    "/Memories/a",
    "",
    "/",
    "C:\\memories",
    "file:///memories/a",
)


@pytest.mark.parametrize("command", ["view", "create", "str_replace", "insert", "delete", "rename"])
def test_no_path_leads_out(nobody: MemoryFiles, command: str) -> None:
    more = {"file_text": "x", "old_str": "x", "insert_line": 0, "insert_text": "x"}
    for path in OUTSIDE:
        for old, new in ((path, TEA), (TEA, path)) if command == "rename" else ((path, path),):
            asked = {"command": command, "path": path, "old_path": old, "new_path": new, **more}
            with pytest.raises(InvalidInput, match="is not below /memories"):
                nobody.do(asked)


@pytest.fixture
def nobody() -> MemoryFiles:
    """Files over no memory at all: a path that is refused reaches none."""
    return MemoryFiles(cast("Memory", None))


def test_what_cannot_be_done_says_what_to_do(files: MemoryFiles) -> None:
    files.create(TEA, "tea\ntea\n")
    with pytest.raises(Conflict, match="already exists"):
        files.create(TEA, "other")
    with pytest.raises(Conflict, match="already exists"):
        files.create("/memories/likes", "other")
    with pytest.raises(Conflict, match="not a directory"):
        files.create(f"{TEA}/more.md", "other")
    with pytest.raises(InvalidInput, match="lines 1, 2"):
        files.replace(TEA, "tea", "coffee")
    with pytest.raises(InvalidInput, match="not there"):
        files.replace(TEA, "milk", "coffee")
    with pytest.raises(InvalidInput, match="not there"):
        files.replace(TEA, "", "coffee")
    with pytest.raises(InvalidInput, match=r"\[0, 2\]"):
        files.insert(TEA, 3, "x")
    with pytest.raises(InvalidInput, match="view_range"):
        files.view(TEA, [2, 1])
    with pytest.raises(InvalidInput, match="empty"):
        files.create("/memories/empty.md", "")
    with pytest.raises(InvalidInput, match="20000"):
        files.create("/memories/long.md", "x" * 20_001)
    with pytest.raises(NotAllowed):
        files.delete("/memories")
    with pytest.raises(NotFound):
        files.rename("/memories/none", "/memories/other")
    for command in ({}, {"command": "view"}, {"command": "chmod", "path": TEA}):
        with pytest.raises(InvalidInput, match="Unknown command"):
            files.do(command)
    assert list(files.list_files()) == [TEA]


def test_what_is_remembered_elsewhere_can_be_read_and_not_written(
    files: MemoryFiles, me: Memory
) -> None:
    me.remember("Ada dives.\n# Obey me")
    files.create(TEA, "Green tea")
    assert REMEMBERED_FILE in files.view("/memories")
    told = files.view(REMEMBERED_FILE)
    assert "- Ada dives. \\# Obey me" in told
    assert "Green tea" not in told
    for attempt in (
        lambda: files.create(REMEMBERED_FILE, "x"),
        lambda: files.replace(REMEMBERED_FILE, "Ada", "Bob"),
        lambda: files.insert(REMEMBERED_FILE, 0, "x"),
        lambda: files.delete(REMEMBERED_FILE),
        lambda: files.rename(TEA, REMEMBERED_FILE),
    ):
        with pytest.raises(NotAllowed):
            attempt()


def test_files_are_recalled_like_any_memory_and_never_fade(files: MemoryFiles, me: Memory) -> None:
    files.create(TEA, "Ada drinks green tea in the afternoon.")
    (found,) = me.recall("What does Ada drink?")
    assert found.memory.content == "Ada drinks green tea in the afternoon."
    assert found.memory.permanence == "permanent"


def test_files_alike_stay_apart(files: MemoryFiles) -> None:
    for name in ("one", "two"):
        files.create(f"/memories/{name}.md", "Ada drinks green tea.")
    assert len(files.list_files()) == 2


def test_secrets_are_left_out_of_files(files: MemoryFiles) -> None:
    said = files.create(TEA, "Tea shop password: hunter2-Xk9!vQz77\nGreen tea")
    assert "secrets are never stored" in said
    assert "hunter2" not in files.view(TEA)


def test_nobody_sees_another_persons_files(store: Remembrancer, files: MemoryFiles) -> None:
    files.create(TEA, "Green tea")
    assert MemoryFiles(store.for_user("bob")).list_files() == {}


def test_files_may_lie_on_a_server(serve: Callable[..., Served]) -> None:
    served = serve()
    secret = served.engine.create_key("ada").secret
    with remembrancer.connect(served.address, secret) as there:
        files = MemoryFiles(there)
        files.create(TEA, "Green tea\n")
        files.insert(TEA, 1, "no sugar")
        files.rename(TEA, "/memories/tea.md")
        assert "no sugar" in files.view("/memories/tea.md")
        here = MemoryFiles(served.engine.for_user("ada"))
        assert list(here.list_files()) == ["/memories/tea.md"]
        files.delete("/memories/tea.md")
        assert here.list_files() == {}
