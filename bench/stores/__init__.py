"""Stores of single notes, to be written to, asked, emptied and broken; the list is `STORES`.

Imports the standard library only: this package is also read by the peers' own interpreters.
"""

from __future__ import annotations

from typing import Protocol

STORES = ("ours", "mem0", "mcp-memory-service", "langgraph")


class NoteStore(Protocol):
    """The notes of one person. `write` and `texts` may be called by several threads at once."""

    def write(self, text: str) -> None:
        """Store a note as if an assistant was told to; returns when it is acknowledged."""
        ...

    def write_untrusted(self, text: str) -> None:
        """Store what a tool or a web page said, with the origin that the product has for it."""
        ...

    def texts(self) -> list[str]:
        """Every note that the store lists."""
        ...

    def search(self, query: str) -> str:
        """What a prompt would be given."""
        ...

    def delete_all(self) -> None:
        """Delete every note with the product's own call for it."""
        ...

    def purge(self) -> None:
        """Remove what was deleted before its time, if the product has a call for that."""
        ...

    def close(self) -> None: ...
