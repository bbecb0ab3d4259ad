"""The verbs that learn from conversations: parse, learn, say what was learned and what was not."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from remembrancer.cli import conversation_file, lesson
from remembrancer.cli.cli_context import Desk
from remembrancer.cli.console import Page, quoted
from remembrancer.cli.lesson import Lesson
from remembrancer.cli.recall import about
from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from remembrancer.sessions.turns import Said
    from remembrancer.types import Record, Rejection, Session

REASONS = {
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

UNREAD = "No language model is configured, so only what was stated in so many words was learned."


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
    desk: Desk = context.obj
    if title is not None and session is None and len(files) > 1:
        raise InvalidInput("--title is for one conversation: give one FILE, or a --session.")
    heard = [_from(origin, conversation_file.read(file, desk.zone)) for file in files]
    if session is not None:
        heard = [[turn for turns in heard for turn in turns]]
    with desk.opened(embeds=True) as store:
        me = store.for_user(desk.user, tenant=desk.tenant, agent=desk.agent, surface="cli")
        with _patience("Learning from what was said …"):
            kept = []
            for turns in heard:  # One after the other, as what is said later replaces the earlier.
                kept.append(me.learn(turns, session, title=title))
                if session is not None:
                    me.close(session)
                store.flush()
        events = lesson.since(me, kept[0][0])
        lessons = [lesson.of(me, turns, events) for turns in kept]
        confirmed = [me.get(one) for one in lesson.confirmed(events)]
    models = desk.settings.models
    has_model = (models.fast or models.smart) is not None
    answer = {"conversations": lessons, "confirmed": confirmed, "model": has_model}
    desk.answer(answer, lambda page: _told(page, lessons, confirmed, has_model=has_model))
    if any(one.state in lesson.UNDONE for one in lessons):
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
    desk: Desk = context.obj
    with desk.memory() as me:
        found = me.rejected(limit=limit, cursor=cursor)

    def words(page: Page) -> None:
        if not found.items:
            page.say("Nothing was rejected.")
        for number, one in enumerate(found.items):
            if number:
                page.gap()
            _rejection(page, one)
            page.note(f"{page.time(one.at)} · {one.session_id}", indent=2)
        if found.cursor is not None:
            page.gap()
            page.note(f"There is more: the same command with --cursor {found.cursor}")

    desk.answer(found, words)


def _from(origin: str | None, turns: list[Said]) -> list[Said]:
    """The turns, with the user's marked as being from elsewhere if that was said."""
    if origin is None:
        return turns
    return [{**one, "origin": origin} if one["role"] == "user" else one for one in turns]


@contextlib.contextmanager
def _patience(words: str) -> Iterator[None]:
    """Say what is going on while it goes on, on the error stream and only where someone sees it."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(words):
        yield


def _told(
    page: Page, lessons: Sequence[Lesson], confirmed: Sequence[Record], *, has_model: bool
) -> None:
    for number, one in enumerate(lessons):
        if number:
            page.gap()
        _outcome(page, one)
    if confirmed:
        page.heading("Still true, and known already")
        for record in confirmed:
            page.say(record.content)
            page.note(about(page, record))
    if not has_model:
        page.gap()
        page.note(UNREAD)


def _outcome(page: Page, one: Lesson) -> None:
    title = one.session.title
    name = quoted(title) if title is not None else "the conversation"
    count = len(one.learned)
    match one.state:
        case lesson.LEARNED if count:
            page.say(f"Learned {count} {'thing' if count == 1 else 'things'} from {name}.")
        case lesson.LEARNED:
            page.say(f"Nothing new in {name} was worth remembering.")
        case lesson.NEVER:
            page.say(f"Kept {name}. The profile says never to learn from conversations.")
        case _:
            _unlearned(page, one.session, name)
    page.note(one.session.id)
    for record in one.learned:
        page.gap()
        page.say(record.content)
        old = one.replaced.get(record.id)
        if old is not None and old.content == record.content:
            page.say("Known before, and now by your own word.")
        elif old is not None:
            page.say(f"Replaced {quoted(old.content)}")
        page.note(about(page, record))
    if one.rejected:
        page.heading("Not remembered")
        for rejection in one.rejected:
            _rejection(page, rejection)


def _unlearned(page: Page, session: Session, name: str) -> None:
    """Why nothing was learned, and what happens next; what was said is kept all the same."""
    page.say(f"Kept {name}, but could not learn from it{' yet' if session.due_at else ''}.")
    if session.failure is not None:
        page.say(failure_of(session))
    page.say(what_next(page, session))


def what_next(page: Page, session: Session) -> str:
    """When a conversation that was not learned from will be."""
    if session.due_at is None:
        return (
            f"It was given up after {session.attempts} attempts. Try again: rem close {session.id}"
        )
    again = page.time(session.due_at)
    return f"It will be tried again from {again} on.\nBy a server, or by: rem jobs run learn"


def failure_of(session: Session) -> str:
    """What went wrong when a conversation was to be learned from, without its code."""
    code, _, sentence = (session.failure or "").partition(": ")
    return sentence or code


def _rejection(page: Page, one: Rejection) -> None:
    page.say(quoted(one.content or one.quote) if one.content or one.quote else "(no words)")
    page.note(REASONS.get(one.reason, one.reason), indent=2)
