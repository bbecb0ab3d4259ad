"""The shipped model: one vector per text, whatever its company."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembrancer.embed.local import WEIGHTS_DIRECTORY, LocalEmbedder
from remembrancer.errors import EmbeddingFailed

TEXTS = [
    "The user prefers tea.",
    "Deploys happen on Friday afternoon, after the release notes have been read by two people.",
    "ok",
    "My sister Ana lives in Porto and works as a nurse in the children's hospital.",
    "She said that " + "the garden needs water and " * 40,
    "Use ruff, not flake8.",
]
HOSTILE = [
    "\x00\x01\x02",
    "\ud800 lone surrogate",
    "[CLS] [SEP] [MASK] [PAD]",
    "🧑‍🚀🦜" * 300,
    "漢字かな交じり文",
    "e\u0301" * 500,
    "\u202eright to left",
    "x" * 5000,
    "'; DROP TABLE memories; --",
]


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


def similarity(embedder: LocalEmbedder, one: str, other: str) -> float:
    first, second = embedder.embed([one, other])
    return float(first @ second)


def is_unit(row: np.ndarray) -> bool:
    return bool(np.isfinite(row).all()) and abs(float(np.linalg.norm(row)) - 1) < 1e-5


def test_says_which_model_made_the_vectors(embedder: LocalEmbedder) -> None:
    assert (embedder.model, embedder.dimensions) == ("all-MiniLM-L6-v2/q8", 384)


def test_rows_are_unit_vectors_in_the_order_of_the_texts(embedder: LocalEmbedder) -> None:
    rows = embedder.embed(TEXTS)
    assert rows.shape == (len(TEXTS), 384)
    assert rows.dtype == np.float32
    assert all(is_unit(row) for row in rows)
    assert (embedder.embed(TEXTS[::-1])[::-1] == rows).all()


def test_no_texts_give_no_rows(embedder: LocalEmbedder) -> None:
    assert embedder.embed([]).shape == (0, 384)


def test_a_vector_does_not_depend_on_its_company(embedder: LocalEmbedder) -> None:
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    assert (embedder.embed(TEXTS) == alone).all()
    assert (embedder.embed(TEXTS * 5 + HOSTILE)[: len(TEXTS)] == alone).all()


def test_a_vector_does_not_depend_on_the_thread(embedder: LocalEmbedder) -> None:
    expected = embedder.embed(TEXTS)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: embedder.embed(TEXTS), range(24)))
    assert all((rows == expected).all() for rows in answers)


def test_eight_threads_may_meet_an_embedder_that_is_not_loaded_yet() -> None:
    cold = LocalEmbedder()
    together = threading.Barrier(8)

    def first_use(_: int) -> np.ndarray:
        together.wait()
        return cold.embed(TEXTS[:1])

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(first_use, range(8)))
    assert all((rows == answers[0]).all() for rows in answers)


def test_another_instance_gives_the_same_bits(embedder: LocalEmbedder) -> None:
    warmed = LocalEmbedder()
    warmed.warm()
    assert (warmed.embed(TEXTS) == embedder.embed(TEXTS)).all()


def test_what_means_the_same_is_near_and_what_does_not_is_far(embedder: LocalEmbedder) -> None:
    near = similarity(embedder, "The user likes tea.", "The user is fond of tea.")
    far = similarity(embedder, "The user likes tea.", "The database migration failed last night.")
    assert near > 0.85
    assert far < 0.2


@pytest.mark.parametrize("blank", ["", "   ", "\n\t", "\x00"])
def test_blank_text_has_the_vector_of_no_words(embedder: LocalEmbedder, blank: str) -> None:
    row = embedder.embed([blank])[0]
    assert is_unit(row)
    assert (row == embedder.embed([""])[0]).all()


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_has_a_vector(embedder: LocalEmbedder, text: str) -> None:
    assert is_unit(embedder.embed([text])[0])


@settings(max_examples=50, deadline=None)
@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_any_text_has_a_unit_vector(embedder: LocalEmbedder, text: str) -> None:
    assert is_unit(embedder.embed([text])[0])


def test_text_beyond_the_window_is_left_out_quickly(embedder: LocalEmbedder) -> None:
    window = "lorem ipsum dolor sit amet " * 200
    longest = window + "and then something else " * 400_000
    assert (embedder.embed([window]) == embedder.embed([longest])).all()


def test_the_window_is_256_tokens_with_the_two_that_frame_the_text(
    embedder: LocalEmbedder,
) -> None:
    words = ["tea"] * 254
    full, other_last_word, one_word_more = embedder.embed(
        [" ".join(words), " ".join([*words[:-1], "war"]), " ".join([*words, "war"])]
    )
    assert (full == one_word_more).all()
    assert (full != other_last_word).any()


def test_naming_a_special_token_is_not_using_one(embedder: LocalEmbedder) -> None:
    named, spelled = embedder.embed(["tea [SEP] milk", "tea [sep] milk"])
    assert (named == spelled).all()


def test_the_weights_are_the_ones_that_origin_names() -> None:
    origin = (WEIGHTS_DIRECTORY / "ORIGIN.md").read_text()
    listed = dict(re.findall(r"^\| `([\w.]+)` \|.*\| ([0-9a-f]{64}) \|$", origin, re.MULTILINE))
    assert listed.keys() == {"model.onnx", "tokenizer.json"}
    for name, expected in listed.items():
        assert hashlib.sha256((WEIGHTS_DIRECTORY / name).read_bytes()).hexdigest() == expected
    LocalEmbedder().verify()


@pytest.mark.parametrize("damage", ["alter", "remove"])
def test_verify_names_the_damaged_file(tmp_path: Path, damage: str) -> None:
    weights = Path(shutil.copytree(WEIGHTS_DIRECTORY, tmp_path / "weights"))
    tokenizer = weights / "tokenizer.json"
    tokenizer.unlink() if damage == "remove" else tokenizer.write_text("{}")
    with pytest.raises(EmbeddingFailed, match=r"tokenizer\.json .* reinstall"):
        LocalEmbedder(weights).verify()


def test_weights_that_do_not_load_fail_with_advice_each_time(tmp_path: Path) -> None:
    broken = LocalEmbedder(tmp_path)
    broken.warm()
    for _ in range(2):
        with pytest.raises(EmbeddingFailed, match="rem doctor"):
            broken.embed(["tea"])


def run(program: str) -> subprocess.CompletedProcess[str]:
    source = Path(__file__).parents[2] / "src"
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_importing_the_embedders_imports_no_heavy_library() -> None:
    ended = run(
        "import sys, remembrancer.embed, remembrancer.embed.local\n"
        "import remembrancer.embed.cache, remembrancer.embed.openai\n"
        "print({'numpy', 'onnxruntime', 'tokenizers', 'httpx'} & sys.modules.keys())"
    )
    assert ended.stdout.strip() == "set()", ended.stderr


@pytest.mark.parametrize("delay", [0, 0.05, 0.15])
def test_a_process_may_end_while_the_model_is_loading(delay: float) -> None:
    ended = run(
        "import time\nfrom remembrancer.embed.local import LocalEmbedder\n"
        f"LocalEmbedder().warm()\ntime.sleep({delay})"
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_no_thread_sees_numpy_half_loaded() -> None:
    """Numpy is imported before onnxruntime, which would import it from the inside out."""
    script = (
        "import sys, threading\n"
        "from remembrancer.embed.local import LocalEmbedder\n"
        "LocalEmbedder().warm()\n"
        "[one.join() for one in threading.enumerate() if one.name == 'remembrancer-warm']\n"
        "names = list(sys.modules)\n"
        "print(names.index('numpy') < names.index('onnxruntime'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "True", done.stderr
