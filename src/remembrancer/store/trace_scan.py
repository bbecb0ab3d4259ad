"""Scans files and archives for traces of an erased person, byte by byte.

The files of a SQLite store are scanned by `main`, in the process that `scan_process` starts.
"""

from __future__ import annotations

import io
import json
import os
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

import re2

from remembrancer.store.contract import ScanResult, TraceTerms

CHUNK_BYTES = 4 * 1024 * 1024
SHARED_DIRECTORIES = ("people", "teams", "backups")
"""Directories that also hold the words of others."""


def scan_files(directory: Path, traces: TraceTerms) -> list[ScanResult]:
    """Scan every file below a directory; returns one result per place.

    Words are not searched for in directories that others share; only ids are.
    """
    alone, all_ = build_finder(traces.ids), build_finder((*traces.ids, *traces.words))
    sizes: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for path in sorted(walk_files(directory)):
        place = path.relative_to(directory).parts[0].split(".")[0]
        find = alone if place in SHARED_DIRECTORIES else all_
        found[place] += len(find([path.relative_to(directory).as_posix().encode()]))
        for stream in _open_streams(path):
            with stream:
                found[place] += len(find(count_bytes(_read_chunks(stream), sizes, place)))
    return [ScanResult(place, sizes[place], found[place]) for place in sorted(found)]


def main() -> None:
    """Answer the request on standard input with one line of JSON on standard output."""
    directory, ids, words = json.loads(sys.stdin.buffer.readline())
    answer: list[object]
    try:
        found = scan_files(Path(directory), TraceTerms(tuple(ids), tuple(words)))
        answer = ["scanned", [(one.place, one.bytes, one.found) for one in found]]
    except OSError as error:
        answer = ["failed", error.errno, error.strerror, str(error.filename or directory)]
    sys.stdout.write(json.dumps(answer) + "\n")


def build_finder(traces: Iterable[str]) -> Callable[[Iterable[bytes]], set[bytes]]:
    """A function that finds which of these texts occur in a file's chunks, even across two."""
    needles = sorted({trace.encode() for trace in traces if trace})
    if not needles:
        return lambda _: set()
    longest = max(map(len, needles))
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = 64 * 1024 * 1024
    # Case-sensitive: ids that differ in case are different ids.
    pattern = re2.compile(b"|".join(map(re2.escape, needles)), options)

    def find(pieces: Iterable[bytes]) -> set[bytes]:
        found: set[bytes] = set()
        rest = b""
        for piece in pieces:
            text = rest + piece
            found.update(match.group() for match in pattern.finditer(text))
            rest = text[-longest + 1 :] if longest > 1 else b""
        return found

    return find


def walk_files(directory: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(directory):
        yield from (Path(folder, name) for name in names)


def _open_streams(path: Path) -> Iterator[IO[bytes]]:
    """A file and, if it is an archive, each of its members, decompressed."""
    try:
        if path.suffix == ".zip" and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                for member in archive.infolist():
                    yield io.BytesIO(member.filename.encode())
                    yield archive.open(member)
        yield path.open("rb")
    except FileNotFoundError:  # removed meanwhile: an emptied log or a draft
        return


def _read_chunks(stream: IO[bytes]) -> Iterator[bytes]:
    while piece := stream.read(CHUNK_BYTES):
        yield piece


def count_bytes(pieces: Iterable[bytes], sizes: Counter[str], place: str) -> Iterator[bytes]:
    """Sum the results by place."""
    for piece in pieces:
        sizes[place] += len(piece)
        yield piece
