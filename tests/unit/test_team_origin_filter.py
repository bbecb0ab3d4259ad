"""A question is limited to a class of authors only if it says so."""

from __future__ import annotations

import pytest

from remembrancer.team.origin_filter import parse_origins
from remembrancer.types import TeamOrigin

pytestmark = pytest.mark.feature("A19")

ASSISTANT, AGENT, USER = TeamOrigin
NOT_AGENT, NOT_USER = (ASSISTANT, USER), (ASSISTANT, AGENT)


@pytest.mark.parametrize(
    ("question", "origins"),
    [
        ("Use only Claude's memories: how are releases made?", (AGENT,)),
        ("How are releases made? Only use Claude's memories.", (AGENT,)),
        ("How are releases made? Exclude Claude's.", NOT_AGENT),
        ("exclude Claude's memories, which ports are open?", NOT_AGENT),
        ("Which ports are open? Don't use Claude's memories.", NOT_AGENT),
        ("Please do not consult the agents' notes. Which ports are open?", NOT_AGENT),
        ("Answer using only your own knowledge: which ports are open?", (ASSISTANT,)),
        ("Can you answer using only the assistant's knowledge?", (ASSISTANT,)),
        ("Using only Remembrancer's knowledge, which ports are open?", (ASSISTANT,)),
        ("Which ports are open, without the agents' notes?", NOT_AGENT),
        ("How are releases made without the agents' notes?", NOT_AGENT),
        ("Ignore what teammates said. How are releases made?", NOT_USER),
        ("How are releases made? Leave the agents' notes out, please.", NOT_AGENT),
        ("Which ports are open? Answer from the agents' memory only.", (AGENT,)),
        ("Only from Claude Code's notes: how are releases made?", (AGENT,)),
        ("Use only the memories of my teammates: how are releases made?", (USER,)),
        ("Excluding the agents' and the assistant's memories, what is open?", (USER,)),
        ("Summarise the release process. And ignore users' contributions.", NOT_USER),
        ("Could you only consult what the agents wrote?", (AGENT,)),
        ("What is open? Use Claude's and the assistant's memories only.", (ASSISTANT, AGENT)),
    ],
)
def test_an_instruction_limits_the_question(question: str, origins: tuple[TeamOrigin, ...]) -> None:
    assert parse_origins(question) == origins


@pytest.mark.parametrize(
    "question",
    [
        "Does Claude Code support hooks?",
        "Who excluded Claude's branch?",
        "Why did we exclude Claude's notes from the changelog?",
        "What do the agents' notes say about releases?",
        "Are only Claude's memories stored?",
        "Can a release go out without the users' notes?",
        "Only Claude's memories mention the proxy; why?",
        "Does the search read only from the agents' notes?",
        "Who works without the agents' notes?",
        "How are releases done by the agents?",
        "Which of Claude's memories are about releases?",
        "Exclude Claude's branch from the release.",
        "Do teammates only use the web?",
        "What did my teammates say about ports?",
        "Are agents excluded from the review?",
        "What is your own opinion?",
        "How do I make a bot that only reads facts?",
        "We never use Claude's memories in the build.",
        "What happens to users without notes?",
        "Only people with a key can deploy.",
    ],
)
def test_a_mere_mention_limits_nothing(question: str) -> None:
    assert parse_origins(question) is None


def test_a_long_prompt_is_read_quickly() -> None:
    assert parse_origins("only the agents' " * 2000) is None
    assert parse_origins("Use only. " * 2000 + "Use only Claude's memories.") == (AGENT,)
