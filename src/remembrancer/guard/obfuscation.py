"""Undoes encodings that hide text from a pattern."""

from __future__ import annotations

import binascii

LEET_LETTERS = str.maketrans("0134578@$|", "oieastbasi")
"""The letters that digits and signs stand for, as in M4ria."""

_URLSAFE_TO_STANDARD = bytes.maketrans(b"-_", b"+/")


def decode_base64(token: bytes) -> bytes | None:
    """The decoded bytes, in either alphabet and with or without padding; None if invalid."""
    bare = token.rstrip(b"=").translate(_URLSAFE_TO_STANDARD)
    try:
        return binascii.a2b_base64(bare + b"=" * (-len(bare) % 4))
    except binascii.Error:
        return None
