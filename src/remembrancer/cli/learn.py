"""The verbs that learn from conversations: parse, learn, say what was learned and what was not."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from remembrancer.cli import conversation_file, lesson
from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.lesson import LearnResult
from remembrancer.cli.recall import describe_memory
from remembrancer.cli.terminal import Terminal, quote
from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from remembrancer.sessions.turns import TurnInput
    from remembrancer.types import Record, Rejection, Session

REJECTION_REASONS = {
    "malformed": "The model proposed something that is no memory.",
    "unknown_turn": "The model named a turn that it was not shown.",
    "not_by_the_person": "It was not you who said it.",
    "nothing_new": "It is from a part that was learned from before.",
    "no_such_quote": "The words that are given as yours are not in the conversation.",
    "echo": "You only repeated what was remembered, or what someone else had said.",
    "asked_not_said": "You asked it; you did not say that it is so.",
    "unsupported": "It says more than you said.",
    "invented": "It has a name or a number that you did not mention.",
    "unsure": "It is too uncertain that you meant it.",
    "passing": "It was true for a moment only.",
    "unknown_memory": "It would have replaced a memory that is not there.",
    "stands": "What is remembered stands: it is newer, or it is trusted more.",
    "refused": "It cannot be stored: it is a secret, an attack, or no text.",
}
"""Why something was not remembered, in plain words."""

NO_MODEL_NOTE = (
    "No language model is configured, so only what was stated in so many words was learned."
)


def learn(
    context: typer.Context,
    files: Annotated[list[str], typer.Argument(metavar="FILE...", hidden=True)],
    *,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Continue this conversation, and close it.")
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="What it was about.")] = None,
    origin: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="document: the user's turns are somebody else's words, untrusted."
        ),
    ] = None,
) -> None:
    """Learn from finished conversations.

    Each FILE is a conversation, or - for stdin: a JSON list of messages with role and content, an
    object with such a list under messages or turns, one message per line, or plain text in which
    lines begin with "User:" or "Assistant:" (or You, Me, Human, AI). The other lines go on with
    what was said; where others could have written "User:" into theirs, use JSON.

    \b
    Examples:
      rem learn chat.json
      rem learn monday.txt tuesday.txt
      rem learn notes.txt --origin document
      rem learn - --session holiday --title "Our holiday" < chat.jsonl
    """
    desk: CliContext = context.obj
    if title is not None and session is None and len(files) > 1:
        raise InvalidInput("--title is for one conversation: give one FILE, or a --session.")
    heard = [
        _set_origin(origin, conversation_file.read_conversation(file, desk.zone)) for file in files
    ]
    if session is not None:
        heard = [[turn for turns in heard for turn in turns]]
    with desk.open_engine(embeds=True) as store:
        me = store.for_user(desk.user, tenant=desk.tenant, agent=desk.agent, surface="cli")
        with _show_spinner("Learning from what was said …"):
            kept = []
            for turns in heard:  # One after the other, as what is said later replaces the earlier.
                kept.append(me.learn(turns, session, title=title))
                if session is not None:
                    me.close(session)
                store.flush()
        events = lesson.list_events_since(me, kept[0][0])
        lessons = [lesson.build_result(me, turns, events) for turns in kept]
        confirmed = [me.get(one) for one in lesson.find_confirmed(events)]
    models = desk.settings.models
    has_model = (models.fast or models.smart) is not None
    answer = {"conversations": lessons, "confirmed": confirmed, "model": has_model}
    desk.print_result(
        answer, lambda page: _print_results(page, lessons, confirmed, has_model=has_model)
    )
    if any(one.state in lesson.UNFINISHED_STATES for one in lessons):
        raise typer.Exit(1)


def rejected(
    context: typer.Context,
    limit: Annotated[int, typer.Option(metavar="NUMBER", help="How many at most.")] = 20,
    cursor: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Go on where the last page ended.")
    ] = None,
) -> None:
    """Show what was not remembered, and why.

    What conversations seemed to tell and was not learned, the latest first: what it was, why not,
    when, and in which conversation. It is kept as long as the trash.

    \b
    Examples:
      rem rejected
      rem rejected --limit 5
    """
    desk: CliContext = context.obj
    with desk.open_memory() as me:
        found = me.rejected(limit=limit, cursor=cursor)

    def words(page: Terminal) -> None:
        if not found.items:
            page.say("Nothing was rejected.")
        for number, one in enumerate(found.items):
            if number:
                page.print_blank_line()
            _print_rejection(page, one)
            page.note(f"{page.format_time(one.at)} · {one.session_id}", indent=2)
        if found.cursor is not None:
            page.print_blank_line()
            page.note(f"There is more: the same command with --cursor {found.cursor}")

    desk.print_result(found, words)


def _set_origin(origin: str | None, turns: list[TurnInput]) -> list[TurnInput]:
    """The turns, with the user's marked as being from elsewhere if that was said."""
    if origin is None:
        return turns
    return [{**one, "origin": origin} if one["role"] == "user" else one for one in turns]


@contextlib.contextmanager
def _show_spinner(words: str) -> Iterator[None]:
    """Say what is going on while it goes on, on the error stream and only where someone sees it."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(words):
        yield


def _print_results(
    out: Terminal, lessons: Sequence[LearnResult], confirmed: Sequence[Record], *, has_model: bool
) -> None:
    for number, one in enumerate(lessons):
        if number:
            out.print_blank_line()
        _print_result(out, one)
    if confirmed:
        out.print_heading("Still true, and known already")
        for record in confirmed:
            out.say(record.content)
            out.note(describe_memory(out, record))
    if not has_model:
        out.print_blank_line()
        out.note(NO_MODEL_NOTE)


def _print_result(out: Terminal, one: LearnResult) -> None:
    title = one.session.title
    name = quote(title) if title is not None else "the conversation"
    count = len(one.learned)
    match one.state:
        case lesson.LEARNED if count:
            out.say(f"Learned {count} {'thing' if count == 1 else 'things'} from {name}.")
        case lesson.LEARNED:
            out.say(f"Nothing new in {name} was worth remembering.")
        case lesson.NEVER:
            out.say(f"Kept {name}. The profile says never to learn from conversations.")
        case _:
            _print_failure(out, one.session, name)
    out.note(one.session.id)
    for record in one.learned:
        out.print_blank_line()
        out.say(record.content)
        old = one.replaced.get(record.id)
        if old is not None and old.content == record.content:
            out.say("Known before, and now by your own word.")
        elif old is not None:
            out.say(f"Replaced {quote(old.content)}")
        out.note(describe_memory(out, record))
    if one.rejected:
        out.print_heading("Not remembered")
        for rejection in one.rejected:
            _print_rejection(out, rejection)


def _print_failure(out: Terminal, session: Session, name: str) -> None:
    """Why nothing was learned, and what happens next; what was said is kept all the same."""
    out.say(f"Kept {name}, but could not learn from it{' yet' if session.due_at else ''}.")
    if session.failure is not None:
        out.say(format_failure(session))
    out.say(format_next_attempt(out, session))


def format_next_attempt(out: Terminal, session: Session) -> str:
    """When a conversation that was not learned from will be."""
    if session.due_at is None:
        return (
            f"It was given up after {session.attempts} attempts. Try again: rem close {session.id}"
        )
    again = out.format_time(session.due_at)
    return f"It will be tried again from {again} on.\nBy a server, or by: rem jobs run learn"


def format_failure(session: Session) -> str:
    """What went wrong when a conversation was to be learned from, without its code."""
    code, _, sentence = (session.failure or "").partition(": ")
    return sentence or code


def _print_rejection(out: Terminal, one: Rejection) -> None:
    out.say(quote(one.content or one.quote) if one.content or one.quote else "(no words)")
    out.note(REJECTION_REASONS.get(one.reason, one.reason), indent=2)
