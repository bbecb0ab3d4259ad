"""The read path, from a query to ranked memories and prompt text."""
