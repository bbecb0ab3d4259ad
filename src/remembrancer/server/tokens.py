"""Signed tokens of an identity provider (JWT, OIDC) in place of keys."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from remembrancer.access.keys import CAPABILITIES
from remembrancer.errors import InvalidInput, InvalidSetting, Unavailable
from remembrancer.types import Owner, Principal

if TYPE_CHECKING:
    from remembrancer.config import JwtSettings

JWKS_TTL_SECONDS = 600
MAX_TOKEN_CHARS = 16_384


class TokenVerifier:
    """Tells whom a token names, if the issuer signed it for us."""

    def __init__(self, settings: JwtSettings, tenant: str) -> None:
        self._settings = settings
        self._tenant = tenant
        self._keys = _JwksCache(settings.jwks)
        self._claims = jwt.JWTClaimsRegistry(
            leeway=settings.leeway_seconds,
            iss={"essential": True, "value": settings.issuer},
            aud={"essential": True, "value": settings.audience},
            exp={"essential": True},
        )

    def principal_of(self, token: str, surface: str) -> Principal | None:
        """Who comes with this token; None for every token that is not good."""
        if len(token) > MAX_TOKEN_CHARS:
            return None
        try:
            found = jwt.decode(token, self._keys.get(), algorithms=self._settings.algorithms)
            self._claims.validate(found.claims)
            return self._build_principal(found.claims, surface)
        except (JoseError, ValueError, TypeError, InvalidInput):
            return None

    def _build_principal(self, claims: Mapping[str, Any], surface: str) -> Principal:
        settings = self._settings
        tenant = claims.get(settings.tenant_claim) if settings.tenant_claim else self._tenant
        granted = claims.get(settings.capabilities_claim) if settings.capabilities_claim else ()
        words = granted.split() if isinstance(granted, str) else granted or ()
        capabilities = frozenset(one for one in words if one in CAPABILITIES)
        owner = Owner(_require_text(tenant), _require_text(claims.get(settings.user_claim)))
        return Principal(owner, None, surface, capabilities)


class _JwksCache:
    """The issuer's public keys, out of a file or fetched now and then."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._lock = threading.Lock()
        self._known: tuple[float, KeySet] | None = None
        if not place.startswith("https://"):
            self._known = (float("inf"), self._read_file())

    def get(self) -> KeySet:
        with self._lock:
            if self._known is None or self._known[0] < time.monotonic():
                self._known = (time.monotonic() + JWKS_TTL_SECONDS, self._fetch())
            return self._known[1]

    def _read_file(self) -> KeySet:
        if self._place.startswith("http:"):
            raise InvalidSetting("server.jwt.jwks: use https, or a file.")
        try:
            text = Path(self._place).expanduser().read_text(encoding="utf-8")
            return KeySet.import_key_set(json.loads(text))
        except (OSError, ValueError, JoseError) as error:
            raise InvalidSetting("server.jwt.jwks cannot be read as a set of keys.") from error

    def _fetch(self) -> KeySet:
        try:
            answer = httpx.get(self._place, timeout=10).raise_for_status()
            return KeySet.import_key_set(answer.json())
        except (httpx.HTTPError, ValueError, JoseError) as error:
            raise Unavailable("The identity provider's keys cannot be fetched now.") from error


def _require_text(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidInput("The claim is not a text.")
    return value
