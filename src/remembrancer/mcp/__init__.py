"""The MCP server: memory as tools, resources and prompts.

`stdio` serves one principal; `http` authenticates each request by its key.
"""
