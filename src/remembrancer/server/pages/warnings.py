"""What a page should warn of: so far, that memory is on and nothing can be embedded."""

from __future__ import annotations

from remembrancer.config import Settings
from remembrancer.doctor import Level, embedding


def embedder_warning(settings: Settings) -> str | None:
    """Why nothing can be embedded, if so; the model that ships always can."""
    if settings.embedding.provider == "local":
        return None
    finding = embedding(settings)
    return finding.message if finding.level is Level.PROBLEM else None
