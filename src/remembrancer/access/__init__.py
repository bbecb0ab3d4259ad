"""Access control: API keys, account links, and idempotent requests."""
