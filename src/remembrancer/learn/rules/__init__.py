"""Extracts explicit statements without a language model."""
