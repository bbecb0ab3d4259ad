"""Deterministic guards that text passes before anything is stored."""

from remembrancer.guard.secrets import Finding, Redacted, find, redact

__all__ = ["Finding", "Redacted", "find", "redact"]
