"""The pinned dependencies of requirements.lock, and which of them the product needs."""

from __future__ import annotations

import importlib.metadata
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "requirements.lock"


@dataclass(frozen=True, slots=True)
class Pin:
    """One line of the lock."""

    name: str
    version: str

    @property
    def purl(self) -> str:
        return f"pkg:pypi/{self.name}@{self.version}"


def read_pins(lock: Path = LOCK) -> list[Pin]:
    """The pins of a lock, sorted by name; raises ValueError for a line that pins nothing."""
    return sorted(map(_parse_pin, _read_lines(lock)), key=lambda one: one.name)


def _read_lines(lock: Path) -> Iterator[str]:
    for line in lock.read_text(encoding="utf-8").splitlines():
        if stripped := line.partition("#")[0].strip():
            yield stripped


def _parse_pin(line: str) -> Pin:
    requirement = Requirement(line)
    (only,) = requirement.specifier
    if only.operator != "==":
        raise ValueError(f"{line} pins no version.")
    return Pin(canonicalize_name(requirement.name), only.version)


def find_scopes() -> dict[str, str]:
    """`required` for what every installation needs, `optional` for what an extra needs.

    What is in neither is needed only to develop and test.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    optional = [one for name, some in extras.items() if name != "dev" for one in some]
    return dict.fromkeys(_close(optional), "optional") | dict.fromkeys(
        _close(project["dependencies"]), "required"
    )


def _close(requirements: Iterable[str]) -> set[str]:
    """The names of these requirements and of all that they need here."""
    found: set[str] = set()
    waiting = [(Requirement(one), "") for one in requirements]
    seen: set[tuple[str, str]] = set()
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        found.add(name)
        for wanted in ("", *requirement.extras):
            if (name, wanted) not in seen:
                seen.add((name, wanted))
                waiting += [(Requirement(one), wanted) for one in _list_needs(name)]
    return found


def _list_needs(name: str) -> list[str]:
    try:
        return importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError:
        return []
