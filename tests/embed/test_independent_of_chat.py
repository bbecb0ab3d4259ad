"""I3: vectors have a provider of their own; one that cannot work is told, and loses nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import remembrancer
from remembrancer.config import Settings
from remembrancer.doctor import Level, run_checks
from tests.support.http_server import served

pytestmark = pytest.mark.feature("I3")

NOBODY = "http://127.0.0.1:9/v1"
CHAT: dict[str, Any] = {"provider": "anthropic", "url": NOBODY, "key": "x", "model": "m"}
ELSEWHERE: dict[str, Any] = {"provider": "openai", "url": NOBODY, "key": "x", "timeout_seconds": 2}


def settings(tmp_path: Path, **values: object) -> Settings:
    return Settings.model_validate({"store": {"path": str(tmp_path / "memory")}, **values})


def finding(chosen: Settings) -> Any:
    return next(one for one in run_checks(lambda: chosen) if one.name == "embedding")


def test_memory_works_whatever_talks(tmp_path: Path) -> None:
    chosen = settings(tmp_path, models={"fast": CHAT, "smart": CHAT})
    with remembrancer.open(settings=chosen) as engine, served(engine) as here:
        ada = here.of("ada")
        assert ada.post("/api/remember", json={"content": "I live in Lisbon"}).status_code == 200
        found = ada.post("/api/recall", json={"query": "which city is home?"}).json()["items"]
        assert [one["memory"]["content"] for one in found] == ["I live in Lisbon"]
    assert finding(chosen).level is Level.OK


def test_an_embedder_that_cannot_work_is_told_and_nothing_is_half_kept(
    tmp_path: Path,
) -> None:
    chosen = settings(tmp_path, embedding=ELSEWHERE)
    with remembrancer.open(settings=chosen) as engine, served(engine) as here:
        ada = here.of("ada")
        refused = ada.post("/api/remember", json={"content": "I live in Lisbon"})
        assert refused.status_code == 503
        assert refused.json()["code"] == "embedding_failed"
        assert ada.get("/api/memory/facts").json()["items"] == []
    warned = finding(chosen)
    assert warned.level is Level.PROBLEM
    assert "embedding" in warned.message
