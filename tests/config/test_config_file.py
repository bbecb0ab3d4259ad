"""M13: one TOML file configures all of it; an error names the key and what is allowed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

import remembrancer
from remembrancer import config
from remembrancer.cron import Cron
from remembrancer.errors import InvalidSetting

pytestmark = pytest.mark.feature("M13")

WHOLE = """
profile = "agents"
tenant = "acme"
user = "ada"
time_zone = "Europe/Berlin"

[store]
path = "{place}"
pool_size = 3
open_files = 8
lock_timeout_seconds = 2.5

[embedding]
provider = "local"
cache_entries = 16

[jobs]
consolidate = "15 */2 * * 1-5"
backup = "0 1 * * *"
decay_sweep = ""

[profile_overrides.recall]
limit = 7
rrf_k = 30

[profile_overrides.recall.weights]
relevance = 0.7

[profile_overrides.dedup]
threshold = 0.95

[profile_overrides.categories.allergy]
description = "What the person must not eat"
permanence = "permanent"
importance = 10

[agents.health.recall]
limit = 2

[agents.health.recall.weights]
recency = 0.9
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "remembrancer.toml"
    path.write_text(WHOLE.format(place=tmp_path / "data"), encoding="utf-8")
    return path


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "remembrancer.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_M13_every_table_of_the_file_is_heeded(file: Path, tmp_path: Path) -> None:
    settings = config.load(file, environ={})

    assert (settings.profile, settings.tenant, settings.user) == ("agents", "acme", "ada")
    assert settings.time_zone == "Europe/Berlin"
    assert settings.data_directory() == tmp_path / "data"
    assert (settings.store.pool_size, settings.store.open_files) == (3, 8)
    assert settings.jobs.consolidate == "15 */2 * * 1-5"
    assert (settings.jobs.backup, settings.jobs.decay_sweep) == ("0 1 * * *", "")
    assert settings.jobs.episode_cleanup == "0 4 * * *"
    profile = settings.profile_for()
    assert (profile.recall.limit, profile.recall.rrf_k) == (7, 30)
    assert (profile.recall.weights.relevance, profile.recall.weights.importance) == (0.7, 0.3)
    assert profile.dedup.threshold == 0.95


def test_M13_an_agent_has_its_own_values_on_top(file: Path) -> None:
    health = config.load(file, environ={}).profile_for("health")

    assert health.recall.limit == 2
    assert health.recall.weights.recency == 0.9
    assert health.recall.weights.relevance == 0.7


def test_M13_the_values_of_the_file_are_those_the_memory_lives_by(file: Path) -> None:
    with remembrancer.open(settings=config.load(file, environ={})) as store:
        me = store.for_user()
        for words in ("tea", "coffee", "water", "juice"):
            me.remember(f"Ada likes {words} in the morning of weekdays number {len(words)}.")
        allergy = me.remember("Nuts", category="allergy").memory

        assert me.principal.owner == remembrancer.types.Owner("acme", "ada")
        assert (allergy.importance, allergy.permanence) == (10, "permanent")
        assert len(store.for_user(agent="health").recall("what does Ada like?")) == 2


def test_M13_the_file_is_the_one_that_the_environment_names(file: Path) -> None:
    assert config.load(environ={"REMEMBRANCER_CONFIG": str(file)}).tenant == "acme"


def test_M13_a_file_in_the_working_directory_is_not_obeyed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, 'tenant = "stranger"')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))

    assert config.load(environ={}).tenant == "home"


def test_M13_the_environment_overrides_the_file(file: Path) -> None:
    settings = config.load(
        file,
        environ={
            "REMEMBRANCER_TENANT": "globex",
            "REMEMBRANCER_STORE__POOL_SIZE": "9",
            "REMEMBRANCER_JOBS__BACKUP": "",
            "REMEMBRANCER_PROFILE_OVERRIDES__RECALL__LIMIT": "4",
            "REMEMBRANCER_AGENTS__HEALTH__RECALL__LIMIT": "1",
            "UNRELATED": "x",
        },
    )

    assert (settings.tenant, settings.user) == ("globex", "ada")
    assert (settings.store.pool_size, settings.store.open_files) == (9, 8)
    assert settings.jobs.backup == ""
    assert settings.profile_for().recall.limit == 4
    assert settings.profile_for("health").recall.limit == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tenent = 'x'", ["tenent", "tenant", "profile", "store"]),
        ("[store]\npth = 'x'", ["store.pth", "path", "url", "pool_size"]),
        ("[embedding]\nprovider = 'cohere'", ["embedding.provider", "local", "openai", "cohere"]),
        ("[store]\npool_size = 0", ["store.pool_size", "1"]),
        ("[store]\npool_size = 'many'", ["store.pool_size", "integer"]),
        ("profile = 'butler'", ["profile", "butler", "default", "agents", "namespaces"]),
        ("time_zone = 'Mars/Olympus'", ["time_zone", "Mars/Olympus", "Europe/Berlin"]),
        ("[jobs]\nbackup = 'daily'", ["jobs.backup", "daily", "minute hour day month weekday"]),
        ("[jobs]\nbackup = '60 * * * *'", ["jobs.backup", "minute", "0 to 59"]),
        ("[jobs]\nbackup = '0 24 * * *'", ["jobs.backup", "hour", "0 to 23"]),
        (
            "[profile_overrides.recall]\nrecipe = 'magic'",
            ["recall.recipe", "rrf", "nudged", "composite"],
        ),
        ("[profile_overrides.recall]\nlimits = 3", ["recall.limits", "limit", "rrf_k"]),
        (
            "[profile_overrides.scopes]\nvisibility = 'all'",
            ["scopes.visibility", "shared", "isolated"],
        ),
        ("[agents.health.decay]\nreset_by = 'x'", ["decay.reset_by", "confirmation", "use"]),
        ("[profile_overrides]\ndefault_category = 'x'", ["default_category", "fact", "preference"]),
        (
            "[profile_overrides.categories.fact]\nttl = 3",
            ["categories.fact.ttl", "ttl_days", "permanence", "importance"],
        ),
        (
            "[profile_overrides.categories.fact]\npermanence = 'long'",
            ["categories.fact.permanence", "permanent", "stable", "ephemeral"],
        ),
        ("[server]\nmost_bytes = 1", ["server.most_bytes", "renamed to server.max_body_bytes"]),
        ("[store]\nbackups_kept = 1", ["store.backups_kept", "store.backup_retention"]),
        ("[adjust.recall]\nlimit = 3", ["adjust", "renamed to profile_overrides"]),
        ("tenant = ", ["not valid TOML", "remembrancer.toml"]),
    ],
)
def test_M13_an_error_names_the_key_and_what_is_allowed(
    text: str, said: list[str], tmp_path: Path
) -> None:
    with pytest.raises(InvalidSetting) as refused:
        config.load(written(tmp_path, text), environ={})

    missing = [word for word in said if word not in str(refused.value)]
    assert not missing, str(refused.value)


def test_M13_an_agents_mistake_is_found_when_the_file_is_read_and_the_agent_is_named(
    tmp_path: Path,
) -> None:
    with pytest.raises(InvalidSetting, match="health"):
        config.load(written(tmp_path, "[agents.health.recall]\nlimit = 0"), environ={})


def test_M13_a_wrong_variable_is_refused_by_the_name_of_its_key() -> None:
    with pytest.raises(InvalidSetting, match=r"store\.pool_size"):
        config.load(environ={"REMEMBRANCER_STORE__POOL_SIZE": "none"})


def test_M13_a_schedule_that_is_never_due_is_refused_when_the_file_is_read(
    tmp_path: Path,
) -> None:
    with pytest.raises(InvalidSetting, match=r"jobs\.backup"):
        config.load(written(tmp_path, "[jobs]\nbackup = '0 0 31 2 *'"), environ={})


def test_M13_a_missing_file_is_an_error_and_not_the_defaults(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="cannot be read"):
        config.load(tmp_path / "absent.toml", environ={})


def test_M13_a_password_in_the_settings_is_not_shown() -> None:
    word = "Tulpen" + "4ever"
    settings = config.load(
        environ={"REMEMBRANCER_STORE__URL": f"postgresql://ada:{word}@localhost/x"}
    )

    assert word not in repr(settings)
    assert word not in str(settings.model_dump())


@pytest.mark.parametrize(
    ("expression", "moment", "due"),
    [
        ("0 */6 * * *", "2026-03-02T12:00", "2026-03-02T18:00"),
        ("0 */6 * * *", "2026-03-02T18:00:30", "2026-03-03T00:00"),
        ("0 3 * * *", "2026-03-02T02:59:59", "2026-03-02T03:00"),
        ("*/15 * * * *", "2026-03-02T12:44", "2026-03-02T12:45"),
        ("30 4 1 * *", "2026-03-02T12:00", "2026-04-01T04:30"),
        ("0 9 * * 1-5", "2026-03-06T10:00", "2026-03-09T09:00"),
        ("0 9 * * 0", "2026-03-02T12:00", "2026-03-08T09:00"),
        ("0 9 * * 7", "2026-03-02T12:00", "2026-03-08T09:00"),
        ("0 0 29 2 *", "2026-03-02T12:00", "2028-02-29T00:00"),
        ("0 0 13 * 5", "2026-03-02T12:00", "2026-03-06T00:00"),
        ("59 23 31 12 *", "2026-12-31T23:58", "2026-12-31T23:59"),
        ("5,35 8-10/2 * * *", "2026-03-02T08:35", "2026-03-02T10:05"),
    ],
)
def test_M13_a_cron_expression_says_when_a_job_is_next_due(
    expression: str, moment: str, due: str
) -> None:
    after = datetime.fromisoformat(moment).replace(tzinfo=UTC)

    found = Cron.parse(expression).next_after(after)

    assert found == datetime.fromisoformat(due).replace(tzinfo=UTC)
