"""The settings as validated values, with errors that name the key and the allowed values."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)

from remembrancer import environment, profiles
from remembrancer.cron import Cron
from remembrancer.environment import DEFAULTS, deep_merge
from remembrancer.errors import InvalidInput, InvalidSetting
from remembrancer.types import Json

IN_MEMORY = ":memory:"
CRON_CHECK_START = datetime(2000, 1, 1, tzinfo=UTC)
RENAMED_KEYS = {
    "adjust": "profile_overrides",
    "server.body_seconds": "server.body_timeout_seconds",
    "server.most_bytes": "server.max_body_bytes",
    "server.traces": "server.otlp_endpoint",
    "store.backups_kept": "store.backup_retention",
    "store.busy_seconds": "store.lock_timeout_seconds",
}

SchemaT = TypeVar("SchemaT", bound=BaseModel)


def _validate_cron(expression: str) -> str:
    try:
        if expression:
            Cron.parse(expression).next_after(CRON_CHECK_START)
        return expression
    except InvalidSetting as error:
        raise ValueError(str(error)) from error


def _validate_zone(name: str) -> str:
    try:
        return ZoneInfo(name).key
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(
            f"{name!r} is not a time zone; use a name such as Europe/Berlin"
        ) from error


CronText = Annotated[str, AfterValidator(_validate_cron)]
ZoneText = Annotated[str, AfterValidator(_validate_zone)]


class SettingsTable(BaseModel):
    """One table of the configuration file. Unknown keys are errors, and values are immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class StoreSettings(SettingsTable):
    """Where memories are stored: a directory of SQLite files, or PostgreSQL if `url` is set.

    With the `durability` "full", a file of SQLite's is synced before a write is acknowledged.
    """

    path: Path | None = None
    url: SecretStr | None = None
    admin_url: SecretStr | None = None
    pool_size: Annotated[int, Field(ge=1, le=500)] = 10
    open_files: Annotated[int, Field(ge=1, le=10_000)] = 64
    lock_timeout_seconds: Annotated[float, Field(gt=0)] = 30
    durability: Literal["full", "normal"] = "full"
    backup_retention: Annotated[int, Field(ge=1)] = 7


class EmbeddingSettings(SettingsTable):
    """The embedding model: the one that ships, or an OpenAI-compatible endpoint."""

    provider: Literal["local", "openai"] = "local"
    url: str = "https://api.openai.com/v1"
    model: str = "text-embedding-3-small"
    key: SecretStr | None = None
    dimensions: Annotated[int, Field(ge=1, le=4096)] = 1536
    timeout_seconds: Annotated[float, Field(gt=0)] = 30
    cache_entries: Annotated[int, Field(ge=0)] = 4096


class ModelSettings(SettingsTable):
    """A language model: an OpenAI-compatible endpoint, Anthropic's API or a command.

    `max_tokens` limits an answer, thinking included. `trust` is low for a small model that makes
    things up: its proposals are then compared with the person's words one by one.
    """

    provider: Literal["openai", "anthropic", "command"] = "openai"
    url: str | None = None
    model: str = ""
    key: SecretStr | None = None
    command: tuple[str, ...] = ()
    timeout_seconds: Annotated[float, Field(gt=0)] = 60
    max_tokens: Annotated[int, Field(ge=100)] = 8000
    trust: Literal["high", "low"] = "high"

    @model_validator(mode="after")
    def _check_complete(self) -> ModelSettings:
        if self.provider == "command" and not self.command:
            raise ValueError("set command to a list such as ['claude', '-p']")
        if self.provider != "command" and not self.model:
            raise ValueError("set model to the name of the model")
        return self


class ModelRoleSettings(SettingsTable):
    """The models for learning from conversations, for consolidation and for chat.

    If only one of `fast` and `smart` is set, it does both jobs; without either, learning uses the
    rule-based extractor alone. `chat` defaults to the smart model.
    """

    fast: ModelSettings | None = None
    smart: ModelSettings | None = None
    chat: ModelSettings | None = None


class JobSettings(SettingsTable):
    """Cron expressions in UTC for the background jobs; an empty string turns a job off."""

    consolidate: CronText = "0 */6 * * *"
    decay_sweep: CronText = "0 3 * * *"
    episode_cleanup: CronText = "0 4 * * *"
    trash_purge: CronText = "30 4 * * *"
    close_sessions: CronText = "*/15 * * * *"
    learn: CronText = "* * * * *"
    reembed: CronText = "*/10 * * * *"
    tidy: CronText = "0 5 * * *"
    backup: CronText = ""


JwtAlgorithm = Literal[
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519"
]


class JwtSettings(SettingsTable):
    """The issuer whose JSON Web Tokens are accepted, and the meaning of their claims.

    `jwks` is a file or a URL with the issuer's public keys. Without `tenant_claim`, every user
    belongs to the configured tenant.
    """

    issuer: str
    audience: str
    jwks: str
    algorithms: Annotated[tuple[JwtAlgorithm, ...], Field(min_length=1)] = ("RS256", "ES256")
    user_claim: str = "sub"
    tenant_claim: str | None = None
    capabilities_claim: str | None = None
    leeway_seconds: Annotated[int, Field(ge=0, le=300)] = 30


class UpstreamSettings(SettingsTable):
    """The model server to which `/v1` forwards requests, and our key for it."""

    url: Annotated[str, Field(pattern=r"^https?://\S+$")]
    key: SecretStr | None = None
    timeout_seconds: Annotated[float, Field(gt=0)] = 600


class ServerSettings(SettingsTable):
    """Where the server listens, which clients it accepts, and its limits."""

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8150
    workers: Annotated[int, Field(ge=1, le=64)] = 1
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    https: bool = False
    max_body_bytes: Annotated[int, Field(ge=1024)] = 8 * 1024 * 1024
    body_timeout_seconds: Annotated[float, Field(gt=0)] = 30
    requests_per_minute: Annotated[int, Field(ge=1)] = 6000
    burst: Annotated[int, Field(ge=1)] = 600
    wrong_keys_per_minute: Annotated[int, Field(ge=1)] = 60
    max_connections: Annotated[int, Field(ge=1)] | None = None
    max_connections_per_address: Annotated[int, Field(ge=1)] | None = None
    header_timeout_seconds: Annotated[float, Field(gt=0)] = 10
    idle_timeout_seconds: Annotated[float, Field(gt=0)] = 5
    send_timeout_seconds: Annotated[float, Field(gt=0)] = 60
    login_minutes: Annotated[float, Field(gt=0, le=24 * 60)] = 10
    tools: Literal["core", "full"] = "core"
    url: str | None = None
    otlp_endpoint: str | None = None
    session_hours: Annotated[float, Field(gt=0, le=24 * 365)] = 12
    jwt: JwtSettings | None = None
    upstream: UpstreamSettings | None = None


class ImportSettings(SettingsTable):
    """How large a zip may be when it is unpacked, in all and as a multiple of its own size."""

    max_unpacked_bytes: Annotated[int, Field(ge=1)] = 4 * 1024**3
    max_unpack_ratio: Annotated[float, Field(ge=1)] = 200


class TelegramSettings(SettingsTable):
    """The bot's token; set `url` to use a Bot API server of your own.

    With a `webhook_secret`, Telegram calls our webhook; without one, we poll for messages.
    """

    token: SecretStr | None = None
    url: str = "https://api.telegram.org"
    webhook_secret: SecretStr | None = None


class Settings(SettingsTable):
    """The whole configuration.

    `profile_overrides` changes the profile, `agents.NAME` changes it for one agent.
    """

    profile: str = DEFAULTS["profile"]
    tenant: str = DEFAULTS["tenant"]
    user: str = DEFAULTS["user"]
    time_zone: ZoneText = "UTC"
    store: StoreSettings = StoreSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    models: ModelRoleSettings = ModelRoleSettings()
    jobs: JobSettings = JobSettings()
    server: ServerSettings = ServerSettings()
    telegram: TelegramSettings = TelegramSettings()
    imports: ImportSettings = ImportSettings()
    profile_overrides: dict[str, Any] = Field(default_factory=dict)
    agents: dict[str, dict[str, Any]] = Field(default_factory=dict)

    def data_directory(self) -> Path:
        """The configured path, or the user's data directory."""
        return environment.data_directory(self.store.path)

    def backup_directory(self) -> Path:
        """The directory of automatic backups."""
        return self.data_directory() / "backups"

    def profile_for(self, agent: str | None = None) -> profiles.Profile:
        """The profile with the overrides of the configuration and then those of the agent."""
        values = deep_merge(profiles.load_profile_values(self.profile), self.profile_overrides)
        values = deep_merge(values, self.agents.get(agent or "", {}))
        suffix = f" with the overrides of the agent {agent!r}" if agent in self.agents else ""
        return _validate_values(profiles.Profile, values, f"the profile {self.profile!r}{suffix}")


def load(path: Path | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Load the settings; the file overrides the defaults, and the environment the file."""
    return validate_settings(*environment.read_values(path, environ))


def validate_settings(values: Mapping[str, Json], origin: str = "the given values") -> Settings:
    """Settings from plain values; the profile of every agent is validated too."""
    settings = _validate_values(Settings, values, origin)
    settings.profile_for()
    for agent in settings.agents:
        settings.profile_for(agent)
    return settings


def _validate_values(schema: type[SchemaT], values: object, origin: str) -> SchemaT:
    try:
        return schema.model_validate(values)
    except ValidationError as error:
        lines = [_explain_problem(schema, dict(problem)) for problem in error.errors()]
        raise InvalidSetting("; ".join(lines) + f" (in {origin}).") from None
    except InvalidInput as error:
        raise InvalidSetting(f"{error} (in {origin})") from None


def _explain_problem(schema: type[BaseModel], problem: dict[str, Any]) -> str:
    """One validation error as `key: what is allowed`."""
    path = [
        str(step) for step in problem["loc"] if not str(step).startswith(("literal", "function"))
    ]
    key = ".".join(path) or "the settings"
    if problem["type"] == "extra_forbidden":
        if schema is Settings and key in RENAMED_KEYS:
            return f"{key}: this key was renamed to {RENAMED_KEYS[key]}"
        allowed = ", ".join(_list_sibling_keys(schema, path))
        return f"{key}: unknown key; the allowed keys are {allowed}"
    expected = problem.get("ctx", {}).get("expected")
    if expected:
        return f"{key}: use {expected}, not {problem['input']!r}"
    return f"{key}: {problem['msg'].removeprefix('Value error, ')}"


def _list_sibling_keys(schema: type[BaseModel], path: list[str]) -> list[str]:
    """The keys of the table that contains the key at `path`."""
    inner: Any = schema
    for step in path[:-1]:
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            inner = inner.model_fields[step].annotation
        else:
            inner = get_args(inner)[-1]
    return list(inner.model_fields)


def override_settings(settings: Settings, changes: Mapping[str, Json]) -> Settings:
    values = deep_merge(settings.model_dump(exclude_unset=True), changes)
    return _validate_values(Settings, values, "the given values")


def set_store_location(settings: Settings, location: str) -> Settings:
    """The settings with another store: a directory or a PostgreSQL URL."""
    if location == IN_MEMORY:
        return settings
    if not location:
        raise InvalidSetting("store: use a directory, a postgresql:// URL or :memory:.")
    key = "url" if location.startswith(("postgresql:", "postgresql+")) else "path"
    return override_settings(
        settings, {"store": {"path": None, "url": None, "admin_url": None, key: location}}
    )
