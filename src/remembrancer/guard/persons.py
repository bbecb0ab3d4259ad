"""Tells whether a text may be shared with a team: not if it speaks of a person in any way.

Pure and linear in the length of the text; what cannot be read may not be shared either.
"""

from __future__ import annotations

from collections.abc import Callable

from remembrancer.guard import (
    addresses,
    contacts,
    identifiers,
    machines,
    person_names,
    pronouns,
    secrets,
)
from remembrancer.guard.reading import fold, read

_CHECKS: tuple[tuple[str, Callable[[bytes], bool]], ...] = (
    ("email", contacts.has_email),
    ("phone", contacts.has_phone),
    ("ip-address", machines.has_ip_address),
    ("host", machines.has_host),
    ("handle", contacts.has_handle),
    ("address", addresses.has_address),
    ("national-id", identifiers.has_national_id),
    ("account-number", identifiers.has_payment),
    ("file-path", machines.has_file_path),
    ("url-with-person", contacts.has_personal_url),
    ("age-or-birth", identifiers.has_age_or_birth),
)
RULES = (
    *("first-person", "second-person", "third-person", "person-name"),
    *(rule for rule, _ in _CHECKS),
    *("secret", "unreadable"),
)


def refusals(text: str) -> tuple[str, ...]:
    """Which rules a text breaks that must not be shared, by name, never by value.

    Empty if it may be shared.
    """
    reading = read(text)
    page = fold(reading.text).encode("ascii", "replace")
    broken = {*pronouns.broken(page), *(rule for rule, breaks in _CHECKS if breaks(page))}
    if person_names.weight(reading.text) >= person_names.ENOUGH:
        broken.add("person-name")
    if reading.unreadable:
        broken.add("unreadable")
    if secrets.find(text) or (reading.text != text and secrets.find(reading.text)):
        broken.add("secret")
    return tuple(rule for rule in RULES if rule in broken)
