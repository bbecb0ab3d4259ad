"""Which messages are requests to memory, and which are conversation."""

from __future__ import annotations

import pytest

from remembrancer.assistant.commands import (
    Command,
    Correct,
    Explain,
    Forget,
    ForgetAll,
    ListMemories,
    Remember,
    Reset,
    Undo,
    is_agreement,
    parse_command,
)

pytestmark = pytest.mark.postgres_long


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Remember that our staging API is at staging.example.com.",
         Remember("Our staging API is at staging.example.com.")),
        ("please remember: tea at four", Remember("Tea at four")),
        ("Note that I always want HAR exports, not screenshots.",
         Remember("I always want HAR exports, not screenshots.")),
        ("Can you remember that I like tea?", Remember("I like tea")),
        ("Could you please note: lunch at one ?", Remember("Lunch at one")),
        ("remember my dog is called Rex", Remember("My dog is called Rex")),
        ("Don't forget that the rent is due on Friday",
         Remember("The rent is due on Friday")),
        ("Correction: I am on the dashboard now.", Correct("I am on the dashboard now.")),
        ("what do you remember about me?", ListMemories()),
        ("What do you know about me", ListMemories()),
        ("/memories", ListMemories()),
        ("Forget that I prefer short answers.", Forget("I prefer short answers")),
        ("please forget about the dentist", Forget("the dentist")),
        ("Forget that I like tea, coffee and cake", Forget("I like tea, coffee and cake")),
        ("/forget the dentist", Forget("the dentist")),
        ("forget everything about Anna", Forget("Anna")),
        ("forget everything about me", ForgetAll()),
        ("Forget everything you know about me!", ForgetAll()),
        ("/forget", ForgetAll()),
        ("/reset", Reset()),
        ("undo", Undo()),
        ("Undo that.", Undo()),
        ("Why did you say that?", Explain()),
        ("How do you know that?", Explain()),
    ],
)  # fmt: skip
def test_a_request_is_understood(said: str, meant: Command) -> None:
    assert parse_command(said) == meant


def test_everything_can_be_forgotten_in_many_words() -> None:
    for said in (
        "/forget all", "/forget everything", "/Forget everything about me!",
        "wipe whatever you've got on me", "delete all my data", "clear my memory",
        "erase all you have stored about me", "forget all of it", "Forget what you know about me",
        "please get rid of everything you know about me", "I want you to forget everything.",
        "Could you please delete everything you have on me?", "Forget everything I ever told you",
        "Vergiss alles, was du über mich weißt.", "Bitte alles über mich löschen",
        "Kannst du bitte alles löschen, was du über mich gespeichert hast?",
        "Olvídate de todo lo que sabes sobre mí", "Borra todos mis datos",
        "Oublie tout ce que tu sais de moi", "Peux-tu effacer toutes mes données ?",
        "Dimentica tutto quello che sai di me", "Per favore, dimentica tutto",
    ):  # fmt: skip
        assert parse_command(said) == ForgetAll(), said


def test_what_names_a_topic_or_only_mentions_it_forgets_not_everything() -> None:
    for said in (
        "forget all about the meeting", "forget everything about Anna", "/forget all my cats",
        "forget all about it", "Forget all my allergies",
        "Forget everything you know about physics",
        "don't forget everything I told you", "never delete my data", "delete all my conversations",
        "did you forget everything?", "I always forget everything", "remove all files",
        "How do I delete all my data in the cloud?", "Vergiss nicht alles", "clear my schedule",
        "forget what I said about all of my cats", "forget everything I just said",
    ):  # fmt: skip
        assert parse_command(said) != ForgetAll(), said


@pytest.mark.parametrize(
    "said",
    [
        "Forget it.",
        "forget about it",
        "Forget that",
        "Forget it, let's talk about bonds instead",
        "Forget that, tell me about bonds.",
        "forget about it, what is an ETF",
        "Forget what I said. I want to talk about bonds",
        "Forget this and tell me a joke",
        "Forget the bonds, let's talk about funds",
        "Do you remember that film?",
        "Remember that film we saw?",
        "remember when we met?",
        "I always forget that the shop closes at six.",
        "What do you remember about the harbour?",
        "Note the difference between these two.",
        "How do you know Anna?",
        "Why did you say that the bridge is closed?",
        "undo the commit with git",
        "yes",
        "",
        "/unknown",
        "I told her to forget everything about me",
    ],
)
def test_all_else_is_conversation(said: str) -> None:
    assert parse_command(said) is None


def test_only_a_plain_yes_agrees() -> None:
    for said in (
        "yes",
        "Yes please.",
        "ok, do it",
        "I'm sure!",
        "ja bitte",
        "yes, forget everything",
    ):
        assert is_agreement(said), said
    for said in ("no", "yes but keep the dog", "not yet", "what do you mean?", "", "/forget"):
        assert not is_agreement(said), said


def test_a_hostile_message_is_read_in_no_time() -> None:
    for said in (
        "please " * 20_000,
        "forget " * 20_000,
        "forget x" + " ," * 50_000 + "y",
        "remember" + " " * 50_000,
        "ok,\n" * 20_000,
    ):
        parse_command(said)
        is_agreement(said)
