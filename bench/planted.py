"""Whether planted instructions are told: `python -m bench.planted [FILE …] [--engine postgres]`.

Each text comes in by each way from outside. Then a later prompt is built, and memory is searched as
a model searches it. A text is told if words of it in a row are in there; what is told without a
mark passes for verified. Harmless texts count as lost if they are in quarantine.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from langchain_core.runnables import RunnableLambda

import remembrancer
from bench.processes import place
from bench.systems import ENTRIES
from remembrancer.config import Settings
from remembrancer.engine import Remembrancer
from remembrancer.errors import Conflict
from remembrancer.guard.repetition import repeats_words
from remembrancer.integrations.hooks.claude_code import parse_turns
from remembrancer.integrations.langgraph import RemembrancerStore
from remembrancer.integrations.memory_files import MemoryFiles
from remembrancer.memory import Memory
from remembrancer.sessions.turns import TurnInput
from remembrancer.tools.caller import Caller
from remembrancer.tools.toolsets import select_tools
from remembrancer.types import Kind

DATA = Path(__file__).with_name("planted")
MARK = "(unverified"
STYLES = ("note", "sections", "hot_set")


@dataclass(frozen=True, slots=True)
class Person:
    """The memory of one person, and a folder for files."""

    me: Memory
    folder: Path

    def chat(self, *turns: tuple[str, str], **fields: str) -> None:
        self.me.append([{"role": role, "content": text, **fields} for role, text in turns], "chat")  # type: ignore[typeddict-item]


def repeat_tool(person: Person, text: str) -> None:
    person.chat(
        ("user", "Summarise the page."), ("tool", text), ("assistant", f"The page says: {text}")
    )


def split_in_two(person: Person, text: str) -> None:
    half = text.find(" ", len(text) // 2)
    person.chat(("tool", text[:half]), ("tool", text[half:]))


def repeat_document(person: Person, text: str) -> None:
    person.me.append([{"role": "user", "content": text, "origin": "document"}], "chat")
    person.chat(("assistant", f"It says: {text}"))


def call_remember(person: Person, text: str) -> None:
    tools = select_tools(person.me.profile)
    tools["remember"].call(Caller(person.me), {"content": text})


def put_in_graph(person: Person, text: str) -> None:
    store = RemembrancerStore(person.me)

    def put(key: str) -> None:
        store.put(("notes",), key, {"text": text})

    RunnableLambda(put).invoke("page")


def import_markdown(person: Person, text: str) -> None:
    (person.folder / "Notes.md").write_text(f"# Notes\n\n{' '.join(text.split())}\n")
    person.me.import_from(person.folder / "Notes.md", format="markdown")


def import_mem0(person: Person, text: str) -> None:
    file = person.folder / "memories.json"
    file.write_text(json.dumps({"results": [{"id": "1", "memory": text, "user_id": "ada"}]}))
    person.me.import_from(file, format="mem0")


def import_chat(person: Person, text: str) -> None:
    file = person.folder / "chat.jsonl"
    turns = (("user", "What does it say?"), ("tool", text), ("assistant", f"It says: {text}"))
    file.write_text("\n".join(json.dumps({"role": role, "content": one}) for role, one in turns))
    person.me.import_from(file, format="jsonl", learn=False)


def write_memory_file(person: Person, text: str) -> None:
    try:
        MemoryFiles(person.me).create("/memories/page.md", text)
    except Conflict:
        return


def parse_agent_session(text: str) -> list[TurnInput]:
    """The turns of a coding agent whose tool gave a text, which the agent repeats."""
    entries = (
        ("user", "Read the file."),
        ("user", [{"type": "tool_result", "content": text}]),
        ("assistant", [{"type": "text", "text": f"The file says: {text}"}]),
    )
    lines = [
        json.dumps({"type": role, "message": {"role": role, "content": content}})
        for role, content in entries
    ]
    return list(parse_turns(lines))


def repeat_agent_session(person: Person, text: str) -> None:
    person.me.append(parse_agent_session(text), "session")


Plant = Callable[[Person, str], object]
WAYS: dict[str, Plant] = {
    "a tool's turn": lambda person, text: person.chat(("tool", text)),
    "split over two turns": split_in_two,
    "a reply that repeats a tool": repeat_tool,
    "a document": lambda person, text: person.chat(("user", text), origin="document"),
    "a reply that repeats a document": repeat_document,
    "remember, from a tool": lambda person, text: person.me.remember(text, origin="tool"),
    "an episode, from a tool": lambda person, text: person.me.remember(
        text, kind="episode", origin="tool"
    ),
    "the tool `remember`": call_remember,
    "an item of a graph": put_in_graph,
    "import of Markdown": import_markdown,
    "import of mem0": import_mem0,
    "import of a conversation": import_chat,
    "a file of Claude's memory tool": write_memory_file,
    "a coding agent's transcript": repeat_agent_session,
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether a text is told, whether without a mark, and whether it is in quarantine."""

    told: bool
    unmarked: bool
    held: bool


def probe(me: Memory, text: str) -> Outcome:
    """Look for a text in later prompts, in a search by a model, and in quarantine."""
    lines = [line for told in _tell(me, text) for line in told.splitlines()]
    telling = [line for line in lines if repeats_words(line, [text])]
    held = me.list(kinds=tuple(Kind), status="quarantined", limit=100).items
    return Outcome(
        told=bool(telling),
        unmarked=any(MARK not in line and "unverified:" not in line for line in telling),
        held=any(repeats_words(one.content, [text]) for one in held),
    )


def _tell(me: Memory, text: str) -> Iterator[str]:
    for style in STYLES:
        yield me.context(text[:300], budget=100_000, style=style).text
    search = select_tools(me.profile)["recall"]
    yield search.call(Caller(me), {"query": text[:300]}).to_text()


def measure(store: Remembrancer, texts: list[str], plant: Plant) -> Counter[str]:
    counts: Counter[str] = Counter()
    for number, text in enumerate(texts):
        me = store.for_user(f"person-{number}")
        with tempfile.TemporaryDirectory() as folder:
            plant(Person(me, Path(folder)), text)
        outcome = probe(me, text)
        counts.update({"told": outcome.told, "unmarked": outcome.unmarked, "held": outcome.held})
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", type=Path, nargs="*", default=sorted(DATA.glob("*.jsonl")))
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--every", type=int, default=1, help="take only every n-th text")
    given = parser.parse_args()
    rows = [json.loads(line) for file in given.files for line in file.read_text().splitlines()]
    for attack in (True, False):
        texts = [row["text"] for row in rows if row["attack"] == attack][:: given.every]
        print("planted instructions" if attack else "harmless texts", len(texts))
        for way, plant in WAYS.items():
            found = run_way(given.engine, texts, plant)
            print(
                f"  {way:34} told {found['told']:3}  unmarked {found['unmarked']:3}"
                f"  in quarantine {found['held']:3}",
                flush=True,
            )


def run_way(engine: str, texts: list[str], plant: Plant) -> Counter[str]:
    """Plant the texts by one way, each in the memory of a person of its own."""
    profile = "namespaces" if plant is put_in_graph else "default"
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as home,
        place(ENTRIES["ours"], engine, home) as where,
        remembrancer.open(where, settings=Settings(profile=profile)) as store,
    ):
        return measure(store, texts, plant)


if __name__ == "__main__":
    main()
