"""Whether hostile strings do harm over REST: `python -m bench.hostile FILE [--engine postgres]`.

Each string is sent as content, query, id, tag, key of metadata, header and path. What is stored
must come back as it was, and no answer may be an error of the server.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import uvicorn

import remembrancer
from bench.processes import place
from bench.systems import ENTRIES
from remembrancer.config import Settings
from remembrancer.engine import Remembrancer
from remembrancer.server.app import create_app

ROOMY = {"requests_per_minute": 10_000_000, "burst": 1_000_000}


def strings(path: Path) -> list[str]:
    """The strings of a file, a JSON object with `text` to a line."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line)["text"] for line in raw.decode().splitlines()]


def attack(client: httpx.Client, text: str) -> list[tuple[str, int]]:
    """Send a string in every way; what was done and how it was answered. Harm is an error."""
    path, secret = quote(text, safe=""), client.headers["Authorization"]
    header = text.encode("utf-8", "replace").translate(None, bytes(range(32)) + b"\x7f").strip()
    ways: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", "/api/recall", {"json": {"query": text}}),
        ("POST", "/api/context", {"json": {"prompt": text}}),
        ("GET", "/api/memory/facts", {"params": {"q": text}}),
        ("GET", "/api/memory/facts", {"params": {"subject": text, "tag": text, "scope": text}}),
        ("GET", "/api/memory/facts", {"params": {"cursor": text}}),
        ("GET", "/api/memory/facts", {"params": {text: "x"}}),
        ("GET", f"/api/memory/{path}", {}),
        ("DELETE", f"/api/memory/facts/{path}", {}),
        ("GET", f"/api/agents/{path}/memory/facts", {}),
        ("GET", f"/api/sessions/{path}/turns", {}),
        ("GET", f"/{path}", {}),
        ("GET", "/memories", {"params": {"instanceId": text}}),
        ("POST", "/api/remember", {"json": {"content": "Tea is hot.", text: 1}}),
        ("POST", "/api/undo", {"json": {"event": text}}),
        ("POST", "/api/forget", {"json": {"what": text}}),
        ("POST", "/api/sessions/s/turns", {"json": {"turns": [{"role": "user", "content": text}]}}),
        ("GET", "/api/me", {"headers": {"Authorization": b"Bearer " + header}}),
        ("GET", "/api/memory/facts", {"headers": {"If-None-Match": header}}),
        ("POST", "/api/undo", {"json": {}, "headers": {"Idempotency-Key": header}}),
        ("GET", "/api/me", {"headers": {"Origin": header}}),
        ("GET", "/api/me", {"headers": {"Cookie": b"rem_session=" + header}}),
    ]
    done = [_sent(client, *way) for way in ways]
    client.headers["Authorization"] = secret
    return [*done, _kept(client, text)]


def _sent(client: httpx.Client, method: str, path: str, more: dict[str, Any]) -> tuple[str, int]:
    try:
        return f"{method} {path[:20]}", client.request(method, path, **more).status_code
    except (httpx.LocalProtocolError, httpx.InvalidURL, UnicodeError):
        return f"{method} {path[:20]}", 0  # no client can send that


def _kept(client: httpx.Client, text: str) -> tuple[str, int]:
    """Store a string as everything that a memory has, and read it back."""
    said = {"content": text, "tags": [text[:200]], "metadata": {text: text}, "body": text}
    answer = client.post("/api/remember", json=said)
    if answer.status_code == 200 and not answer.json()["secrets"]:
        written = answer.json()["memory"]
        read = client.get(f"/api/memory/{written['id']}").json()
        if answer.json()["event"] is not None:
            came_back = {name: read[name] for name in said}
            assert came_back == said, "what was stored came back changed"
    return "remembered", answer.status_code


@contextmanager
def serving(engine: Remembrancer) -> Iterator[httpx.Client]:
    """Someone with a key, who calls a real server."""

    class Silent:
        def info(self, *_: object, **__: object) -> None: ...

        error = info

    app = create_app(engine, log=Silent())
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, lifespan="on"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    key = {"Authorization": f"Bearer {engine.create_key('ada').secret}"}
    address = f"http://127.0.0.1:{port}"
    with httpx.Client(base_url=address, headers=key, trust_env=False, timeout=60) as client:
        yield client
    server.should_exit = True
    thread.join()


def main() -> None:
    """Run all strings and tell how they were answered."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    options = parser.parse_args()
    settings = Settings.model_validate({"server": ROOMY})
    answered: Counter[int] = Counter()
    ours = ENTRIES["ours"]
    with tempfile.TemporaryDirectory() as home, place(ours, options.engine, home) as where:
        with remembrancer.open(where, settings=settings) as engine, serving(engine) as client:
            for text in strings(options.file):
                for way, status in attack(client, text):
                    answered[status] += 1
                    if status >= 500:
                        print(status, way, ascii(text)[:100])
    print(sum(answered.values()), "requests:", dict(sorted(answered.items())))


if __name__ == "__main__":
    main()
