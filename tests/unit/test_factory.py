"""What opening a memory says when it cannot."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import remembrancer
from remembrancer.config import Settings
from remembrancer.errors import InvalidSetting, StoreUnavailable


def test_postgresql_without_its_driver_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(InvalidSetting, match="pip install"):
        remembrancer.open("postgresql://x@localhost/y", settings=Settings())


@pytest.mark.parametrize("address", ["postgresql://x@localhost:port/y", "postgresql:nonsense"])
def test_an_address_that_is_none_is_a_sentence(address: str) -> None:
    with pytest.raises(InvalidSetting, match="not a database address"):
        remembrancer.open(address, settings=Settings())


def test_a_server_that_is_not_there_is_a_sentence_without_the_password() -> None:
    with pytest.raises(StoreUnavailable) as caught:
        remembrancer.open("postgresql://x:geheim@127.0.0.1:1/y", settings=Settings())
    assert "geheim" not in str(caught.value)


def test_a_file_in_the_place_of_the_directory_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("not a directory")
    with pytest.raises(StoreUnavailable, match="cannot be used"):
        remembrancer.open(tmp_path / "memory", settings=Settings())


def test_a_damaged_file_is_a_sentence(tmp_path: Path) -> None:
    with remembrancer.open(tmp_path, settings=Settings()) as store:
        store.for_user("ada").remember("x")
    (file,) = tmp_path.glob("people/*.db")
    file.write_bytes(b"garbage" * 1000)
    with (
        remembrancer.open(tmp_path, settings=Settings()) as store,
        pytest.raises(StoreUnavailable, match="backup"),
    ):
        store.for_user("ada").list()
