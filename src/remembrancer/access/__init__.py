"""Who may come in: API keys, account links, and idempotency of their requests."""
