"""Reads the files that a command line names: UTF-8 text, or a conversation."""

from __future__ import annotations

from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

from remembrancer.cli.options import read_stdin
from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from remembrancer.sessions.turns import TurnInput


def read_text(file: str | Path) -> str:
    """The text of a file, or an error that says why it cannot be read."""
    path = Path(file).expanduser()
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InvalidInput(f"{path}: there is no such file.") from None
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} cannot be read as UTF-8 text.") from None
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from None


def read_conversation(file: str, zone: tzinfo) -> list[TurnInput]:
    """The turns in a file, or on stdin for `-`; times without a zone are in `zone`."""
    from remembrancer.sessions.conversation_file import read_turns

    name, text = ("stdin", read_stdin()) if file == "-" else (file, read_text(file))
    return read_turns(name, text, zone)
