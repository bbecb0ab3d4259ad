"""Detects personal data in text that is to be shared with a team."""
