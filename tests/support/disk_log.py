"""A log of everything that reaches a disk, and what the disk would hold if power failed.

Several processes can append to one log. Its order is that of the disk: a write is recorded after it
was made, a sync when it begins and when it ends. What a sync had not covered when power fails may
be there, not be there, or be there in part, sector by sector; so may names in a directory that was
not synced. Files that are in the directory when the log begins count as synced.
"""

from __future__ import annotations

import os
import pickle
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from zlib import crc32

SECTOR_BYTES = 512
MARK = b"\xd1\x5c\x10\x67"
HEAD_BYTES = len(MARK) + 8


class Entry(StrEnum):
    CREATE = "create"
    WRITE = "write"
    TRUNCATE = "truncate"
    SYNC_FILE = "sync_file"
    SYNC_DIRECTORY = "sync_directory"
    SYNC_END = "sync_end"
    CONTENT = "content"
    LINK = "link"
    RENAME = "rename"
    UNLINK = "unlink"
    MKDIR = "mkdir"
    RMDIR = "rmdir"
    NOTE = "note"


class Loss(StrEnum):
    """What becomes of all that was not synced."""

    EVERYTHING = "everything"
    NOTHING = "nothing"
    SOME = "some"


@dataclass(frozen=True, slots=True)
class DiskEvent:
    """`path` is relative to the logged directory; `other` is a second path, of a rename or link."""

    entry: Entry
    path: str = ""
    inode: int = 0
    offset: int = 0
    data: bytes = b""
    other: str = ""
    sync: int = 0


class DiskLog:
    """Appends to a log file; safe in threads and processes."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def append(self, event: DiskEvent) -> None:
        values = (event.entry.value, event.path, event.inode, event.offset, event.data)
        record = pickle.dumps((*values, event.other, event.sync))
        head = MARK + len(record).to_bytes(4, "little") + crc32(record).to_bytes(4, "little")
        size = os.write(self._descriptor, head + record)
        assert size == len(head) + len(record), "the log is full"

    def note(self, text: str) -> None:
        """Record something that the program promised, such as an acknowledgement."""
        self.append(DiskEvent(Entry.NOTE, other=text))

    def close(self) -> None:
        os.close(self._descriptor)


def read_log(path: Path) -> Iterator[DiskEvent]:
    """The events of a log, without those that a killed process wrote in part."""
    content = memoryview(path.read_bytes())
    position = 0
    while position + HEAD_BYTES <= len(content):
        start = position + HEAD_BYTES
        mark, numbers = content[position : position + 4], content[position + 4 : start]
        end = start + int.from_bytes(numbers[:4], "little")
        record = content[start:end]
        if mark == MARK and crc32(record) == int.from_bytes(numbers[4:], "little"):
            entry, *values = pickle.loads(record)
            yield DiskEvent(Entry(entry), *values)
            position = end
        else:
            position += 1


@dataclass(slots=True)
class _File:
    """The content that is safe, and what was done since, with its number in the log."""

    inode: int
    safe: bytearray = field(default_factory=bytearray)
    unsafe: list[tuple[int, DiskEvent]] = field(default_factory=list)


@dataclass(slots=True)
class _Directory:
    """Names that are safe, and those that are there while power lasts; None is a directory."""

    safe: dict[str, _File | None] = field(default_factory=dict)
    names: dict[str, _File | None] = field(default_factory=dict)
    unsafe: list[tuple[int, tuple[_Change, ...]]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Change:
    """A name that appears in a directory, or disappears."""

    name: str
    file: _File | None
    is_there: bool


class Disk:
    """What is on a disk, and what is only on its way there."""

    def __init__(self, base: Path | None = None) -> None:
        self.acknowledged: list[str] = []
        self._number = 0
        self._directories: dict[str, _Directory] = {"": _Directory()}
        self._files: dict[int, _File] = {}
        self._syncs: dict[int, tuple[int, DiskEvent]] = {}
        if base is not None and base.exists():
            self._take_in(base)

    def _take_in(self, base: Path) -> None:
        for path in sorted(base.rglob("*")):
            name = path.relative_to(base).as_posix()
            file = None if path.is_dir() else _File(path.stat().st_ino)
            if file is not None:
                file.safe += path.read_bytes()
                self._files[file.inode] = file
            else:
                self._directories[name] = _Directory()
            parent = self._directories[_parent(name)]
            parent.safe[_base(name)] = parent.names[_base(name)] = file

    def apply(self, event: DiskEvent) -> None:
        self._number += 1
        match event.entry:
            case Entry.NOTE:
                self.acknowledged.append(event.other)
            case Entry.SYNC_FILE | Entry.SYNC_DIRECTORY:
                self._syncs[event.sync] = (self._number, event)
            case Entry.SYNC_END:
                self._end_sync(*self._syncs.pop(event.sync))
            case Entry.WRITE | Entry.TRUNCATE:
                file = self._files.get(event.inode) or self._open(event)
                file.unsafe.append((self._number, event))
            case Entry.CONTENT:
                self._open(event).unsafe = [(self._number, event)]
            case Entry.CREATE:
                self._open(event)
            case Entry.LINK:
                self._change(event.other, self._open(event), is_there=True)
            case Entry.UNLINK | Entry.RMDIR:
                self._change(event.path, None, is_there=False)
            case Entry.MKDIR:
                self._directories[event.path] = _Directory()
                self._change(event.path, None, is_there=True)
            case Entry.RENAME:
                self._rename(event)

    def _open(self, event: DiskEvent) -> _File:
        """The file of this path; a new one if the name leads to another file or to none."""
        file = self._directories[_parent(event.path)].names.get(_base(event.path))
        if file is None or file.inode != event.inode:
            file = self._files[event.inode] = _File(event.inode)
            self._change(event.path, file, is_there=True)
        return file

    def _change(self, path: str, file: _File | None, *, is_there: bool) -> None:
        self._change_names(_parent(path), _Change(_base(path), file, is_there))

    def _change_names(self, parent: str, *changes: _Change) -> None:
        directory = self._directories[parent]
        directory.unsafe.append((self._number, changes))
        _rewrite(directory.names, changes)

    def _rename(self, event: DiskEvent) -> None:
        """Within one directory a rename is atomic: it happens as a whole or not at all."""
        assert _parent(event.path) == _parent(event.other), "no file moves to another directory"
        self._change_names(
            _parent(event.path),
            _Change(_base(event.other), self._open(event), is_there=True),
            _Change(_base(event.path), None, is_there=False),
        )

    def _end_sync(self, began: int, event: DiskEvent) -> None:
        """Only what was done before the sync began is safe."""
        if event.entry is Entry.SYNC_DIRECTORY:
            directory = self._directories[event.path]
            for number, changes in directory.unsafe:
                if number < began:
                    _rewrite(directory.safe, changes)
            directory.unsafe = [one for one in directory.unsafe if one[0] > began]
            return
        file = self._files[event.inode]
        for number, change in file.unsafe:
            if number < began:
                _rewrite_bytes(file.safe, change)
        file.unsafe = [one for one in file.unsafe if one[0] > began]

    def cut_power(self, target: Path, loss: Loss, chance: random.Random) -> None:
        """Write what the disk holds after a power cut at this moment into an empty directory."""
        keeps: Callable[[], bool] = {
            Loss.EVERYTHING: lambda: False,
            Loss.NOTHING: lambda: True,
            Loss.SOME: lambda: chance.random() < 0.5,
        }[loss]
        written: dict[int, Path] = {}
        self._write_directory("", target, keeps, written)

    def _write_directory(
        self, path: str, target: Path, keeps: Callable[[], bool], written: dict[int, Path]
    ) -> None:
        target.mkdir(parents=True, exist_ok=True, mode=0o700)
        directory = self._directories[path]
        names = dict(directory.safe)
        for _, changes in directory.unsafe:
            if keeps():
                _rewrite(names, changes)
        for name, file in names.items():
            inner = f"{path}/{name}" if path else name
            if file is None:
                self._write_directory(inner, target / name, keeps, written)
            elif id(file) in written:
                os.link(written[id(file)], target / name)
            else:
                (target / name).write_bytes(_remains(file, keeps))
                (target / name).chmod(0o600)
                written[id(file)] = target / name


def _remains(file: _File, keeps: Callable[[], bool]) -> bytes:
    content = bytearray(file.safe)
    for _, event in file.unsafe:
        if event.entry is Entry.TRUNCATE:
            if keeps():
                _rewrite_bytes(content, event)
            continue
        for start in range(0, len(event.data), SECTOR_BYTES):
            if keeps():
                _overwrite(content, event.offset + start, event.data[start : start + SECTOR_BYTES])
    return bytes(content)


def _rewrite_bytes(content: bytearray, event: DiskEvent) -> None:
    if event.entry is Entry.CONTENT:
        content[:] = event.data
    elif event.entry is Entry.TRUNCATE:
        content[:] = content[: event.offset].ljust(event.offset, b"\0")
    else:
        _overwrite(content, event.offset, event.data)


def _overwrite(content: bytearray, offset: int, data: bytes) -> None:
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data


def _rewrite(names: dict[str, _File | None], changes: tuple[_Change, ...]) -> None:
    for one in changes:
        if one.is_there:
            names[one.name] = one.file
        else:
            names.pop(one.name, None)


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _base(path: str) -> str:
    return path.rpartition("/")[2]
