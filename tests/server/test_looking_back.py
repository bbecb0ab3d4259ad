"""X2 over REST: every route that reads takes both moments or refuses them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from remembrancer import Memory
from tests.support.http_server import Served

pytestmark = pytest.mark.feature("X2")

UNCHECKED = {
    "/healthz": "probes may add parameters against caches",
    "/readyz": "probes may add parameters against caches",
    "/metrics": "scrapers may add parameters of their own",
    "/login": "a browser follows it, perhaps with parameters of whoever linked to it",
    "/v1/models": "clients of OpenAI's protocol may add parameters of their own",
}


@pytest.fixture
def served(serve: Callable[..., Served]) -> Served:
    return serve()


@pytest.fixture
def ada(served: Served) -> httpx.Client:
    return served.of("ada", capabilities=["users:view", "users:edit"])


@pytest.fixture
def me(served: Served) -> Memory:
    return served.engine.for_user("ada")


def read(client: httpx.Client, path: str, **params: object) -> Any:
    answer = client.get(path, params={name: str(value) for name, value in params.items()})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_X2_no_route_that_reads_ignores_a_parameter(ada: httpx.Client) -> None:
    paths = read(ada, "/openapi.json")["paths"]
    ignoring = set()
    for template, methods in paths.items():
        if "get" not in methods:
            continue
        path = re.sub(r"\{\w+\}", "x", template)
        answer = ada.get(path, params={"nonsense": 1}, follow_redirects=False)
        if answer.status_code != 422 or "nonsense" not in answer.json()["detail"]:
            ignoring.add(template)
    assert ignoring == UNCHECKED.keys()


def test_X2_a_write_with_an_unknown_parameter_changes_nothing(
    ada: httpx.Client, me: Memory
) -> None:
    fact = me.remember("Ada lives in Oslo").memory

    refused = ada.delete(f"/api/memory/facts/{fact.id}", params={"dry_run": "1"})

    assert refused.status_code == 422
    assert refused.json()["errors"] == [
        {"where": "query.dry_run", "message": "Extra inputs are not permitted"}
    ]
    assert me.get(fact.id) == fact
