"""Remembrancer with default settings, as its users open it."""

from __future__ import annotations

from typing import Any

import remembrancer
from remembrancer.config import Settings
from remembrancer.types import Origin

USER = "ada"


def start(place: str) -> OurNotes:
    return OurNotes(remembrancer.open(place, settings=Settings()))


class OurNotes:
    """`place` is a directory or the address of a PostgreSQL server."""

    def __init__(self, store: remembrancer.Remembrancer) -> None:
        self._store = store
        self._me: Any = store.for_user(USER)

    def write(self, text: str) -> None:
        self._me.remember(text)

    def write_untrusted(self, text: str) -> None:
        self._me.remember(text, origin=Origin.TOOL)

    def texts(self) -> list[str]:
        texts: list[str] = []
        cursor: str | None = None
        while True:
            page = self._me.list(limit=500, cursor=cursor)
            texts += [one.content for one in page.items]
            cursor = page.cursor
            if cursor is None:
                return texts

    def search(self, query: str) -> str:
        return str(self._me.context(query, budget=100_000))

    def delete_all(self) -> None:
        self._me.delete_all()

    def purge(self) -> None:
        self._me.forget_everything()

    def close(self) -> None:
        self._store.close()
