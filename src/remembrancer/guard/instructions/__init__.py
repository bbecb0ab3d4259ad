"""Detects instructions to an assistant in tainted text."""
