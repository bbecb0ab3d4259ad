"""Why something must not be shared, in plain words; must not know where it is said."""

from __future__ import annotations

from collections.abc import Iterable

REASONS = {
    "first-person": "It speaks of you, or of us.",
    "second-person": "It speaks to someone.",
    "third-person": "It speaks of somebody in particular.",
    "person-name": "It has the name of a person.",
    "email": "It has an address for mail.",
    "phone": "It has a phone number.",
    "ip-address": "It has the address of a machine in a network.",
    "host": "It names a machine or a site that is not known to everyone.",
    "handle": "It has the name that someone goes by on a service.",
    "address": "It says where somebody lives or gets mail.",
    "national-id": "It has a number from someone's papers.",
    "account-number": "It has the number of a card or an account.",
    "payment": "It asks for money to be paid.",
    "file-path": "It names a place on a disk.",
    "url-with-person": "It has a link with a login in it, or to someone's own page.",
    "age-or-birth": "It says how old someone is, or when or where they were born.",
    "secret": "It has a password, a key or another secret.",
    "unreadable": "A part of it cannot be read.",
    "override": "It tells an assistant to ignore its instructions.",
    "persona": "It tells an assistant to be someone else.",
    "role-marker": "It is made up to look like a message from the system.",
    "memory-directive": "It tells an assistant what to remember, or how to behave from now on.",
    "exfiltration": "It tells an assistant to give something away.",
    "privilege": "It claims rights, or tells an assistant to go around a check.",
    "addressed-command": "It gives orders to an assistant.",
    "secrecy": "It tells an assistant to keep something from people.",
    "reply-steering": "It tells an assistant what to answer.",
    "planted-code": "It wants harmful code to be put into someone's work.",
}
"""A sentence for each rule of `persons` and `instructions`, by its name."""


def explain_rules(rules: Iterable[str]) -> tuple[str, ...]:
    """A sentence for each rule that was broken."""
    return tuple(REASONS[rule] for rule in dict.fromkeys(rules))
