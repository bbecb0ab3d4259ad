"""ASGI middleware, one class per module; `app` lists them in order."""
