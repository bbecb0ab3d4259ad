"""The HTTP server over the engine: REST API, web pages, MCP and webhooks."""
