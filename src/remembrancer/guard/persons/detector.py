"""Tells whether a text may be shared with a team: not if it speaks of a person in any way.

Pure and linear in the length of the text; what cannot be read may not be shared either.
"""

from __future__ import annotations

from collections.abc import Callable

from remembrancer.guard.normalise import fold, read
from remembrancer.guard.persons import (
    addresses,
    contacts,
    hosts_and_paths,
    identifiers,
    names,
    pronouns,
)
from remembrancer.guard.secrets import redact

_CHECKS: tuple[tuple[str, Callable[[bytes], bool]], ...] = (
    ("email", contacts.has_email),
    ("phone", contacts.has_phone),
    ("ip-address", hosts_and_paths.has_ip_address),
    ("host", hosts_and_paths.has_host),
    ("handle", contacts.has_handle),
    ("address", addresses.has_address),
    ("national-id", identifiers.has_national_id),
    ("account-number", identifiers.has_payment),
    ("file-path", hosts_and_paths.has_file_path),
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
    if names.weight(reading.text) >= names.ENOUGH:
        broken.add("person-name")
    if reading.unreadable:
        broken.add("unreadable")
    if redact.find(text) or (reading.text != text and redact.find(reading.text)):
        broken.add("secret")
    return tuple(rule for rule in RULES if rule in broken)
