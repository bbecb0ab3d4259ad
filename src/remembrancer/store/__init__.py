"""Storage: one contract and two engines, SQLite and PostgreSQL. No other package writes SQL."""
