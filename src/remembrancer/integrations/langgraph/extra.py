"""Says which extra is missing when LangChain or LangGraph is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def explain_missing_extra() -> Iterator[None]:
    """Name the extra in the error of an import that fails."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{error.name} is not installed: pip install 'remembrancer[langgraph]'.",
            name=error.name,
        ) from error
