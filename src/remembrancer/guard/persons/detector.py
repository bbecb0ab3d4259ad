"""Decides if a text can be shared with a team: it must not contain personal data.

Pure, and linear in the length of the text. Unreadable text cannot be shared either.
"""

from __future__ import annotations

from collections.abc import Callable

from remembrancer.guard.persons import (
    addresses,
    contacts,
    descriptions,
    hosts_and_paths,
    identifiers,
    names,
    pronouns,
    singled_out,
    subjects,
)
from remembrancer.guard.persons.normalise import fold_to_ascii, normalise
from remembrancer.guard.secrets import redact

_CHECKS: tuple[tuple[str, Callable[[bytes], bool]], ...] = (
    ("email", contacts.has_email),
    ("phone", contacts.has_phone),
    ("ip-address", hosts_and_paths.has_ip_address),
    ("host", hosts_and_paths.has_host),
    ("handle", contacts.has_handle),
    ("handle", subjects.has_login_as_subject),
    ("address", addresses.has_address),
    ("national-id", identifiers.has_national_id),
    ("account-number", identifiers.has_payment),
    ("file-path", hosts_and_paths.has_file_path),
    ("url-with-person", contacts.has_personal_url),
    ("age-or-birth", identifiers.has_age_or_birth),
)
PERSON_RULES = (
    *("first-person", "second-person", "third-person", "person-name"),
    *dict.fromkeys(rule for rule, _ in _CHECKS),
    *("secret", "unreadable"),
)


def detect_personal_data(text: str) -> tuple[str, ...]:
    """The names of the rules that a text breaks; empty if it can be shared."""
    plain = normalise(text)
    data = fold_to_ascii(plain.text).encode("ascii", "replace")
    broken = {
        *pronouns.find_broken_rules(data),
        *(rule for rule, is_broken in _CHECKS if is_broken(data)),
    }
    if descriptions.describes_person(data) or singled_out.singles_out_person(data):
        broken.add("third-person")
    named = subjects.has_surname_as_subject(data) or subjects.has_family(data)
    if named or names.score_person_name(plain.text) >= names.NAME_THRESHOLD:
        broken.add("person-name")
    if plain.unreadable:
        broken.add("unreadable")
    if _has_secret(text) or (plain.text != text and _has_secret(plain.text)):
        broken.add("secret")
    return tuple(rule for rule in PERSON_RULES if rule in broken)


def _has_secret(text: str) -> bool:
    """True for a secret, and for the placeholder of one."""
    return redact.has_placeholder(text) or bool(redact.find_secrets(text))
