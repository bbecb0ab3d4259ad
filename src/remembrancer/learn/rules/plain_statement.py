"""Recognises a lasting statement of users about their own lives by its frame, whatever its verb.

It begins with the user or someone of theirs, names something definite such as a place, a number
or a day, and holds nothing that passes, points elsewhere or is meant for the assistant.
"""

from __future__ import annotations

from remembrancer.learn.rules.vocabulary import Vocabulary

MIN_WORDS, MAX_WORDS = 4, 36
OF_THE_MOMENT = ("NOT_PLAIN", "TASK", "HYPOTHETICAL")
"""What passes, is part of the work at hand, or is what somebody else says."""

VERB = "(?:<PLAIN_ADVERB> )*(?:%s)(?!\\w)"


def is_plain_statement(words: str, said: str, vocabulary: Vocabulary, person: str = "") -> bool:
    """True if a clause states something definite that is likely to stay true.

    `said` is the clause before it was normalised, and `person` its beginning if that is somebody
    else, such as "my sister Ana".
    """
    start = _find_end_of_subject(words, vocabulary, person)
    if start is None or not MIN_WORDS <= len(words.split()) <= MAX_WORDS:
        return False
    if not person and vocabulary.contains("PLAIN_PRONOUN", words):
        return False
    if any(vocabulary.contains(one, said[len(person) :]) for one in OF_THE_MOMENT):
        return False
    is_habit = bool(person) and _has_verb("<HABIT_VERB>", words, start, vocabulary)
    is_definite = is_habit or _is_definite(words, start, vocabulary)
    return is_definite and _is_lasting(words, start, vocabulary)


def _find_end_of_subject(words: str, vocabulary: Vocabulary, person: str) -> int | None:
    """Where the verb is expected; None if the clause begins with nobody."""
    if person:
        is_subject = _has_verb("<PERSON_NEXT>", words, len(person), vocabulary)
        return len(person) if is_subject else None
    begins = vocabulary.compile("<PLAIN_SUBJECT>").match(words)
    return begins.end() if begins else None


def _has_verb(verb: str, words: str, start: int, vocabulary: Vocabulary) -> bool:
    return vocabulary.compile(VERB % verb).match(words, start) is not None


def _is_definite(words: str, start: int, vocabulary: Vocabulary) -> bool:
    """True if it names a place, a person, a number, a day or a habit after its subject."""
    begin = 0 if vocabulary.starts("PLAIN_TIME", words) else max(0, start - 1)
    cue = vocabulary.compile(r"(?<!\w)(?:<DEFINITE_CUE>|<HABITUAL>)(?!\w)")
    return cue.search(words, begin) is not None


def _is_lasting(words: str, start: int, vocabulary: Vocabulary) -> bool:
    """True unless it is of the day, or about something said elsewhere.

    What happened must be a change in a life, and what is under way must have a time.
    """
    rest = vocabulary.remove("RELATIVE", words[start:])
    if any(vocabulary.contains(one, rest) for one in ("MOMENTARY", "NOT_PLAIN", "VAGUE")):
        return False
    if _has_verb("<PASSING_VERB>", words, start, vocabulary):
        return False
    is_dated = vocabulary.contains("DATED_CUE", words)
    if vocabulary.contains("PAST_TENSE", words):
        return is_dated and vocabulary.contains("LIFE_CHANGE", words)
    is_timed = is_dated or vocabulary.contains("HABITUAL", words)
    if _has_verb("<AMBIGUOUS_TENSE>", words, 0, vocabulary):
        return is_timed
    return is_timed or not _has_verb("<UNDER_WAY>", words, start, vocabulary)
