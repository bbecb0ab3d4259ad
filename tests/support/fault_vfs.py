"""Puts itself between SQLite and the disk: counts syncs, injects faults, logs what is written.

    with FaultVfs(tmp_path) as vfs:       # every file below this directory
        …                                 # open a store, write
        vfs.fail(Operation.WRITE, SQLITE_FULL, "*-wal", after=3)
        …                                 # from the fourth on, writes of a log fail
        vfs.heal()
        assert vfs.syncs > 0

It registers a VFS as SQLite's default, by way of ctypes, in the library that Python's sqlite3 uses.
A file's own methods stay those of the operating system, so locks and shared memory work as always;
those that are of interest are replaced. Connections that are open before are not affected. The
functions of `os` that sync, link, rename and remove files are replaced for the time being too.

With `log`, everything that happens is appended to a file, from which `disk_log.Disk` computes what
is left after a power cut. Several processes can share the log.

    python -m tests.support.fault_vfs DIRECTORY LOG MODULE ARGUMENTS…

runs a module, such as `remembrancer.cli`, in this way.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import fnmatch
import functools
import itertools
import json
import os
import runpy
import signal
import sqlite3
import stat
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.support.disk_log import DiskEvent, DiskLog, Entry

SQLITE_OK = 0
SQLITE_IOERR = 10
SQLITE_FULL = 13
SQLITE_CANTOPEN = 14
SQLITE_IOERR_READ = SQLITE_IOERR | 1 << 8
SQLITE_IOERR_WRITE = SQLITE_IOERR | 3 << 8
SQLITE_IOERR_FSYNC = SQLITE_IOERR | 4 << 8
SQLITE_IOERR_TRUNCATE = SQLITE_IOERR | 6 << 8
KILL = -1
"""Instead of a code: the process is killed, as by kill -9."""

ALWAYS = sys.maxsize
OPEN_CREATE = 0x4
WORD = ctypes.sizeof(ctypes.c_void_p)
METHODS_BYTES = 19 * WORD
"""The size of sqlite3_io_methods in its third and last version."""


class Operation(StrEnum):
    OPEN = "open"
    READ = "read"
    WRITE = "write"
    TRUNCATE = "truncate"
    SYNC = "sync"
    DELETE = "delete"


class _Vfs(ctypes.Structure):
    """sqlite3_vfs up to its third version; methods that are not replaced are plain pointers."""

    _fields_ = [
        ("version", ctypes.c_int),
        ("file_size", ctypes.c_int),
        ("max_path", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("data", ctypes.c_void_p),
        ("open", ctypes.c_void_p),
        ("delete", ctypes.c_void_p),
        ("others", ctypes.c_void_p * 11),
        ("set_system_call", ctypes.c_void_p),
        ("get_system_call", ctypes.c_void_p),
        ("next_system_call", ctypes.c_void_p),
    ]


_pointer, _number = ctypes.c_void_p, ctypes.c_int
_offset, _text = ctypes.c_int64, ctypes.c_char_p
_OPEN = ctypes.CFUNCTYPE(_number, _pointer, _pointer, _pointer, _number, _pointer)
_DELETE = ctypes.CFUNCTYPE(_number, _pointer, _text, _number)
_TRANSFER = ctypes.CFUNCTYPE(_number, _pointer, _pointer, _number, _offset)
_TRUNCATE = ctypes.CFUNCTYPE(_number, _pointer, _offset)
_SYNC = ctypes.CFUNCTYPE(_number, _pointer, _number)
_OPEN_DIRECTORY = ctypes.CFUNCTYPE(_number, _text, _pointer)
_SET_CALL = ctypes.CFUNCTYPE(_number, _pointer, _text, _pointer)
_GET_CALL = ctypes.CFUNCTYPE(_pointer, _pointer, _text)

METHOD_PLACES = {
    Operation.READ: 2 * WORD,
    Operation.WRITE: 3 * WORD,
    Operation.TRUNCATE: 4 * WORD,
    Operation.SYNC: 5 * WORD,
}
"""Where sqlite3_io_methods holds these methods."""

METHODS_WATCHED = (Operation.WRITE, Operation.TRUNCATE, Operation.SYNC)
"""Those that are replaced while someone watches."""


@dataclass(slots=True)
class _Fault:
    operation: Operation
    code: int
    files: str
    after: int
    times: int


@dataclass(frozen=True, slots=True)
class _OpenFile:
    """A file that SQLite has open, and the methods of the operating system for it."""

    path: str
    inode: int
    methods: int


class FaultVfs:
    """Watches what SQLite and `os` do with the files below a directory."""

    def __init__(self, directory: Path, *, log: Path | None = None) -> None:
        self.directory = directory.resolve()
        self.sync_seconds = 0.0
        self.counts: Counter[Operation] = Counter()
        self.synced: Counter[str] = Counter()
        self._log = DiskLog(log) if log is not None else None
        self._lock = threading.Lock()
        self._faults: list[_Fault] = []
        self._dirty: Counter[str] = Counter()
        self._patches = contextlib.ExitStack()

    def __enter__(self) -> FaultVfs:
        _load_shim().attach(self)
        self._patches.enter_context(_watched_os(self))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._patches.close()
        _load_shim().detach(self)
        if self._log is not None:
            self._log.close()

    @property
    def syncs(self) -> int:
        """How often a file or a directory was synced, by SQLite or by `os`."""
        return sum(self.synced.values())

    def wait_for_sync(self) -> None:
        if self.sync_seconds:  # even no sleep at all would let other processes run first
            time.sleep(self.sync_seconds)

    @property
    def unsynced(self) -> set[str]:
        """Files with content, and directories with names, that a power cut could take away."""
        with self._lock:
            return {path for path, changes in self._dirty.items() if changes}

    def fail(
        self,
        operation: Operation,
        code: int,
        files: str = "*",
        *,
        after: int = 0,
        times: int = ALWAYS,
    ) -> None:
        """Let an operation fail with one of SQLite's codes, or kill the process with KILL.

        `files` is a pattern of paths below the directory, such as `people/*.db-wal`. So many
        operations that match succeed first, and then so many fail.
        """
        with self._lock:
            self._faults.append(_Fault(operation, code, files, after, times))
        _load_shim().watch_reads(any(one.operation is Operation.READ for one in self._faults))

    def heal(self) -> None:
        """Let everything succeed again."""
        with self._lock:
            self._faults.clear()
        _load_shim().watch_reads(False)

    def note(self, text: str) -> None:
        """Put something into the log, such as an acknowledgement."""
        assert self._log is not None
        self._log.note(text)

    def acknowledge(self, values: object) -> None:
        """Note it as JSON."""
        self.note(json.dumps(values))

    # What the methods below call.

    def relative(self, path: str | os.PathLike[str]) -> str | None:
        """The path below the directory, or None if it is elsewhere."""
        text = os.path.abspath(os.fspath(path))
        root = str(self.directory)
        if text == root:
            return ""
        return text[len(root) + 1 :] if text.startswith(f"{root}{os.sep}") else None

    def code_of(self, operation: Operation, path: str) -> int:
        """The code with which an operation is to fail, or SQLITE_OK."""
        with self._lock:
            self.counts[operation] += 1
            for fault in self._faults:
                if fault.operation is operation and fnmatch.fnmatch(path, fault.files):
                    if fault.after > 0:
                        fault.after -= 1
                    elif fault.times > 0:
                        fault.times -= 1
                        if fault.code == KILL:
                            os.kill(os.getpid(), signal.SIGKILL)
                        return fault.code
        return SQLITE_OK

    def record(self, entry: Entry, path: str, inode: int = 0, **values: Any) -> None:
        with self._lock:
            if entry in (Entry.WRITE, Entry.TRUNCATE):
                self._dirty[path] += 1
            elif entry in (Entry.CREATE, Entry.MKDIR):
                self._dirty[os.path.dirname(path)] += 1
            elif entry in (Entry.LINK, Entry.RENAME):
                self._dirty[os.path.dirname(values["other"])] += 1
        if self._log is not None:
            self._log.append(DiskEvent(entry, path, inode, **values))

    @contextlib.contextmanager
    def syncing(self, entry: Entry, path: str, inode: int = 0) -> Iterator[None]:
        """Count a sync, and record when it begins and when it has succeeded."""
        number = (os.getpid() << 32) + next(_sync_numbers)
        self.record(entry, path, inode, sync=number)
        covered = self._dirty[path]
        yield
        with self._lock:
            self.synced[path] += 1
            self._dirty[path] -= covered
        self.record(Entry.SYNC_END, path, inode, sync=number)


_sync_numbers = itertools.count()


class _SyncRefused(Exception):
    """Leaves a `syncing` block of which nothing is recorded but the beginning."""


class _Shim:
    """The VFS itself. It is registered once, and passes everything on while nobody watches."""

    def __init__(self) -> None:
        self._watcher: FaultVfs | None = None
        self._files: dict[int, _OpenFile] = {}
        self._replaced: tuple[Operation, ...] = ()
        self._copies: dict[int, Any] = {}
        self._thread = threading.local()
        self._library = _load_library()
        self._library.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
        self._system: Any = self._library.sqlite3_vfs_find(None)
        self._vfs = _Vfs.from_buffer_copy(self._system.contents)
        self._vfs.name = b"fault"
        self._callbacks = {
            Operation.READ: _TRANSFER(self._read),
            Operation.WRITE: _TRANSFER(self._write),
            Operation.TRUNCATE: _TRUNCATE(self._truncate),
            Operation.SYNC: _SYNC(self._sync),
        }
        self._own = (_OPEN(self._open), _DELETE(self._delete))
        self._vfs.open, self._vfs.delete = (_address(one) for one in self._own)
        self._watch_directories()

    def attach(self, watcher: FaultVfs) -> None:
        assert self._watcher is None, "only one can watch at a time"
        self._watcher = watcher
        self._replace_methods(*METHODS_WATCHED)
        self._library.sqlite3_vfs_register(ctypes.byref(self._vfs), 1)

    def detach(self, watcher: FaultVfs) -> None:
        assert self._watcher is watcher
        self._replace_methods()
        self._watcher = None
        self._library.sqlite3_vfs_register(self._system, 1)

    def watch_reads(self, wanted: bool) -> None:
        """Reads take their way through Python only while one of them is to fail."""
        self._replace_methods(*METHODS_WATCHED, *((Operation.READ,) if wanted else ()))

    def release(self) -> None:
        """Give open files their own methods back: Python is about to end."""
        system = self._system.contents
        self._vfs.open, self._vfs.delete = system.open, system.delete
        self._replace_methods()
        self._watcher = None

    def _replace_methods(self, *operations: Operation) -> None:
        """Replace these methods of all open files, and of those opened from now on."""
        self._replaced = operations
        for original, copy in self._copies.items():
            self._fill(original, copy)

    def _fill(self, original: int, copy: Any) -> None:
        for operation, place in METHOD_PLACES.items():
            own = _address(self._callbacks[operation])
            method = own if operation in self._replaced else _get(original + place)
            _put(ctypes.addressof(copy) + place, method)

    def is_open(self, inode: int) -> bool:
        """True if SQLite may have it open here; to close it elsewhere would drop the locks."""
        return any(one.inode == inode for one in list(self._files.values()))

    def _open(self, vfs: int, name: int | None, file: int, flags: int, out: int | None) -> int:
        watcher = self._watcher
        path = None
        if watcher is not None and name is not None:
            path = watcher.relative(os.fsdecode(ctypes.string_at(name)))
        if watcher is not None and path is not None:
            failure = watcher.code_of(Operation.OPEN, path)
            if failure:
                _put(file, 0)
                return failure
        is_new = path is not None and not os.path.exists(os.fsdecode(ctypes.string_at(name or 0)))
        code: int = _OPEN(self._system.contents.open)(vfs, name, file, flags, out)
        if code == SQLITE_OK and watcher is not None and path is not None:
            inode = os.stat(watcher.directory / path).st_ino
            original = _get(file)
            self._files[file] = _OpenFile(path, inode, original)
            _put(file, ctypes.addressof(self._copy_methods(original)))
            if is_new and flags & OPEN_CREATE:
                watcher.record(Entry.CREATE, path, inode)
        return code

    def _copy_methods(self, original: int) -> Any:
        """The methods of the operating system, with some of them replaced."""
        if original not in self._copies:
            copy = ctypes.create_string_buffer(ctypes.string_at(original, METHODS_BYTES))
            self._fill(original, copy)
            self._copies[original] = copy
        return self._copies[original]

    def _read(self, file: int, into: int, amount: int, offset: int) -> int:
        code = self._code_of(Operation.READ, file)
        return code or self._system_method(_TRANSFER, Operation.READ, file)(
            file, into, amount, offset
        )

    def _write(self, file: int, source: int, amount: int, offset: int) -> int:
        code = self._code_of(Operation.WRITE, file) or self._system_method(
            _TRANSFER, Operation.WRITE, file
        )(file, source, amount, offset)
        if code == SQLITE_OK and self._watcher is not None:
            one, data = self._files[file], ctypes.string_at(source, amount)
            self._watcher.record(Entry.WRITE, one.path, one.inode, offset=offset, data=data)
        return code

    def _truncate(self, file: int, size: int) -> int:
        code = self._code_of(Operation.TRUNCATE, file) or self._system_method(
            _TRUNCATE, Operation.TRUNCATE, file
        )(file, size)
        if code == SQLITE_OK and self._watcher is not None:
            one = self._files[file]
            self._watcher.record(Entry.TRUNCATE, one.path, one.inode, offset=size)
        return code

    def _sync(self, file: int, flags: int) -> int:
        one, watcher = self._files[file], self._watcher
        system = self._system_method(_SYNC, Operation.SYNC, file)
        if watcher is None:
            return int(system(file, flags))
        code = SQLITE_OK
        with contextlib.suppress(_SyncRefused), self._with_directory(watcher):
            with watcher.syncing(Entry.SYNC_FILE, one.path, one.inode):
                watcher.wait_for_sync()
                code = watcher.code_of(Operation.SYNC, one.path) or system(file, flags)
                if code:
                    raise _SyncRefused
        return code

    def _delete(self, vfs: int, name: bytes, sync_directory: int) -> int:
        watcher = self._watcher
        path = watcher.relative(os.fsdecode(name)) if watcher is not None else None
        system = _DELETE(self._system.contents.delete)
        if watcher is None or path is None:
            return int(system(vfs, name, sync_directory))
        code: int = watcher.code_of(Operation.DELETE, path)
        if code:
            return code
        with self._with_directory(watcher):
            code = system(vfs, name, sync_directory)
            if code == SQLITE_OK:
                watcher.record(Entry.UNLINK, path)
        return code

    @contextlib.contextmanager
    def _with_directory(self, watcher: FaultVfs) -> Iterator[None]:
        """Record the directory that the operating system's methods sync inside the block."""
        self._thread.directory = None
        yield
        if self._thread.directory is not None:
            with watcher.syncing(Entry.SYNC_DIRECTORY, self._thread.directory):
                pass

    def _watch_directories(self) -> None:
        """The VFS of Unix opens a directory only to sync it."""
        get_call = _GET_CALL(self._system.contents.get_system_call)
        original = _OPEN_DIRECTORY(
            get_call(ctypes.addressof(self._system.contents), b"openDirectory")
        )

        def open_directory(name: bytes, descriptor: int) -> int:
            if self._watcher is not None:
                parent = os.path.dirname(os.fsdecode(name))
                self._thread.directory = self._watcher.relative(parent)
            return int(original(name, descriptor))

        self._directory_callback = _OPEN_DIRECTORY(open_directory)
        set_call = _SET_CALL(self._system.contents.set_system_call)
        replaced = _address(self._directory_callback)
        set_call(ctypes.addressof(self._system.contents), b"openDirectory", replaced)

    def _code_of(self, operation: Operation, file: int) -> int:
        watcher = self._watcher
        return watcher.code_of(operation, self._files[file].path) if watcher else SQLITE_OK

    def _system_method(self, kind: Any, operation: Operation, file: int) -> Any:
        return kind(_get(self._files[file].methods + METHOD_PLACES[operation]))


@functools.cache
def _load_shim() -> _Shim:
    shim = _Shim()
    atexit.register(shim.release)
    return shim


def _load_library() -> ctypes.CDLL:
    """The SQLite that Python's own module uses."""
    sqlite3.connect(":memory:").close()
    maps = Path("/proc/self/maps")
    loaded = [line.split()[-1] for line in maps.read_text().splitlines() if "libsqlite3" in line]
    return ctypes.CDLL(loaded[0])


def is_available() -> bool:
    """True where Python loads SQLite from a library of its own, on Linux."""
    maps = Path("/proc/self/maps")
    return maps.exists() and "libsqlite3" in maps.read_text()


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _get(address: int) -> int:
    return ctypes.c_void_p.from_address(address).value or 0


def _put(address: int, value: int) -> None:
    ctypes.c_void_p.from_address(address).value = value


# What the program itself does with files.


@contextlib.contextmanager
def _watched_os(watcher: FaultVfs) -> Iterator[None]:
    """Replace functions of `os` by some that record what they do below the directory."""
    replaced = {
        "fsync": _fsync_of(watcher, os.fsync),
        "link": _link_of(watcher, os.link),
        "replace": _rename_of(watcher, os.replace),
        "rename": _rename_of(watcher, os.rename),
        "unlink": _removal_of(watcher, os.unlink, Entry.UNLINK),
        "remove": _removal_of(watcher, os.remove, Entry.UNLINK),
        "rmdir": _removal_of(watcher, os.rmdir, Entry.RMDIR),
        "mkdir": _mkdir_of(watcher, os.mkdir),
    }
    originals = {name: getattr(os, name) for name in replaced}
    for name, function in replaced.items():
        setattr(os, name, function)
    try:
        yield
    finally:
        for name, function in originals.items():
            setattr(os, name, function)


Function = Callable[..., None]


def _fsync_of(watcher: FaultVfs, fsync: Function) -> Function:
    def watched(descriptor: int) -> None:
        path = watcher.relative(os.readlink(f"/proc/self/fd/{descriptor}"))
        if path is None:
            return fsync(descriptor)
        found = os.fstat(descriptor)
        is_directory = stat.S_ISDIR(found.st_mode)
        entry = Entry.SYNC_DIRECTORY if is_directory else Entry.SYNC_FILE
        if not is_directory:
            _record_content(watcher, path, found.st_ino)
        with watcher.syncing(entry, path, found.st_ino):
            watcher.wait_for_sync()
            _raise_fault(watcher, Operation.SYNC, path)
            fsync(descriptor)
        return None

    return watched


def _raise_fault(watcher: FaultVfs, operation: Operation, path: str) -> None:
    code = watcher.code_of(operation, path)
    if code:
        number = 28 if code == SQLITE_FULL else 5
        raise OSError(number, os.strerror(number), path)


def _link_of(watcher: FaultVfs, link: Function) -> Function:
    def watched(source: Any, target: Any, **options: Any) -> None:
        link(source, target, **options)
        path, other = watcher.relative(source), watcher.relative(target)
        if path is not None and other is not None:
            inode = os.stat(source).st_ino
            _record_content(watcher, path, inode)
            watcher.record(Entry.LINK, path, inode, other=other)

    return watched


def _rename_of(watcher: FaultVfs, rename: Function) -> Function:
    def watched(source: Any, target: Any, **options: Any) -> None:
        path, other = watcher.relative(source), watcher.relative(target)
        inode = os.stat(source).st_ino if path is not None else 0
        if path is not None:
            _record_content(watcher, path, inode)
        rename(source, target, **options)
        if path is not None and other is not None:
            watcher.record(Entry.RENAME, path, inode, other=other)

    return watched


def _removal_of(watcher: FaultVfs, remove: Function, entry: Entry) -> Function:
    def watched(path: Any, *, dir_fd: int | None = None) -> None:
        remove(path, dir_fd=dir_fd)
        parent = "" if dir_fd is None else os.readlink(f"/proc/self/fd/{dir_fd}")
        found = watcher.relative(os.path.join(parent, os.fspath(path)))
        if found is not None:
            watcher.record(entry, found)

    return watched


def _mkdir_of(watcher: FaultVfs, mkdir: Function) -> Function:
    def watched(path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        mkdir(path, mode, dir_fd=dir_fd)
        found = watcher.relative(path)
        if found:
            watcher.record(Entry.MKDIR, found)

    return watched


def _record_content(watcher: FaultVfs, path: str, inode: int) -> None:
    """Record what a file of the program's own holds; SQLite's are recorded as they are written."""
    absolute = watcher.directory / path
    if not _load_shim().is_open(inode) and absolute.is_file():
        watcher.record(Entry.CONTENT, path, inode, data=absolute.read_bytes())


def main(directory: str, log: str, module: str, *arguments: str) -> None:
    with FaultVfs(Path(directory), log=Path(log)):
        sys.argv = [module, *arguments]
        runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
