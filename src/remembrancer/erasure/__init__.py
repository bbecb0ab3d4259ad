"""Erases a person and issues a signed receipt of what was removed and scanned."""
