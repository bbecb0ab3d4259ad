"""What learning keeps of a model's proposals, and what prompts hold: `python -m bench learning`.

A scripted model answers the product's own requests with the proposals of the file, right and wrong
ones. With `--verify data` it answers the second question as an attentive reader would; with `off`
it is not asked, so that only the product's own checks are left.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import machine
from bench.learning_data import STYLES, Person, load_persons
from bench.learning_details import describe
from bench.learning_report import plot, report
from bench.learning_run import PersonOutcome, RunSettings, run_person
from bench.learning_scores import score_model_runs, score_rule_extractor
from bench.processes import place
from bench.retrieval import name_of, rounded
from bench.systems import ENTRIES
from remembrancer.config import EmbeddingSettings, Settings
from remembrancer.embed import Embedder
from remembrancer.factory import open_embedder
from remembrancer.profiles import PROFILE_NAMES

Json = dict[str, Any]

VERIFY = ("data", "off")
MODELS = ("scripted", "none")
RULE_EXTRACTOR = "no model"
CACHED_TEXTS = 100_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help=".jsonl or .jsonl.gz")
    parser.add_argument("--engine", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument(
        "--profile",
        type=parse_profiles,
        default=["default"],
        dest="profiles",
        help="names, separated by commas, or all that learn",
    )
    parser.add_argument("--style", choices=[*STYLES, "all"], default="all")
    parser.add_argument("--verify", choices=VERIFY, help="both by default")
    parser.add_argument("--model", choices=MODELS, help="both by default")
    parser.add_argument("--person", metavar="ID", help="only this person")
    parser.add_argument("--json", type=Path, metavar="OUT", help="also writes OUT.md and OUT.svg")
    parser.add_argument("--details", type=Path, metavar="PATH", help="every failure, to be read")


def run(options: argparse.Namespace) -> None:
    """Measure, then print the tables or write them with the numbers."""
    outcome: Json = {
        "date": datetime.now(UTC).date().isoformat(),
        "command": command(options),
        "machine": machine.facts(),
        "engine": options.engine,
        "results": {},
    }
    details: list[str] = []
    with tempfile.TemporaryDirectory(prefix="bench-") as home:
        with place(ENTRIES["ours"], options.engine, home) as where:
            for file, profile, name, runs in measure(options, where):
                scores = (
                    score_rule_extractor(runs) if name == RULE_EXTRACTOR else score_model_runs(runs)
                )
                outcome["results"].setdefault(file, {}).setdefault(profile, {})[name] = scores
                details += [describe(f"{file}, {profile}, {name}", runs)]
    if options.details:
        options.details.write_text("\n".join(details), encoding="utf-8")
    if options.json:
        write(outcome, options.json)
    else:
        print(report(outcome))


def measure(
    options: argparse.Namespace, where: str
) -> Iterator[tuple[str, str, str, list[PersonOutcome]]]:
    """Every file, profile and way to run, with the outcomes of all persons."""
    embedder = open_embedder(EmbeddingSettings(cache_entries=CACHED_TEXTS))
    for path in options.files:
        persons = [one for one in load_persons(path) if options.person in (None, one.id)]
        for profile in options.profiles:
            for name, settings in list_runs(options, profile).items():
                print(f"{name_of(path)}: {profile}, {name}", file=sys.stderr, flush=True)
                folder = where if "://" in where else f"{where}/{name_of(path)}"
                runs = run_all(folder, persons, settings, embedder)
                yield name_of(path), profile, name, runs


def run_all(
    where: str, persons: Sequence[Person], settings: Sequence[RunSettings], embedder: Embedder
) -> list[PersonOutcome]:
    return [run_person(where, person, one, embedder) for one in settings for person in persons]


def list_runs(options: argparse.Namespace, profile: str) -> dict[str, list[RunSettings]]:
    """The ways to run by name; the last one with a model leaves out the wrong proposals."""
    styles = STYLES if options.style == "all" else (options.style,)
    verify = VERIFY if options.verify is None else (options.verify,)
    runs: dict[str, list[RunSettings]] = {}
    if options.model != "none":
        for kind in verify:
            runs[f"verify {kind}"] = [
                RunSettings(profile=profile, style=style, verify=kind) for style in styles
            ]
        runs[f"verify {verify[0]}, only right proposals"] = [
            RunSettings(profile=profile, style=style, verify=verify[0], wrong=False)
            for style in styles
        ]
    if options.model != "scripted":
        runs[RULE_EXTRACTOR] = [RunSettings(profile=profile, style=None)]
    return runs


def parse_profiles(names: str) -> list[str]:
    if names == "all":
        shipped = {name: Settings(profile=name).profile_for() for name in PROFILE_NAMES}
        return [name for name, one in shipped.items() if one.learning.when != "never"]
    unknown = [name for name in names.split(",") if name not in PROFILE_NAMES]
    if unknown:
        known = ", ".join(PROFILE_NAMES)
        raise argparse.ArgumentTypeError(f"no profile {unknown[0]}; there are {known}")
    return names.split(",")


def write(outcome: Json, path: Path) -> None:
    """The numbers, the tables and the picture, side by side."""
    path.write_text(json.dumps(rounded(outcome), indent=1) + "\n", encoding="utf-8")
    path.with_suffix(".md").write_text(report(outcome), encoding="utf-8")
    path.with_suffix(".svg").write_text(plot(outcome["results"]), encoding="utf-8")


def command(options: argparse.Namespace) -> str:
    """What to type to get these numbers again, wherever the files are."""
    words = ["python", "-m", "bench", "learning", *(path.name for path in options.files)]
    for name in ("engine", "style", "verify", "model", "person"):
        value = getattr(options, name)
        if value not in (None, "sqlite", "all"):
            words += [f"--{name}", value]
    if options.profiles != ["default"]:
        words += ["--profile", ",".join(options.profiles)]
    return shlex.join(words)
