"""Audits the pinned dependencies for known vulnerabilities, and proves first that it would see one.

An auditor that cannot reach its source finds nothing, which looks like good news. So each audit is
first made of pins that are known to be vulnerable: if they pass, the audit has failed.

`python -m tests.supply_chain.audit --database DIRECTORY` reads advisories in OSV's format, such as
an unpacked dump of the PyPI ecosystem. `--pip-audit PROGRAM` asks the services of pip-audit.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from tests.supply_chain.pins import LOCK, Pin, read_pins

KNOWN_BAD = (Pin("jinja2", "2.11.2"), Pin("urllib3", "1.24.1"))
"""CVE-2020-28493 and CVE-2019-11324: fixed in 2.11.3 and in 1.24.2."""

VULNERABLE, BLIND = 1, 2
"""The exit codes: a pin is vulnerable; the audit cannot be trusted."""


@dataclass(frozen=True, slots=True)
class Vulnerability:
    pin: Pin
    advisory: str


class BlindAuditError(Exception):
    """The source of the audit does not know what it should, or did not answer."""


Audit = Callable[[Sequence[Pin]], list[Vulnerability]]


def audit_pins(pins: Sequence[Pin], audit: Audit) -> list[Vulnerability]:
    """The vulnerabilities of these pins; raises BlindAuditError if known bad pins pass."""
    seen = {one.pin for one in audit(KNOWN_BAD)}
    if missed := [one.purl for one in KNOWN_BAD if one not in seen]:
        raise BlindAuditError(
            f"The audit found nothing wrong with {', '.join(missed)}, which is known to be "
            "vulnerable: its source is not reachable or incomplete."
        )
    return audit(pins)


def audit_with_database(directory: Path, pins: Sequence[Pin]) -> list[Vulnerability]:
    """The vulnerabilities of these pins by advisories in OSV's format."""
    by_name = {one.name: one for one in pins}
    found = []
    for path in sorted(directory.rglob("*.json")):
        advisory = json.loads(path.read_text(encoding="utf-8"))
        if "withdrawn" in advisory:
            continue
        for affected in advisory.get("affected", []):
            package = affected.get("package", {})
            pin = by_name.get(canonicalize_name(package.get("name", "")))
            if package.get("ecosystem") == "PyPI" and pin and _is_affected(pin, affected):
                found.append(Vulnerability(pin, advisory["id"]))
    return list(dict.fromkeys(found))


def _is_affected(pin: Pin, affected: dict[str, Any]) -> bool:
    version = Version(pin.version)
    if any(_parse(one) == version for one in affected.get("versions", [])):
        return True
    ranges = [one for one in affected.get("ranges", []) if one.get("type") == "ECOSYSTEM"]
    return any(_is_within(version, one.get("events", [])) for one in ranges)


def _is_within(version: Version, events: Sequence[dict[str, str]]) -> bool:
    """Whether a range is open at a version: after `introduced`, before `fixed`."""
    is_open = False
    for kind, limit in sorted(_iter_limits(events), key=lambda one: one[1]):
        match kind:
            case "introduced" if version >= limit:
                is_open = True
            case "fixed" if version >= limit:
                is_open = False
            case "last_affected" if version > limit:
                is_open = False
    return is_open


def _iter_limits(events: Sequence[dict[str, str]]) -> Iterator[tuple[str, Version]]:
    for one in events:
        for kind, text in one.items():
            if (limit := _parse(text)) is not None:
                yield kind, limit


def _parse(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        return None


def audit_with_pip_audit(program: str, pins: Sequence[Pin]) -> list[Vulnerability]:
    """The vulnerabilities of these pins by pip-audit; raises BlindAuditError for pins it skips."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as lock:
        lock.write("".join(f"{one.name}=={one.version}\n" for one in pins))
        lock.flush()
        options = ("--no-deps", "--disable-pip", "--format", "json", "--progress-spinner", "off")
        done = subprocess.run(
            [program, *options, "--requirement", lock.name],
            check=False,  # it fails if it finds something
            capture_output=True,
            text=True,
        )
    try:
        audited = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError) as error:
        raise BlindAuditError(f"pip-audit failed: {done.stderr.strip()}") from error
    if skipped := [one["skip_reason"] for one in audited if "skip_reason" in one]:
        raise BlindAuditError(f"pip-audit skipped {len(skipped)} pins: {skipped[0]}")
    return [
        Vulnerability(Pin(canonicalize_name(one["name"]), one["version"]), found["id"])
        for one in audited
        for found in one["vulns"]
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Audit the pinned dependencies.")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--database", type=Path, metavar="DIRECTORY")
    source.add_argument("--pip-audit", metavar="PROGRAM")
    parser.add_argument("lock", nargs="?", type=Path, default=LOCK)
    given = parser.parse_args(arguments)

    def audit(pins: Sequence[Pin]) -> list[Vulnerability]:
        if given.database is not None:
            return audit_with_database(given.database, pins)
        return audit_with_pip_audit(given.pip_audit, pins)

    pins = read_pins(given.lock)
    try:
        found = audit_pins(pins, audit)
    except BlindAuditError as error:
        print(error, file=sys.stderr)
        return BLIND
    for one in found:
        print(f"{one.pin.purl}: {one.advisory}")
    print(f"{len(found)} known vulnerabilities in {len(pins)} pinned dependencies.")
    return VULNERABLE if found else 0


if __name__ == "__main__":
    sys.exit(main())
