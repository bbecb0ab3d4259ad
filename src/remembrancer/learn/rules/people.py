"""Keeps track of the people that a user mentions, so that "she" can be replaced by a name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from re import Match

from remembrancer.learn.extracted_fact import Quote
from remembrancer.learn.rules.patterns import LanguageRules
from remembrancer.learn.rules.vocabulary import NOTHING, Vocabulary

SHORT_HAS = re.compile(
    r"^['’]s (?=(?:just )?(?:got|been|had|gone|taken|left|moved|started|stopped)\b)"
)
SHORT_IS = re.compile(r"^['’]s ")
SHORT_WILL = re.compile(r"^['’]ll ")

FEMALE, MALE, UNKNOWN = "female", "male", ""


@dataclass(frozen=True, slots=True)
class Person:
    """Someone mentioned: "my sister Ana"; `phrase` is empty if it cannot stand for a pronoun."""

    phrase: str
    name: str | None
    role: str
    gender: str
    quote: Quote


@dataclass(slots=True)
class People:
    """The people of a conversation, and those of the current turn in the order of mention."""

    turn_id: str = ""
    known: dict[str, Person] = field(default_factory=dict)
    mentioned: list[Person] = field(default_factory=list)
    roles: dict[str, list[str]] = field(default_factory=dict)

    def start_turn(self, turn_id: str) -> None:
        """Forget who was mentioned, but for a single person of the turn before."""
        self.turn_id = turn_id
        is_single = len({one.phrase for one in self.mentioned}) == 1
        last = self.mentioned[-1] if is_single else None
        self.mentioned = [last] if last and (last.role or last.gender) else []

    def note(self, clause: str, rules: LanguageRules, said: str = "") -> None:
        """Take in the people whom a clause mentions; `said` are its words before resolving."""
        for found in find_mentions(clause, self.known, rules.vocabulary):
            person = self._identify(found, said or clause, rules.vocabulary)
            if person.name and person.role:
                self.known[person.name.lower()] = person
                self._note_role(person.name.lower(), person.role, rules.vocabulary)
            self.mentioned.append(person)

    def _note_role(self, name: str, role: str, vocabulary: Vocabulary) -> None:
        """Keep one role for each person of that name, the first one said."""
        roles = self.roles.setdefault(name, [])
        if not any(_is_same_role(role, one, vocabulary) for one in roles):
            roles.append(role)

    def is_shared(self, name: str) -> bool:
        return len(self.roles.get(name.lower(), ())) > 1

    def tell_apart(self, name: str, role: str) -> str:
        """A name, with the role if somebody else was mentioned by that name before."""
        later = self.roles.get(name.lower(), [])[1:]
        return f"{name} ({role.lower()})" if role in later else name

    def _identify(self, found: Match[str], said: str, vocabulary: Vocabulary) -> Person:
        is_own = found["my"] and not vocabulary.equals("OBLIQUE", found["role"])
        role = found["role"] if is_own else ""
        name = found["name"] or found["alone"] or found["known"] or found["apposed"]
        if name and not vocabulary.is_given_name(name):
            name = None
        known = self.known.get((name or "").lower())
        is_said = found[0] in said
        if known and not (role and is_said):
            return known
        quote = Quote(self.turn_id, found[0] if is_said else said)
        phrase = _build_phrase(found, name, vocabulary)
        return Person(phrase, name, role, _find_gender(found["role"] or "", vocabulary), quote)

    def resolve(self, clause: str, rules: LanguageRules) -> tuple[str, Person | None]:
        """Replace a pronoun at the start by the person whom it must mean, if there is one."""
        for gender in (FEMALE, MALE):
            found = rules.vocabulary.compile(rf"<{gender.upper()}_PRONOUN>(?!\w)").match(clause)
            if found and (person := self._find_last(gender)):
                return person.phrase + _write_out(clause[found.end() :]), person
        missing = rules.vocabulary.starts("MISSING_SUBJECT", clause)
        if (
            missing
            and len({one.phrase for one in self.mentioned}) == 1
            and self.mentioned[-1].phrase
        ):
            person = self.mentioned[-1]
            return f"{person.phrase} {clause[:1].lower()}{clause[1:]}", person
        return clause, None

    def find_subject(self, who: str) -> Person | None:
        """The last person mentioned who can be "my sister" or "Ana"."""
        words = f" {who.lower()} "
        for person in reversed(self.mentioned):
            if any(one and f" {one.lower()} " in words for one in (person.role, person.name)):
                return person
        return None

    def _find_last(self, gender: str) -> Person | None:
        fitting = [one for one in self.mentioned if one.gender in (gender, UNKNOWN)]
        if not fitting or not fitting[-1].phrase:
            return None
        phrases = {one.phrase for one in fitting if one.gender == gender}
        is_clear = fitting[-1].gender == gender or not phrases - {fitting[-1].phrase}
        return fitting[-1] if is_clear else None


MENTION = (
    r"\b(?:(?P<my><MY>)|<OTHERS>) (?P<role><ROLE>)(?![\w-])"
    r"(?:(?:,? |['’]s )(?:<CALLED> )?(?P<name><FULL_NAME>)\b(?!['’]s \w+ is\b))?"
    r"|^(?P<alone><NAME>)(?=['’]s | <PERSON_VERB>\b)|\b(?P<known>%s)\b"
    r"|\b<SOMEONE>,? (?P<apposed><NAME>)\b"
)


def find_mentions(clause: str, known: Iterable[str], vocabulary: Vocabulary) -> list[Match[str]]:
    """Find "my sister", "my sister Ana", "her boss", known names, and a name at the start."""
    pattern = vocabulary.compile(MENTION % ("|".join(known) or NOTHING))
    return list(pattern.finditer(clause))


def _is_same_role(one: str, other: str, vocabulary: Vocabulary) -> bool:
    """True if both roles can be those of one person."""
    if one.lower().split()[-1] == other.lower().split()[-1]:
        return True
    return any(
        vocabulary.equals(name, one) and vocabulary.equals(name, other)
        for name in ("PARTNER", "BOSS")
    )


def _write_out(rest: str) -> str:
    """What follows an English pronoun, with the short form of its verb written out."""
    full = SHORT_HAS.sub(" has ", rest)
    return SHORT_WILL.sub(" will ", SHORT_IS.sub(" is ", full))


def _build_phrase(found: Match[str], name: str | None, vocabulary: Vocabulary) -> str:
    if not found["my"] or vocabulary.equals("OBLIQUE", found["role"]):
        return name or ""
    gender = _find_gender(found["role"], vocabulary)
    my = vocabulary.find_text(f"MY_{gender.upper()}") or found["my"]
    return " ".join(filter(None, (my, found["role"], name)))


def _find_gender(role: str, vocabulary: Vocabulary) -> str:
    if vocabulary.equals("FEMALE", role):
        return FEMALE
    return MALE if vocabulary.equals("MALE", role) else UNKNOWN
