"""Finds references to a person in text meant for a team."""
