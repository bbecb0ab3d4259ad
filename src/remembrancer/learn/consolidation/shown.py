"""The episodes and memories that a model is shown, under short names. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from remembrancer.recall.prompt_block import escape_for_prompt
from remembrancer.remember.trust import DELEGATED, INFERRED, PERSONAL, TAINTED, trust_tier
from remembrancer.types import Episode, Fact, Record, Rule, Source

SOURCE_NAMES = {
    PERSONAL: "stated by the person",
    INFERRED: "concluded",
    TAINTED: "from outside",
}


class Refusal(Exception):
    """Raised with the reason why a proposal is refused."""


@dataclass(frozen=True, slots=True)
class ShownRecords:
    """The records shown to the model, by their short names."""

    scope: str
    now: datetime
    episodes: Mapping[str, Episode]
    memories: Mapping[str, Record]

    def get_memory(self, name: str) -> Record:
        if name not in self.memories:
            raise Refusal("it names a memory that the model was not shown")
        return self.memories[name]

    def get_episodes(self, names: Iterable[str]) -> list[Episode]:
        chosen = list(dict.fromkeys(names))
        if any(name not in self.episodes for name in chosen):
            raise Refusal("it names an episode that the model was not shown")
        return [self.episodes[name] for name in chosen]

    def list_names(self, ids: Iterable[str]) -> list[str]:
        """The short names of records, by their ids."""
        names = {one.id: name for name, one in (*self.episodes.items(), *self.memories.items())}
        return [names[one] for one in ids if one in names]


def render_shown(shown: ShownRecords) -> str:
    """The records as text for a prompt: facts, rules and episodes apart."""
    facts = {name: one for name, one in shown.memories.items() if isinstance(one, Fact)}
    rules = {name: one for name, one in shown.memories.items() if isinstance(one, Rule)}
    sections: dict[str, Mapping[str, Record]] = {
        "facts": facts,
        "rules": rules,
        "episodes": shown.episodes,
    }
    scope = escape_for_prompt(shown.scope)
    lines = [f"Today is {format_day(shown.now)}. The episodes are in the scope “{scope}”."]
    lines += [_render_section(name, records) for name, records in sections.items() if records]
    return "\n\n".join(lines)


def format_day(moment: datetime) -> str:
    """A date with its weekday, as it is shown to a model."""
    return f"{moment:%A}, {moment.day} {moment:%B} {moment.year}"


def list_texts(records: Iterable[Record]) -> list[str]:
    """The words in which a model was shown some records."""
    return [f"{_describe(one)} {one.content} {format_day(one.valid_from)}" for one in records]


def _render_section(name: str, records: Mapping[str, Record]) -> str:
    lines = [
        f"[{key}] ({escape_for_prompt(_describe(one))}) {escape_for_prompt(one.content)}"
        for key, one in records.items()
    ]
    return "\n".join([f"<{name}>", *lines, f"</{name}>"])


def _describe(record: Record) -> str:
    lasting = (record.permanence, f"scope {record.scope}", _name_source(record))
    match record:
        case Episode():
            agent, day = record.agent or record.scope, record.valid_from.date().isoformat()
            return _join(agent, day, "from outside" if record.tainted else None)
        case Fact():
            return _join(record.subject, record.predicate, *lasting)
        case Rule():
            return _join(record.maturity, *lasting)
        case _:
            return ""


def _name_source(record: Record) -> str:
    if trust_tier(record) == DELEGATED and record.source is Source.EXPLICIT:
        return f"stored by {record.agent or 'an assistant'}"
    return SOURCE_NAMES.get(trust_tier(record), str(record.source))


def _join(*parts: str | None) -> str:
    return " · ".join(" ".join(one.split()) for one in parts if one)
