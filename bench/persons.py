"""Measures the guard of team memory: `python -m bench.persons personal_data.jsonl.gz`.

Prints, by label, how many sentences are refused by any rule and by the rule meant for the label,
how many of the labelled values are refused in a sentence of ours, and how many harmless
statements are refused.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from remembrancer.guard.persons import names
from remembrancer.guard.persons.detector import detect_personal_data
from remembrancer.guard.persons.normalise import normalise

HARMLESS = Path(__file__).parent.parent / "tests" / "guard" / "project_statements.txt"
MEANT_FOR = {
    "PERSON": {"person-name"},
    "EMAIL_ADDRESS": {"email"},
    "PHONE_NUMBER": {"phone"},
    "IP_ADDRESS": {"ip-address"},
    "DOMAIN_NAME": {"host", "url-with-person"},
    "CREDIT_CARD": {"account-number"},
    "IBAN_CODE": {"account-number"},
    "STREET_ADDRESS": {"address"},
    "ZIP_CODE": {"address"},
    "AGE": {"age-or-birth"},
    "US_SSN": {"national-id"},
    "US_DRIVER_LICENSE": {"national-id"},
}
# Values stand alone in these, so that "my card" or "he is" around them in the data does not help.
CARRIERS = {
    "PERSON": (
        "Ask {} about the release.",
        "The report was written by {}.",
        "{} prefers the old layout.",
        "The migration is blocked until {} is back.",
        "{} fixed the importer.",
        "{}'s branch is stale.",
        "The spare key is with {}.",
        "{} runs the night shift.",
    ),
    "AGE": ("The driver is {} years old.", "Age: {}"),
    "US_DRIVER_LICENSE": ("The driver's license is {}.", "Passport number: {}"),
    "ZIP_CODE": ("ZIP: {}",),
}
PLAIN_CARRIERS = ("The ticket says {} and nothing else.", "Value: {}", "{}")
THRESHOLDS = (2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0)


@dataclass(frozen=True, slots=True)
class Row:
    text: str
    spans: tuple[tuple[str, str], ...]

    def labels(self) -> set[str]:
        return {label for label, _ in self.spans}


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many."""

    hits: int
    total: int

    def __str__(self) -> str:
        return f"{self.hits:4} of {self.total:4} {100 * self.hits / max(1, self.total):6.1f} %"


def share(outcomes: Iterable[bool]) -> Share:
    known = list(outcomes)
    return Share(sum(known), len(known))


def read_rows(path: Path) -> list[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = map(json.loads, lines)
        return [
            Row(row["text"], tuple((span["type"], span["value"]) for span in row["spans"]))
            for row in rows
        ]


def by_label(rows: list[Row]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        for label in row.labels():
            groups[label].append(row)
    return dict(sorted(groups.items(), key=lambda group: -len(group[1])))


def in_our_words(rows: list[Row], label: str) -> list[str]:
    values = sorted({value for row in rows for kind, value in row.spans if kind == label})
    if label == "STREET_ADDRESS":
        values = [value for value in values if not value.isdigit()]
    carriers = CARRIERS.get(label, PLAIN_CARRIERS)
    return [carrier.format(value) for value in values for carrier in carriers]


def report_labels(rows: list[Row]) -> None:
    verdicts = {row.text: set(detect_personal_data(row.text)) for row in rows}
    print(f"{'label':18} {'refused':22} {'by the rule meant for it':25} in our words")
    for label, group in by_label(rows).items():
        meant = MEANT_FOR.get(label)
        print(
            f"{label:18}",
            share(bool(verdicts[row.text]) for row in group),
            f"  {share(bool(verdicts[row.text] & meant) for row in group)}" if meant else "",
            f"    {share(map(bool, map(detect_personal_data, in_our_words(group, label))))}"
            if meant
            else "",
        )
    rest = [row for row in rows if not row.spans]
    print(f"{'(no label)':18}", share(bool(verdicts[row.text]) for row in rest))
    print("rules that fired:", dict(Counter(rule for found in verdicts.values() for rule in found)))


def report_names(rows: list[Row], harmless: list[str]) -> None:
    named = [row.text for row in rows if "PERSON" in row.labels()]
    ours = in_our_words([row for row in rows if "PERSON" in row.labels()], "PERSON")
    weights = [
        [names.score_person_name(normalise(text).text) for text in texts]
        for texts in (named, ours, harmless)
    ]
    print(f"\n{'weight from':12} {'sentences with a name':24} {'names in our words':24} harmless")
    for enough in THRESHOLDS:
        shares = [share(weight >= enough for weight in group) for group in weights]
        mark = "*" if enough == names.NAME_THRESHOLD else " "
        print(f"{mark}{enough:11}", *(f"{part}   " for part in shares))


def report_harmless(harmless: list[str]) -> None:
    verdicts = {text: detect_personal_data(text) for text in harmless}
    print("\nharmless statements refused:", share(map(bool, verdicts.values())))
    for text, rules in verdicts.items():
        if rules:
            print("  ", ", ".join(rules), "|", text)


def report_time(texts: list[str]) -> None:
    started = time.perf_counter()
    for text in texts:
        detect_personal_data(text)
    took = time.perf_counter() - started
    per_kilobyte = took * 1e6 / sum(map(len, texts))
    print(f"\n{took / len(texts) * 1e3:.2f} ms per text, {per_kilobyte:.2f} ms per kB")


def show(rows: list[Row], label: str) -> None:
    """What is missed in the data, by the rule meant for the label and in our own words."""
    group = by_label(rows).get(label, [])
    meant = MEANT_FOR.get(label, set())
    for row in group:
        rules = detect_personal_data(row.text)
        if not meant & {*rules}:
            print(
                "  ",
                ", ".join(rules) or "NOT REFUSED",
                "|",
                [v for k, v in row.spans if k == label],
                row.text[:160],
            )
    for text in in_our_words(group, label):
        if not detect_personal_data(text):
            print("   NOT REFUSED |", text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--harmless", type=Path, default=HARMLESS)
    parser.add_argument("--show", metavar="LABEL", help="print what is missed for a label")
    arguments = parser.parse_args()
    rows = read_rows(arguments.rows)
    harmless = arguments.harmless.read_text(encoding="utf-8").splitlines()
    if arguments.show:
        show(rows, arguments.show)
        return
    report_labels(rows)
    report_names(rows, harmless)
    report_harmless(harmless)
    report_time(harmless)


if __name__ == "__main__":
    main()
