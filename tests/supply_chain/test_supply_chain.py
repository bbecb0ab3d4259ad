"""The audit of the dependencies catches a bad pin, and the bill of materials is complete."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from remembrancer.embed.local import WEIGHTS_SHA256
from tests.supply_chain import audit, sbom
from tests.supply_chain.pins import LOCK, Pin, read_pins


def advisory(name: str, id: str, *events: dict[str, str], **more: Any) -> dict[str, Any]:
    package = {"ecosystem": "PyPI", "name": name}
    ranges = [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, *events]}]
    return {"id": id, "affected": [{"package": package, "ranges": ranges}], **more}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Advisories as OSV publishes them: about the known bad pins, and one that was withdrawn."""
    folder = tmp_path / "osv"
    folder.mkdir()
    for one in (
        advisory("Jinja2", "CVE-2020-28493", {"fixed": "2.11.3"}),
        advisory("urllib3", "CVE-2019-11324", {"last_affected": "1.24.1"}),
        advisory("numpy", "WITHDRAWN-1", withdrawn="2024-01-01T00:00:00Z"),
    ):
        (folder / f"{one['id']}.json").write_text(json.dumps(one), encoding="utf-8")
    return folder


def lock_with(folder: Path, *lines: str) -> Path:
    lock = folder / "requirements.lock"
    lock.write_text("\n".join(lines), encoding="utf-8")
    return lock


@pytest.mark.parametrize("bad", ["jinja2==2.11.2", "Jinja2==2.10", "urllib3==1.24.1"])
def test_a_bad_pin_fails_the_audit(
    database: Path, tmp_path: Path, bad: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lock = lock_with(tmp_path, "numpy==2.4.6", bad)
    assert audit.main(["--database", str(database), str(lock)]) == audit.VULNERABLE
    assert "CVE-20" in capsys.readouterr().out


def test_fixed_versions_and_withdrawn_advisories_pass(database: Path, tmp_path: Path) -> None:
    lock = lock_with(tmp_path, "jinja2==2.11.3", "urllib3==1.24.2", "numpy==2.4.6")
    assert audit.main(["--database", str(database), str(lock)]) == 0


def test_our_own_lock_is_audited_as_a_whole(database: Path) -> None:
    assert audit.main(["--database", str(database)]) == 0
    assert {"jinja2", "numpy", "sqlalchemy"} <= {one.name for one in read_pins()}


def test_a_pin_between_two_affected_ranges_passes(tmp_path: Path) -> None:
    events = {"fixed": "1.2"}, {"introduced": "2.0"}, {"fixed": "2.1"}
    (tmp_path / "a.json").write_text(json.dumps(advisory("x", "A", *events)), encoding="utf-8")
    found = {
        version: bool(audit.audit_with_database(tmp_path, [Pin("x", version)]))
        for version in ("1.1", "1.2", "1.9", "2.0", "2.0.9", "2.1")
    }
    assert [version for version, is_bad in found.items() if is_bad] == ["1.1", "2.0", "2.0.9"]


def test_an_audit_whose_source_knows_nothing_is_not_trusted(tmp_path: Path) -> None:
    assert audit.main(["--database", str(tmp_path)]) == audit.BLIND


@pytest.mark.parametrize(
    ("answer", "exit_code"),
    [
        ('{"dependencies": []}', audit.BLIND),
        ('{"dependencies": [{"name": "jinja2", "skip_reason": "not found"}]}', audit.BLIND),
        ("no answer", audit.BLIND),
        (
            '{"dependencies": [{"name": "jinja2", "version": "2.11.2", "vulns": [{"id": "A"}]}, '
            '{"name": "urllib3", "version": "1.24.1", "vulns": [{"id": "B"}]}]}',
            audit.VULNERABLE,
        ),
    ],
)
def test_what_pip_audit_skips_is_not_taken_for_good_news(
    tmp_path: Path, answer: str, exit_code: int
) -> None:
    program = tmp_path / "pip-audit"
    program.write_text(f"#!{sys.executable}\nprint({answer!r})\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    assert audit.main(["--pip-audit", str(program)]) == exit_code


def test_a_lock_with_a_line_that_pins_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="pins no version"):
        read_pins(lock_with(tmp_path, "numpy>=2.0"))


def test_the_bill_of_materials_names_everything_with_its_licence() -> None:
    found = sbom.build_sbom()
    components = {one["name"]: one for one in found["components"]}
    assert {one.name for one in read_pins(LOCK)} <= components.keys()
    needed = [one for one in components.values() if one["scope"] != "excluded"]
    assert [one["name"] for one in needed if "licenses" not in one] == []
    assert components["sqlalchemy"]["scope"] == "required"
    assert components["fastapi"]["scope"] == "optional"
    assert components["hypothesis"]["scope"] == "excluded"


def test_the_bill_of_materials_has_the_model_with_its_checksums() -> None:
    (model,) = (
        one for one in sbom.build_sbom()["components"] if one["type"] == "machine-learning-model"
    )
    hashes = {one["name"]: one["hashes"][0]["content"] for one in model["components"]}
    assert hashes == WEIGHTS_SHA256


def test_the_bill_of_materials_is_the_same_every_time(capsys: pytest.CaptureFixture[str]) -> None:
    sbom.main()
    first = capsys.readouterr().out
    sbom.main()
    assert capsys.readouterr().out == first
    references = [one["bom-ref"] for one in json.loads(first)["components"]]
    assert len(references) == len(set(references))
