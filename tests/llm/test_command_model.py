"""A command as a model: real processes, started without a shell and ended without a trace."""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from remembrancer.llm import InvalidModelResponse, ModelUnavailable, Question
from remembrancer.llm.command import CommandModel
from tests.llm.conftest import KEY, QUESTION


def python(code: str, *arguments: str, **options: Any) -> CommandModel:
    command = [sys.executable, "-S", "-c", f"import os, sys, time\n{code}", *arguments]
    return CommandModel(command, **{"timeout": 20, **options})


def test_the_answer_is_what_it_says() -> None:
    answer = python('print(\'{"facts": ["tea"]}\')', name="mine").answer(QUESTION)
    assert answer.value == {"facts": ["tea"]}
    assert (answer.model, answer.tokens_out) == ("mine", 5)
    assert 20 < answer.tokens_in < 200


def test_the_command_reads_the_whole_question_in_utf_8() -> None:
    question = Question("Süß.", "日本\ud800", {"type": "object", "title": "x"})
    model = python("import json\nprint(json.dumps({'told': sys.stdin.buffer.read().decode()}))")
    told = str(model.answer(question).value["told"])
    assert told.startswith("Süß.\n\n日本?\n\nAnswer with one JSON object and nothing else.")
    assert '{"type": "object", "title": "x"}' in told


def test_words_are_not_given_to_a_shell(tmp_path: Path) -> None:
    words = f"; touch {tmp_path}/evil $(touch {tmp_path}/evil) *"
    answer = python("import json\nprint(json.dumps({'word': sys.argv[1]}))", words).answer(QUESTION)
    assert answer.value == {"word": words}
    assert list(tmp_path.iterdir()) == []


def test_its_environment_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_LOGIN", "me")
    answer = python('print(\'{"login": "%s"}\' % os.environ["SOME_LOGIN"])').answer(QUESTION)
    assert answer.value == {"login": "me"}


def test_what_it_complains_of_is_dropped(capfd: pytest.CaptureFixture[str]) -> None:
    python("sys.stderr.write('my diagnosis' * 100_000); print('{}')").answer(QUESTION)
    assert capfd.readouterr() == ("", "")


def test_it_need_not_listen() -> None:
    model = python("os.close(0); print('{}')")
    assert model.answer(Question("", "x" * 3_000_000, {})).value == {}


def test_it_may_talk_while_it_listens() -> None:
    model = python(
        "sys.stdout.write(' ' * 500_000); sys.stdout.flush(); sys.stdin.read(); print('{}')"
    )
    assert model.answer(Question("", "x" * 3_000_000, {})).value == {}


@pytest.mark.parametrize(
    "code",
    [
        "pass",
        "print('I would rather not.')",
        'print(\'{"facts": [{"a": 1},\')',
        "sys.stdout.buffer.write(bytes(range(256)))",
        "print('[' * 100_000)",
    ],
)
def test_an_answer_that_is_no_object_is_refused(code: str) -> None:
    with pytest.raises(InvalidModelResponse, match=r"^The model .+: .+\.$"):
        python(code).answer(QUESTION)


def test_endless_talk_is_cut_off() -> None:
    with pytest.raises(InvalidModelResponse, match="more than 1 MB"):
        python("while True: print('{' * 10_000)").answer(QUESTION)


@pytest.mark.parametrize("code", ["print('{}'); sys.exit(3)", "os.kill(os.getpid(), 9)"])
def test_a_command_that_fails_may_work_later(code: str) -> None:
    with pytest.raises(ModelUnavailable, match="run it by hand") as failure:
        python(code).answer(QUESTION)
    assert failure.value.transient


@pytest.mark.parametrize("command", [["no-such-command-here"], ["/"], ["a\0b"], [__file__]])
def test_a_command_that_cannot_be_started_will_not_work_later(command: list[str]) -> None:
    with pytest.raises(ModelUnavailable, match="could not be started") as failure:
        CommandModel(command).answer(QUESTION)
    assert not failure.value.transient


@pytest.mark.parametrize("command", [[], "claude -p"])
def test_a_command_is_a_list_of_words(command: Any) -> None:
    with pytest.raises(ModelUnavailable, match="not a list"):
        CommandModel(command)


@pytest.mark.parametrize(
    "code",
    [
        "time.sleep(60)",
        "while True: print(flush=True); time.sleep(0.1)",
        "os.close(1); time.sleep(60)",
    ],
    ids=["silent", "trickling", "mute"],
)
def test_a_slow_command_is_killed(code: str, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    model = python(f"open({str(note)!r}, 'w').write(str(os.getpid()))\n{code}", timeout=2)
    started = time.monotonic()
    with pytest.raises(ModelUnavailable, match="in time") as failure:
        model.answer(QUESTION)
    assert failure.value.transient
    assert time.monotonic() - started < 10
    assert gone(int(note.read_text()))


def test_what_a_slow_command_started_is_killed_too(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    child = f"open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    code = f"if os.fork(): os._exit(0)\n{child}"
    with pytest.raises(ModelUnavailable, match="in time"):
        python(code, timeout=2).answer(QUESTION)
    assert gone(int(note.read_text()))


def gone(process: int) -> bool:
    """Whether a process has ended, or is about to be collected by its parent."""
    for _ in range(100):
        try:
            if ") Z " in Path(f"/proc/{process}/stat").read_text():
                return True
            os.kill(process, 0)
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.02)
    return False


def test_no_message_tells_the_command_or_the_question() -> None:
    for code in ("sys.exit(1)", "print(sys.stdin.read())", "time.sleep(9)"):
        with pytest.raises((ModelUnavailable, InvalidModelResponse)) as failure:
            python(code, KEY, timeout=1).answer(QUESTION)
        assert KEY not in repr(failure.value)
        assert "diagnosis" not in repr(failure.value)


def test_many_threads_may_ask_at_once() -> None:
    model = python("print('{}')", timeout=60)
    with ThreadPoolExecutor(4) as pool:
        assert all(answer.value == {} for answer in pool.map(model.answer, [QUESTION] * 12))


def test_the_model_is_named_after_the_command_by_default() -> None:
    assert CommandModel(["/usr/bin/claude", "-p"]).name == "claude"
    assert CommandModel(["claude"], name="opus").name == "opus"
    CommandModel(["claude"]).close()
