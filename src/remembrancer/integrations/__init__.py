"""Remembrancer inside other people's frameworks; each needs its own extra to be installed."""
