"""Turns episodes into lasting facts and rules: a plan first, then one transaction."""
