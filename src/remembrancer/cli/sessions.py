"""The verbs for conversations: list, show, close, rename, archive, delete and restore."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.learn import format_failure, format_next_attempt
from remembrancer.cli.options import (
    AS_OF_OPTIONS,
    Cursor,
    ForGood,
    Limit,
    Yes,
    confirm_or_abort,
    read_words,
    with_options,
)
from remembrancer.cli.remember import print_deleted_for_good
from remembrancer.cli.terminal import Terminal, escape_controls, format_count, quote

if TYPE_CHECKING:
    from remembrancer.memory import Memory
    from remembrancer.types import Page, Session, Turn

SessionId = Annotated[str, Argument(metavar="SESSION", hidden=True)]


def sessions(
    cli: CliContext,
    *,
    status: Annotated[str | None, Option(metavar="NAME", help="active, idle or archived.")] = None,
    trash: Annotated[bool, Option("--trash", help="Only those in the trash.")] = False,
    failed: Annotated[
        bool, Option("--failed", help="Only those whose learning failed for good.")
    ] = False,
    limit: Limit = 20,
    cursor: Cursor = None,
) -> None:
    """List conversations, the latest first.

    Shows the title of each, how many of its turns were learned from, and whether learning failed.

    \b
    Examples:
      rem sessions
      rem sessions --status archived --limit 5
      rem sessions --failed
      rem sessions --trash
    """
    with cli.open_memory() as me:
        found = me.sessions(status=status, trashed=trash, limit=limit, cursor=cursor)
        if failed:
            found = _list_given_up(me, found, status, trash, limit)
        turns = {one.id: me.count_turns(one.id) for one in found.items}
    items = [{"session": one, "turns": turns[one.id]} for one in found.items]
    answer = {"items": items, "cursor": found.cursor}
    cli.print_result(answer, lambda out: _print_sessions(out, found, turns))


@with_options(AS_OF_OPTIONS)
def turns(cli: CliContext, session: SessionId, **moment: Any) -> None:
    """Show a conversation.

    Shows all turns with their speaker and time. `rem sessions` lists the ids.

    \b
    Example:
      rem turns holiday
    """
    then = cli.parse_as_of(**moment)
    with cli.open_memory() as me:
        about, turns = me.session(session), me.turns(session, as_of=then)
    cli.print_result(
        {"session": about, "turns": turns}, lambda out: _print_conversation(out, about, turns)
    )


def close(cli: CliContext, session: SessionId) -> None:
    """Close a conversation and learn from it.

    New turns are learned from at once. Closing twice changes nothing. A later turn opens it again.

    \b
    Example:
      rem close holiday
    """
    with cli.open_engine(embeds=True) as store:
        me = cli.memory_of(store)
        me.close(session)
        store.flush()
        closed, count = me.session(session), me.count_turns(session)
    cli.print_result(closed, lambda out: _print_closed(out, closed, count))
    if _has_unlearned(closed):
        raise typer.Exit(1)


def rename(
    cli: CliContext,
    session: SessionId,
    title: Annotated[list[str], Argument(metavar="TITLE", hidden=True)],
) -> None:
    """Give a conversation another title.

    TITLE can be - to read it from stdin.

    \b
    Example:
      rem rename holiday "A week in Lisbon"
    """
    with cli.open_memory() as me:
        renamed = me.rename(session, read_words(title))
    cli.print_result(renamed, lambda out: out.say(f"Renamed. {_quote_title(renamed)}"))


def archive(
    cli: CliContext,
    session: SessionId,
    back: Annotated[bool, Option("--back", help="Undo the archiving.")] = False,
) -> None:
    """Archive a conversation.

    It is still recalled and learned from. --back undoes it.

    \b
    Examples:
      rem archive holiday
      rem archive holiday --back
    """
    with cli.open_memory() as me:
        archived = me.archive(session, back=back)
    word = "Taken back." if back else "Archived."
    cli.print_result(archived, lambda out: out.say(f"{word} {_quote_title(archived)}"))


def delete_session(
    cli: CliContext, session: SessionId, for_good: ForGood = False, yes: Yes = False
) -> None:
    """Move a conversation to the trash.

    You can restore it from there. If the profile deletes at once, or with --for-good, it is deleted
    permanently. What was learned from it stays.

    \b
    Examples:
      rem delete-session holiday
      rem delete-session holiday --for-good
    """
    with cli.open_memory() as me:
        about = me.session(session)
        confirm_or_abort(
            yes, f"Delete the conversation {_quote_title(about)}{' for good' * for_good}?"
        )
        batch = me.delete_session(session, for_good=for_good)
    days = cli.settings.profile_for(cli.agent).deletion.trash_days

    def print_text(out: Terminal) -> None:
        if batch.event is None:
            out.say(f"{_quote_title(about)} has nothing in it that could be deleted.")
        elif batch.event.action == "deleted":
            print_deleted_for_good(cli, out)
        else:
            out.say(f"In the trash for {days:g} days. {_quote_title(about)}")
            out.note(f"Bring it back: rem restore-session {session}")

    cli.print_result(batch, print_text)


def restore_session(cli: CliContext, session: SessionId) -> None:
    """Restore a conversation from the trash.

    All its turns are restored. `rem sessions --trash` lists what is in the trash.

    \b
    Example:
      rem restore-session holiday
    """
    with cli.open_memory() as me:
        about = me.session(session)
        batch = me.restore_session(session)
    word = "Restored." if batch.event else "It is not in the trash:"
    cli.print_result(batch, lambda out: out.say(f"{word} {_quote_title(about)}"))


def _list_given_up(
    me: Memory, found: Page[Session], status: str | None, trash: bool, limit: int
) -> Page[Session]:
    """Fill one page with the conversations whose learning was given up."""
    from remembrancer.types import Page

    chosen: list[Session] = []
    while True:
        chosen += [one for one in found.items if one.failure and one.due_at is None]
        if found.cursor is None or len(chosen) == limit:
            return Page(tuple(chosen), found.cursor)
        # Fetch no more than are missing, so that the next page begins where this one ends.
        found = me.sessions(
            status=status, trashed=trash, limit=limit - len(chosen), cursor=found.cursor
        )


def _print_sessions(out: Terminal, found: Page[Session], turns: dict[str, int]) -> None:
    if not found.items:
        out.say("There is nothing here.")
    for one in out.separate(found.items):
        out.say(one.title or "Without a title")
        _print_details(out, one, out.format_time(one.active_at), turns[one.id])
        if one.failure is not None:
            out.say(f"! Learning failed: {format_failure(one)}")
            out.note(format_next_attempt(out, one), indent=2)
    out.print_more_hint(found.cursor)


def _print_details(out: Terminal, session: Session, when: str, turns: int) -> None:
    out.note(" · ".join([when, _format_progress(session, turns), str(session.status)]))
    out.note(session.id)


def _format_progress(session: Session, turns: int) -> str:
    count = format_count(turns, "turn")
    learned = min(session.watermark, turns)
    if learned == turns:
        return f"{count}, all learned from"
    return f"{count}, {turns - learned} to learn from"


def _print_conversation(out: Terminal, session: Session, turns: tuple[Turn, ...]) -> None:
    out.say(session.title or "Without a title")
    _print_details(out, session, out.format_time(session.started_at), len(turns))
    for one in turns:
        out.print_heading(
            escape_controls(f"{one.speaker} ({one.role})" if one.speaker else one.role.capitalize())
        )
        out.say(one.content)
        marks = [str(one.status)] if one.status != "active" else []
        if one.tainted:
            marks.append(f"from a {one.origin}")
        out.note(" · ".join([out.format_time(one.said_at), *marks, one.id]))


def _print_closed(out: Terminal, session: Session, count: int) -> None:
    out.say(f"Closed. {_quote_title(session)}: {_format_progress(session, count)}.")
    if session.failure is not None:
        out.say(f"Learning failed: {format_failure(session)}")
    if _has_unlearned(session):
        out.say(format_next_attempt(out, session))


def _has_unlearned(session: Session) -> bool:
    """True if learning failed or is still due."""
    return session.failure is not None or session.due_at is not None


def _quote_title(session: Session) -> str:
    return quote(session.title or session.id)
