"""Opens the memory that the root options name, and prints results as text or JSON."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from remembrancer.cli.options import drop_unset, parse_moment
from remembrancer.cli.terminal import Terminal
from remembrancer.clock import end_bare_date

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from remembrancer.config import Settings
    from remembrancer.embed import Embedder
    from remembrancer.engine import Remembrancer
    from remembrancer.memory import Memory
    from remembrancer.recall.filters import RecallOptions
    from remembrancer.remember.statement import FactFields
    from remembrancer.types import AsOf, Json

Result = TypeVar("Result")


@dataclass
class CliContext:
    """The root options. `shared` is an engine that the caller opened and will close."""

    user: str | None = None
    tenant: str | None = None
    agent: str | None = None
    profile: str | None = None
    config: str | None = None
    store: str | None = None
    json: bool = False
    shared: Remembrancer | None = None
    _zone: ZoneInfo | None = field(default=None, init=False)

    @cached_property
    def settings(self) -> Settings:
        """The configuration, overridden by the root options."""
        if self.shared is not None:
            return self.shared.settings
        from remembrancer import config

        settings = config.validate_settings(*self._raw_settings)
        if self.profile is not None:
            settings = config.override_settings(settings, {"profile": self.profile})
        if self.store is not None:
            settings = config.set_store_location(settings, self.store)
        return settings

    @property
    def user_name(self) -> str:
        """The user that the options name, else the one of the configuration."""
        return self.settings.user if self.user is None else self.user

    @property
    def has_language_model(self) -> bool:
        models = self.settings.models
        return (models.fast or models.smart) is not None

    @property
    def zone(self) -> ZoneInfo:
        """The user's time zone, for dates on the command line and in the output."""
        if self._zone is None:
            with self.open_engine() as engine:
                self._zone = self._find_zone(engine)
        return self._zone

    def _find_zone(self, engine: Remembrancer) -> ZoneInfo:
        from remembrancer.types import Owner

        return engine.find_time_zone(Owner(self.tenant or engine.settings.tenant, self.user_name))

    @contextlib.contextmanager
    def open_memory(self, *, embeds: bool = False) -> Iterator[Memory]:
        """Open the user's memory; with `embeds`, load the embedding model in the background."""
        with self.open_engine(embeds=embeds) as engine:
            yield self.memory_of(engine)

    def memory_of(self, engine: Remembrancer, surface: str = "cli") -> Memory:
        """The memory of the user that the options name, in an engine that is open.

        The user of the configuration administers the instances, as on the pages.
        """
        from remembrancer.access.instances import ADMIN_CAPABILITY

        self._zone = self._find_zone(engine)
        is_local = self.user_name == engine.settings.user
        return engine.for_user(
            self.user_name,
            tenant=self.tenant,
            agent=self.agent,
            surface=surface,
            capabilities=(ADMIN_CAPABILITY,) if is_local else (),
        )

    @contextlib.contextmanager
    def open_engine(self, *, embeds: bool = False) -> Iterator[Remembrancer]:
        """The engine, for verbs that concern everyone in the store."""
        if self.shared is not None:
            yield self.shared
            return
        with self._open_engine(embeds) as engine:
            yield engine

    def parse_fact_fields(self, options: Mapping[str, Any]) -> FactFields:
        """The fields of a new memory that the options set."""
        fields = drop_unset(options)
        for name in ("valid_from", "valid_until"):
            if name in fields:
                fields[name] = parse_moment(fields[name], self.zone, f"--{name.replace('_', '-')}")
        return fields  # type: ignore[return-value]

    def parse_recall_options(self, options: Mapping[str, Any]) -> RecallOptions:
        """The filters of a recall or a listing that the options set."""
        filters = drop_unset(options)
        as_of = self.parse_as_of(filters.pop("as_of", None), filters.pop("true_at", None))
        if as_of is not None:
            filters["as_of"] = as_of
        return filters  # type: ignore[return-value]

    def parse_as_of(self, as_of: str | None, true_at: str | None) -> AsOf | None:
        """The past moment that --as-of and --true-at name."""
        if as_of is None and true_at is None:
            return None
        from remembrancer.types import AsOf

        return AsOf(
            parse_moment(end_bare_date(as_of), self.zone, "--as-of") if as_of else None,
            parse_moment(end_bare_date(true_at), self.zone, "--true-at") if true_at else None,
        )

    def print_result(self, value: object, render: Callable[[Terminal], None]) -> None:
        """Print the value as JSON with --json, else call `render`."""
        if self.json:
            from remembrancer.cli.json_output import print_json

            print_json(value)
        else:
            render(Terminal(lambda: self.zone))

    def run_verb(
        self,
        verb: Callable[[Memory], Result],
        render: Callable[[Terminal, Result], None],
        *,
        embeds: bool = False,
    ) -> None:
        """Call a verb of the user's memory and print its result as text or JSON."""
        with self.open_memory(embeds=embeds) as me:
            result = verb(me)
        self.print_result(result, lambda out: render(out, result))

    def _open_engine(self, embeds: bool) -> Remembrancer:
        # Validating the settings imports pydantic: load the model, which takes longest, meanwhile.
        embedder = _warm_embedder() if embeds and self._has_local_embedder() else None
        settings = self.settings
        from remembrancer.config import IN_MEMORY
        from remembrancer.factory import open

        location = IN_MEMORY if self.store == IN_MEMORY else None
        return open(location, settings=settings, embedder=embedder)

    @cached_property
    def _raw_settings(self) -> tuple[dict[str, Json], str]:
        """The unchecked values of file and environment, and where they are from."""
        from remembrancer import environment

        path = Path(self.config).expanduser() if self.config is not None else None
        return environment.read_values(path)

    def _has_local_embedder(self) -> bool:
        chosen = self._raw_settings[0].get("embedding", {})
        return not isinstance(chosen, dict) or chosen.get("provider", "local") == "local"


def _warm_embedder() -> Embedder:
    """The local model, which loads in the background while the store is imported and opened."""
    from remembrancer.embed.local import LocalEmbedder

    embedder = LocalEmbedder()
    embedder.warm()
    return embedder
