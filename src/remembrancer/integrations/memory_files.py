"""Files under /memories that are stored as facts: Anthropic's memory tool without its SDK.

The subject of the fact is the path of the file, and each edit is a new version. Nothing is written
to disk.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

from remembrancer.client import RemoteMemory
from remembrancer.errors import Conflict, InvalidInput, NotAllowed, NotFound
from remembrancer.memory import Memory
from remembrancer.recall.prompt_block import escape_for_prompt
from remembrancer.remember.provenance import REQUEST_KEY
from remembrancer.types import Fact, Json, Kind, Record, Status, Written

ROOT = "/memories"
REMEMBERED_FILE = f"{ROOT}/remembered.md"
"""A read-only file with the memories that are not files."""

MAX_LISTED_MEMORIES = 200
TAG, PREDICATE = "memory-file", "memory_file"
BY_MODEL: Mapping[str, Json] = {REQUEST_KEY: False}
"""The metadata of files: a model wrote them, on whatever surface."""
_NAME_PATTERN = re.compile(r"(?!\.{1,2}$)(?!.*%(?:2e|2f|5c))[^/\\\x00-\x1f\x7f]+", re.IGNORECASE)


class MemoryFiles:
    """The files of one user."""

    def __init__(self, memory: Memory | RemoteMemory) -> None:
        self._memory = memory

    def do(self, command: Mapping[str, object]) -> str:
        """Run a command of the tool; errors tell the model what to do instead."""
        match {name: value for name, value in command.items() if value is not None}:
            case {"command": "view", "path": str(path), **more}:
                return self.view(path, more.get("view_range"))
            case {"command": "create", "path": str(path), "file_text": str(text)}:
                return self.create(path, text)
            case {"command": "str_replace", "path": str(path), "old_str": str(old), **more}:
                return self.replace(path, old, str(more.get("new_str", "")))
            case {
                "command": "insert",
                "path": str(path),
                "insert_line": int(line),
                "insert_text": str(text),
            }:
                return self.insert(path, line, text)
            case {"command": "delete", "path": str(path)}:
                return self.delete(path)
            case {"command": "rename", "old_path": str(old), "new_path": str(new)}:
                return self.rename(old, new)
        raise InvalidInput("Unknown command of the memory tool, or an argument is missing.")

    def view(self, path: str, lines: object = None) -> str:
        """Return a file with numbered lines, or the listing of a directory."""
        path = validate_path(path)
        texts = self._read_texts()
        if path in texts:
            numbered = _number_lines(texts[path].split("\n"), lines)
            return f"Here's the content of {path} with line numbers:\n{numbered}"
        if path == ROOT or _list_below(path, texts):
            return _render_listing(path, texts)
        raise _missing_error(path)

    def create(self, path: str, text: str) -> str:
        """Create a file; raises `Conflict` if the path exists."""
        path = validate_path(path)
        _refuse_existing(path, self.list_files())
        details = {"subject": path, "predicate": PREDICATE, "permanence": "permanent"}
        written = self._memory.remember(
            text,
            tags=[TAG],
            metadata=BY_MODEL,
            **details,  # type: ignore[arg-type]
        )
        if written.memory.status is Status.QUARANTINED:
            raise Conflict(
                "The text reads like an instruction to an assistant. It is kept for the user to "
                "review, and is no file before they allow it."
            )
        return _format_result(
            written, f"File created successfully at: {_path_of_file(written.memory)}"
        )

    def replace(self, path: str, old: str, new: str) -> str:
        """Replace text that occurs exactly once in a file."""
        file = self._load_file(path)
        before = _text_before(file.content, old, path)
        line = before.count("\n") + 1
        text = before + new + file.content[len(before) + len(old) :]
        written = self._memory.update(file.id, text, metadata=BY_MODEL)
        excerpt = _number_lines(written.memory.content.split("\n"), [max(1, line - 2), line + 2])
        return _format_result(written, f"The memory file has been edited.\n{excerpt}")

    def insert(self, path: str, line: int, text: str) -> str:
        """Insert lines after a line; 0 is before the first."""
        file = self._load_file(path)
        lines = file.content.removesuffix("\n").split("\n")
        if not 0 <= line <= len(lines):
            raise InvalidInput(
                f"Invalid `insert_line` parameter: {line}. "
                f"It should be within the range [0, {len(lines)}]."
            )
        lines.insert(line, text.removesuffix("\n"))
        written = self._memory.update(file.id, "\n".join(lines) + "\n", metadata=BY_MODEL)
        return _format_result(written, f"The file {path} has been edited.")

    def delete(self, path: str) -> str:
        """Move a file, or all files of a directory, to the trash."""
        selected = self._select_files(validate_path(path))
        self._memory.delete_many([one.id for one in selected.values()])
        return f"Successfully deleted {path}"

    def rename(self, old: str, new: str) -> str:
        """Rename a file or a directory; each file keeps its history."""
        old, new = validate_path(old), validate_path(new)
        _refuse_existing(new, self.list_files())
        for path, file in self._select_files(old).items():
            moved = {"subject": new + path.removeprefix(old), "predicate": PREDICATE}
            self._memory.update(file.id, file.content, **moved)  # type: ignore[arg-type]
        return f"Successfully renamed {old} to {new}"

    def list_files(self) -> dict[str, Fact]:
        """Return the files by path; if two agents have the same path, the newer file."""
        found: list[Record] = []
        cursor = None
        while True:
            page = self._memory.list(kinds=[Kind.FACT], tags=[TAG], limit=1000, cursor=cursor)
            found += page.items
            if (cursor := page.cursor) is None:
                return {_path_of_file(one): one for one in reversed(found) if isinstance(one, Fact)}

    def _read_texts(self) -> dict[str, str]:
        """Return the text of every file, with the read-only one."""
        texts = {path: one.content for path, one in self.list_files().items()}
        known = self._memory.list(kinds=[Kind.FACT, Kind.RULE], limit=MAX_LISTED_MEMORIES).items
        lines = [f"- {escape_for_prompt(one.content)}" for one in known if TAG not in one.tags]
        return {**texts, REMEMBERED_FILE: "\n".join(lines)} if lines else texts

    def _load_file(self, path: str) -> Fact:
        path = validate_path(path)
        _refuse_read_only(path)
        file = self.list_files().get(path)
        if file is None:
            raise _missing_error(path)
        return file

    def _select_files(self, path: str) -> dict[str, Fact]:
        """Return the file at a path, or all files below it."""
        _refuse_read_only(path)
        if path == ROOT:
            raise NotAllowed(f"{ROOT} itself cannot be changed.")
        files = self.list_files().items()
        selected = {one: file for one, file in files if f"{one}/".startswith(f"{path}/")}
        if not selected:
            raise _missing_error(path)
        return selected


def validate_path(path: str) -> str:
    """Return the normalised path; raises `InvalidInput` if it is not below /memories."""
    top, *names = unicodedata.normalize("NFC", path).removesuffix("/").split("/")[1:] or [""]
    if (
        not path.startswith(ROOT)
        or f"/{top}" != ROOT
        or not all(map(_NAME_PATTERN.fullmatch, names))
    ):
        raise InvalidInput(f"The path {path!r} is not below {ROOT}.")
    return "/".join((ROOT, *names))


def _list_below(path: str, files: Mapping[str, object]) -> list[str]:
    return [one for one in files if one.startswith(f"{path}/")]


def _refuse_read_only(path: str) -> None:
    if path == REMEMBERED_FILE:
        raise NotAllowed(f"{REMEMBERED_FILE} is read-only; write to another file.")


def _refuse_existing(path: str, files: Mapping[str, Fact]) -> None:
    _refuse_read_only(path)
    if path == ROOT or path in files or _list_below(path, files):
        raise Conflict(f"File {path} already exists")
    for one in (*files, REMEMBERED_FILE):
        if path.startswith(f"{one}/"):
            raise Conflict(f"{one} is a file, not a directory")


def _text_before(content: str, words: str, path: str) -> str:
    """Return the text before `words`; raises `InvalidInput` unless they occur once."""
    parts = content.split(words) if words else []
    if len(parts) == 2:
        return parts[0]
    found = [str(words.join(parts[:number]).count("\n") + 1) for number in range(1, len(parts))]
    where = f"it is in lines {', '.join(found)}: make it unique" if found else "it is not there"
    raise InvalidInput(
        f"No replacement was performed in {path}: old_str must occur once, and {where}."
    )


def _missing_error(path: str) -> NotFound:
    return NotFound(f"The path {path} does not exist. Please provide a valid path.")


def _path_of_file(file: Record) -> str:
    return str(file.subject) if isinstance(file, Fact) else ""


def _format_result(written: Written, message: str) -> str:
    if not written.secrets:
        return message
    return f"{message}\nLeft out, because secrets are never stored: {', '.join(written.secrets)}."


def _number_lines(lines: Sequence[str], view_range: object) -> str:
    match view_range:
        case None:
            first, last = 1, len(lines)
        case [int(first), int(last)] if first >= 1 and (last >= first or last == -1):
            last = len(lines) if last == -1 else last
        case _:
            raise InvalidInput("view_range is [first line, last line]; -1 is the end.")
    return "\n".join(f"{first + i:6}\t{line}" for i, line in enumerate(lines[first - 1 : last]))


def _render_listing(directory: str, texts: Mapping[str, str]) -> str:
    sizes = {directory: 0}
    for path in sorted(_list_below(directory, texts)):
        names = path.removeprefix(f"{directory}/").split("/")
        size = len(texts[path].encode())
        sizes[directory] += size
        for depth, _ in enumerate(names[:2], 1):
            end = "/" if depth < len(names) else ""
            entry = "/".join((directory, *names[:depth])) + end
            sizes[entry] = sizes.get(entry, 0) + size
    lines = [f"{_format_size(size)}\t{entry}" for entry, size in sizes.items()]
    heading = (
        f"Here're the files and directories up to 2 levels deep in {directory}, "
        "excluding hidden items and node_modules:"
    )
    return "\n".join((heading, *lines))


def _format_size(count: int) -> str:
    return f"{count}B" if count < 1024 else f"{count / 1024:.1f}K"
