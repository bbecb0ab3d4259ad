"""Conversations: turns, lifecycle, titles, summaries."""
