"""`rem install`: our part is put in and taken out, and every other byte of the files stays."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from remembrancer.cli.app import app
from remembrancer.errors import InvalidInput
from remembrancer.integrations.hooks import json_edit, toml_edit
from remembrancer.integrations.hooks.install import (
    CLIENTS,
    find_config_paths,
    plan_install,
    write_changes,
)

Install = Callable[..., Any]

HOOKS = {
    "claude-code": ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"],
    "codex": ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"],
    "cursor": ["sessionStart", "beforeSubmitPrompt", "afterAgentResponse", "sessionEnd"],
    "vscode": ["SessionStart", "UserPromptSubmit", "Stop"],
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a project of this test's own."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return tmp_path


@pytest.fixture
def install() -> Install:
    """Run `rem --json install …`."""

    def run(*args: str, code: int = 0) -> Any:
        result = CliRunner().invoke(app, ["--json", "install", *args])
        assert result.exit_code == code, result.output
        return json.loads(result.stdout)

    return run


def done(answer: Any) -> list[str]:
    return [one["done"] for one in answer]


@pytest.mark.parametrize("scope", ["--user", "--project"])
@pytest.mark.parametrize("client", CLIENTS)
def test_it_is_put_in_once_and_taken_out_without_a_trace(
    install: Install, home: Path, client: str, scope: str
) -> None:
    answer = install(client, scope)

    assert done(answer) == ["created", "created"]
    where = find_config_paths(client, home / "project" if scope == "--project" else None)
    assert [one["file"] for one in answer] == [str(where.servers), str(where.hooks)]
    text = where.servers.read_text()
    told = tomllib.loads(text) if client == "codex" else json.loads(text)
    (servers,) = told.values()
    assert servers["remembrancer"]["args"] == ["mcp"]
    hooks = json.loads(where.hooks.read_text())["hooks"]
    assert list(hooks) == HOOKS[client]
    assert all(f"rem hook {client}" in json.dumps(one) for one in hooks.values())

    assert done(install(client, scope)) == ["unchanged", "unchanged"]
    assert done(install(client, scope, "--uninstall")) == ["removed", "removed"]
    assert not where.servers.exists()
    assert not where.hooks.exists()
    assert done(install(client, scope, "--uninstall")) == ["unchanged", "unchanged"]


def test_what_is_there_stays_as_it_is_byte_for_byte(install: Install, home: Path) -> None:
    file = home / ".claude" / "settings.json"
    file.parent.mkdir()
    theirs = (
        '{\r\n\t"model": "opus",   "limit": 1.50e3,\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n'
        '\t\t\t{"hooks": [{"type": "command", "command": "say \\u2713"}]}\r\n\t\t]\r\n\t}\r\n}'
    )
    file.write_bytes(theirs.encode())
    file.chmod(0o640)
    link = home / ".claude.json"
    target = home / "dotfiles.json"
    target.write_text('{"mcpServers": {"other": {"command": "x"}}, "numStartups": 12}')
    link.symlink_to(target)

    install("claude-code")

    told = json.loads(file.read_bytes())
    theirs_first, ours = (one["hooks"][0]["command"] for one in told["hooks"]["Stop"])
    assert theirs_first == "say \u2713"
    assert ours.endswith("rem hook claude-code")
    assert file.stat().st_mode & 0o777 == 0o640
    assert link.is_symlink()
    assert list(json.loads(target.read_text())["mcpServers"]) == ["other", "remembrancer"]
    install("claude-code", "--uninstall")
    assert file.read_bytes() == theirs.encode()
    assert json.loads(target.read_text())["numStartups"] == 12


def test_codex_settings_in_toml_stay_too(install: Install, home: Path) -> None:
    config = home / ".codex" / "config.toml"
    config.parent.mkdir()
    theirs = '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "y"\n'
    config.write_text(theirs)

    install("codex", "--agent", "coder")
    assert tomllib.loads(config.read_text())["mcp_servers"]["remembrancer"]["args"][1:] == [
        "--agent",
        "coder",
    ]
    config.write_text(config.read_text() + "\n# after\n[tui]\ntheme = 1\n")
    install("codex")

    told = tomllib.loads(config.read_text())
    assert told["mcp_servers"]["remembrancer"]["args"] == ["mcp"]
    assert told["tui"] == {"theme": 1}
    install("codex", "--uninstall")
    assert config.read_text() == theirs + "\n# after\n[tui]\ntheme = 1\n"


def test_other_options_take_the_place_of_the_earlier_ones(install: Install, home: Path) -> None:
    install("claude-code", "--user", "ada")
    install("claude-code", "--user", "grace", "--store", "memory")

    told = (home / ".claude" / "settings.json").read_text()
    assert "ada" not in told
    assert told.count("--user grace") == 4
    assert str(home / "project" / "memory") in told


def test_our_hook_in_a_group_of_others_is_taken_out_of_it(install: Install, home: Path) -> None:
    file = home / ".claude" / "settings.json"
    file.parent.mkdir()
    ours = {"type": "command", "command": "/opt/bin/rem hook claude-code"}
    theirs = {"type": "command", "command": "rem-hook claude-code --mine"}
    file.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [ours, theirs]}]}}))

    install("claude-code", "--uninstall")

    assert json.loads(file.read_text()) == {"hooks": {"Stop": [{"hooks": [theirs]}]}}


@pytest.mark.parametrize("text", ["{}", '{"mcpServers": {}}', '{"version": 1}\n', "", "\n"])
def test_nothing_is_taken_out_that_was_not_put_in(install: Install, home: Path, text: str) -> None:
    where = find_config_paths("cursor", None)
    where.hooks.parent.mkdir()
    for file in (where.servers, where.hooks):
        file.write_text(text)

    assert done(install("cursor", "--uninstall")) == ["unchanged", "unchanged"]
    assert done(install("cursor")) == ["changed", "changed"]
    assert list(json.loads(where.servers.read_text())["mcpServers"]) == ["remembrancer"]


@pytest.mark.parametrize("text", ["{", '{"hooks": [}', "hello", '{"a": 1} {"b": 2}', "{'a': 1}"])
def test_a_file_that_is_not_json_is_refused_and_nothing_is_changed(
    install: Install, home: Path, text: str
) -> None:
    file = home / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text(text)

    error = install("claude-code", code=2)["error"]

    assert str(file) in error["message"]
    assert "nothing was changed" in error["message"]
    assert file.read_text() == text
    assert not (home / ".claude.json").exists()


def test_settings_of_another_shape_are_refused(install: Install, home: Path) -> None:
    (home / "project" / ".mcp.json").write_text('{"mcpServers": []}')
    assert "another type" in install("claude-code", "--project", code=2)["error"]["message"]
    config = home / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text("model = ")
    assert "not TOML" in install("codex", code=2)["error"]["message"]


def test_passwords_are_not_put_into_settings(install: Install) -> None:
    error = install("cursor", "--store", "postgresql://me:pw@host/x", code=2)["error"]
    assert "--config" in error["message"]
    assert install("emacs", code=2)["error"]["message"].startswith("There is no client 'emacs'")
    assert install("cursor", "--project", "--user", code=2)["error"]["code"] == "bad_input"


def test_a_client_that_keeps_its_settings_elsewhere_is_found_there(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "elsewhere"))
    where = find_config_paths("claude-code", None)
    assert where.servers == home / "elsewhere" / ".claude.json"
    assert where.hooks == home / "elsewhere" / "settings.json"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)
documents = st.dictionaries(st.text(min_size=1, max_size=5), values, min_size=1, max_size=4)


@settings(max_examples=25)
@given(documents, st.sampled_from([None, 2, 4, "\t"]), st.booleans())
def test_any_json_is_the_same_after_putting_in_and_taking_out(
    document: dict[str, Any], indent: Any, is_ascii: bool
) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=is_ascii)
    changed = json_edit.append(text, ("our hooks", "Stop"), {"a": [1]})
    changed = json_edit.put(changed, ("our servers", "x"), {"b": None})

    new = {"our hooks": {"Stop": [{"a": [1]}]}, "our servers": {"x": {"b": None}}}
    assert json.loads(changed) == document | new
    for name in new:
        changed = json_edit.remove(changed, (name,))
    assert changed == text


def test_comments_and_last_commas_are_understood() -> None:
    text = '\ufeff// mine\n{\n  "a": 1, /* one */\n  "b": [1, 2,], // "c": 3\n}\n'
    assert json_edit.parse(text).value == {"a": 1, "b": [1, 2]}
    changed = json_edit.put(text, ("b",), "two")
    assert changed == text.replace("[1, 2,]", '"two"')


def test_a_table_that_is_written_otherwise_is_left_to_the_user() -> None:
    with pytest.raises(InvalidInput, match="by hand"):
        toml_edit.set_table('mcp = {us = {command = "x"}}\n', ("mcp", "us"), {"command": "y"})


def test_a_write_that_fails_leaves_the_file_as_it_was(home: Path) -> None:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text("{}")
    changes = plan_install("cursor", None)
    (file.parent / f".mcp.json.{os.getpid()}").mkdir()

    with pytest.raises(OSError, match="exists"):
        write_changes(changes)
    assert file.read_text() == "{}"
