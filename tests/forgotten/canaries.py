"""Words that occur nowhere else, put into a memory in every way that a person or a program has."""

from __future__ import annotations

import json
import secrets
from pathlib import Path

from remembrancer.engine import Remembrancer
from remembrancer.integrations.langgraph import RemembrancerStore
from remembrancer.memory import Memory
from tests.assistant.talk import chat_of, say
from tests.support.unconfirmed import learn_in_doubt

LETTERS = "bdfgklmnprstvz"
SYLLABLES = ("vol", "kra", "zim", "tuk", "pel", "gor", "wex", "nub", "jal", "quo")


class Canaries:
    """Hands out a word for each place, and remembers which is where.

    The words differ from those of other tests, which share a database server.
    """

    def __init__(self) -> None:
        self.places: dict[str, str] = {}
        self._start = "".join(f"{secrets.choice(LETTERS)}u" for _ in range(4)).capitalize()

    def __call__(self, place: str) -> str:
        number = len(self.places)
        word = f"{self._start}{SYLLABLES[number // 10]}{SYLLABLES[number % 10]}qx"
        self.places[word] = place
        return word

    def find_in(self, data: bytes) -> list[str]:
        """The places whose words are there, in any case."""
        folded = data.lower()
        return [place for word, place in self.places.items() if word.lower().encode() in folded]


def plant_memories(me: Memory, canary: Canaries) -> None:
    """Facts, rules and episodes, with everything that can hang on them."""
    me.remember(f"My parrot is called {canary('fact')} and sings.")
    me.remember(
        f"The password of the shed is under the {canary('fact with fields')}.",
        subject=f"shed {canary('subject')}",
        predicate=f"key {canary('predicate')}",
        summary=f"Shed and {canary('summary of a fact')}",
        body=f"Long story.\n\nIt is about {canary('body')} and more.",
        tags=[canary("tag")],
        metadata={"place": canary("metadata"), "deep": [{"er": canary("deep metadata")}]},
    )
    me.remember(f"Never mention {canary('rule')} to guests.", kind="rule")
    rule = me.remember(f"Always greet {canary('rule with verdict')} first.", kind="rule").memory
    me.harmful(rule.id, f"It made {canary('reason of harm')} cry.")
    me.remember(f"We met {canary('episode')} at the harbour.", kind="episode")
    first = me.remember(f"The cellar is full of {canary('first version')} bottles.")
    second = me.update(first.memory.id, f"The cellar is full of {canary('second version')} boxes.")
    me.update(second.memory.id, f"The cellar holds {canary('third version')} barrels.")
    one = me.remember(f"The neighbour {canary('linked')} plays the tuba.").memory
    other = me.remember(f"The tuba belongs to {canary('link target')} really.").memory
    me.link(one.id, other.id)
    me.remember(f"In the attic lives {canary('expired')}.", permanence="ephemeral")
    me.undo(me.remember(f"The roof is made of {canary('undone')} tiles.").event.id)  # type: ignore[union-attr]
    learn_in_doubt(
        me,
        f"May move to {canary('doubted')} soon.",
        said=f"Perhaps I move to {canary('doubted turn')}.",
    )


def plant_conversations(me: Memory, canary: Canaries) -> None:
    """Turns, titles, and what is learned from them."""
    me.append(
        [
            {"role": "user", "content": f"Where can I buy {canary('user turn')} in spring?"},
            {"role": "assistant", "content": f"Try the market in {canary('assistant turn')}."},
            {"role": "tool", "content": f"Found 3 pages on {canary('tool turn')}."},
            {
                "role": "user",
                "content": "Thanks a lot.",
                "speaker": canary("speaker"),
                "metadata": {"device": canary("turn metadata")},
            },
        ],
        f"shopping-{canary('session name')}",
        title=f"About {canary('given title')}",
    )
    me.learn(
        [
            {"role": "user", "content": f"My sister is called {canary('learned')}."},
            {"role": "assistant", "content": f"{canary('reply')} is a nice name."},
        ],
        "family",
    )


def plant_chat(store: Remembrancer, canary: Canaries) -> None:
    chat = chat_of(store)
    say(chat, f"Remember that my dentist is Doctor {canary('chat command')}.")
    say(chat, f"My favourite colour is {canary('chat statement')}.")
    say(chat, f"Correction: my dentist is Doctor {canary('chat correction')}.")
    say(chat, f"What do you know about {canary('chat question')}?")
    chat.close()


def plant_items(me: Memory, canary: Canaries) -> None:
    items = RemembrancerStore(me)
    items.put(("app", canary("namespace")), canary("item key"), {"text": canary("item value")})
    items.put(("app", "old"), "k", {"text": canary("item value replaced")})
    items.put(("app", "old"), "k", {"text": canary("item value deleted")})
    items.delete(("app", "old"), "k")


def plant_imports(me: Memory, canary: Canaries, folder: Path) -> None:
    notes = folder / "notes.md"
    notes.write_text(f"# Notes\n\n- The boat is called {canary('imported note')}.\n")
    me.import_from(notes)
    talk = folder / "talk.jsonl"
    talk.write_text(
        "\n".join(
            json.dumps({"role": role, "content": text})
            for role, text in (
                ("user", f"Do you know {canary('imported turn')}?"),
                ("assistant", "I do."),
            )
        )
    )
    me.import_from(talk)


def plant_all(store: Remembrancer, folder: Path) -> Canaries:
    """Something of everything for Ada; learned from to the end."""
    canary, me = Canaries(), store.for_user("ada")
    plant_memories(me, canary)
    plant_conversations(me, canary)
    plant_chat(store, canary)
    plant_imports(me, canary, folder)
    me.recall(f"what about {canary('search')}?")
    me.context(f"Tell me of {canary('prompt')}.")
    store.flush()
    return canary
