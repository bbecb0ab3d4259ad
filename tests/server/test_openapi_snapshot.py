"""The paths, tags and schema names of the API change only on purpose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import remembrancer
from remembrancer.server.app import create_app

pytestmark = pytest.mark.postgres_long

SNAPSHOT = Path(__file__).with_name("openapi_snapshot.json")
RENEW = "python -m tests.server.test_openapi_snapshot"


def read_api() -> dict[str, Any]:
    """Read from the OpenAPI document what clients and their generated code depend on."""
    with remembrancer.open(":memory:") as engine:
        document = create_app(engine).openapi()
    return {
        "operations": {
            f"{method.upper()} {path}": operation["tags"]
            for path, methods in document["paths"].items()
            for method, operation in methods.items()
        },
        "schemas": sorted(document["components"]["schemas"]),
        "tags": [tag["name"] for tag in document["tags"]],
    }


def test_the_api_is_the_one_of_the_snapshot() -> None:
    stored = json.loads(SNAPSHOT.read_text(encoding="utf-8"))
    assert read_api() == stored, f"The API has changed. If that is intended, run `{RENEW}`."


def test_every_tag_is_described_and_used() -> None:
    api = read_api()
    assert {tag for tags in api["operations"].values() for tag in tags} == set(api["tags"])


def test_schema_names_are_single_words_without_module_paths() -> None:
    assert [name for name in read_api()["schemas"] if not name.isalnum()] == []


if __name__ == "__main__":
    SNAPSHOT.write_text(json.dumps(read_api(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
