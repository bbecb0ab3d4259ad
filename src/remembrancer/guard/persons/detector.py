"""Tells whether a text may be shared with a team: not if it speaks of a person in any way.

Pure and linear in the length of the text; what cannot be read may not be shared either.
"""

from __future__ import annotations

from collections.abc import Callable

from remembrancer.guard.persons import (
    addresses,
    contacts,
    hosts_and_paths,
    identifiers,
    names,
    pronouns,
)
from remembrancer.guard.persons.normalise import fold_to_ascii, normalise
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
PERSON_RULES = (
    *("first-person", "second-person", "third-person", "person-name"),
    *(rule for rule, _ in _CHECKS),
    *("secret", "unreadable"),
)


def detect_personal_data(text: str) -> tuple[str, ...]:
    """Which rules a text breaks that must not be shared, by name, never by value.

    Empty if it may be shared.
    """
    reading = normalise(text)
    page = fold_to_ascii(reading.text).encode("ascii", "replace")
    broken = {
        *pronouns.find_broken_rules(page),
        *(rule for rule, breaks in _CHECKS if breaks(page)),
    }
    if names.score_person_name(reading.text) >= names.NAME_THRESHOLD:
        broken.add("person-name")
    if reading.unreadable:
        broken.add("unreadable")
    if redact.find_secrets(text) or (reading.text != text and redact.find_secrets(reading.text)):
        broken.add("secret")
    return tuple(rule for rule in PERSON_RULES if rule in broken)
