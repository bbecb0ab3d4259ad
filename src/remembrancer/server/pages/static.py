"""Serves the static files under URLs with a content hash, so that browsers cache them."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources

from fastapi import APIRouter
from starlette.responses import Response

from remembrancer.errors import NotFound

router = APIRouter()

MEDIA_TYPES = {
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "login.js": "text/javascript; charset=utf-8",
    "mark.svg": "image/svg+xml",
}
HEADERS = {"Cache-Control": "public, max-age=31536000, immutable"}


@cache
def read_asset(name: str) -> bytes:
    return resources.files("remembrancer.server").joinpath("static", name).read_bytes()


@cache
def asset_url(name: str) -> str:
    """The URL of a file with a hash of its content."""
    return f"/static/{name}?{hashlib.sha256(read_asset(name)).hexdigest()[:12]}"


@router.get("/static/{name}")
async def serve_asset(name: str) -> Response:
    """A static file; needs no login."""
    if name not in MEDIA_TYPES:
        raise NotFound("This file does not exist.")
    return Response(read_asset(name), media_type=MEDIA_TYPES[name], headers=HEADERS)
