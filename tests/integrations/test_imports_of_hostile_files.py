"""Files that someone else wrote: whatever is in them is brought in, left out or refused."""

from __future__ import annotations

import io
import json
import os
import pickle
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidInput
from remembrancer.memory import Memory
from remembrancer.transfer.formats import files, json_stream
from remembrancer.transfer.formats.detect import FORMATS, detect_format
from remembrancer.transfer.formats.files import ImportSource, SourceFile
from remembrancer.transfer.formats.items import (
    ConversationItem,
    ImportItem,
    MemoryItem,
    SkippedItem,
)
from remembrancer.transfer.formats.qdrant_pickle import read_payload
from remembrancer.transfer.formats.timestamps import parse_timestamp

NAMES = {
    "chatgpt": "conversations.json",
    "claude": "conversations.json",
    "mem0": "memories.json",
    "langgraph": "items.json",
    "mcp-graph": "memory.jsonl",
    "mcp-memory-service": "export.json",
    "markdown": "notes.md",
    "jsonl": "facts.jsonl",
    "transcript": "talk.txt",
}
EXAMPLES = Path(__file__).parents[2] / "examples" / "import"
WORDS = """
    mapping current_node message author role content content_type parts recipient metadata parent
    conversation_id title create_time text user assistant bio all model_editable_context tool
    model_set_context chat_messages sender human uuid parent_message_uuid created_at results memory
    id user_id categories namespace key value type entity name entityType observations relation from
    to relationType entities relations memories content_hash tags said_at session importance
    conversations_memory project_memories updated_at 2025-01-01T00:00:00Z
""".split()

word = st.sampled_from(WORDS)
plain = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), word)
value = st.recursive(
    plain,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.one_of(word, st.text(max_size=3)), inner)
    ),
    max_leaves=20,
)
document = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")),
    value.map(lambda one: json.dumps(one).encode()),
    st.lists(value, max_size=5).map(lambda some: "\n".join(map(json.dumps, some)).encode()),
    st.lists(
        st.one_of(st.sampled_from(["User: a", "# b", "- c", "  - d", "```", "---", ""]), st.text()),
        max_size=12,
    ).map(lambda some: "\n".join(some).encode("utf-8", "replace")),
)


def example(format: str) -> list[Any]:
    """The JSON documents of an example."""
    text = (EXAMPLES / format / NAMES[format]).read_text("utf-8")
    if NAMES[format].endswith(".json"):
        return [json.loads(text)]
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def places(one: Any) -> list[tuple[Any, Any]]:
    """Every holder in a document, with the key of something in it."""
    keys: list[Any] = []
    if isinstance(one, dict | list):
        keys = list(one) if isinstance(one, dict) else list(range(len(one)))
    return [(one, key) for key in keys] + [place for key in keys for place in places(one[key])]


@st.composite
def mangled(draw: st.DrawFn, format: str) -> bytes:
    """An example in which a few things are not what they should be."""
    documents = example(format)
    for _ in range(draw(st.integers(1, 4))):
        holder, key = draw(st.sampled_from(places(documents)))
        holder[key] = draw(value)
    return "\n".join(map(json.dumps, documents)).encode()


def source(content: bytes, name: str) -> ImportSource:
    return ImportSource(name, (SourceFile(name, lambda: io.BytesIO(content)),))


def check(piece: ImportItem) -> None:
    """A piece has what it says it has, so that nothing after it has to wonder."""
    assert isinstance(piece.place.file, str)
    assert isinstance(piece.place.where, str)
    match piece:
        case MemoryItem():
            assert isinstance(piece.content, str)
            assert isinstance(piece.key, str)
        case ConversationItem():
            assert piece.turns
            for turn in piece.turns:
                assert isinstance(turn.key, str)
                assert turn.turn["content"].strip()
        case SkippedItem():
            assert piece.reason


@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=25)
@given(data=st.data())
def test_a_parser_tells_pieces_or_what_is_wrong_and_nothing_else(
    format: str, data: st.DataObject
) -> None:
    is_json = NAMES[format].endswith(("json", "jsonl"))
    content = data.draw(st.one_of(document, mangled(format)) if is_json else document)
    try:
        for piece in FORMATS[format](source(content, NAMES[format])):
            check(piece)
    except InvalidInput:
        pass


@settings(max_examples=15)
@given(content=document, name=st.sampled_from(sorted(set(NAMES.values()))))
def test_guessing_is_a_format_or_an_error(content: bytes, name: str) -> None:
    with suppress(InvalidInput):
        assert detect_format(source(content, name)) in {*FORMATS, "remembrancer"}


@settings(max_examples=15)
@given(some=st.lists(value, max_size=8), piece=st.integers(1, 40))
def test_a_list_is_read_in_pieces_as_it_is_as_a_whole(some: list[Any], piece: int) -> None:
    text = json.dumps(some, indent=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "CHUNK_BYTES", piece)
        found = [one for _, one in json_stream.read_array(source(text.encode(), "a.json").files[0])]
    assert json.dumps(found) == json.dumps(json.loads(text))


@pytest.mark.parametrize(
    "text", ["[1", "[1,", "[1 2]", "[1]x", "[", '["a]', "[" * 100_000, "[9" * 9]
)
def test_half_a_list_is_an_error(text: str) -> None:
    with pytest.raises(InvalidInput):
        list(json_stream.read_array(source(text.encode(), "a.json").files[0]))


@given(st.one_of(value, st.floats(), st.integers()))
def test_a_moment_is_one_or_none(one: Any) -> None:
    found = parse_timestamp(one)
    assert found is None or 1969 < found.year < 2201


@given(st.binary(max_size=300))
def test_a_pickle_is_read_as_data_or_not_at_all(content: bytes) -> None:
    assert read_payload(content) is None or isinstance(read_payload(content), dict)


class Bomb:
    """What a pickle does to whoever loads it."""

    def __init__(self, flag: Path) -> None:
        self.flag = flag

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.flag),)


def test_a_pickle_is_never_run(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    assert read_payload(pickle.dumps(Bomb(flag))) is None
    assert read_payload(b"\x80\x04\x95" + b"\xff" * 8 + b"j\xff\xff\xff\xff.") is None
    assert read_payload(b"N" + b"r\xff\xff\xff\xff" + b".") is None, "a place in memory far out"
    assert not flag.exists()


def test_a_zip_that_unpacks_without_end_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 1_000_000)
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("conversations.json", b"[" + b" " * 5_000_000 + b"]")
    assert path.stat().st_size < 10_000
    with files.open_source(path) as found, pytest.raises(InvalidInput, match="larger than"):
        list(FORMATS["chatgpt"](found))


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_a_zip_that_would_unpack_to_far_too_much_is_not_begun(
    open_memory: Callable[..., Remembrancer], tmp_path: Path
) -> None:
    path = tmp_path / "bomb.zip"
    said = {"id": "a", "content": "Ada drinks tea."}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("facts.jsonl", json.dumps(said) + "\n")
        with file.open("more.jsonl", "w", force_zip64=True) as member:
            for _ in range(80):
                member.write((b" " * 1023 + b"\n") * 1024)
    me = open_memory().for_user("ada")
    with pytest.raises(InvalidInput, match=r"would unpack to 83\.9 MB.*imports\.max_unpack"):
        me.import_from(path)
    assert me.activity().items == ()
    allowed = open_memory(imports={"max_unpack_ratio": 2000}).for_user("ada")
    assert allowed.import_from(path).memories == 1
    small = open_memory(imports={"max_unpacked_bytes": 1000}).for_user("ada")
    with pytest.raises(InvalidInput, match=r"imports\.max_unpacked_bytes"):
        small.import_from(path)


def test_a_damaged_zip_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "damaged.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("conversations.json", json.dumps([{"mapping": {}}] * 1000))
    content = bytearray(path.read_bytes())
    content[60:90] = bytes(30)
    path.write_bytes(content)
    with files.open_source(path) as found, pytest.raises(InvalidInput):
        list(FORMATS["chatgpt"](found))


def test_names_in_a_zip_lead_nowhere(me: Memory, tmp_path: Path) -> None:
    path = tmp_path / "tricks.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("../../outside.md", "- Somebody was here.")
        file.writestr("/etc/absolute.md", "- Somebody was there.")
    assert me.import_from(path).memories == 2
    assert {one.name for one in tmp_path.iterdir()} - {"memory"} == {"tricks.zip"}


def test_links_and_hidden_files_are_passed_by(tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("- not to be read")
    folder = tmp_path / "notes"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD.md").write_text("- hidden")
    (folder / "link.md").symlink_to(secret)
    (folder / "up").symlink_to(tmp_path, target_is_directory=True)
    (folder / "own.md").write_text("- to be read")
    os.mkfifo(folder / "pipe.md")
    with files.open_source(folder) as found:
        assert [one.name for one in found.files] == ["own.md"]
    for odd in (folder / "pipe.md", tmp_path / "nowhere"):
        with pytest.raises(InvalidInput), files.open_source(odd):
            pass


@pytest.mark.parametrize(
    "make",
    [
        lambda path: path.write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 20),
        lambda path: sqlite(
            path, "CREATE TABLE store (prefix TEXT)", "INSERT INTO store VALUES (1)"
        ),
        lambda path: sqlite(
            path,
            "CREATE VIEW store AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
            "SELECT i AS prefix, i AS key, i AS value, i AS updated_at FROM n",
        ),
    ],
    ids=["garbage", "other columns", "an endless view"],
)
def test_a_hostile_database_is_an_error(make: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    make(path)
    with files.open_source(path) as found, pytest.raises(InvalidInput):
        list(FORMATS["langgraph"](found))


def sqlite(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        for one in statements:
            database.execute(one)


ODD = [
    {"content": "half \ud800 a character"},
    {"content": "a NUL \x00"},
    {"content": "x" * 30_000},
    {"content": "deep", "metadata": json.loads('{"a":' * 400 + "1" + "}" * 400)},
    {"content": "nan", "importance": float("nan")},
    {"content": "tags", "tags": ["x" * 500]},
    {"content": "origin", "origin": "nobody"},
    {"role": "user", "content": "who", "speaker": "\x01"},
    {"role": "user", "content": "half \ud800"},
    {"role": "user", "content": "where", "origin": "nowhere"},
]


def test_what_cannot_be_stored_is_counted_and_the_rest_comes_in(me: Memory, tmp_path: Path) -> None:
    path = tmp_path / "odd.jsonl"
    good: list[Any] = [{"content": "A good one."}, {"role": "user", "content": "Another."}]
    path.write_text("".join(json.dumps(one) + "\n" for one in [*ODD, *good]))
    done = me.import_from(path)
    assert (done.memories, done.turns) == (1, 1), done.left_out
    assert sum(done.left_out.values()) == len(ODD)
