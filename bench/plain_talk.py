"""Measures the secret guard on sentences in ordinary talk: `python -m bench.plain_talk`.

The sentences are in tests/guard/plain_talk. The files `…_by_another` are by another author than the
rules, and were read for them. Those `…_unseen` are by a third author: nobody who writes rules may
look at more of them than the counts, so `--show` does not print them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from remembrancer.guard import redact

FOLDER = Path(__file__).parent.parent / "tests" / "guard" / "plain_talk"
PIECE = 4
PLACEHOLDER = re.compile(r"\[secret: [a-z0-9-]+\]")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, the turn before it, and the secrets in it."""

    lang: str
    half: str
    text: str
    previous: str = ""
    secrets: tuple[str, ...] = ()


def read_sentences(name: str) -> list[Sentence]:
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    rows = map(json.loads, lines)
    return [Sentence(**{**row, "secrets": tuple(row.get("secrets", ()))}) for row in rows]


def redacted(sentence: Sentence) -> str:
    return redact(sentence.text, (sentence.previous,)).text


def is_stored(sentence: Sentence) -> bool:
    """True if four characters in a row of any secret are still there, or a shorter secret is."""
    told = sentence.text
    for secret in sentence.secrets:
        told = told.replace(secret, "\n", 1)
    left = PLACEHOLDER.sub("\n", redacted(sentence))
    return any(piece in left for piece in _pieces(sentence.secrets) if piece not in told)


def _pieces(secrets: Iterable[str]) -> Iterator[str]:
    for secret in secrets:
        words = [word for word in secret.split() if len(word) >= PIECE]
        for word in words:
            yield from (word[at : at + PIECE] for at in range(len(word) - PIECE + 1))
        if not words:
            yield secret


def read_turns(path: Path) -> Iterator[str]:
    """The texts of the turns in a conversation file, which hold no real secrets."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    for line in data.decode().splitlines():
        yield from _texts(json.loads(line))


def _texts(row: object) -> Iterator[str]:
    if isinstance(row, list):
        for one in row:
            yield from _texts(one)
    elif isinstance(row, dict):
        for name, one in row.items():
            if isinstance(one, str) and name in ("text", "content"):
                yield one
            else:
                yield from _texts(one)


def _report(name: str, wrong: list[Sentence], sentences: list[Sentence], show: str) -> None:
    for half in "ab":
        bad = [one for one in wrong if one.half == half]
        total = sum(one.half == half for one in sentences)
        if not total:
            continue
        print(f"{name}, half {half}: {len(bad)} of {total} ({100 * len(bad) / total:.1f} %)")
        for one in bad if half in show else ():
            print(f"    {one.lang} {one.previous} {one.text}\n       {redacted(one)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--turns", type=Path, nargs="*", default=[], help="conversation files")
    parser.add_argument("--show", default="", help="halves whose failures are printed: a, b or ab")
    arguments = parser.parse_args()
    for author in ("", "_by_another", "_unseen"):
        show = "" if author == "_unseen" else arguments.show
        secret = read_sentences(f"secrets{author}.jsonl")
        harmless = read_sentences(f"harmless{author}.jsonl")
        stored = [one for one in secret if is_stored(one)]
        flagged = [one for one in harmless if redacted(one) != one.text]
        _report(f"secrets{author} stored", stored, secret, show)
        _report(f"harmless{author} flagged", flagged, harmless, show)
    for path in arguments.turns:
        turns = list(read_turns(path))
        alarms = [(text, found) for text in turns if (found := redact(text)).findings]
        print(f"{path.name}: {len(alarms)} of {len(turns)} turns flagged")
        for text, found in alarms:
            for one in found.findings:
                around = text[max(0, one.start - 80) : one.end + 30]
                print("   ", one.kind, "|", " ".join(around.split()))


if __name__ == "__main__":
    main()
