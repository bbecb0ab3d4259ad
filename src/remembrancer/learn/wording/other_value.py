"""Tells whether a statement repeats a memory with another value in one place. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from remembrancer.learn.rules.third_person import conjugate, is_verb
from remembrancer.learn.wording.word_list import straighten
from remembrancer.remember.likeness import is_calendar_word, is_number_word

MAX_VALUE_WORDS = 4
MIN_EQUAL_WORDS = 2

_WORD = re.compile(r"[\w@/+#-][\w@/+#.:'-]*[\w+#]|\w")
_LEADS = frozenset("i we they user my our their the".split())
_FILLERS = frozenset("now actually currently nowadays just also always really usually".split())
_FORMS = {
    **dict.fromkeys(("am", "is", "are", "i'm", "we're"), "be"),
    **dict.fromkeys(("has", "have", "i've", "we've"), "have"),
    **dict.fromkeys(("does", "do"), "do"),
    **dict.fromkeys(("our", "their", "his", "her", "user's"), "my"),
    "favourite": "favorite",
}
_POINTING = frozenset("my the a an this that".split())
_SEVERAL = frozenset(
    "have own like love enjoy adore hate dislike speak play know learn eat drink visit read watch "
    "collect take need want use see meet study teach follow buy be".split()
)
"""Verbs that can be said of several things at a time."""


@dataclass(frozen=True, slots=True)
class OtherValue:
    """The words of a statement that differ, and those of the memory in the same place."""

    new: tuple[str, ...]
    old: tuple[str, ...]
    is_of_several: bool

    @property
    def can_replace(self) -> bool:
        """True if both cannot hold: for a verb with several objects, only numbers and days."""
        measured = all(any(map(_is_measure, one)) for one in (self.new, self.old))
        return measured or not self.is_of_several


def find_other_value(new: str, old: str) -> OtherValue | None:
    """Where the statement and the memory differ, if that is one place after the verb."""
    mine, theirs = list_frame(new), list_frame(old)
    blocks = SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes()
    changed = [one for one in blocks if one[0] != "equal"]
    if len(changed) != 1 or changed[0][0] != "replace":
        return None
    _, start, end, old_start, old_end = changed[0]
    if max(end - start, old_end - old_start) > MAX_VALUE_WORDS:
        return None
    before, after = mine[:start], mine[end:]
    if not _is_same_statement(before, after):
        return None
    values = tuple(mine[start:end]), tuple(theirs[old_start:old_end])
    return OtherValue(*values, is_of_several=before[0] in _SEVERAL)


def is_rearranged(new: str, old: str) -> bool:
    """True if a statement has the words of the memory in another order: "tea over coffee"."""
    mine, theirs = list_frame(new), list_frame(old)
    return mine != theirs and sorted(mine) == sorted(theirs) and mine[:1] == theirs[:1]


def list_frame(text: str) -> list[str]:
    """The words of a statement, equal in the first and in the third person."""
    words = [one.casefold() for one in _WORD.findall(straighten(text))]
    while words and (words[0] in _LEADS or words[0] in _FILLERS):
        words = words[1:]
    return [_FORMS.get(one) or _find_base(one) for one in words if one not in _FILLERS]


def _is_same_statement(before: Sequence[str], after: Sequence[str]) -> bool:
    """True if what is equal has the subject and the verb, and the verb comes first."""
    if not set(before) - _POINTING or any(map(_is_base_verb, after)):
        return False
    telling = [one for one in (*before, *after) if one not in _POINTING and one not in _SEVERAL]
    return bool(telling) and len(before) + len(after) >= MIN_EQUAL_WORDS


def _find_base(word: str) -> str:
    """The base form of a verb in the third person; other plurals lose their "s", too."""
    for base in (word[:-1], word[:-2], f"{word[:-3]}y"):
        if word.endswith("s") and len(base) > 1 and is_verb(base) and conjugate(base) == word:
            return base
    return word


def _is_base_verb(word: str) -> bool:
    return word in ("be", "have", "do") or is_verb(word)


def _is_measure(word: str) -> bool:
    return word[:1].isdigit() or is_number_word(word) or is_calendar_word(word.rstrip("s"))
