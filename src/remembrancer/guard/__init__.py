"""Deterministic guards that text passes before anything is stored."""

from remembrancer.guard.secrets.redact import Finding, Redacted, find, redact

__all__ = ["Finding", "Redacted", "find", "redact"]
