"""The MCP server: memory as tools, resources and prompts, for one person or for whoever has a key.

`stdio` serves one principal, `http` asks for a key with every request; `server` is the same.
"""
