"""Fixed replies of the assistant: texts, memory lists, search results and their sources."""

from __future__ import annotations

from collections.abc import Sequence
from zoneinfo import ZoneInfo

from remembrancer.erasure.erase import Inventory, describe_inventory
from remembrancer.erasure.receipts import Receipt
from remembrancer.remember.provenance import describe_provenance, trace_provenance
from remembrancer.text_format import describe_surface, format_date, quote
from remembrancer.types import Recalled, Record, Turn

NO_MODEL = (
    "No AI model is connected. I store what you tell me and look it up, but I cannot reason "
    "about it."
)
SECRETS_LEFT_OUT = "Your message contains a secret. Secrets are never stored, so I left it out."
NO_MATCHES = "I have nothing about that yet."
NO_MEMORIES = "I do not remember anything about you yet."
NOT_FROM_MEMORY = "I did not use your memory for my last answer."
NO_ANSWER_YET = "I have not answered anything in this conversation yet."
CONFIRM_FORGET_ALL = (
    "This forgets everything I remember about you, in every app: {what}. It cannot be undone. "
    "Your account stays. Are you sure? Reply “yes” to continue, or anything else to cancel."
)
CONFIRM_DELETION = (
    "Forgotten: {memory} Shall I delete it for good, with what our conversations say of it? That "
    "cannot be undone. Reply “yes”, or anything else to leave it in the trash."
)
WHAT_TO_DELETE = "What should I delete? Say “Delete … for good”, with some of its words."
DELETED_FOR_GOOD = "Deleted for good. It cannot be brought back."
FORGOTTEN_ALL = "I have forgotten everything about you. We start anew."
FORGOTTEN_WITH_TRACES = (
    "I have forgotten everything about you, but traces are left in the store: {traces}"
)
SESSION_RESET = "New conversation started. I still remember what you told me."
SUMMARISED = (
    "The model sees a summary of the first part of this long conversation. No message was deleted."
)
NOTHING_TO_UNDO = "There is nothing to undo in this conversation."
NO_TEAM = "There is no team memory here, so I can only remember things for you."
WHAT_FOR_TEAM = "What should I propose to the team? Say “For the team: …”."
WHAT_TO_CHANGE = "What would you like to change about this?"
HOW_TO_CHANGE = "Reply “Correction: …” with the right text, or “forget it”."
DONE_ALREADY = (
    "What this message asks to have remembered has been dealt with; answer the rest of it, and do "
    "not save it again. The person has been told: "
)
TOOL_LOOP_STOPPED = "The model kept calling tools and was stopped."

HELP = (
    ("Just talk", "I remember what lasts"),
    ("Remember that …", "saves it at once"),
    ("Correction: …", "puts right what I remember"),
    ("What do you remember about me?, /memories", "lists everything"),
    ("Forget …", "forgets the closest memory"),
    ("Delete … for good", "asks once, then deletes it and what was said of it"),
    ("Forget everything about me, /forget", "asks once, then forgets everything"),
    ("Undo", "undoes the last change"),
    ("Why did you say that?, /why", "lists the memories behind my last answer"),
    ("/reset", "starts a new conversation and keeps what I remember"),
)
TEAM_HELP = ("Remember this for the team: …", "proposes it to your team")

SPEAKER_PREFIXES = {"user": "you said: ", "assistant": "I said: "}
MAX_QUOTE_CHARS = 300


def ask_to_forget_everything(inventory: Inventory) -> str:
    if not inventory.has_memories:
        return NO_MEMORIES
    return CONFIRM_FORGET_ALL.format(what=describe_inventory(inventory))


def format_forgotten(receipt: Receipt) -> str:
    if receipt.clean:
        return FORGOTTEN_ALL
    traces = [*receipt.left, *(one.place for one in receipt.searched if one.found)]
    return FORGOTTEN_WITH_TRACES.format(traces="; ".join(traces))


def format_memory_list(records: Sequence[Record], zone: ZoneInfo, *, more: bool) -> str:
    """One line per memory; `more` says that the list was cut."""
    if not records:
        return NO_MEMORIES
    lines = [
        f"- {quote_memory(record)} ({format_date(record.recorded_at, zone)})" for record in records
    ]
    end = ["… and more. Ask about something specific to see it."] if more else []
    return "\n".join(["This is what I remember about you:", *lines, *end])


def format_help(*, team: bool) -> str:
    """What one can say, a line each."""
    lines = [*HELP, TEAM_HELP] if team else HELP
    return "\n".join(["You can say:", *(f"- {words}: {effect}" for words, effect in lines)])


def format_results(recalled: Sequence[Recalled], zone: ZoneInfo) -> str:
    """The memories that match a question, each with its date."""
    lines = [_format_result(result.memory, zone) for result in recalled]
    return "\n".join(["From your memory:", *lines]) if lines else NO_MATCHES


def _format_result(record: Record, zone: ZoneInfo) -> str:
    speaker = SPEAKER_PREFIXES.get(record.role, "") if isinstance(record, Turn) else ""
    return f"- {speaker}{quote_memory(record)} ({format_date(record.valid_from, zone)})"


def format_sources(records: Sequence[Record], zone: ZoneInfo) -> str:
    """The memories behind an answer, and where each of them comes from."""
    if not records:
        return NOT_FROM_MEMORY
    lines = [f"- {quote_memory(record)}: {_describe_origin(record, zone)}" for record in records]
    return "\n".join(["I used these memories:", *lines])


def _describe_origin(record: Record, zone: ZoneInfo) -> str:
    source = describe_provenance(trace_provenance(record))
    quotes = [evidence.quote for evidence in record.evidence if evidence.quote][:1]
    quoted = f" ({quote(quotes[0], MAX_QUOTE_CHARS)})" if quotes else ""
    caution = "; it comes from a tool or a document" if record.tainted else ""
    day, surface = format_date(record.recorded_at, zone), describe_surface(record.surface)
    return f"{source} on {day}, {surface}{quoted}{caution}"


def quote_memory(record: Record) -> str:
    """The memory's text in quotation marks, on one line."""
    return quote(record.content, MAX_QUOTE_CHARS)
