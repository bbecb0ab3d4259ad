"""Finds what is wrong in one person's data, and repairs it."""
