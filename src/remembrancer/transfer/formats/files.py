"""Opens the files of an import: one file, a folder or a zip, all of them untrusted.

Nothing is extracted to a path, links are not followed, and reading stops at a size limit.
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
from datetime import UTC, tzinfo
from fnmatch import fnmatch
from pathlib import Path
from typing import IO

from remembrancer.errors import InvalidInput
from remembrancer.store.external_db import is_database_url

MAX_FILE_BYTES = 4 * 1024**3
"""Limit for one file, after decompression."""

MAX_TEXT_FILE_BYTES = 64 * 1024**2
"""Limit for a file that is read as a whole."""

MAX_FILES = 100_000
HARMLESS_BYTES = 64 * 1024**2
"""What may be unpacked from however little."""

ENCRYPTED_FLAG = 1


@dataclass(slots=True)
class SourceFile:
    """One file; `path` is None if it is inside a zip."""

    name: str
    open: Callable[[], IO[bytes]]
    path: Path | None = None
    was_read: bool = field(default=False, compare=False)

    @contextlib.contextmanager
    def open_limited(self) -> Iterator[IO[bytes]]:
        """Open the file; reading past the limit raises `InvalidInput`."""
        self.was_read = True
        with translate_read_errors(self.name):
            stream = self.open()
        with io.BufferedReader(_LimitedStream(stream, self.name)) as limited:
            yield limited

    def read_text(self) -> str:
        with self.open_limited() as stream:
            content = stream.read(MAX_TEXT_FILE_BYTES + 1)
        if len(content) > MAX_TEXT_FILE_BYTES:
            raise InvalidInput(f"{self.name} is too large to be read as a whole.")
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InvalidInput(f"{self.name} cannot be read as UTF-8 text.") from None

    def begins_with(self, prefix: bytes) -> bool:
        """True if these are the first bytes; does not set `was_read`."""
        with translate_read_errors(self.name), self.open() as stream:
            return stream.read(len(prefix)) == prefix


@dataclass(frozen=True, slots=True)
class ImportSource:
    """The files of an import, or the URL of a database.

    `zone` applies to message times without a zone.
    """

    name: str
    files: tuple[SourceFile, ...] = ()
    database_url: str | None = None
    zone: tzinfo = UTC

    def find_files(self, *patterns: str) -> list[SourceFile]:
        """Return the files whose name, without folders, matches one of the patterns."""
        return [
            one
            for one in self.files
            if any(fnmatch(one.name.rpartition("/")[2].lower(), pattern) for pattern in patterns)
        ]


@dataclass(frozen=True, slots=True)
class UnpackLimits:
    """How large a zip may be when it is unpacked, in all and as a multiple of its own size."""

    max_bytes: int = 4 * 1024**3
    max_ratio: float = 200

    def check(self, path: Path, archive: zipfile.ZipFile) -> None:
        """Raise `InvalidInput` for a zip that would unpack to too much; reads only its directory.

        No more is ever read of a member than its directory says.
        """
        unpacked = sum(one.file_size for one in archive.infolist())
        packed = max(1, path.stat().st_size)
        is_bomb = unpacked > HARMLESS_BYTES and unpacked / packed > self.max_ratio
        if unpacked <= self.max_bytes and not is_bomb:
            return
        raise InvalidInput(
            f"{path} has {format_megabytes(packed)}, but would unpack to "
            f"{format_megabytes(unpacked)}. If that is right, unpack it and import the folder, or "
            f"raise imports.max_unpacked_bytes and imports.max_unpack_ratio."
        )


def format_megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


DEFAULT_LIMITS = UnpackLimits()


@contextlib.contextmanager
def open_source(place: str | Path, limits: UnpackLimits = DEFAULT_LIMITS) -> Iterator[ImportSource]:
    if is_database_url(str(place)):
        yield ImportSource("a database", database_url=str(place))
        return
    path = Path(place).expanduser()
    with translate_read_errors(str(path)):
        mode = path.stat().st_mode
        is_zip = stat.S_ISREG(mode) and zipfile.is_zipfile(path)
    if stat.S_ISDIR(mode):
        yield ImportSource(path.resolve().name, tuple(_walk_directory(path)))
    elif not stat.S_ISREG(mode):
        raise InvalidInput(f"{path} is neither a file nor a folder.")
    elif is_zip:
        with translate_read_errors(str(path)):
            archive = zipfile.ZipFile(path)
        with archive:
            limits.check(path, archive)
            yield ImportSource(path.name, tuple(_list_zip_files(path, archive)))
    else:
        yield ImportSource(path.name, (_build_file(path, path.name),))


def _build_file(path: Path, name: str) -> SourceFile:
    return SourceFile(name, lambda: path.open("rb"), path)


def _walk_directory(folder: Path) -> Iterator[SourceFile]:
    """Yield the files below a folder in the order of their names, without hidden ones and links."""
    count = 0
    for parent, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        for name in sorted(names):
            path = Path(parent, name)
            if name.startswith(".") or path.is_symlink() or not path.is_file():
                continue
            count += 1
            if count > MAX_FILES:
                raise InvalidInput(f"{folder} has more than {MAX_FILES} files.")
            yield _build_file(path, path.relative_to(folder).as_posix())


def _list_zip_files(path: Path, archive: zipfile.ZipFile) -> Iterator[SourceFile]:
    members = [one for one in archive.infolist() if not one.is_dir()]
    if len(members) > MAX_FILES:
        raise InvalidInput(f"{path} has more than {MAX_FILES} files in it.")
    for one in members:
        if one.flag_bits & ENCRYPTED_FLAG:
            raise InvalidInput(f"{path} has a password; extract it and give the folder.")
        yield SourceFile(one.filename, _opener(archive, one))


def _opener(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Callable[[], IO[bytes]]:
    return lambda: archive.open(member)


class _LimitedStream(io.RawIOBase):
    """A stream that raises `InvalidInput` after `MAX_FILE_BYTES`."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._stream = stream
        self._name = name
        self._left = MAX_FILE_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        with translate_read_errors(self._name):
            chunk = self._stream.read(len(buffer))
        self._left -= len(chunk)
        if self._left < 0:
            raise InvalidInput(f"{self._name} is larger than {MAX_FILE_BYTES} bytes.")
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        self._stream.close()
        super().close()


@contextlib.contextmanager
def translate_read_errors(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InvalidInput(f"{name} cannot be read: {error.strerror or error}.") from error
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,  # a zip feature that Python does not support
        RuntimeError,
        OverflowError,
        ValueError,
    ) as error:
        raise InvalidInput(f"{name} is damaged: {error}.") from error
