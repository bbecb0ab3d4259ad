"""From what was said before the verb to an open memory, and from a result to the terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from remembrancer.cli.console import Page
from remembrancer.cli.options import given, moment

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from remembrancer.config import Settings
    from remembrancer.embed import Embedder
    from remembrancer.engine import Remembrancer
    from remembrancer.memory import Memory
    from remembrancer.recall.filters import Wanted
    from remembrancer.remember.statement import Details

Result = TypeVar("Result")


@dataclass
class Desk:
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

        settings = config.load(self._file())
        if self.profile is not None:
            settings = config.changed(settings, {"profile": self.profile})
        if self.store is not None:
            settings = config.placed(settings, self.store)
        return settings

    @cached_property
    def zone(self) -> ZoneInfo:
        """The zone in which dates are read and shown."""
        from zoneinfo import ZoneInfo

        return ZoneInfo(self.settings.time_zone)

    @contextlib.contextmanager
    def memory(self, *, embeds: bool = False) -> Iterator[Memory]:
        """The memory to work on; a verb that embeds gets the model loaded meanwhile."""
        with self.opened(embeds=embeds) as store:
            yield store.for_user(self.user, tenant=self.tenant, agent=self.agent, surface="cli")

    @contextlib.contextmanager
    def opened(self, *, embeds: bool = False) -> Iterator[Remembrancer]:
        """The store, for what concerns everyone in it."""
        with contextlib.nullcontext(self.shared) if self.shared else self._opened(embeds) as store:
            yield store

    def details(self, options: Mapping[str, Any]) -> Details:
        """What the options say about a new memory."""
        details = given(options)
        for name in ("valid_from", "valid_until"):
            if name in details:
                details[name] = moment(details[name], self.zone, f"--{name.replace('_', '-')}")
        return details  # type: ignore[return-value]

    def wanted(self, options: Mapping[str, Any]) -> Wanted:
        """What the options say about the memories to show."""
        wanted = given(options)
        known, true = wanted.pop("as_of", None), wanted.pop("true_at", None)
        if known or true:
            from remembrancer.types import AsOf

            wanted["as_of"] = AsOf(
                moment(known, self.zone, "--as-of") if known else None,
                moment(true, self.zone, "--true-at") if true else None,
            )
        return wanted  # type: ignore[return-value]

    def answer(self, value: object, words: Callable[[Page], None]) -> None:
        """Print the value as JSON if that is wanted, else what the function has to say about it."""
        if self.json:
            from remembrancer.cli.json_output import print_json

            print_json(value)
        else:
            words(Page(lambda: self.zone))

    def _opened(self, embeds: bool) -> Remembrancer:
        # Before the settings are checked, since loading the model takes longest of all.
        embedder = _warming() if embeds and self._embeds_itself() else None
        settings = self.settings
        from remembrancer.config import MEMORY
        from remembrancer.factory import open

        place = MEMORY if self.store == MEMORY else None
        return open(place, settings=settings, embedder=embedder)

    def _embeds_itself(self) -> bool:
        from remembrancer import environment

        chosen = environment.read(self._file())[0].get("embedding", {})
        return not isinstance(chosen, dict) or chosen.get("provider", "local") == "local"

    def _file(self) -> Path | None:
        return Path(self.config).expanduser() if self.config is not None else None


def _warming() -> Embedder:
    """The shipped model, loading in the background while the store is imported and opened."""
    from remembrancer.embed.local import LocalEmbedder

    embedder = LocalEmbedder()
    embedder.warm()
    return embedder
