"""Reads the knowledge graph of the MCP reference memory server.

Each entity, observation and relation becomes a fact. Observations are linked to their entity,
relations to both of their entities.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from remembrancer.transfer.formats.files import ImportSource, SourceFile
from remembrancer.transfer.formats.items import FileLocation, ImportItem, MemoryItem, SkippedItem
from remembrancer.transfer.formats.json_stream import first_text, read_entries

FILE_PATTERNS = ("*.jsonl", "*.json")


def read(source: ImportSource) -> Iterator[ImportItem]:
    """Yield the facts of a graph, from one object on each line or from a single object."""
    for file in source.find_files(*FILE_PATTERNS) or source.files:
        for place, kind, one in _read_objects(file):
            if kind == "entity" and first_text(one, "name"):
                yield from _parse_entity(place, one)
            elif kind == "relation" and first_text(one, "from") and first_text(one, "to"):
                yield _parse_relation(place, one)
            else:
                yield SkippedItem(place, "neither an entity nor a relation")


def _read_objects(file: SourceFile) -> Iterator[tuple[FileLocation, str, Any]]:
    for where, one in read_entries(file):
        if isinstance(one, dict) and "type" not in one:
            yield from _read_graph(file, one)
        else:
            yield FileLocation(file.name, where), str(first_text(one, "type")), one


def _read_graph(file: SourceFile, graph: dict[str, Any]) -> Iterator[tuple[FileLocation, str, Any]]:
    for kind, name in (("entity", "entities"), ("relation", "relations")):
        found = graph.get(name)
        for number, one in enumerate(found if isinstance(found, list) else [], 1):
            yield FileLocation(file.name, f"{kind} {number}"), kind, one


def _parse_entity(
    place: FileLocation, entity: dict[str, Any]
) -> Iterator[MemoryItem | SkippedItem]:
    name, kind = str(first_text(entity, "name")), first_text(entity, "entityType") or "entity"
    about: Any = {"subject": name, "predicate": "is a", "origin": "assistant"}
    article = "an" if kind[0].casefold() in "aeiou" else "a"
    yield MemoryItem(place, name, f"{_to_words(name)} is {article} {_to_words(kind)}.", about)
    observations = entity.get("observations")
    for number, one in enumerate(observations if isinstance(observations, list) else [], 1):
        here = place.at(f"observation {number}")
        if not isinstance(one, str) or not one.strip():
            yield SkippedItem(here, "an empty observation")
            continue
        has_name = _to_words(name).casefold() in one.casefold()
        content = one if has_name else f"{_to_words(name)}: {one}"
        details: Any = {"tags": [kind], "origin": "assistant"}
        yield MemoryItem(here, f"{name}\n{one}", content, details, links=(name,))


def _parse_relation(place: FileLocation, relation: dict[str, Any]) -> MemoryItem:
    source, target = str(first_text(relation, "from")), str(first_text(relation, "to"))
    verb = first_text(relation, "relationType") or "is related to"
    content = " ".join(map(_to_words, (source, verb, target))) + "."
    key = f"{source}\n{verb}\n{target}"
    return MemoryItem(place, key, content, {"origin": "assistant"}, links=(source, target))


def _to_words(name: str) -> str:
    return name.replace("_", " ").strip()
