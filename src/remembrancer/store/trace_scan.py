"""Looking for traces of someone in files, byte by byte, and into archives."""

from __future__ import annotations

import io
import os
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

import re2

from remembrancer.store.contract import ScanResult, TraceTerms

CHUNK_BYTES = 4 * 1024 * 1024
SHARED_DIRECTORIES = ("people", "teams", "backups")
"""Where the words of others are, which may be the same words."""


def scan_files(directory: Path, traces: TraceTerms) -> list[ScanResult]:
    """Look into every file below a directory; one line for each place in it.

    Words are not looked for where others keep theirs: only an id tells whose they are.
    """
    alone, all_ = build_finder(traces.ids), build_finder((*traces.ids, *traces.words))
    sizes: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for path in sorted(_walk_files(directory)):
        place = path.relative_to(directory).parts[0].split(".")[0]
        find = alone if place in SHARED_DIRECTORIES else all_
        found[place] += len(find([path.relative_to(directory).as_posix().encode()]))
        for stream in _open_streams(path):
            with stream:
                found[place] += len(find(count_bytes(_read_chunks(stream), sizes, place)))
    return [ScanResult(place, sizes[place], found[place]) for place in sorted(found)]


def build_finder(traces: Iterable[str]) -> Callable[[Iterable[bytes]], set[bytes]]:
    """What tells which of these texts occur in pieces of a file, also where two pieces meet."""
    wanted = sorted({trace.encode() for trace in traces if trace})
    if not wanted:
        return lambda _: set()
    longest = max(map(len, wanted))
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = 64 * 1024 * 1024
    # Case-insensitive it would find more, and be wrong: an id is what it is.
    pattern = re2.compile(b"|".join(map(re2.escape, wanted)), options)

    def find(pieces: Iterable[bytes]) -> set[bytes]:
        found: set[bytes] = set()
        rest = b""
        for piece in pieces:
            text = rest + piece
            found.update(match.group() for match in pattern.finditer(text))
            rest = text[-longest + 1 :] if longest > 1 else b""
        return found

    return find


def _walk_files(directory: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(directory):
        yield from (Path(folder, name) for name in names)


def _open_streams(path: Path) -> Iterator[IO[bytes]]:
    """A file as it is and, if it is an archive, each of its members as they were put in."""
    try:
        if path.suffix == ".zip" and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                for member in archive.infolist():
                    yield io.BytesIO(member.filename.encode())
                    yield archive.open(member)
        yield path.open("rb")
    except FileNotFoundError:  # It was there a moment ago: a log that was emptied, a draft.
        return


def _read_chunks(stream: IO[bytes]) -> Iterator[bytes]:
    while piece := stream.read(CHUNK_BYTES):
        yield piece


def count_bytes(pieces: Iterable[bytes], sizes: Counter[str], place: str) -> Iterator[bytes]:
    """The same pieces, added up by where they are."""
    for piece in pieces:
        sizes[place] += len(piece)
        yield piece
