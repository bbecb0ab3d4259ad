"""Hooks for coding agents: give them context and store their sessions."""
