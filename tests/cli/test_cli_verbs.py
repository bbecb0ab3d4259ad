"""What a person can rely on when they type a verb."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from remembrancer.clock import ManualClock
from remembrancer.types import LINK_RELATIONS

Run = Callable[..., Any]

HOSTILE = [
    "'; DROP TABLE facts; --",
    "[bold red]markup[/bold red] and [/nothing]",
    "\x1b[2J\x1b]0;title\x07 escape",
    "“quotes” and {braces} and %s %d",
    "line one\nline two\n\n  indented",
    "日本語のメモ 🦊 שלום \u202egnirts",
    "$(rm -rf ~) `whoami` && echo",
    '{"json": "inside"}',
    "a" * 5000,
]


def test_what_is_remembered_is_recalled(rem: Run) -> None:
    said = rem("remember", "Keep answers short, code first.", "--category", "preference").stdout
    assert said.startswith("Remembered. “Keep answers short, code first.”")
    found = rem("recall", "how should I reply?").stdout
    assert found.startswith("Keep answers short, code first.\npreference · 2 Mar 2026 · fact_")


def test_words_need_no_quotes(ask: Run) -> None:
    written = ask("remember", "The", "boat", "is", "red", "--tag", "boats")
    assert written["memory"]["content"] == "The boat is red"
    assert ask("recall", "which", "colour", "has", "the", "boat")["items"]


def test_every_detail_has_an_option(ask: Run) -> None:
    memory = ask(
        *("remember", "Ada lives in Berlin.", "--category", "profile", "--importance", "9"),
        *("--subject", "Ada", "--predicate", "lives_in", "--permanence", "permanent"),
        *("--tag", "people", "--tag", "places", "--scope", "travel", "--kind", "fact"),
        *("--valid-from", "2026-01-01", "--valid-until", "2026-12-24T18:30", "--ttl-days", "400"),
        *("--summary", "Ada: Berlin", "--body", "She moved there for work."),
    )["memory"]
    assert memory["kind"] == "fact"
    assert memory["category"] == "profile"
    assert (memory["subject"], memory["predicate"]) == ("Ada", "lives_in")
    assert (memory["importance"], memory["permanence"]) == (9, "permanent")
    assert memory["tags"] == ["people", "places"]
    assert memory["scope"] == "travel"
    assert (memory["summary"], memory["body"]) == ("Ada: Berlin", "She moved there for work.")
    assert memory["valid_from"] == "2025-12-31T23:00:00+00:00", "midnight in Berlin"
    assert memory["valid_until"] == "2026-12-24T17:30:00+00:00"
    assert memory["expires_at"] == "2027-04-06T12:00:00+00:00"
    assert memory["surface"] == "cli"


def test_dates_are_shown_in_the_persons_zone(rem: Run, clock: ManualClock) -> None:
    rem("remember", "The gate opens at nine.")
    assert "recorded    2 Mar 2026, 13:00" in rem("get", "gate").stdout


def test_content_is_read_from_stdin(ask: Run) -> None:
    written = ask("remember", "-", "--kind", "episode", input="We met.\nIt rained.\n")
    assert written["memory"]["content"] == "We met.\nIt rained."
    assert ask("recall", "-", input="what was the weather?\n")["items"]
    new = ask("update", "It rained", "-", input="It snowed.")
    assert new["memory"]["content"] == "It snowed."


@pytest.mark.parametrize("content", HOSTILE)
def test_hostile_words_are_only_words(rem: Run, ask: Run, content: str) -> None:
    memory = ask("remember", "--", content)["memory"]
    assert memory["content"] == content
    for verb in ("get", "history"):
        assert "\x1b" not in rem(verb, memory["id"]).stdout
    for shown in (rem("list").stdout, rem("recall", "--explain", "--", content).stdout):
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert memory["id"] in shown


def test_a_correction_replaces_and_says_so(rem: Run) -> None:
    rem("remember", "Ada lives in Hamburg.", "--subject", "Ada", "--predicate", "lives_in")
    said = rem("remember", "Ada lives in Berlin.", "--subject", "Ada", "--predicate", "lives_in")
    assert "Replaced “Ada lives in Hamburg.”" in said.stdout
    assert "Undo: rem undo event_" in said.stdout


def test_the_same_twice_changes_nothing(rem: Run) -> None:
    rem("remember", "The boat is red.")
    said = rem("remember", "The boat is red.").stdout
    assert "Known already" in said
    assert "rem undo" not in said


@pytest.mark.parametrize("verb", [("remember",), ("update", "The wifi")])
def test_secrets_are_left_out_and_never_shown(rem: Run, ask: Run, verb: tuple[str, ...]) -> None:
    rem("remember", "The wifi works.")
    said = rem(*verb, "The wifi password is kX9-vQ27-mmT4 in the hall.").output
    assert "1 secret was left out (password)." in said
    assert "[secret: password]" in said
    assert "kX9-vQ27-mmT4" not in said
    assert "kX9" not in rem("--json", "list").output


def test_a_bare_secret_is_refused_without_repeating_it(rem: Run) -> None:
    refused = rem("remember", "sk-proj-" + "a1B2c3D4" * 6, code=2)
    assert "secret" in refused.stderr
    assert "a1B2c3D4" not in refused.output


def test_forget_restore_delete_and_undo(rem: Run, ask: Run) -> None:
    kept = ask("remember", "The team meets on Tuesdays at ten.")["memory"]["id"]
    assert rem("forget", "when the team meets").stdout.startswith("Forgotten. “The team meets")
    assert "There is nothing here." in rem("list").stdout
    assert rem("restore", "the team meets").stdout.startswith("Restored.")
    assert rem("delete", kept).stdout.startswith("In the trash.")
    assert ask("list", "--status", "trashed")["items"][0]["id"] == kept
    assert "is active" in rem("undo").stdout
    assert [one["id"] for one in ask("list")["items"]] == [kept]


def test_undo_takes_back_the_event_it_is_given(ask: Run) -> None:
    first = ask("remember", "The boat is red.")
    ask("remember", "My sister plays the cello.")
    undone = ask("undo", first["event"]["id"])
    assert undone["event"]["undoes"] == first["event"]["id"]
    assert undone["memory"]["status"] == "retracted"
    assert [one["content"] for one in ask("list")["items"]] == ["My sister plays the cello."]


def test_deleting_for_good_says_so(shelf: Any, ask: Run, embedder: Any, clock: ManualClock) -> None:
    from typer.testing import CliRunner

    from remembrancer.cli.app import app
    from remembrancer.config import override_settings
    from remembrancer.engine import Remembrancer

    ask("remember", "The boat is red.")
    settings = override_settings(
        shelf.settings, {"profile_overrides": {"deletion": {"mode": "hard"}}}
    )
    strict = Remembrancer(settings, shelf._store, embedder, clock)
    said = CliRunner().invoke(app, ["delete", "boat"], obj=strict).stdout
    assert said == "Deleted for good. It cannot be brought back.\n"


def test_delete_for_good_asks_and_reaches_into_the_trash(rem: Run, ask: Run) -> None:
    kept = ask("remember", "The boat is red.")["memory"]["id"]
    refused = rem("delete", "boat", "--for-good", code=2)
    assert "Pass --yes" in refused.stderr
    assert [one["id"] for one in ask("list")["items"]] == [kept]
    rem("delete", "boat")

    said = rem("delete", "boat", "--for-good", "--yes").stdout

    assert said == "Deleted for good. It cannot be brought back.\n"
    assert ask("list", "--status", "trashed")["items"] == []
    assert "It cannot be undone" in rem("undo", code=4).stderr
    ask("remember", "The boat is red.")
    assert "Deleted for good." in rem("delete-all", "--for-good", "--yes").stdout


def test_confirming_renews(rem: Run, ask: Run, clock: ManualClock) -> None:
    ask("remember", "The boat is red.")
    clock.advance(timedelta(days=30))
    assert rem("confirm", "boat").stdout.startswith("Confirmed. “The boat is red.”")
    assert ask("get", "boat")["confirmed_at"] == "2026-04-01T12:00:00+00:00"


def test_links_show_in_the_history(rem: Run, ask: Run) -> None:
    tea = ask("remember", "Ada prefers tea.")["memory"]["id"]
    ask("remember", "The doctor forbids caffeine.")
    assert rem("link", "tea", "caffeine", "--relation", "supports").stdout.startswith("Linked.")
    assert "already" in rem("link", "tea", "caffeine", "--relation", "supports").stdout
    [link] = ask("history", tea)["links"]
    assert (link["source"], link["relation"]) == (tea, "supports")
    assert "supports" in rem("history", tea).stdout


def test_history_is_a_timeline(rem: Run, ask: Run, clock: ManualClock) -> None:
    ask("remember", "Ada lives in Hamburg.")
    clock.advance(timedelta(days=30))
    ask("update", "Hamburg", "Ada lives in Berlin.")
    told = rem("history", "Berlin").stdout
    first, second = told.index("1  Ada lives in Hamburg."), told.index("2  Ada lives in Berlin.")
    assert first < second < told.index("2 Mar 2026, 13:00  remembered")
    assert "superseded · true since 2 Mar 2026 until 1 Apr 2026" in told
    assert "1 Apr 2026, 14:00  updated" in told, "summer time"
    story = ask("history", "Berlin")
    assert [one["action"] for one in story["events"]] == ["remembered", "updated"]


def test_the_past_can_be_asked(ask: Run, clock: ManualClock) -> None:
    who = ("--subject", "Ada", "--predicate", "lives_in")
    ask("remember", "Ada lives in Hamburg.", *who)
    clock.advance(timedelta(days=30))
    ask("remember", "Ada lives in Berlin.", *who, "--valid-from", "2026-03-20")

    def where(*options: str) -> list[str]:
        return [one["memory"]["content"] for one in ask("recall", "Ada", *options)["items"]]

    assert where() == ["Ada lives in Berlin."]
    assert where("--as-of", "2026-03-25") == ["Ada lives in Hamburg."]
    assert where("--true-at", "2026-03-25") == ["Ada lives in Berlin."]
    assert where("--true-at", "2026-03-10") == ["Ada lives in Hamburg."]
    listed = ask("list", "--as-of", "2026-03-25T10:00+01:00")["items"]
    assert [one["content"] for one in listed] == ["Ada lives in Hamburg."]


def test_filters_narrow_both_recall_and_list(ask: Run) -> None:
    ask("remember", "Tea is best at four.", "--tag", "tea", "--importance", "9")
    ask("remember", "Prefer tea to coffee.", "--category", "preference")
    ask("remember", "Boil tea water first.", "--kind", "rule", "--scope", "kitchen")

    def found(*options: str) -> set[str]:
        recalled = ask("recall", "tea", *options)["items"]
        return {one["memory"]["content"].split()[0] for one in recalled}

    assert found() == {"Tea", "Prefer", "Boil"}
    assert found("--tag", "tea") == {"Tea"}
    assert found("--category", "preference") == {"Prefer"}
    assert found("--kind", "rule") == {"Boil"}
    assert found("--scope", "office") == {"Tea", "Prefer"}
    assert found("--min-importance", "8") == {"Tea"}
    assert found("--min-confidence", "0.5", "--mode", "keyword") == {"Tea", "Prefer", "Boil"}
    assert found("--min-confidence", "1.0", "--mode", "keyword") == {"Tea", "Prefer"}
    assert len(found("--limit", "1", "--mode", "semantic")) == 1
    assert len(ask("list", "--kind", "rule", "--kind", "episode")["items"]) == 1


def test_a_listing_goes_on_where_it_ended(rem: Run, ask: Run) -> None:
    for animal in ("cat", "dog", "owl"):
        ask("remember", f"My {animal} sleeps all day.", "--subject", animal, "--predicate", "does")
    first = ask("list", "--limit", "2")
    second = ask("list", "--limit", "2", "--cursor", first["cursor"])
    assert [len(first["items"]), len(second["items"])] == [2, 1]
    assert second["cursor"] is None
    assert f"--cursor {first['cursor']}" in rem("list", "--limit", "2").stdout


def test_explain_says_why(rem: Run, ask: Run) -> None:
    ask("remember", "The team meets on Tuesdays at ten.")
    told = rem("recall", "when is the meeting?", "--explain").stdout
    for part in ("score", "(evidence)", "by meaning", "rank 1, similarity 0.", "by words", "bm25"):
        assert part in told
    assert "confidence  1.00 after 0 days" in told
    assert "effective confidence at least 0.2" in told
    assert not any(line.endswith(" ") for line in told.splitlines())
    recalled = ask("recall", "when is the meeting?")
    assert recalled.keys() == {"items", "sure", "late"}, "as over HTTP"
    assert 0 < recalled["sure"] <= 1
    [result] = recalled["items"]
    assert result["why"]["semantic_rank"] == 1
    assert result["score"] == pytest.approx(sum(result["why"]["parts"].values()))


def test_stats_count(rem: Run, ask: Run) -> None:
    assert "No memories yet." in rem("stats").stdout
    ask("remember", "The boat is red.")
    ask("remember", "Prefer tea.", "--category", "preference")
    ask("forget", "boat")
    told = rem("stats").stdout
    assert told.startswith("1 memory in force.")
    assert "1 forgotten" in told
    counted = ask("stats")
    assert counted["by_kind"] == {"fact": {"active": 1, "forgotten": 1}}
    assert counted["events"] == 3


def test_people_and_agents_are_kept_apart(ask: Run) -> None:
    ask("remember", "The boat is red.", "--user", "ada")
    ask("--user", "ada", "--agent", "cook", "remember", "The soup needs salt.")
    assert ask("recall", "boat", "--user", "grace")["items"] == []
    assert ask("recall", "boat", "--user", "ada", "--tenant", "elsewhere")["items"] == []
    assert len(ask("list", "--user=ada")["items"]) == 2
    seen = ask("list", "--user", "ada", "--agent", "driver")["items"]
    assert [one["content"] for one in seen] == ["The boat is red."]


def test_nothing_found_is_no_error(rem: Run, ask: Run) -> None:
    assert rem("recall", "anything").stdout == "Nothing was found.\n"
    assert ask("recall", "anything") == {"items": [], "sure": 0.0, "late": []}
    assert ask("list") == {"items": [], "cursor": None}


def test_the_help_of_link_lists_the_relations_that_are_accepted(rem: Run, ask: Run) -> None:
    ask("remember", "Ada drinks tea")
    ask("remember", "Ada stopped drinking coffee")
    told = " ".join(rem("link", "--help").stdout.split())
    offered = re.findall(r"\w+", told.partition("--relation NAME")[2].partition(".")[0])

    assert set(offered) - {"or"} == set(LINK_RELATIONS)
    for relation in (*LINK_RELATIONS, "relates_to"):
        rem("link", "drinks tea", "coffee", "--relation", relation)
    assert (
        "supersede"
        in rem("link", "drinks tea", "coffee", "--relation", "supersedes", code=2).stderr
    )
