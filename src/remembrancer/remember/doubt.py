"""Why an unconfirmed memory is in doubt, in words for its owner."""

from __future__ import annotations

from collections.abc import Mapping

from remembrancer.types import Json, Record, Status

DOUBT_KEY = "doubt"
"""The key in the metadata of a memory whose value is one of the codes below."""

UPDATES_KEY = "updates"
"""The key of the memory that it supersedes once it is confirmed."""

DOUBT_SENTENCES: Mapping[str, str] = {
    "hypothetical": "You may have meant this hypothetically.",
    "past": "This may have been true only in the past.",
    "planned": "This may be a plan that has not happened yet.",
    "negated": "You may have said the opposite.",
    "ironic": "You may have meant this ironically.",
    "other_person": "This may be about another person.",
    "corrected": "You may have corrected this later.",
    "quoted": "You may have quoted somebody else.",
    "unsupported": "Your words may not say this.",
    "dates": "The dates may be wrong.",
    "names_or_numbers": "A name or a number may be wrong.",
    "low_confidence": "I may have misunderstood you.",
}
UNKNOWN_DOUBT_SENTENCE = "I am not sure that you meant this."


def describe_doubt(record: Record) -> str:
    """The sentence for the doubt about an unconfirmed memory; empty for any other memory."""
    if record.status is not Status.UNCONFIRMED:
        return ""
    return DOUBT_SENTENCES.get(str(record.metadata.get(DOUBT_KEY)), UNKNOWN_DOUBT_SENTENCE)


def drop_doubt(metadata: Mapping[str, Json]) -> dict[str, Json]:
    """The metadata of a memory that is no longer in doubt."""
    return {name: value for name, value in metadata.items() if name not in (DOUBT_KEY, UPDATES_KEY)}
