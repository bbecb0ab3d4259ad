"""The verb that takes in a conversation, as JSON lines or as plain text."""

from __future__ import annotations

import json
import re
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from remembrancer.cli.cli_context import CliContext
from remembrancer.cli.options import parse_moment, read_words
from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from remembrancer.sessions.turns import TurnInput

SPEAKER_LINE_PATTERN = re.compile(r"([^\s:][^:\n]{0,60}): +(.+)", re.S)


def append(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", hidden=True)],
    *,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Which conversation; else a new one.")
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="What it was about.")] = None,
) -> None:
    """Add turns to a conversation, to be recalled later.

    FILE holds one turn per line, or is - for stdin: JSON objects with role (user, assistant,
    system, tool) and content, and if known speaker and said_at; or plain lines such as
    "Ada: I moved to Hamburg.", where "assistant:" marks the assistant's.

    \b
    Examples:
      rem append chat.jsonl --session monday
      echo "user: My sister lives in Oslo." | rem append -
    """
    desk: CliContext = context.obj
    turns = [_parse_line(line, number, desk.zone) for number, line in _read_lines(file)]
    with desk.open_memory(embeds=True) as me:
        kept = me.append(turns, session, title=title)
    where = kept[0].session_id if kept else session
    number = f"{len(kept)} turn{'' if len(kept) == 1 else 's'}"
    answer = {"session": where, "turns": kept}
    desk.print_result(answer, lambda page: page.say(f"Kept {number} of the conversation {where}."))


def _read_lines(file: str) -> list[tuple[int, str]]:
    text = read_words(["-"]) if file == "-" else _read_file(Path(file).expanduser())
    return [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]


def _read_file(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read as UTF-8 text.") from error


def _parse_line(line: str, number: int, zone: tzinfo) -> TurnInput:
    if line.lstrip().startswith("{"):
        return _parse_json_line(line, number, zone)
    spoken = SPEAKER_LINE_PATTERN.fullmatch(line.strip())
    if spoken is None:
        raise InvalidInput(f"Line {number}: write who speaks, a colon, and what they say.")
    speaker, content = spoken[1].strip(), spoken[2]
    role = speaker.casefold()
    if role in ("user", "assistant", "system", "tool"):
        return {"role": role, "content": content}
    return {"role": "user", "speaker": speaker, "content": content}


def _parse_json_line(line: str, number: int, zone: tzinfo) -> TurnInput:
    try:
        turn: Any = json.loads(line)
    except ValueError:
        raise InvalidInput(f"Line {number} is not a JSON object.") from None
    unknown = turn.keys() - {"role", "content", "speaker", "said_at", "origin", "metadata"}
    if unknown:
        raise InvalidInput(f"Line {number}: {', '.join(sorted(unknown))} is not known here.")
    if turn.get("said_at"):
        turn["said_at"] = parse_moment(str(turn["said_at"]), zone, f"Line {number}: said_at")
    return turn  # type: ignore[no-any-return]
