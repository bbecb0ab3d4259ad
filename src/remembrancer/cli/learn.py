"""`rem learn` and `rem rejected`: learn from conversations and show the results."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from typer import Argument, Option

from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.files import read_conversation
from remembrancer.cli.recall import describe_memory, print_entry
from remembrancer.cli.terminal import Terminal, quote
from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from remembrancer.learn.pipeline import LearnedBatch
    from remembrancer.memory import Memory
    from remembrancer.sessions.turns import TurnInput
    from remembrancer.types import Page, Record, Rejection, Session, Turn

Item = TypeVar("Item")

REJECTION_REASONS = {
    "malformed": "The model proposed something that is not a memory.",
    "unknown_turn": "The model cited a turn that it was not shown.",
    "not_by_the_person": "You did not say it; someone else did.",
    "nothing_new": "It comes from a part that was learned from before.",
    "no_such_quote": "The conversation does not contain the quoted words.",
    "echo": "You only repeated a memory or what someone else had said.",
    "asked_not_said": "You asked it; you did not state it.",
    "unsupported": "It says more than you said.",
    "invented": "It contains a name or a number that you did not mention.",
    "unsure": "It is too uncertain that you meant it.",
    "passing": "It was true only for a moment.",
    "unknown_memory": "It would have replaced a memory that does not exist.",
    "stands": "The existing memory is newer or trusted more.",
    "dismissed": "You forgot, deleted or corrected it, and have not said it again.",
    "refused": "It cannot be stored: it is a secret, an attack, or not text.",
}


NO_MODEL_NOTE = "No language model is configured, so only explicit statements were learned."


class LearnState(StrEnum):
    """How far a conversation has been learned from; a profile can say never to learn."""

    LEARNED = "learned"
    FAILED = "failed"
    GIVEN_UP = "given up"
    WAITING = "waiting"
    NEVER = "never"


UNFINISHED_STATES = (LearnState.FAILED, LearnState.GIVEN_UP, LearnState.WAITING)


@dataclass(frozen=True, slots=True)
class LearnResult:
    """The result for one conversation.

    `replaced` holds the memories that were superseded, by the ids of the learned ones;
    `unconfirmed` was learned in doubt and waits for a review.
    """

    session: Session
    state: LearnState
    turns: int
    learned: tuple[Record, ...]
    replaced: Mapping[str, Record]
    rejected: tuple[Rejection, ...]
    unconfirmed: tuple[Record, ...]


def learn(
    cli: CliContext,
    files: Annotated[list[str], Argument(metavar="FILE...", hidden=True)],
    *,
    session: Annotated[
        str | None, Option(metavar="ID", help="Continue this conversation, and close it.")
    ] = None,
    title: Annotated[str | None, Option(metavar="TEXT", help="Title of the conversation.")] = None,
    origin: Annotated[
        str | None,
        Option(
            metavar="NAME", help="document: the user's turns were written by others, untrusted."
        ),
    ] = None,
) -> None:
    """Learn from finished conversations.

    Each FILE is a conversation, or - for stdin: a JSON list of messages with role and content, an
    object with such a list under messages or turns, one message per line, or plain text in which
    lines begin with "User:" or "Assistant:" (or You, Me, Human, AI). Other lines continue the
    message above them. If others could have written "User:" into their text, use JSON.

    \b
    Examples:
      rem learn chat.json
      rem learn monday.txt tuesday.txt
      rem learn notes.txt --origin document
      rem learn - --session holiday --title "Our holiday" < chat.jsonl
    """
    if title is not None and session is None and len(files) > 1:
        raise InvalidInput("--title is for one conversation: give one FILE, or a --session.")
    conversations = [_set_origin(origin, read_conversation(file, cli.zone)) for file in files]
    if session is not None:
        conversations = [[turn for turns in conversations for turn in turns]]
    with cli.open_engine(embeds=True) as engine:
        me = cli.memory_of(engine)
        with (
            _show_spinner("Learning from the conversation …"),
            engine.collect_learned(me.owner) as batches,
        ):
            appended = []
            for turns in conversations:  # In order, as later statements supersede earlier ones.
                appended.append(me.learn(turns, session, title=title))
                if session is not None:
                    me.close(session)
                engine.flush()
        results = [_build_result(me, turns, batches) for turns in appended]
        confirmed = [me.get(one) for one in _list_confirmed(batches)]
    has_model = cli.has_language_model
    answer = {"conversations": results, "confirmed": confirmed, "model": has_model}
    cli.print_result(
        answer, lambda out: _print_results(out, results, confirmed, has_model=has_model)
    )
    if any(one.state in UNFINISHED_STATES for one in results):
        raise typer.Exit(1)


def rejected(
    cli: CliContext,
    limit: Annotated[int, Option(metavar="NUMBER", help="Maximum number to show.")] = 20,
    cursor: Annotated[
        str | None, Option(metavar="TEXT", help="Continue after the last page.")
    ] = None,
) -> None:
    """Show what was not remembered, and why.

    Lists what was found in conversations and rejected, newest first: the content, the reason, the
    time and the conversation. Entries are kept as long as the trash.

    \b
    Examples:
      rem rejected
      rem rejected --limit 5
    """
    cli.run_verb(lambda me: me.rejected(limit=limit, cursor=cursor), _print_rejections)


def _set_origin(origin: str | None, turns: list[TurnInput]) -> list[TurnInput]:
    if origin is None:
        return turns
    return [{**one, "origin": origin} if one["role"] == "user" else one for one in turns]


@contextlib.contextmanager
def _show_spinner(text: str) -> Iterator[None]:
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield


def _build_result(
    me: Memory, turns: Sequence[Turn], batches: Sequence[LearnedBatch]
) -> LearnResult:
    """The result for the session that ends with these turns."""
    session = me.session(turns[0].session_id or "")
    state = _get_state(session, turns[-1])
    own = [one for one in batches if one.session_id == session.id]
    if state is LearnState.LEARNED and not _covers(own, turns):
        # Another process has learned from it.
        since = _load_memories_since(me, session, turns[0], "active", "quarantined")
        kept = {one.id: one for one in since}
        rejections = _load_rejections_since(me, session, turns[0])
    else:
        kept = {memory_id: me.get(memory_id) for one in own for memory_id in one.kept}
        rejections = [rejection for one in own for rejection in one.rejected]
    superseded = {one.supersedes for one in kept.values()}
    learned = [
        one for one in kept.values() if one.id not in superseded and one.status != "unconfirmed"
    ]
    replaced = {one.id: _find_replaced(me, one, kept) for one in learned}
    return LearnResult(
        session=session,
        state=state,
        turns=len(turns),
        learned=tuple(learned),
        replaced={memory_id: old for memory_id, old in replaced.items() if old is not None},
        rejected=tuple(rejections),
        unconfirmed=tuple(_load_memories_since(me, session, turns[0], "unconfirmed")),
    )


def _get_state(session: Session, last: Turn) -> LearnState:
    if session.watermark > last.position:
        return LearnState.LEARNED
    if session.failure is not None:
        return LearnState.FAILED if session.due_at is not None else LearnState.GIVEN_UP
    return LearnState.WAITING if session.due_at is not None else LearnState.NEVER


def _covers(batches: Iterable[LearnedBatch], turns: Sequence[Turn]) -> bool:
    learned = {position for one in batches for position in range(one.start, one.end)}
    return learned.issuperset(turn.position for turn in turns)


def _load_memories_since(me: Memory, session: Session, first: Turn, *statuses: str) -> list[Record]:
    """The memories of a session with these statuses that are newer than a turn, oldest first."""

    def load(status: str, cursor: str | None) -> Page[Record]:
        return me.list(
            status=status, session=session.id, recorded_from=first.recorded_at, cursor=cursor
        )

    found = [one for status in statuses for one in _iter_pages(partial(load, status))]
    return sorted(found, key=lambda record: (record.recorded_at, record.id))


def _load_rejections_since(me: Memory, session: Session, first: Turn) -> list[Rejection]:
    """Rejections of a session that were recorded after a turn, oldest first."""
    found: list[Rejection] = []
    for one in _iter_pages(lambda cursor: me.rejected(cursor=cursor)):
        if one.at < first.recorded_at:
            break
        if one.session_id == session.id:
            found.append(one)
    return found[::-1]


def _iter_pages(load: Callable[[str | None], Page[Item]]) -> Iterator[Item]:
    page = load(None)
    yield from page.items
    while page.cursor is not None:
        page = load(page.cursor)
        yield from page.items


def _find_replaced(me: Memory, record: Record, kept: Mapping[str, Record]) -> Record | None:
    """The memory from before the conversation, past versions that the conversation itself made."""
    while record.supersedes is not None and record.supersedes in kept:
        record = kept[record.supersedes]
    return me.get(record.supersedes) if record.supersedes is not None else None


def _list_confirmed(batches: Iterable[LearnedBatch]) -> list[str]:
    """Ids of the confirmed memories, the latest first."""
    confirmed = [memory_id for one in batches for memory_id in one.confirmed]
    return list(dict.fromkeys(reversed(confirmed)))


def _print_results(
    out: Terminal, results: Sequence[LearnResult], confirmed: Sequence[Record], *, has_model: bool
) -> None:
    for one in out.separate(results):
        _print_result(out, one)
    if confirmed:
        out.print_heading("Still true, and known already")
        for record in confirmed:
            print_entry(out, record)
    if not has_model:
        out.print_blank_line()
        out.note(NO_MODEL_NOTE)


def _print_result(out: Terminal, one: LearnResult) -> None:
    title, count = one.session.title, len(one.learned)
    name = quote(title) if title is not None else "the conversation"
    match one.state:
        case LearnState.LEARNED if count:
            out.say(f"Learned {count} {'thing' if count == 1 else 'things'} from {name}.")
        case LearnState.LEARNED:
            out.say(f"Nothing new in {name} was worth remembering.")
        case LearnState.NEVER:
            out.say(f"Kept {name}. The profile says never to learn from conversations.")
        case _:
            _print_failure(out, one.session, name)
    out.note(one.session.id)
    for record in one.learned:
        out.print_blank_line()
        out.say(record.content)
        old = one.replaced.get(record.id)
        if old is not None and old.content == record.content:
            out.say("Known before, and now confirmed in your own words.")
        elif old is not None:
            out.say(f"Replaced {quote(old.content)}")
        out.note(describe_memory(out, record))
    if one.unconfirmed:
        out.print_heading("Not sure about")
        for record in one.unconfirmed:
            print_entry(out, record)
        out.note("Decide: rem review")
    if one.rejected:
        out.print_heading("Not remembered")
        for rejection in one.rejected:
            _print_rejection(out, rejection)


def _print_failure(out: Terminal, session: Session, name: str) -> None:
    out.say(f"Kept {name}, but could not learn from it{' yet' if session.due_at else ''}.")
    if session.failure is not None:
        out.say(format_failure(session))
    out.say(format_next_attempt(out, session))


def format_next_attempt(out: Terminal, session: Session) -> str:
    """A sentence on when learning from the session is tried again."""
    if session.due_at is None and not session.attempts:
        return "The other turns were learned from."
    if session.due_at is None:
        return f"Gave up after {session.attempts} attempts. Try again: rem close {session.id}"
    again = out.format_time(session.due_at)
    return f"The next attempt is due at {again}.\nIt is made by a server, or by: rem jobs run learn"


def format_failure(session: Session) -> str:
    """The message of the session's last failure, without its code."""
    code, _, sentence = (session.failure or "").partition(": ")
    return sentence or code


def _print_rejections(out: Terminal, found: Page[Rejection]) -> None:
    if not found.items:
        out.say("Nothing was rejected.")
    for one in out.separate(found.items):
        _print_rejection(out, one)
        out.note(f"{out.format_time(one.at)} · {one.session_id}", indent=2)
    out.print_more_hint(found.cursor)


def _print_rejection(out: Terminal, one: Rejection) -> None:
    out.say(quote(one.content or one.quote) if one.content or one.quote else "(empty)")
    out.note(REJECTION_REASONS.get(one.reason, one.reason), indent=2)
