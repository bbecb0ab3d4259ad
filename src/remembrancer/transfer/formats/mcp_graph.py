"""The knowledge graph of the MCP reference memory server: entities, observations, relations.

An entity is a fact about its subject, an observation is a fact beside it, and a relation is a fact
that links the entities at its ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from remembrancer.transfer.formats.files import File, Source
from remembrancer.transfer.formats.items import LeftOut, Piece, Place, Stated
from remembrancer.transfer.formats.json_stream import listed, words

FILES = ("*.jsonl", "*.json")


def read(source: Source) -> Iterator[Piece]:
    """The facts of a graph: one object on each line, or one with all entities and relations."""
    for file in source.named(*FILES) or source.files:
        for place, kind, one in _objects(file):
            if kind == "entity" and words(one, "name"):
                yield from _entity(place, one)
            elif kind == "relation" and words(one, "from") and words(one, "to"):
                yield _relation(place, one)
            else:
                yield LeftOut(place, "neither an entity nor a relation")


def _objects(file: File) -> Iterator[tuple[Place, str, Any]]:
    for where, one in listed(file):
        if isinstance(one, dict) and "type" not in one:
            yield from _whole(file, one)
        else:
            yield Place(file.name, where), str(words(one, "type")), one


def _whole(file: File, graph: dict[str, Any]) -> Iterator[tuple[Place, str, Any]]:
    for kind, name in (("entity", "entities"), ("relation", "relations")):
        found = graph.get(name)
        for number, one in enumerate(found if isinstance(found, list) else [], 1):
            yield Place(file.name, f"{kind} {number}"), kind, one


def _entity(place: Place, entity: dict[str, Any]) -> Iterator[Stated | LeftOut]:
    name, kind = str(words(entity, "name")), words(entity, "entityType") or "entity"
    about: Any = {"subject": name, "predicate": "is a", "origin": "assistant"}
    article = "an" if kind[0].casefold() in "aeiou" else "a"
    yield Stated(place, name, f"{_plain(name)} is {article} {_plain(kind)}.", about)
    observations = entity.get("observations")
    for number, one in enumerate(observations if isinstance(observations, list) else [], 1):
        here = place.at(f"observation {number}")
        if not isinstance(one, str) or not one.strip():
            yield LeftOut(here, "no observation")
            continue
        named = _plain(name).casefold() in one.casefold()
        content = one if named else f"{_plain(name)}: {one}"
        details: Any = {"tags": [kind], "origin": "assistant"}
        yield Stated(here, f"{name}\n{one}", content, details, links=(name,))


def _relation(place: Place, relation: dict[str, Any]) -> Stated:
    source, target = str(words(relation, "from")), str(words(relation, "to"))
    verb = words(relation, "relationType") or "is related to"
    content = " ".join(map(_plain, (source, verb, target))) + "."
    key = f"{source}\n{verb}\n{target}"
    return Stated(place, key, content, {"origin": "assistant"}, links=(source, target))


def _plain(name: str) -> str:
    """`works_at` as words."""
    return name.replace("_", " ").strip()
