"""Authenticates signed tokens (JWT) of an identity provider."""

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
    """Verifies signature, issuer, audience and expiry, and maps claims to a principal."""

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
        """Return the principal that a token names, or None if the token is invalid."""
        if len(token) > MAX_TOKEN_CHARS:
            return None
        try:
            token_data = jwt.decode(token, self._keys.get(), algorithms=self._settings.algorithms)
            self._claims.validate(token_data.claims)
            return self._build_principal(token_data.claims, surface)
        except (JoseError, ValueError, TypeError, InvalidInput):
            return None

    def _build_principal(self, claims: Mapping[str, Any], surface: str) -> Principal:
        settings = self._settings
        tenant = claims.get(settings.tenant_claim) if settings.tenant_claim else self._tenant
        granted = claims.get(settings.capabilities_claim) if settings.capabilities_claim else ()
        names = granted.split() if isinstance(granted, str) else granted or ()
        capabilities = frozenset(name for name in names if name in CAPABILITIES)
        owner = Owner.of_person(
            _require_text(tenant), _require_text(claims.get(settings.user_claim))
        )
        return Principal(owner, None, surface, capabilities)


class _JwksCache:
    """The issuer's public keys, from a file or fetched from a URL and cached."""

    def __init__(self, location: str) -> None:
        self._location = location
        self._lock = threading.Lock()
        self._cached: tuple[float, KeySet] | None = None
        if not location.startswith("https://"):
            self._cached = (float("inf"), self._read_file())

    def get(self) -> KeySet:
        with self._lock:
            if self._cached is None or self._cached[0] < time.monotonic():
                self._cached = (time.monotonic() + JWKS_TTL_SECONDS, self._fetch())
            return self._cached[1]

    def _read_file(self) -> KeySet:
        if self._location.startswith("http:"):
            raise InvalidSetting("server.jwt.jwks: use an https URL or a file.")
        try:
            text = Path(self._location).expanduser().read_text(encoding="utf-8")
            return KeySet.import_key_set(json.loads(text))
        except (OSError, ValueError, JoseError) as error:
            raise InvalidSetting("server.jwt.jwks is not a readable JSON Web Key Set.") from error

    def _fetch(self) -> KeySet:
        try:
            response = httpx.get(self._location, timeout=10).raise_for_status()
            return KeySet.import_key_set(response.json())
        except (httpx.HTTPError, ValueError, JoseError) as error:
            raise Unavailable(
                "The identity provider's keys cannot be fetched. Try again later."
            ) from error


def _require_text(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidInput("The claim is not a string.")
    return value
