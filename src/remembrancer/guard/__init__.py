"""Deterministic guards that text passes before anything is stored."""

from remembrancer.guard.secrets.redact import RedactedText, SecretFinding, find_secrets, redact

__all__ = ["RedactedText", "SecretFinding", "find_secrets", "redact"]
