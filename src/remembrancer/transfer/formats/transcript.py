"""Plain text in which lines begin with who speaks: “User: …”, “Assistant: …”."""

from __future__ import annotations

from collections.abc import Iterator

from remembrancer.errors import InvalidInput
from remembrancer.transfer.formats.files import ImportSource, SourceFile
from remembrancer.transfer.formats.items import (
    FileLocation,
    ImportItem,
    SkippedItem,
    TurnItem,
    build_conversation,
)
from remembrancer.transfer.formats.roles import ROLE_BY_SPEAKER, SPEAKER_PATTERN

FILE_PATTERNS = ("*.txt", "*.text", "*.log")


def read(source: ImportSource) -> Iterator[ImportItem]:
    """Each file is a conversation; it is known again by its name and its first words."""
    for file in source.find_files(*FILE_PATTERNS) or source.files:
        try:
            turns = list(_parse_turns(file))
        except InvalidInput as error:
            yield SkippedItem(FileLocation(file.name, "all of it"), str(error))
            continue
        first = next((one for one in turns if isinstance(one, TurnItem)), None)
        key = f"{file.name}\n{first.turn['content']}" if first else file.name
        title = file.name.rpartition("/")[2].rpartition(".")[0].replace("_", " ")
        yield from build_conversation(FileLocation(file.name, "line 1"), key, turns, title=title)


def _parse_turns(file: SourceFile) -> Iterator[TurnItem | SkippedItem]:
    number, role, place, content = 0, "", FileLocation(file.name, "line 1"), [""]
    for line_number, line in enumerate(file.read_text().split("\n"), 1):
        spoken = SPEAKER_PATTERN.match(line)
        if spoken is None:
            content.append(line)
            continue
        yield from _build_turn(place, number, role, content)
        number, role = number + 1, ROLE_BY_SPEAKER[spoken[1].casefold()]
        place, content = FileLocation(file.name, f"line {line_number}"), [line[spoken.end() :]]
    yield from _build_turn(place, number, role, content)


def _build_turn(
    place: FileLocation, number: int, role: str, content: list[str]
) -> Iterator[TurnItem | SkippedItem]:
    said = "\n".join(content).strip()
    if said and not role:
        yield SkippedItem(place, "words before anyone speaks")
    elif said:
        yield TurnItem(place, f"{number} {said}", {"role": role, "content": said})
