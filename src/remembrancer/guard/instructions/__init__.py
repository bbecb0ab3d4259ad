"""Finds instructions to an assistant in text from outside."""
