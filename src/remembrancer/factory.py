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
from remembrancer.errors import InvalidInput
from remembrancer.llm.models import Models
from remembrancer.store.open import open_store

if TYPE_CHECKING:
    from remembrancer.clock import Clock
    from remembrancer.embed import Embedder
    from remembrancer.llm.chat import LanguageModel


def open(
    place: str | Path | None = None,
    *,
    profile: str | None = None,
    settings: Settings | None = None,
    clock: Clock | None = None,
    embedder: Embedder | None = None,
    models: Models | None = None,
) -> Remembrancer:
    """Open a store: a directory, a `postgresql://` URL, or ":memory:" for a temporary one.

    Without a place, the configured one is used; the default is the user's data directory. `models`
    are used instead of the configured ones.
    """
    _check_services(embedder, models)
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
        models or open_models(settings.models),
    )


def _check_services(embedder: object, models: object) -> None:
    """Raise InvalidInput for a model or embeddings of another library."""
    if not isinstance(models, Models | None):
        raise InvalidInput(
            f"models must be Models(…), not {type(models).__name__}: "
            "pass langchain_models(model) for a chat model of LangChain."
        )
    if embedder is not None and not callable(getattr(embedder, "embed", None)):
        raise InvalidInput(
            f"embedder must be an Embedder, not {type(embedder).__name__}: "
            "pass LangChainEmbedder(embeddings, model=…) for embeddings of LangChain."
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
    fast, smart, chat = (
        open_model(model) if model else None
        for model in (settings.fast, settings.smart, settings.chat)
    )
    return Models(
        fast or smart,
        smart or fast,
        chat or smart or fast,
        is_fast_weak=_is_weak(settings.fast or settings.smart),
    )


def _is_weak(settings: ModelSettings | None) -> bool:
    return settings is not None and settings.trust == "low"


def open_model(settings: ModelSettings) -> LanguageModel:
    """The language model that the settings describe."""
    from remembrancer.llm.anthropic import ANTHROPIC_URL, AnthropicModel
    from remembrancer.llm.command import CommandModel
    from remembrancer.llm.openai import OPENAI_URL, OpenAICompatibleModel

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
                max_tokens=settings.max_tokens,
            )
        case "openai":
            return OpenAICompatibleModel(
                settings.url or OPENAI_URL,
                settings.model,
                key=key,
                timeout=settings.timeout_seconds,
                max_tokens=settings.max_tokens,
            )
