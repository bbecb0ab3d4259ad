"""The verbs that look after conversations: parse, call the library, say what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from remembrancer.cli.cli_context import Desk
from remembrancer.cli.console import Page, quoted, safe
from remembrancer.cli.learn import failure_of, what_next
from remembrancer.cli.options import be_sure, said

if TYPE_CHECKING:
    from remembrancer.memory import Memory
    from remembrancer.types import Page as Listing
    from remembrancer.types import Session, Turn

Conversation = Annotated[str, typer.Argument(metavar="SESSION", hidden=True)]


def sessions(
    context: typer.Context,
    *,
    status: Annotated[
        str | None, typer.Option(metavar="NAME", help="active, idle or archived.")
    ] = None,
    trash: Annotated[bool, typer.Option("--trash", help="Those in the trash.")] = False,
    failed: Annotated[
        bool, typer.Option("--failed", help="Only those from which learning was given up.")
    ] = False,
    limit: Annotated[int, typer.Option(metavar="NUMBER", help="How many at most.")] = 20,
    cursor: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Go on where the last page ended.")
    ] = None,
) -> None:
    """List conversations, the latest first.

    What each was about, how many of its turns were learned from, and whether learning failed.

    \b
    Examples:
      rem sessions
      rem sessions --status archived --limit 5
      rem sessions --failed
      rem sessions --trash
    """
    desk: Desk = context.obj
    with desk.memory() as me:
        found = me.sessions(status=status, trashed=trash, limit=limit, cursor=cursor)
        if failed:
            found = _given_up(me, found, status, trash, limit)
        turns = {one.id: me.count_turns(one.id) for one in found.items}
    items = [{"session": one, "turns": turns[one.id]} for one in found.items]
    answer = {"items": items, "cursor": found.cursor}
    desk.answer(answer, lambda page: _listing(page, found, turns))


def turns(context: typer.Context, session: Conversation) -> None:
    """Show a conversation.

    From its first turn to its last: who said what, and when. `rem sessions` tells the SESSION.

    \b
    Example:
      rem turns holiday
    """
    desk: Desk = context.obj
    with desk.memory() as me:
        about, spoken = me.session(session), me.turns(session)
    desk.answer({"session": about, "turns": spoken}, lambda page: _shown(page, about, spoken))


def close(context: typer.Context, session: Conversation) -> None:
    """End a conversation and learn from it.

    What is new in it is learned from now; closing it twice is as good as once. What is said later
    opens it again.

    \b
    Example:
      rem close holiday
    """
    desk: Desk = context.obj
    with desk.opened(embeds=True) as store:
        me = store.for_user(desk.user, tenant=desk.tenant, agent=desk.agent, surface="cli")
        me.close(session)
        store.flush()
        closed, count = me.session(session), me.count_turns(session)
    desk.answer(closed, lambda page: _closed(page, closed, count))
    if _is_undone(closed):
        raise typer.Exit(1)


def rename(
    context: typer.Context,
    session: Conversation,
    title: Annotated[list[str], typer.Argument(metavar="TITLE", hidden=True)],
) -> None:
    """Give a conversation another title.

    TITLE may be - to read it from stdin.

    \b
    Example:
      rem rename holiday "A week in Lisbon"
    """
    desk: Desk = context.obj
    with desk.memory() as me:
        renamed = me.rename(session, said(title))
    desk.answer(renamed, lambda page: page.say(f"Renamed. {_named(renamed)}"))


def archive(
    context: typer.Context,
    session: Conversation,
    back: Annotated[bool, typer.Option("--back", help="Take it back.")] = False,
) -> None:
    """Put a conversation away.

    It is still recalled, can be taken back, and will be learned from if there is anything new.

    \b
    Examples:
      rem archive holiday
      rem archive holiday --back
    """
    desk: Desk = context.obj
    with desk.memory() as me:
        put = me.archive(session, back=back)
    word = "Taken back." if back else "Archived."
    desk.answer(put, lambda page: page.say(f"{word} {_named(put)}"))


def delete_session(
    context: typer.Context,
    session: Conversation,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Put a conversation into the trash.

    It can be restored while it is there; where the profile deletes at once, it is gone for good.
    What was learned from it stays.

    \b
    Example:
      rem delete-session holiday
    """
    desk: Desk = context.obj
    with desk.memory() as me:
        about = me.session(session)
        be_sure(yes, f"Delete the conversation {_named(about)}?")
        batch = me.delete_session(session)
    days = desk.settings.profile_for(desk.agent).deletion.trash_days

    def words(page: Page) -> None:
        if batch.event is None:
            page.say(f"{_named(about)} has nothing in it that could be deleted.")
        elif batch.event.action == "deleted":
            page.say("Deleted for good. It cannot be brought back.")
        else:
            page.say(f"In the trash for {days:g} days. {_named(about)}")
            page.note(f"Bring it back: rem restore-session {session}")

    desk.answer(batch, words)


def restore_session(context: typer.Context, session: Conversation) -> None:
    """Bring a conversation back from the trash.

    All its turns are as they were before it was deleted. `rem sessions --trash` tells what is
    there.

    \b
    Example:
      rem restore-session holiday
    """
    desk: Desk = context.obj
    with desk.memory() as me:
        about = me.session(session)
        batch = me.restore_session(session)
    word = "Restored." if batch.event else "It is not in the trash:"
    desk.answer(batch, lambda page: page.say(f"{word} {_named(about)}"))


def _given_up(
    me: Memory, found: Listing[Session], status: str | None, trash: bool, limit: int
) -> Listing[Session]:
    """Those of a listing, and of what follows it, from which learning was given up."""
    from remembrancer.types import Page as Listed

    chosen: list[Session] = []
    while True:
        chosen += [one for one in found.items if one.failure and one.due_at is None]
        if found.cursor is None or len(chosen) == limit:
            return Listed(tuple(chosen), found.cursor)
        # Never more than are missing, so that the next page begins where this one ends.
        found = me.sessions(
            status=status, trashed=trash, limit=limit - len(chosen), cursor=found.cursor
        )


def _listing(page: Page, found: Listing[Session], turns: dict[str, int]) -> None:
    if not found.items:
        page.say("There is nothing here.")
    for number, one in enumerate(found.items):
        if number:
            page.gap()
        page.say(one.title or "Without a title")
        _particulars(page, one, page.time(one.active_at), turns[one.id])
        if one.failure is not None:
            page.say(f"! Learning failed: {failure_of(one)}")
            page.note(what_next(page, one), indent=2)
    if found.cursor is not None:
        page.gap()
        page.note(f"There is more: the same command with --cursor {found.cursor}")


def _particulars(page: Page, session: Session, when: str, turns: int) -> None:
    page.note(" · ".join([when, _progress(session, turns), str(session.status)]))
    page.note(session.id)


def _progress(session: Session, turns: int) -> str:
    count = f"{turns} {'turn' if turns == 1 else 'turns'}"
    learned = min(session.watermark, turns)
    if learned == turns:
        return f"{count}, all learned from"
    return f"{count}, {turns - learned} to learn from"


def _shown(page: Page, session: Session, spoken: tuple[Turn, ...]) -> None:
    page.say(session.title or "Without a title")
    _particulars(page, session, page.time(session.started_at), len(spoken))
    for one in spoken:
        page.heading(safe(f"{one.speaker} ({one.role})" if one.speaker else one.role.capitalize()))
        page.say(one.content)
        marks = [str(one.status)] if one.status != "active" else []
        if one.tainted:
            marks.append(f"from a {one.origin}")
        page.note(" · ".join([page.time(one.said_at), *marks, one.id]))


def _closed(page: Page, session: Session, count: int) -> None:
    page.say(f"Closed. {_named(session)}: {_progress(session, count)}.")
    if session.failure is not None:
        page.say(f"Learning failed: {failure_of(session)}")
    if _is_undone(session):
        page.say(what_next(page, session))


def _is_undone(session: Session) -> bool:
    """Whether something was to be learned and was not."""
    return session.failure is not None or session.due_at is not None


def _named(session: Session) -> str:
    return quoted(session.title or session.id)
