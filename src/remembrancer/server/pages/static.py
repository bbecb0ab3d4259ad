"""The stylesheet, the script and the picture: fetched once, by names that say what is in them."""

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
    "mark.svg": "image/svg+xml",
}
HEADERS = {"Cache-Control": "public, max-age=31536000, immutable"}


@cache
def read_asset(name: str) -> bytes:
    """One of our files."""
    place = resources.files("remembrancer.server").joinpath("static", name)
    return place.read_bytes()


@cache
def asset_url(name: str) -> str:
    """Where a file is fetched from; another content has another address."""
    return f"/static/{name}?{hashlib.sha256(read_asset(name)).hexdigest()[:12]}"


@router.get("/static/{name}")
async def serve_asset(name: str) -> Response:
    """One of our files, for anyone."""
    if name not in MEDIA_TYPES:
        raise NotFound("There is no such file.")
    return Response(read_asset(name), media_type=MEDIA_TYPES[name], headers=HEADERS)
