"""Word lists and checks that recognise names, places, occupations and preferences."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import resources

Check = Callable[[str], bool]

MAX_OBJECT_CHARS = 120
MAX_OBJECT_WORDS = 18


def read_blocks(file_name: str) -> list[tuple[str, list[str]]]:
    """Read the unindented lines of a data file, each with the indented lines below it."""
    text = resources.files(__package__).joinpath(file_name).read_text(encoding="utf-8")
    blocks: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith(" "):
            blocks[-1][1].append(line.strip())
        elif line and not line.startswith("#"):
            blocks.append((line, []))
    return blocks


def _load_words() -> dict[str, str]:
    """For each list of `vocabulary.txt`, a pattern that matches one of its words."""
    lists = ((name, " ".join(lines).split()) for name, lines in read_blocks("vocabulary.txt"))
    return {name: f"(?:{'|'.join(words).replace('_', ' ')})" for name, words in lists}


WORDS = _load_words()

DANGLING = re.compile(rf"\b{WORDS['DANGLING']}\b", re.I)
RELATIVE = re.compile(
    r"\b(?:that (?:is|are|has|have|can|makes?|helps?|lets?|works?|focus|feels?|starts?)"
    r"|each (?:other|day|week|month|year|morning|evening|night)"
    r"|(?:first|second|last) (?:name|language|year|grade|world))\b",
    re.I,
)
MOMENTARY = re.compile(rf"\b{WORDS['MOMENTARY']}\b", re.I)
VAGUE = re.compile(
    rf"\bthe {WORDS['VAGUE']}(?= for\b| since\b|$)"
    r"|\b(?:the|an?|my|our|to|of|in|for|with|and|or|at|on|from|then|than|as|more|by|like)$",
    re.I,
)


def is_complete(words: str) -> bool:
    """True if the words can be understood without context, also later."""
    if (
        len(words) > MAX_OBJECT_CHARS
        or len(words.split()) > MAX_OBJECT_WORDS
        or VAGUE.search(words)
    ):
        return False
    return not DANGLING.search(RELATIVE.sub("", words)) and not MOMENTARY.search(words)


NAME = re.compile(
    r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[A-Z][\w'.-]*"
    r"(?: (?:(?:de|der|den|van|von|da|di|del|la|bin|al) ){0,2}[A-Z][\w'.-]*){0,3}"
)
UNCAPPED_NAME = re.compile(r"[^\W\d_]{2,20}(?: [^\W\d_]{2,20})?")
NO_NAME = re.compile(rf"{WORDS['NO_NAME']}\b", re.I)


def is_name(words: str) -> bool:
    """True if the words can name a person or a pet."""
    if NO_NAME.match(words) or re.fullmatch(WORDS["NATIONALITY"], words, re.I):
        return False
    return NAME.fullmatch(words) is not None


def is_name_in_any_case(words: str) -> bool:
    """Like `is_name`, but also accepts names without capitals."""
    return is_name(words) or bool(UNCAPPED_NAME.fullmatch(words) and not NO_NAME.match(words))


PLACE = re.compile(
    r"(?:(?:the|downtown|central|north(?:ern)?|south(?:ern)?|east(?:ern)?|west(?:ern)?|upstate|rural"
    r"|suburban) )*[A-Z].*"
)
NO_PLACE = re.compile(rf"{WORDS['NO_PLACE']}\b.*|.*\d.*", re.I)
CAMEL = re.compile(r"[A-Z][a-z]+[A-Z]")


def is_place(words: str) -> bool:
    """True if the words can name a town or a country, judged by spelling."""
    if CAMEL.match(words) or NO_PLACE.fullmatch(words):
        return False
    return is_complete(words) and bool(PLACE.fullmatch(words))


KIND_OF_HOME = re.compile(
    rf"an? (?:[\w-]+ ){{0,3}}{WORDS['HOME']}\b.*|the (?:suburbs|countryside|mountains)", re.I
)


def is_kind_of_home(words: str) -> bool:
    return is_complete(words) and bool(KIND_OF_HOME.fullmatch(words))


TRADE = re.compile(rf"[\w-]*[a-z]{{2}}(?:er|or|ist|ian|eer|ress|man|woman)|{WORDS['TRADE']}", re.I)
NO_TRADE = re.compile(rf"\b{WORDS['NO_TRADE']}\b", re.I)
AFTER_HEAD = re.compile(
    r"(?: (?:at|in|for|with|from|who|working|of|and|on|by|specializing|based|living|to)\b|,).*"
)
ARTICLE = re.compile(r"^(?:an?|the|my|our) ", re.I)


def is_trade(words: str) -> bool:
    """True if the words describe a person by occupation, study or nature."""
    head = AFTER_HEAD.sub("", ARTICLE.sub("", words))
    if not head or len(head.split()) > 5 or NO_TRADE.search(head):
        return False
    ends = (" ".join(head.split()[-count:]) for count in (1, 2))
    return any(TRADE.fullmatch(end) for end in ends) and is_complete(words)


NO_LIVING = re.compile(rf"\b{WORDS['NO_LIVING']}\b", re.I)


def is_occupation(words: str) -> bool:
    """True for an occupation for a living, of which most people have only one."""
    return is_trade(words) and not NO_LIVING.search(AFTER_HEAD.sub("", words))


WORKPLACE = re.compile(r"(?:an?|the|my) .+|[A-Z].*|myself", re.S)
NO_WORKPLACE = re.compile(
    rf"(?:(?:an?|the|my) )?{WORDS['NO_WORKPLACE']}\b.*|.*\b(?:idea|project|pace)\b.*", re.I
)


def is_workplace(words: str) -> bool:
    fits = WORKPLACE.fullmatch(words) and not NO_WORKPLACE.fullmatch(words)
    return bool(fits) and is_complete(words)


def is_employer(words: str) -> bool:
    return words[:1].isupper() and is_workplace(words)


SUBJECT_OF_STUDY = re.compile(
    rf"(?:[\w-]+ )?{WORDS['SUBJECT_OF_STUDY']}(?: (?:at|in|and) .+)?", re.I
)


def is_study(words: str) -> bool:
    return is_complete(words) and bool(SUBJECT_OF_STUDY.fullmatch(words))


POINTING = re.compile(rf"{WORDS['POINTING']}\b")
PASSING = re.compile(rf"\b{WORDS['PASSING']}\b", re.I)


def is_liked(words: str) -> bool:
    """True for a thing in general; false for something just talked about."""
    return is_complete(words) and not POINTING.match(words) and not PASSING.search(words)


VAGUE_START = re.compile(rf"{WORDS['VAGUE_START']}\b", re.I)


def is_favourite(words: str) -> bool:
    return is_complete(words) and not VAGUE_START.match(words) and len(words.split()) <= 8


GOOD_INTENT = re.compile(rf"\b{WORDS['GOOD_INTENT']}\b", re.I)


def is_substantial(words: str) -> bool:
    """True if a goal is more than a good intention."""
    return is_complete(words) and len(words.split()) >= 3 and not GOOD_INTENT.search(words)


A_GROUP = re.compile(rf"(?:an?|the) (?:[\w'-]+ )+{WORDS['GROUP']}\b.*|(?:the )?[A-Z].*", re.S)


def is_group(words: str) -> bool:
    return is_complete(words) and bool(A_GROUP.fullmatch(words))


TRIVIAL = re.compile(rf"\b{WORDS['TRIVIAL']}\b", re.I)


def is_step(words: str) -> bool:
    """True for an important step in life, false for an errand."""
    slight = TRIVIAL.search(words) or GOOD_INTENT.search(words)
    return is_complete(words) and len(words.split()) >= 2 and not slight


def is_journey(words: str) -> bool:
    """True for a place that someone travelled to, false for an outing."""
    return is_place(words) and not TRIVIAL.search(words)


PASSING_RESOLVE = re.compile(rf"(?:not )?to {WORDS['PASSING_RESOLVE']}\b", re.I)


def is_resolve(words: str) -> bool:
    """True if a decision is about more than the day."""
    return is_substantial(words) and not PASSING_RESOLVE.match(words)


CHECKS: dict[str, Check] = {"any": bool} | {
    check.__name__: check
    for check in (
        is_complete, is_employer, is_favourite, is_group, is_journey, is_kind_of_home, is_liked,
        is_name, is_name_in_any_case, is_occupation, is_place, is_resolve, is_step, is_study,
        is_substantial, is_trade, is_workplace,
    )
}  # fmt: skip

MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
GAME = rf"(?:the )?{WORDS['GAME']}"
VOCABULARY = WORDS | {
    "W": "(?:I|we)",
    "ANSWERS": "(?:your |all your |all |the |my )?"
    "(?:answers|replies|responses|explanations|messages|summaries)",
    "CONDITION": "(?:(?:type (?:1|2|one|two)|severe|mild|chronic|seasonal|high|low|an?|bad"
    f"|really bad) )*{WORDS['CONDITION']}",
    "DATE": rf"(?:[\w ]*{MONTH}\b[^a-z]*\d[\w, ]*|(?:the )?\d\S* (?:of )?{MONTH}.{{0,6}}"
    r"|\d{1,4}[/.-]\d\S*)",
    "DESCRIBED": r"(?: [\w'-]+){0,3}?",
    "DIET": f"(?:strict |lifelong )?{WORDS['DIET']}",
    "GAME": GAME,
    "KIN": "(?:(?:older|younger|elder|little|big|eldest|oldest|youngest|late|best|twin|step|half)"
    f"[ -]?)?{WORDS['KIN']}",
    "LIKING_OF": "(?P<how>(?:to (?:eat|drink|cook|wear|read)|eating|drinking|smoking|wearing) )?",
    "NO_FAVOURITE": r"(?!(?:\w+ )?(?:part|things?|memory|memories|moments?|scene|way|bit|aspect"
    r"|one)\b)",
    "SCHOOL": "(?:the )?(?-i:[A-Z]).*(?:university|college|school|institute|academy).*"
    "|(?-i:[A-Z]{3,5})"
    "|(?:an? |the )?(?:high school|college|university|law school|medical school|grad school).*",
    "SKILL": rf"(?:{WORDS['LANGUAGE']}|{GAME}|(?:how )?to (?!{WORDS['INWARD']}\b)\w+ .+"
    "|to (?:drive|swim|cook|code|sew|knit|dance|ski|surf))",
    "SPAN": "(?:(?:for|over|going on) "
    "(?:(?:over|about|almost|nearly|more than|around|the past|the last) )*"
    r"(?:a decade|a while|\w+\+? (?:years|months)|years|decades|most of my life|my whole life)"
    r"(?: now)?|since (?:I was .+|\d{4}|childhood|college|high school|birth|university))",
    "STANDING": "(?:from now on|in (?:the )?future|going forward|from here on(?: out)?)",
    "WHICH": "(?:(?:,| and| named| called| aged| from| who (?:is|are)) .+)?",
}
