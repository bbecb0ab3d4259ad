"""ASGI middleware, one module each; `server/app.py` says in which order."""
