"""From what was said before the verb to an open memory, and from a result to the terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from remembrancer.cli.options import drop_unset, parse_moment
from remembrancer.cli.terminal import Terminal

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from remembrancer.config import Settings
    from remembrancer.embed import Embedder
    from remembrancer.engine import Remembrancer
    from remembrancer.memory import Memory
    from remembrancer.recall.filters import RecallOptions
    from remembrancer.remember.statement import FactFields

Result = TypeVar("Result")


@dataclass
class CliContext:
    """Whose memory, where, and how to answer. `shared` is a store that someone else opened."""

    user: str | None = None
    tenant: str | None = None
    agent: str | None = None
    profile: str | None = None
    config: str | None = None
    store: str | None = None
    json: bool = False
    shared: Remembrancer | None = None

    @cached_property
    def settings(self) -> Settings:
        """The configuration, with what the options say laid over it."""
        if self.shared is not None:
            return self.shared.settings
        from remembrancer import config

        settings = config.load(self._config_path())
        if self.profile is not None:
            settings = config.override_settings(settings, {"profile": self.profile})
        if self.store is not None:
            settings = config.set_store_location(settings, self.store)
        return settings

    @cached_property
    def zone(self) -> ZoneInfo:
        """The zone in which dates are read and shown."""
        from zoneinfo import ZoneInfo

        return ZoneInfo(self.settings.time_zone)

    @contextlib.contextmanager
    def open_memory(self, *, embeds: bool = False) -> Iterator[Memory]:
        """The memory to work on; a verb that embeds gets the model loaded meanwhile."""
        with self.open_engine(embeds=embeds) as store:
            yield store.for_user(self.user, tenant=self.tenant, agent=self.agent, surface="cli")

    @contextlib.contextmanager
    def open_engine(self, *, embeds: bool = False) -> Iterator[Remembrancer]:
        """The store, for what concerns everyone in it."""
        with (
            contextlib.nullcontext(self.shared)
            if self.shared
            else self._open_engine(embeds) as store
        ):
            yield store

    def parse_fact_fields(self, options: Mapping[str, Any]) -> FactFields:
        """What the options say about a new memory."""
        details = drop_unset(options)
        for name in ("valid_from", "valid_until"):
            if name in details:
                details[name] = parse_moment(
                    details[name], self.zone, f"--{name.replace('_', '-')}"
                )
        return details  # type: ignore[return-value]

    def parse_recall_options(self, options: Mapping[str, Any]) -> RecallOptions:
        """What the options say about the memories to show."""
        wanted = drop_unset(options)
        known, true = wanted.pop("as_of", None), wanted.pop("true_at", None)
        if known or true:
            from remembrancer.types import AsOf

            wanted["as_of"] = AsOf(
                parse_moment(known, self.zone, "--as-of") if known else None,
                parse_moment(true, self.zone, "--true-at") if true else None,
            )
        return wanted  # type: ignore[return-value]

    def print_result(self, value: object, render: Callable[[Terminal], None]) -> None:
        """Print the value as JSON if that is wanted, else what the function has to say about it."""
        if self.json:
            from remembrancer.cli.json_output import print_json

            print_json(value)
        else:
            render(Terminal(lambda: self.zone))

    def _open_engine(self, embeds: bool) -> Remembrancer:
        # Before the settings are checked, since loading the model takes longest of all.
        embedder = _warm_embedder() if embeds and self._has_local_embedder() else None
        settings = self.settings
        from remembrancer.config import IN_MEMORY
        from remembrancer.factory import open

        place = IN_MEMORY if self.store == IN_MEMORY else None
        return open(place, settings=settings, embedder=embedder)

    def _has_local_embedder(self) -> bool:
        from remembrancer import environment

        chosen = environment.read_values(self._config_path())[0].get("embedding", {})
        return not isinstance(chosen, dict) or chosen.get("provider", "local") == "local"

    def _config_path(self) -> Path | None:
        return Path(self.config).expanduser() if self.config is not None else None


def _warm_embedder() -> Embedder:
    """The shipped model, loading in the background while the store is imported and opened."""
    from remembrancer.embed.local import LocalEmbedder

    embedder = LocalEmbedder()
    embedder.warm()
    return embedder
