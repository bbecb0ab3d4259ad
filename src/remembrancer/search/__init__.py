"""Ranks one person's documents: plain arithmetic over arrays, no I/O."""
