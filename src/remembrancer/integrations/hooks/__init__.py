"""Agents that run in a process of their own: what is told to them when, and what is kept of them."""
