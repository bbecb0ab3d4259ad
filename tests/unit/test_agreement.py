"""Whether two statements of a team say the same, without a store."""

from __future__ import annotations

from collections import Counter

import pytest

from bench.agreement import FILES, Pair, read_pairs
from remembrancer.agreement.amounts import Amount, read_amount
from remembrancer.agreement.verdict import Agreement, judge

pytestmark = pytest.mark.feature("A15", "A16", "A18")

OPPOSITES = (
    ("Feature flags are enabled by default.", "Feature flags are disabled by default."),
    ("Tests run before the merge.", "Tests run after the merge."),
    ("Staging is deployed before production.", "Production is deployed before staging."),
    ("The maximum upload size is ten megabytes.", "The maximum upload size is twenty megabytes."),
    ("Service A calls service B.", "Service B calls service A."),
    ("The cache expires after one hour.", "The cache expires after two hours."),
    ("The primary database is Postgres.", "The primary database is MySQL."),
    ("The API listens on port 8080.", "The API listens on port 9090."),
    ("The build doesn't need Docker.", "The build needs Docker."),
    ("Deploys are frozen on Fridays.", "Deploys are frozen on Thursdays."),
    ("Die Backups laufen jede Nacht.", "Die Backups laufen nicht jede Nacht."),
)
PARAPHRASES = (
    ("The PAC pool is ports 9000-9999.", "PAC uses the port range 9000-9999."),
    (
        "Block rules live in settings_*.data.blockRules.",
        "Block rules are stored in settings_*.data.blockRules.",
    ),
    ("Releases are cut from the main branch.", "A release is cut from main."),
    ("No deploys on Fridays.", "Deploys are frozen on Fridays."),
    ("Tests run before the merge.", "The merge happens after the tests have run."),
    ("The API listens on port 8080.", "Port 8080 is what the API listens on."),
    ("Use pnpm.", "use  pnpm."),
)
UNRELATED = (
    ("Backups are encrypted.", "Releases are not signed."),
    ("The iOS app is written in Swift.", "The Android app is written in Kotlin."),
    ("Redis runs on port 6379.", "Postgres runs on port 5432."),
    ("", "Backups are encrypted."),
    ("Die Backups laufen jede Nacht in Wien.", "Die Backups laufen jede Nacht."),
)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        *((one, other, Agreement.CONTRADICTS) for one, other in OPPOSITES),
        *((one, other, Agreement.SAME) for one, other in PARAPHRASES),
        *((one, other, Agreement.UNRELATED) for one, other in UNRELATED),
    ],
)
def test_statements_agree_contradict_or_are_about_something_else(
    one: str, other: str, expected: Agreement
) -> None:
    assert (judge(one, other), judge(other, one)) == (expected, expected)


def test_words_alone_merge_few_opposites_and_most_paraphrases_of_the_benchmark() -> None:
    pairs = [pair for path in FILES[:3] for pair in read_pairs(path)]
    opposites, paraphrases = _percentages(pairs, same=False), _percentages(pairs, same=True)
    assert opposites[Agreement.SAME] <= 2
    assert opposites[Agreement.CONTRADICTS] >= 75
    assert paraphrases[Agreement.SAME] >= 66
    assert paraphrases[Agreement.CONTRADICTS] <= 6


def _percentages(pairs: list[Pair], *, same: bool) -> dict[Agreement, float]:
    verdicts = Counter(judge(one.one, one.other) for one in pairs if one.same is same)
    return {verdict: 100 * verdicts[verdict] / verdicts.total() for verdict in Agreement}


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("a quarter of an hour", 15, "minute"),
        ("half a year", 6, "month"),
        ("two weeks", 20_160, "minute"),
        ("every six hours", 360, "every minute"),
        ("twice a day", 720, "every minute"),
        ("quarterly", 3, "every month"),
        ("half past six in the evening", 1110, "o'clock"),
        ("2 pm", 840, "o'clock"),
        ("14:00", 840, "o'clock"),
        ("noon", 720, "o'clock"),
        ("minus 18 degrees", -18, "degree"),
        ("50k", 50_000, ""),
        ("1,000 euros", 1000, "euro"),
        ("0.02 mm", 0.00002, "metre"),
        ("twenty five", 25, ""),
        ("5th", 5, ""),
        ("third", 3, ""),
    ],
)
def test_amounts_are_read_however_they_are_written(text: str, value: float, unit: str) -> None:
    found = read_amount(text.split())
    assert found is not None
    assert found.amount == Amount(pytest.approx(value), unit)  # type: ignore[arg-type]
    assert found.length == len(text.split())
