"""The REST server: HTTP over the engine. A route parses, calls one verb, and formats."""
