"""Erasing a person, everywhere we hold something of them, and then looking whether it is true.

Each step can be done again, so what was interrupted is finished by whoever asks next. Nothing of it
can be undone, and what is being learned for someone who is gone is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from remembrancer.erasure.receipts import Receipt, signed
from remembrancer.errors import UnknownPerson
from remembrancer.ids import new_id
from remembrancer.store import trace_scan
from remembrancer.store.contract import Erasure, Searched, Traces
from remembrancer.store.erasure_marks import mark_of
from remembrancer.store.row_counts import RowSurvey, count_keys, count_rows, survey_rows
from remembrancer.team.service import contributor, withdraw
from remembrancer.transfer.strip_person import holding, leave_out
from remembrancer.types import Owner, Tenant

if TYPE_CHECKING:
    from remembrancer.call import Parts


ABANDONED = timedelta(minutes=10)

Told = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Inventory:
    """What there is of a person: rows by table, keys, backups, and what they told the team.

    `team_facts` are those that nobody else has said, which go with them.
    """

    rows: Mapping[str, int]
    keys: int
    contributions: int
    team_facts: int
    backups: int

    @property
    def empty(self) -> bool:
        """Whether there is nothing at all."""
        return not (self.rows or self.keys or self.contributions or self.backups)


def inventory(parts: Parts, owner: Owner) -> Inventory:
    """What an erasure would remove; nothing is changed."""
    return _inventory(parts, owner, count_rows(parts.store, owner))


def _inventory(parts: Parts, owner: Owner, rows: Mapping[str, int]) -> Inventory:
    said, last = _contributions(parts, owner)
    return Inventory(
        rows=rows,
        keys=count_keys(parts.store, owner),
        contributions=said,
        team_facts=last,
        backups=len(holding(_shelf(parts), owner)),
    )


def erase(
    parts: Parts, owner: Owner, *, contributions_only: bool = False, tell: Told | None = None
) -> Receipt:
    """Remove everything of a person, or only what they told the team, and look for what is left."""
    tell = tell or (lambda _: None)
    erasure, traces = _begun(parts, owner, contributions_only=contributions_only)
    if not contributions_only:
        tell("Removing memories, conversations, vectors and keys.")
        parts.store.remove(owner)
        parts.forget()
    tell("Withdrawing what they told the team.")
    who = withdraw(parts, owner, parts.profile_of())
    tell("Going through the backups.")
    backups = leave_out(_shelf(parts), owner, who, contributions_only=contributions_only)
    tell("Writing anew what is shared with others, and searching for what is left.")
    # From here on nobody can tell whom it was about; so it is searched for in this note too.
    parts.store.keep_erasure(replace(erasure, user=None, traces=()))
    left = [*backups.unreadable, *parts.store.scrub()]
    traces = replace(traces, ids=(*traces.ids, who))
    found = _searched(parts, None if contributions_only else owner, traces)
    done = replace(erasure, user=None, traces=(), finished_at=parts.clock.now())
    parts.store.keep_erasure(erasure if any(one.found for one in found) else done)
    return signed(parts.store, _receipt(owner, done, traces, found, left, backups.rewritten))


def finish_abandoned(parts: Parts) -> int:
    """Go on with erasures that nobody finished; how many there were."""
    since = parts.clock.now() - ABANDONED
    abandoned = [
        one for one in parts.store.erasures() if one.finished_at is None and one.begun_at < since
    ]
    for one in abandoned:
        if one.user is not None:
            only = one.contributions_only
            erase(parts, Owner(one.tenant, one.user), contributions_only=only)
        else:  # All that is left to do is to write anew where it was noted.
            parts.store.scrub()
            parts.store.keep_erasure(replace(one, finished_at=parts.clock.now()))
    return len(abandoned)


def _begun(parts: Parts, owner: Owner, *, contributions_only: bool) -> tuple[Erasure, Traces]:
    """The erasure of this person that was not finished, or a new one."""
    mark = mark_of(parts.store, owner)
    for one in parts.store.erasures():
        waits = one.finished_at is None and one.contributions_only == contributions_only
        if waits and one.mark == mark:
            return replace(one, user=owner.user), Traces(one.traces)
    found = survey_rows(parts.store, owner) if not contributions_only else RowSurvey()
    there = _inventory(parts, owner, dict(found.counts))
    if there.empty and owner not in parts.store.owners():
        raise UnknownPerson(f"{owner.user} of {owner.tenant} is not known here.")
    personal = {} if contributions_only else {**there.rows, "keys": there.keys}
    team = {"team_contributions": there.contributions, "team_facts": there.team_facts}
    now = parts.clock.now()
    erasure = Erasure(
        id=new_id("erasure", now),
        tenant=owner.tenant,
        mark=mark,
        begun_at=now,
        contributions_only=contributions_only,
        user=owner.user,
        traces=() if contributions_only else (owner.id, *found.ids),
        removed={name: count for name, count in {**personal, **team}.items() if count},
    )
    parts.store.keep_erasure(erasure)
    return erasure, Traces(erasure.traces, tuple(found.words))


def _contributions(parts: Parts, owner: Owner) -> tuple[int, int]:
    """How many facts of the team they have said, and how many of these nobody else has."""
    with parts.store.reviewing(Tenant(owner.tenant)) as desk:
        said = desk.contributed(contributor(desk.key(), owner))
        return len(said), sum(desk.contributors(one) == 1 for one in said)


def _searched(parts: Parts, owner: Owner | None, traces: Traces) -> list[Searched]:
    places = {one.place: one for one in parts.store.search(owner, traces)}
    backups = _shelf(parts)
    if backups is not None and backups.exists():
        looked = trace_scan.files(backups, replace(traces, words=()))  # others may use the same
        size, found = sum(one.bytes for one in looked), sum(one.found for one in looked)
        places[backups.name] = Searched(backups.name, size, found)
    return list(places.values())


def _shelf(parts: Parts) -> Path | None:
    """Where the backups are that are made by themselves; of a store in memory there are none."""
    in_memory = parts.store.health().place == "memory"
    return None if in_memory else parts.settings.data_directory() / "backups"


def _receipt(
    owner: Owner,
    done: Erasure,
    traces: Traces,
    found: list[Searched],
    left: list[str],
    rewritten: int,
) -> Receipt:
    assert done.finished_at is not None
    return Receipt(
        id=done.id,
        tenant=owner.tenant,
        user=owner.user,
        contributions_only=done.contributions_only,
        begun_at=done.begun_at,
        finished_at=done.finished_at,
        removed={**done.removed, "backups": rewritten} if rewritten else dict(done.removed),
        sought=len(traces.ids) + len(traces.words),
        searched=tuple(found),
        left=tuple(dict.fromkeys(left)),
    )
