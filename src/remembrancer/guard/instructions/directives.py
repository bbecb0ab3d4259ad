"""Loads the patterns of instructions to an assistant from the TOML files beside this module."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any

from remembrancer.guard.patterns import one_of


@dataclass(frozen=True, slots=True)
class Directive:
    """A pattern, the rule that it breaks, and the words around it that make it harmless."""

    rule: str
    pattern: str
    unless: str = ""


_PLACEHOLDER = re.compile(r"\{\{(\w+) ?(\d*)\}\}")


def _load(name: str) -> dict[str, Any]:
    return tomllib.loads((resources.files(__package__) / name).read_text(encoding="utf-8"))


_ENGLISH = _load("patterns.toml")
_OTHER = _load("other_languages.toml")
_POLICIES = _load("policies.toml")


def _expand(pattern: str, fragments: dict[str, str]) -> str:
    """The pattern on one line, with fragments for its placeholders."""

    def fragment(match: re.Match[str]) -> str:
        return fragments[match[1]].replace("MAX", match[2])

    return _PLACEHOLDER.sub(fragment, pattern).replace("\n", "")


def _build_fragments() -> dict[str, str]:
    gap = _ENGLISH["fragments"]["all"]["GAP"]
    fragments: dict[str, str] = {}
    for group in _ENGLISH["words"].values():
        fragments |= {name: one_of(words, gap) for name, words in group.items()}
    files = (_ENGLISH, _OTHER, _POLICIES)
    for group in (group for file in files for group in file["fragments"].values()):
        for name, pattern in group.items():
            fragments[name] = _expand(pattern, fragments)
    return fragments


def _build_directives(
    rules: dict[str, list[dict[str, str]]], fragments: dict[str, str]
) -> tuple[Directive, ...]:
    return tuple(
        Directive(
            rule,
            pattern=_expand(entry["pattern"], fragments),
            unless=_expand(entry.get("unless", ""), fragments),
        )
        for rule, entries in rules.items()
        for entry in entries
    )


def _build_for_languages(file: dict[str, Any], section: str) -> tuple[Directive, ...]:
    """The patterns of a section, built with the words of each language."""
    return tuple(
        directive
        for words in file["languages"].values()
        for directive in _build_directives(
            file[section],
            _FRAGMENTS | {name: _expand(pattern, _FRAGMENTS) for name, pattern in words.items()},
        )
    )


_FRAGMENTS = _build_fragments()
DIRECTIVES = _build_directives(_ENGLISH["directives"], _FRAGMENTS)
LATIN_DIRECTIVES = (
    *_build_for_languages(_OTHER, "latin"),
    *_build_for_languages(_POLICIES, "policies"),
)
NON_LATIN_DIRECTIVES = _build_directives(_OTHER["non_latin"], _FRAGMENTS)
