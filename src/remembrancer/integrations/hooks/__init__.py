"""Agents in processes of their own: what they are told when, and what is kept of them."""
