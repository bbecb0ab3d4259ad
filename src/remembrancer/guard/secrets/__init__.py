"""Finds passwords, keys and tokens in text."""
