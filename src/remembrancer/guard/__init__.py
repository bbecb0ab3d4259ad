"""Deterministic checks of text before it is stored: secrets, personal data and instructions."""

from remembrancer.guard.secrets.redact import RedactedText, SecretFinding, find_secrets, redact

__all__ = ["RedactedText", "SecretFinding", "find_secrets", "redact"]
