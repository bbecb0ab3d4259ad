"""Paths as clients send them, so that a name in a path may contain an encoded slash.

Servers decode a path before it is matched, which makes `/sessions/a%2Fb` look like `/sessions/a/b`.
"""

from __future__ import annotations

from urllib.parse import quote, unquote

from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import Scope

ENCODED_SLASH = "\ud800"
"""Stands for a slash in a name while a path is matched; no decoded path contains a surrogate."""


class SentPathRoute(APIRoute):
    """A route whose names may contain slashes."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        sent = get_sent_path(scope)
        if "%2f" not in sent.lower():
            return super().matches(scope)
        segments = (unquote(one).replace("/", ENCODED_SLASH) for one in sent.split("/"))
        match, child_scope = super().matches({**scope, "path": "/".join(segments)})
        if match is not Match.NONE:
            found = child_scope["path_params"]
            child_scope["path_params"] = {name: _decode(value) for name, value in found.items()}
        return match, child_scope


def get_sent_path(scope: Scope) -> str:
    """The path of a request, still encoded."""
    sent = scope.get("raw_path")
    return sent.decode("latin-1") if sent else quote(scope["path"])


def _decode(value: object) -> object:
    return value.replace(ENCODED_SLASH, "/") if isinstance(value, str) else value
