"""An erased file is held open by no one, so that its bytes leave the disk."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from remembrancer.clock import ManualClock
from remembrancer.store.sqlite import SqliteStore
from remembrancer.types import Owner
from tests.support.opening import NOON, open_files

pytestmark = pytest.mark.feature("X4")


def test_whoever_read_a_file_while_it_was_erased_closes_it(tmp_path: Path) -> None:
    owner = Owner("default", "ada")
    with contextlib.closing(SqliteStore(tmp_path, clock=ManualClock(NOON))) as store:
        with store.open_writer(owner):
            pass
        with store.open_reader(owner):
            store.delete_owner(owner)
            assert any(path.name.endswith("(deleted)") for path in open_files())
        assert not [path for path in open_files() if "people" in str(path)]
