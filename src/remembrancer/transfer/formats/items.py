"""What is found in a file: memories, conversations, and what is left out and why. Plain values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from remembrancer.remember.statement import Details
    from remembrancer.sessions.turns import Said


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands: the file, and where in it."""

    file: str
    where: str

    def __str__(self) -> str:
        return f"{self.file}, {self.where}"

    def at(self, where: str) -> Place:
        """A place within this one."""
        return Place(self.file, f"{self.where}, {where}")

    def wrong(self, what: str) -> InvalidInput:
        """An error that names the place, for whoever has to mend the file."""
        return InvalidInput(f"{self}: {what}")


def _no_details() -> Details:
    return {}


@dataclass(frozen=True, slots=True)
class Stated:
    """A memory. `key` is what its source calls it: the same whenever it is read again.

    `whose` is the person or the part of the source that it belongs to, where there are several;
    `links` are the keys of what it is related to.
    """

    place: Place
    key: str
    content: str
    details: Details = field(default_factory=_no_details)
    whose: str | None = None
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Spoken:
    """One turn, and what it is called within its conversation."""

    place: Place
    key: str
    said: Said


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns in the order in which they were said."""

    place: Place
    key: str
    turns: tuple[Spoken, ...]
    title: str | None = None
    whose: str | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that is not brought in, and why not."""

    place: Place
    why: str


Piece = Stated | Conversation | LeftOut


def conversation(
    place: Place,
    key: str,
    found: Iterable[Spoken | Stated | LeftOut],
    *,
    title: object = None,
    whose: str | None = None,
) -> Iterable[Piece]:
    """The pieces of one conversation: what is beside it first, and then its turns if it has any."""
    turns: list[Spoken] = []
    for one in found:
        if isinstance(one, Spoken):
            turns.append(one)
        else:
            yield one
    called = title.strip() if isinstance(title, str) and title.strip() else None
    if turns:
        yield Conversation(place, key, tuple(turns), called, whose)
    else:
        yield LeftOut(place, "a conversation in which nobody says anything")
