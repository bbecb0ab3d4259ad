"""Erasing a person, and the signed receipt that says what was searched afterwards."""
