"""Plain text in which lines begin with a speaker: “User: …”, “Assistant: …”, “Ada: …”."""

from __future__ import annotations

from collections.abc import Iterator

from remembrancer.errors import InvalidInput
from remembrancer.sessions.conversation_file import Unparsed, no_messages, parse_conversation
from remembrancer.transfer.formats.files import ImportSource, SourceFile
from remembrancer.transfer.formats.items import (
    FileLocation,
    ImportItem,
    SkippedItem,
    TurnItem,
    build_conversation,
)

FILE_PATTERNS = ("*.txt", "*.text", "*.log")


def read(source: ImportSource) -> Iterator[ImportItem]:
    """Read each file as a conversation, identified by its name and its first words.

    A file without messages or in another encoding is an error if it is the only one, and is skipped
    among others.
    """
    files = source.find_files(*FILE_PATTERNS) or source.files
    for file in files:
        try:
            items = [*_read_file(file, source)]
        except InvalidInput as error:
            if len(files) == 1:
                raise
            yield SkippedItem(FileLocation(file.name, "all of it"), str(error))
        else:
            yield from items


def _read_file(file: SourceFile, source: ImportSource) -> Iterator[ImportItem]:
    found: list[TurnItem | SkippedItem] = []
    for one in parse_conversation(file.read_text(), source.zone):
        place = FileLocation(file.name, one.where)
        if isinstance(one, Unparsed):
            found.append(SkippedItem(place, one.reason))
        else:
            found.append(TurnItem(place, f"{one.number} {one.turn['content']}", one.turn))
    first = next((one for one in found if isinstance(one, TurnItem)), None)
    if first is None:
        raise no_messages(file.name)
    key = f"{file.name}\n{first.turn['content']}"
    title = file.name.rpartition("/")[2].rpartition(".")[0].replace("_", " ")
    yield from build_conversation(FileLocation(file.name, "line 1"), key, found, title=title)
