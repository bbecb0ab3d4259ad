"""Writes a software bill of materials: every pinned dependency, the model and the word lists.

`python -m tests.supply_chain.sbom` prints CycloneDX 1.6 as JSON. The same lock gives the same
bytes: there is no time and no random number in it.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import sys
from pathlib import Path
from typing import Any

import remembrancer
from remembrancer.embed.local import MODEL_NAME, WEIGHTS_DIRECTORY, WEIGHTS_SHA256
from tests.supply_chain.pins import LOCK, ROOT, Pin, find_scopes, read_pins

WORDS = ROOT / "src" / "remembrancer" / "guard" / "words"
LICENSE_CLASSIFIER = "License :: "

Component = dict[str, Any]


def build_sbom(lock: Path = LOCK) -> Component:
    """The bill of materials of a lock."""
    scopes = find_scopes()
    libraries = [
        _describe_library(one, scopes.get(one.name, "excluded")) for one in read_pins(lock)
    ]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": "remembrancer",
                "name": "remembrancer",
                "version": remembrancer.__version__,
                "licenses": [{"expression": "Apache-2.0"}],
            }
        },
        "components": [*libraries, _describe_model(), _describe_words()],
    }


def _describe_library(pin: Pin, scope: str) -> Component:
    licenses = _find_licenses(pin)
    return {
        "type": "library",
        "bom-ref": pin.purl,
        "name": pin.name,
        "version": pin.version,
        "purl": pin.purl,
        "scope": scope,
        **({"licenses": licenses} if licenses else {}),
    }


def _find_licenses(pin: Pin) -> list[Component]:
    """The licences that the installed package declares; none if it is not the pinned one."""
    try:
        found = importlib.metadata.distribution(pin.name)
    except importlib.metadata.PackageNotFoundError:
        return []
    if found.version != pin.version:
        return []
    declared = found.metadata.json
    if expression := declared.get("license_expression"):
        return [{"expression": expression}]
    named = [
        one.rpartition(" :: ")[2]
        for one in declared.get("classifier", ())
        if one.startswith(LICENSE_CLASSIFIER)
    ]
    text = str(declared.get("license", "")).strip().partition("\n")[0]
    return [{"license": {"name": one}} for one in named or filter(None, [text])]


def _describe_model() -> Component:
    """The embedding model with its files and their checksums, as the product verifies them."""
    files = [
        {"type": "file", "name": name, "hashes": [_hash(WEIGHTS_DIRECTORY / name)]}
        for name in sorted(WEIGHTS_SHA256)
    ]
    return {
        "type": "machine-learning-model",
        "bom-ref": "model",
        "name": MODEL_NAME,
        "scope": "required",
        "licenses": [{"license": {"id": "Apache-2.0"}}],
        "components": files,
    }


def _describe_words() -> Component:
    """The word lists; their licences are in one file beside them."""
    licenses = (WORDS / "LICENSES.txt").read_text(encoding="utf-8")
    files = [
        {"type": "file", "name": path.name, "hashes": [_hash(path)]}
        for path in sorted(WORDS.glob("*.txt"))
        if path.name != "LICENSES.txt"
    ]
    return {
        "type": "data",
        "bom-ref": "words",
        "name": "word lists",
        "scope": "required",
        "licenses": [{"license": {"name": "see its text", "text": {"content": licenses}}}],
        "components": files,
    }


def _hash(path: Path) -> dict[str, str]:
    return {"alg": "SHA-256", "content": hashlib.sha256(path.read_bytes()).hexdigest()}


def main() -> None:
    json.dump(build_sbom(), sys.stdout, indent=2, sort_keys=True)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
