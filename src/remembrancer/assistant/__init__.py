"""Our own assistant: recall, answer, learn; the same behind every surface that people talk on."""
