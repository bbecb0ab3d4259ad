"""Plain text in which lines begin with who speaks: “User: …”, “Assistant: …”."""

from __future__ import annotations

from collections.abc import Iterator

from remembrancer.errors import InvalidInput
from remembrancer.transfer.formats.files import File, Source
from remembrancer.transfer.formats.items import LeftOut, Piece, Place, Spoken, conversation
from remembrancer.transfer.formats.roles import SPEAKERS, SPOKEN

FILES = ("*.txt", "*.text", "*.log")


def read(source: Source) -> Iterator[Piece]:
    """Each file is a conversation; it is known again by its name and its first words."""
    for file in source.named(*FILES) or source.files:
        try:
            turns = list(_turns(file))
        except InvalidInput as error:
            yield LeftOut(Place(file.name, "all of it"), str(error))
            continue
        first = next((one for one in turns if isinstance(one, Spoken)), None)
        key = f"{file.name}\n{first.said['content']}" if first else file.name
        title = file.name.rpartition("/")[2].rpartition(".")[0].replace("_", " ")
        yield from conversation(Place(file.name, "line 1"), key, turns, title=title)


def _turns(file: File) -> Iterator[Spoken | LeftOut]:
    number, role, place, content = 0, "", Place(file.name, "line 1"), [""]
    for line_number, line in enumerate(file.text().split("\n"), 1):
        spoken = SPOKEN.match(line)
        if spoken is None:
            content.append(line)
            continue
        yield from _turn(place, number, role, content)
        number, role = number + 1, SPEAKERS[spoken[1].casefold()]
        place, content = Place(file.name, f"line {line_number}"), [line[spoken.end() :]]
    yield from _turn(place, number, role, content)


def _turn(place: Place, number: int, role: str, content: list[str]) -> Iterator[Spoken | LeftOut]:
    said = "\n".join(content).strip()
    if said and not role:
        yield LeftOut(place, "words before anyone speaks")
    elif said:
        yield Spoken(place, f"{number} {said}", {"role": role, "content": said})
