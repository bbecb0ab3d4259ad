"""The optional driver of PostgreSQL."""

from __future__ import annotations

from remembrancer.errors import InvalidSetting


def require_driver(extra: str = "postgres") -> None:
    """Raise InvalidSetting if the driver is not installed, or its libpq is not."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise InvalidSetting(
            f"PostgreSQL needs its driver: pip install 'remembrancer[{extra}]'."
        ) from None
