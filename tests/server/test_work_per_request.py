"""No request costs much more than a plain one, whatever its body; beyond the limits it is refused.

Bodies are made from `/openapi.json`: every field of every operation once at its limit and beyond,
with texts and values that are hard to search. `REM_LONG=1` sends all of them instead of some.
"""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

import remembrancer
from remembrancer.errors import InvalidInput
from tests.support.rem_serve import address_of, free_port, running

pytestmark = pytest.mark.postgres_long

LONG = bool(os.environ.get("REM_LONG"))
SOME = 80
PLAIN = 20
MOST = 100
"""The CPU time of a request, as a multiple of the plain one's."""

TICK = 1 / os.sysconf("SC_CLK_TCK")
UNBOUNDED = 100_000
TEXTS = (
    "I like tea and my sister plays the cello. ",
    "password: ",
    "my password is ",
    "-----BEGIN RSA PRIVATE KEY-----\n",
    "http://a:b@",
    "(((((((((",
    "4111 1111 1111 111",
    "next monday at 1/1/2020 ",
    "abandon ",
    "a=b&",
    "\u200b\u0301",
    "QUJDREVG",
    "\n\n> ",
    "“‘",
)
NAME = " ".join(f"name{number}" for number in range(30))


class Sent(NamedTuple):
    method: str
    path: str
    field: str
    body: Any


class Server:
    """`rem serve` as a process, and the CPU time that it has used."""

    def __init__(self, address: str, key: str, process: int) -> None:
        self._stat = Path(f"/proc/{process}/stat")
        self.client = httpx.Client(
            base_url=address,
            headers={"Authorization": f"Bearer {key}"},
            trust_env=False,
            timeout=600,
        )

    def cpu_seconds(self) -> float:
        fields = self._stat.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * TICK

    def settle(self) -> None:
        """Wait until nothing runs in the background."""
        before = -1.0
        while self.cpu_seconds() - before > TICK:
            before = self.cpu_seconds()
            time.sleep(0.1)

    def cost(self, one: Sent) -> tuple[float, int]:
        """The CPU seconds of a request until its answer, and its status."""
        content = json.dumps(one.body).encode("utf-8", "surrogatepass")
        before = self.cpu_seconds()
        answer = self.client.request(
            one.method, one.path, content=content, headers={"Content-Type": "application/json"}
        )
        return self.cpu_seconds() - before, answer.status_code


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place = str(tmp_path_factory.mktemp("store"))
    with remembrancer.open(place) as store:
        key = store.create_key("ada", capabilities=["users:view", "users:edit"]).secret
    roomy = {"REMEMBRANCER_SERVER__REQUESTS_PER_MINUTE": "1000000"}
    quiet = {f"REMEMBRANCER_JOBS__{name}": "" for name in ("LEARN", "REEMBED", "CLOSE_SESSIONS")}
    command = ("--store", place, "serve", "--port", str(free_port()))
    with running(*command, environment={**roomy, **quiet}) as process:
        server = Server(address_of(process)[0], key, process.pid)
        with server.client:
            yield server


def plain_cost(server: Server) -> float:
    """What a small request costs on this machine, now."""
    sent = [
        Sent("POST", "/api/remember", "", {"content": f"Ada drinks tea number {number}."})
        for number in range(PLAIN)
    ]
    for one in sent[:5]:
        server.cost(one)
    before = server.cpu_seconds()
    for one in sent:
        assert server.cost(one)[1] == 200
    return max((server.cpu_seconds() - before) / PLAIN, TICK)


def requests(document: dict[str, Any]) -> Iterator[Sent]:
    """Every field of every body, one at a time, large; the others are as in the example."""
    schemas = document["components"]["schemas"]
    for path, methods in document["paths"].items():
        if path.startswith(("/api/agents/", "/api/butlers/")) or path in SKIPPED:
            continue
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if content is None:
                continue
            schema = resolve(content["schema"], schemas)
            example = content.get("example") or {}
            where = path.replace("{", "").replace("}", "")
            for name, field in schema.get("properties", {}).items():
                for value in large_values(field, schemas):
                    yield Sent(method.upper(), where, name, {**example, name: value})


SKIPPED = {"/api/jobs/tick", "/api/erasure", "/api/backup", "/api/people/{name}/erase"}
"""They do the work that they are there for, whatever the body."""


def resolve(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return resolve(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    for choice in (*schema.get("anyOf", ()), *schema.get("allOf", ())):
        if choice.get("type") != "null":
            return {**resolve(choice, schemas), **{"default": schema.get("default")}}
    return schema


def large_values(schema: dict[str, Any], schemas: dict[str, Any]) -> Iterator[Any]:
    schema = resolve(schema, schemas)
    match schema.get("type"):
        case "string" if "enum" not in schema and "const" not in schema:
            for text in TEXTS:
                yield fill(text, schema.get("maxLength", UNBOUNDED))
            yield fill("x", schema.get("maxLength", UNBOUNDED) + 1)
        case "array":
            inner = next(iter(small_values(schema.get("items", {}), schemas)), None)
            for count in (schema.get("maxItems", UNBOUNDED), UNBOUNDED):
                yield [vary(inner, number) for number in range(count)]
        case "object":
            yield from metadata()
        case "number" | "integer":
            yield from (0, -1, 1e308, 10**300)


def small_values(schema: dict[str, Any], schemas: dict[str, Any]) -> Iterator[Any]:
    schema = resolve(schema, schemas)
    if "enum" in schema:
        yield schema["enum"][0]
    elif schema.get("type") == "string":
        yield "tea"
    elif schema.get("type") == "object":
        required = {n: schema["properties"][n] for n in schema.get("required", ())}
        values = {n: next(small_values(one, schemas), None) for n, one in required.items()}
        yield {**values, "content": "Tea is hot. " * 60} if "content" in values else values


def vary(value: Any, number: int) -> Any:
    """The value with a number in it, so that no two are alike."""
    if isinstance(value, dict) and "content" in value:
        return {**value, "content": f"{number} {value['content']}"}
    return f"{value}{number}" if value == "tea" else value


def fill(text: str, length: int) -> str:
    return (text * (length // len(text) + 1))[:length]


def metadata() -> Iterator[Any]:
    """Wide, deep, long, with long names, and all at once."""
    yield {"a": list(range(7_000))}
    yield {"a": list(range(100_000))}
    yield {f"name {number}": number for number in range(50_000)}
    yield {"a": "word " * 190_000}
    yield {NAME: "my password is " * 60_000}
    deep: Any = list(range(20))
    for _ in range(25):
        deep = {NAME: deep}
    yield deep
    for _ in range(500):
        deep = [deep]
    yield {"a": deep}


def test_no_body_costs_much_more_than_a_plain_one(server: Server) -> None:
    everything = list(requests(server.client.get("/openapi.json").json()))
    assert len(everything) > 400
    some = everything if LONG else random.Random(7).sample(everything, SOME)
    plain = plain_cost(server)
    costs = []
    for one in some:
        seconds, status = server.cost(one)
        assert status < 500, one[:3]
        costs.append((round(seconds / plain, 1), f"{seconds:.2f} s", *one[:3], status))
        if seconds > 10 * plain:
            server.settle()
    costs.sort(reverse=True)
    print(f"{len(costs)} bodies, the most costly of them:", *costs[:5], sep="\n")
    assert costs[0][0] <= MOST, costs[:5]


def test_metadata_costs_little_or_is_refused(server: Server) -> None:
    plain = plain_cost(server)
    for number, value in enumerate(metadata()):
        body = {"content": f"Ada drinks tea {number}, with a note.", "metadata": value}
        seconds, status = server.cost(Sent("POST", "/api/remember", "metadata", body))
        assert status in (200, 400, 422), number
        assert seconds < MOST * plain, number


def test_long_turns_are_stored_at_once_and_embedded_later(server: Server) -> None:
    plain = plain_cost(server)
    said = " ".join(f"The orchard of house {n} has {n} old trees." for n in range(9))
    turns = [{"role": "user", "content": f"{number}. {said}"} for number in range(200)]
    seconds, status = server.cost(
        Sent("POST", "/api/sessions/orchards/turns", "turns", {"turns": turns})
    )
    assert status == 200
    assert seconds < MOST * plain
    server.settle()
    found = server.client.post("/api/recall", json={"query": "trees near house 8"}).json()
    assert found["items"]


def test_beside_the_most_costly_request_the_server_is_alive(server: Server) -> None:
    turns = [{"role": "user", "content": f"Tea {n} is hot."} for n in range(2000)]
    answers = 0
    with requested(server, "/api/sessions/busy/turns", {"turns": turns}) as busy:
        while busy.is_alive():
            assert server.client.get("/healthz").status_code == 200
            answers += 1
    assert answers >= 3


@contextmanager
def requested(server: Server, path: str, body: Any) -> Iterator[threading.Thread]:
    """Send a request while the block runs."""
    thread = threading.Thread(target=lambda: server.client.post(path, json=body))
    thread.start()
    yield thread
    thread.join()
    server.settle()


@pytest.mark.parametrize(
    "call",
    [
        lambda me: me.recall("tea", kinds=["fact"] * 101),
        lambda me: me.recall("tea", tags=[f"tag {n}" for n in range(101)]),
        lambda me: me.list(tags=(f"tag {n}" for n in range(101))),
        lambda me: me.remember("Tea is hot.", tags=[f"tag {n}" for n in range(101)]),
        lambda me: me.remember("Tea is hot.", metadata={"a": list(range(100_000))}),
        lambda me: me.remember("Tea is hot.", summary="x" * 20_001),
        lambda me: me.recall("x" * 20_001),
        lambda me: me.append([{"role": "user", "content": "a", "metadata": {NAME: ["b"] * 9_000}}]),
    ],
)
def test_the_library_has_the_same_limits(me: remembrancer.Memory, call: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        call(me)
    assert "at most" in str(refused.value) or "too many" in str(refused.value)
