"""The OpenAPI document is true: responses to generated requests conform to it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

import remembrancer
from remembrancer.config import Settings
from remembrancer.embed.cache import CachedEmbedder
from tests.support.http_server import Served, served

pytestmark = pytest.mark.postgres_long

CASES = 10_000 if os.environ.get("REM_LONG") else 350
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
ROOMY = {"requests_per_minute": 10_000_000, "burst": 1_000_000}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Iterator[Served]:
    """A server with a team profile on SQLite, without a rate limit in practice."""
    path: Path = tmp_path_factory.mktemp("openapi")
    values = {"profile": "assistant", "store": {"path": path}, "server": ROOMY}
    own = Settings.model_validate(values)
    with remembrancer.open(settings=own, embedder=embedder) as engine, served(engine) as running:
        yield running


@pytest.fixture(scope="module")
def description(api: Served) -> dict[str, Any]:
    found: dict[str, Any] = api.client().get("/openapi.json").json()
    return found


def operations(description: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method, path, one)
        for path, methods in description["paths"].items()
        for method, one in methods.items()
    ]


def test_every_operation_has_a_name_of_its_own_a_sentence_and_its_errors(
    description: dict[str, Any],
) -> None:
    names = [one["operationId"] for _, _, one in operations(description)]
    assert len(names) == len(set(names)) > 100
    for _, path, one in operations(description):
        assert one["description"].strip(), path
        if path.startswith(("/api", "/memories")):
            assert {"400", "401", "403", "404", "413", "422", "429"} <= one["responses"].keys()


def test_every_operation_shows_an_example_of_what_goes_in_and_comes_out(
    description: dict[str, Any],
) -> None:
    for method, path, one in operations(description):
        bodies = [one.get("requestBody", {})]
        bodies += [said for status, said in one["responses"].items() if status[0] == "2"]
        for body in bodies:
            for media, content in body.get("content", {}).items():
                if media == "application/json":
                    assert content["example"] not in (None, ""), (method, path)


def test_examples_of_requests_are_valid(api: Served, description: dict[str, Any]) -> None:
    ada = api.of("example", capabilities=["users:view", "users:edit"])
    for method, path, one in operations(description):
        body = one.get("requestBody")
        if body is not None and "{" not in path:
            example = body["content"]["application/json"]["example"]
            answer = ada.request(method, path, json=example)
            assert answer.status_code != 422, (path, example, answer.text)


def test_answers_fit_the_description_whatever_is_asked(
    api: Served, description: dict[str, Any]
) -> None:
    secret = api.engine.create_key("ada", capabilities=["users:view", "users:edit"]).secret
    ids = known(api)
    schema = schemathesis.openapi.from_dict(description)
    found = [one.ok() for one in schema.get_all_operations()]
    each = CASES // len(found) + 3
    answered: dict[int, int] = {}
    with requests.Session() as session:
        session.trust_env = False
        for operation in found:
            ask(operation, session, (api.address, secret), ids, each, answered)
    assert sum(answered.values()) >= CASES
    assert sum(count for status, count in answered.items() if status < 300) > CASES / 10
    assert not [status for status in answered if status >= 500]


def ask(
    operation: Any,
    session: requests.Session,
    way: tuple[str, str],
    ids: list[str],
    each: int,
    answered: dict[int, int],
) -> None:
    """Generate requests for one operation, two thirds of them valid, and check the responses."""
    address, secret = way
    good = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
    bad = operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)

    @seed(1)
    @settings(
        max_examples=each,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.one_of(good, good, bad), st.sampled_from([None, *ids]))
    def check(case: Any, real: str | None) -> None:
        if real is not None and "id" in (case.path_parameters or {}):
            case.path_parameters["id"] = real
        # Or a made-up key would be all that half of the requests are refused for.
        case.headers = {**(case.headers or {}), "Authorization": f"Bearer {secret}"}
        answer = case.call(base_url=address, session=session, allow_redirects=False)
        answered[answer.status_code] = answered.get(answer.status_code, 0) + 1
        case.validate_response(answer, checks=CHECKS)

    check()


def known(api: Served) -> list[str]:
    """Store some memories and return their ids, so that generated requests can find them."""
    me = api.engine.for_user("ada")
    fact = me.remember("Ada drinks tea.", subject="ada", predicate="drinks").memory.id
    rule = me.remember("Confirm before sending.", kind="rule").memory.id
    episode = me.remember("Logged a weight of 75 kg.", kind="episode").memory.id
    (turn,) = me.append([{"role": "user", "content": "My sister plays the cello."}], "monday")
    proposed = me.propose("The proxy pool uses ports 9000 to 9999.").fact_id
    assert proposed is not None
    return [fact, rule, episode, turn.id, proposed]
