"""Explains in one sentence per rule why a text must not be shared."""

from __future__ import annotations

from collections.abc import Iterable

REASONS = {
    "first-person": "It is about you: it uses the first person.",
    "second-person": "It addresses someone: it uses the second person.",
    "third-person": "It is about a particular person.",
    "person-name": "It contains the name of a person.",
    "email": "It contains an email address.",
    "phone": "It contains a phone number.",
    "ip-address": "It contains an IP address.",
    "host": "It names a machine or a site that is not public knowledge.",
    "handle": "It contains a username or handle.",
    "address": "It contains a postal address.",
    "national-id": "It contains the number of an identity document.",
    "account-number": "It contains a card or account number.",
    "payment": "It asks for a payment.",
    "file-path": "It contains a file path.",
    "url-with-person": "It contains a link with a login, or to someone's own page.",
    "age-or-birth": "It says how old someone is, or when or where they were born.",
    "secret": "It contains a password, a key or another secret.",
    "unreadable": "A part of it is unreadable.",
    "override": "It tells an assistant to ignore its instructions.",
    "persona": "It tells an assistant to take on another role.",
    "role-marker": "It is disguised as a system message.",
    "memory-directive": "It tells an assistant what to remember, or how to behave from now on.",
    "exfiltration": "It tells an assistant to disclose private data.",
    "privilege": "It claims privileges, or tells an assistant to bypass a check.",
    "addressed-command": "It gives an assistant commands.",
    "secrecy": "It tells an assistant to hide something from the user.",
    "reply-steering": "It tells an assistant what to answer.",
    "reply-language": "It tells an assistant in which language to answer.",
    "order": "It reads like an order to an assistant.",
    "planted-code": "It asks for harmful code to be added to someone's work.",
}
"""One sentence for each rule of `persons` and `instructions`."""


def explain_rules(rules: Iterable[str]) -> tuple[str, ...]:
    """The sentences for the given rules, without duplicates."""
    return tuple(REASONS[rule] for rule in dict.fromkeys(rules))
