"""Builds an engine from settings: store, embedder and language models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from remembrancer import config
from remembrancer.config import (
    IN_MEMORY,
    EmbeddingSettings,
    ModelRoleSettings,
    ModelSettings,
    Settings,
)
from remembrancer.engine import Remembrancer
from remembrancer.llm.models import Models
from remembrancer.store.open import open_store

ANTHROPIC_URL = "https://api.anthropic.com"
OPENAI_URL = "https://api.openai.com/v1"

if TYPE_CHECKING:
    from remembrancer.clock import Clock
    from remembrancer.embed import Embedder
    from remembrancer.llm import Model
    from remembrancer.llm.chat import ChatModel


def open(
    place: str | Path | None = None,
    *,
    profile: str | None = None,
    settings: Settings | None = None,
    clock: Clock | None = None,
    embedder: Embedder | None = None,
) -> Remembrancer:
    """Open a store: a directory, a `postgresql://` URL, or ":memory:" for a temporary one.

    Without a place, the configured one is used; the default is the user's data directory.
    """
    settings = settings or config.load()
    if profile is not None:
        settings = config.override_settings(settings, {"profile": profile})
    if place is not None:
        settings = config.set_store_location(settings, str(place))
    return Remembrancer(
        settings,
        open_store(settings, clock, in_memory=str(place) == IN_MEMORY),
        embedder or open_embedder(settings.embedding),
        clock,
        open_models(settings.models),
    )


def open_embedder(settings: EmbeddingSettings) -> Embedder:
    """The configured embedder, with its cache."""
    from remembrancer.embed.cache import CachedEmbedder
    from remembrancer.embed.local import LocalEmbedder
    from remembrancer.embed.openai import OpenAICompatibleEmbedder

    embedder: Embedder
    if settings.provider == "local":
        embedder = LocalEmbedder()
    else:
        embedder = OpenAICompatibleEmbedder(
            settings.url,
            settings.model,
            key=settings.key.get_secret_value() if settings.key else None,
            dimensions=settings.dimensions,
            timeout=settings.timeout_seconds,
        )
    return CachedEmbedder(embedder, settings.cache_entries) if settings.cache_entries else embedder


def open_models(settings: ModelRoleSettings) -> Models:
    """The configured language models; if only one is set, it serves as both."""
    fast, smart = (open_model(one) if one else None for one in (settings.fast, settings.smart))
    chat = settings.chat or settings.smart or settings.fast
    return Models(fast or smart, smart or fast, open_chat_model(chat) if chat else None)


def open_model(settings: ModelSettings) -> Model:
    """The language model that the settings describe."""
    from remembrancer.llm.anthropic import AnthropicModel
    from remembrancer.llm.command import CommandModel
    from remembrancer.llm.openai import OpenAICompatibleModel

    key = settings.key.get_secret_value() if settings.key else None
    match settings.provider:
        case "command":
            return CommandModel(settings.command, timeout=settings.timeout_seconds)
        case "anthropic":
            return AnthropicModel(
                settings.model,
                key=key or "",
                url=settings.url or ANTHROPIC_URL,
                timeout=settings.timeout_seconds,
            )
        case "openai":
            return OpenAICompatibleModel(
                settings.url or OPENAI_URL,
                settings.model,
                key=key,
                timeout=settings.timeout_seconds,
            )


def open_chat_model(settings: ModelSettings) -> ChatModel:
    """The same model as one to talk with."""
    from remembrancer.llm.anthropic_chat import AnthropicChat
    from remembrancer.llm.one_shot import OneShotChat
    from remembrancer.llm.openai_chat import OpenAICompatibleChat

    key = settings.key.get_secret_value() if settings.key else None
    match settings.provider:
        case "command":
            return OneShotChat(open_model(settings))
        case "anthropic":
            return AnthropicChat(
                settings.model,
                key=key or "",
                url=settings.url or ANTHROPIC_URL,
                timeout=settings.timeout_seconds,
            )
        case "openai":
            return OpenAICompatibleChat(
                settings.url or OPENAI_URL,
                settings.model,
                key=key,
                timeout=settings.timeout_seconds,
            )
