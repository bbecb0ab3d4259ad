"""Finds and redacts passwords, keys and tokens in text."""
