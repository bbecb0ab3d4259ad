"""The write path, and what changes a stored memory."""
