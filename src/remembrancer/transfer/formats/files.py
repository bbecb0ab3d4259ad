"""The files that someone brings along: one, a folder of them, or a zip; opened with suspicion.

Nothing is ever unpacked to a path, no link is followed, and whatever a file claims about itself,
no more is read of it than its limit.
"""

from __future__ import annotations

import contextlib
import io
import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import IO

from remembrancer.errors import InvalidInput
from remembrancer.store.external_db import is_address

LARGEST = 4 * 1024**3
"""How many bytes may be read of one file, unpacked."""

LARGEST_TEXT = 64 * 1024**2
"""How many of one that is read as a whole."""

MOST_FILES = 100_000
ENCRYPTED = 1


@dataclass(slots=True)
class File:
    """One file; `path` is where it lies, unless it is inside a zip."""

    name: str
    open: Callable[[], IO[bytes]]
    path: Path | None = None
    was_read: bool = field(default=False, compare=False)

    @contextlib.contextmanager
    def reading(self) -> Iterator[IO[bytes]]:
        """Its bytes, as far as the limit goes."""
        self.was_read = True
        with readable(self.name):
            stream = self.open()
        with io.BufferedReader(_Counted(stream, self.name)) as counted:
            yield counted

    def text(self) -> str:
        """All of it as text."""
        with self.reading() as stream:
            content = stream.read(LARGEST_TEXT + 1)
        if len(content) > LARGEST_TEXT:
            raise InvalidInput(f"{self.name} is too large to be read as a whole.")
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InvalidInput(f"{self.name} cannot be read as UTF-8 text.") from None

    def begins_with(self, mark: bytes) -> bool:
        """Whether these are its first bytes; looking does not count as reading."""
        with readable(self.name), self.open() as stream:
            return stream.read(len(mark)) == mark


@dataclass(frozen=True, slots=True)
class Source:
    """What someone pointed at; `address` is that of a database, which has no files."""

    name: str
    files: tuple[File, ...] = ()
    address: str | None = None

    def named(self, *patterns: str) -> list[File]:
        """The files of which the name, without folders, is like one of these."""
        return [
            one
            for one in self.files
            if any(fnmatch(one.name.rpartition("/")[2].lower(), pattern) for pattern in patterns)
        ]


@contextlib.contextmanager
def opened(place: str | Path) -> Iterator[Source]:
    """The files at a path, or the database at an address."""
    if is_address(str(place)):
        yield Source("a database", address=str(place))
        return
    path = Path(place).expanduser()
    with readable(str(path)):
        mode = path.stat().st_mode
        zipped = stat.S_ISREG(mode) and zipfile.is_zipfile(path)
    if stat.S_ISDIR(mode):
        yield Source(path.resolve().name, tuple(_within(path)))
    elif not stat.S_ISREG(mode):
        raise InvalidInput(f"{path} is neither a file nor a folder.")
    elif zipped:
        with readable(str(path)):
            archive = zipfile.ZipFile(path)
        with archive:
            yield Source(path.name, tuple(_packed(path, archive)))
    else:
        yield Source(path.name, (_file(path, path.name),))


def _file(path: Path, name: str) -> File:
    return File(name, lambda: path.open("rb"), path)


def _within(folder: Path) -> Iterator[File]:
    """The files below a folder in the order of their names; hidden ones and links are passed by."""
    count = 0
    for place, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        for name in sorted(names):
            path = Path(place, name)
            if name.startswith(".") or path.is_symlink() or not path.is_file():
                continue
            count += 1
            if count > MOST_FILES:
                raise InvalidInput(f"{folder} has more than {MOST_FILES} files.")
            yield _file(path, path.relative_to(folder).as_posix())


def _packed(path: Path, archive: zipfile.ZipFile) -> Iterator[File]:
    members = [one for one in archive.infolist() if not one.is_dir()]
    if len(members) > MOST_FILES:
        raise InvalidInput(f"{path} has more than {MOST_FILES} files in it.")
    for one in members:
        if one.flag_bits & ENCRYPTED:
            raise InvalidInput(f"{path} needs a password; unpack it, and name the folder.")
        yield File(one.filename, _opener(archive, one))


def _opener(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Callable[[], IO[bytes]]:
    return lambda: archive.open(member)


class _Counted(io.RawIOBase):
    """A stream that ends with an error when there is more of it than there may be."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._stream = stream
        self._name = name
        self._left = LARGEST

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        with readable(self._name):
            piece = self._stream.read(len(buffer))
        self._left -= len(piece)
        if self._left < 0:
            raise InvalidInput(f"{self._name} is larger than {LARGEST} bytes.")
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        self._stream.close()
        super().close()


@contextlib.contextmanager
def readable(name: str) -> Iterator[None]:
    """Say in one sentence that a file cannot be read."""
    try:
        yield
    except OSError as error:
        raise InvalidInput(f"{name} cannot be read: {error.strerror or error}.") from error
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,  # a kind of zip file that nobody writes
        RuntimeError,
        OverflowError,
        ValueError,
    ) as error:
        raise InvalidInput(f"{name} is damaged: {error}.") from error
