"""The table of statement patterns: wordings, the content they become, and its predicate."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from re import Pattern

from remembrancer.learn.rules.vocabulary import (
    ANIMAL,
    ANSWERS,
    BIG_STEP,
    BOSS,
    CHILDREN,
    CONDITION,
    COUNT,
    DATE,
    DESCRIBED,
    DIET,
    FIELD,
    GAME,
    JOURNEY,
    KIN,
    LANGUAGE,
    LIKING_OF,
    NATIONALITY,
    NATURE,
    NEVER_USE,
    NO_FAVOURITE,
    PARTNER,
    PHOBIA,
    POSSESSION,
    SCHOOL,
    SIBLINGS,
    SKILL,
    SOLE,
    SPAN,
    STILL_OPEN,
    TASTE,
    TO_AN_ASSISTANT,
    WHICH,
    Check,
    any_of,
    is_complete,
    is_employer,
    is_favourite,
    is_group,
    is_journey,
    is_kind_of_home,
    is_liked,
    is_name,
    is_name_in_any_case,
    is_occupation,
    is_place,
    is_resolve,
    is_step,
    is_study,
    is_substantial,
    is_trade,
    is_workplace,
)
from remembrancer.types import Permanence


@dataclass(frozen=True, slots=True)
class MemoryDefaults:
    """Values of the memories that several patterns produce."""

    category: str
    permanence: Permanence
    importance: float | None = None
    confidence: float = 0.85


@dataclass(frozen=True, slots=True)
class StatementPattern:
    """Patterns for one statement, and the memory to make of it.

    `{x}` in the content is the matched text in the third person; in the predicate it is the topic.
    `check` accepts or refuses the matched text.
    """

    defaults: MemoryDefaults
    content: str
    predicate: str | None
    check: Check
    patterns: tuple[str, ...]


def _row(
    defaults: MemoryDefaults, content: str, predicate: str | None, check: Check, *patterns: str
) -> StatementPattern:
    return StatementPattern(defaults, content, predicate, check, patterns)


@cache
def compile_pattern(wording: str) -> Pattern[str]:
    """Compile a wording to a regular expression.

    `<x>` matches any words, `<KIN>` an entry of the vocabulary, and `<role:KIN>` the same as a
    named group. Parentheses only group.
    """
    plain = re.sub(r"\((?!\?)", "(?:", re.sub("(?<!P)<x>", "(?P<x>.+)", wording))
    named = re.sub(r"<([a-z]+):([A-Z_]+)>", r"(?P<\1><\2>)", plain)
    return re.compile(re.sub(r"<([A-Z_]+)>", lambda word: VOCABULARY[word[1]], named), re.I)


STABLE, STANDARD, VOLATILE = Permanence.STABLE, Permanence.STANDARD, Permanence.VOLATILE
BIRTH = MemoryDefaults("profile", Permanence.PERMANENT, 8, 0.95)
PROFILE = MemoryDefaults("profile", STABLE, 8, 0.9)
AGE = MemoryDefaults("profile", STANDARD, 7, 0.9)
HEALTH = MemoryDefaults("profile", Permanence.PERMANENT, 9, 0.95)
RELATIONSHIP = MemoryDefaults("relationship", STABLE, 6, 0.9)
PREFERENCE = MemoryDefaults("preference", STABLE)
HABIT = MemoryDefaults("preference", STABLE, None, 0.8)
FACT = MemoryDefaults("fact", STANDARD)
EVENT = MemoryDefaults("event", STANDARD, None, 0.8)
PLAN = MemoryDefaults("event", VOLATILE, None, 0.8)
DECISION = MemoryDefaults("decision", STABLE, None, 0.8)
INSTRUCTION = MemoryDefaults("instruction", STABLE, 7, 0.9)
CORRECTION = MemoryDefaults("correction", STABLE, None, 0.75)

STANDING = "(?:from now on|in (?:the )?future|going forward|from here on(?: out)?)"

VOCABULARY = {
    "W": "(?:I|we)",
    "ANIMAL": ANIMAL,
    "BIG_STEP": BIG_STEP,
    "BOSS": BOSS,
    "CHILDREN": CHILDREN,
    "CONDITION": CONDITION,
    "COUNT": COUNT,
    "DATE": DATE,
    "DESCRIBED": DESCRIBED,
    "DIET": DIET,
    "FIELD": FIELD,
    "GAME": GAME,
    "JOURNEY": JOURNEY,
    "KIN": KIN,
    "LANGUAGE": LANGUAGE,
    "LIKING_OF": LIKING_OF,
    "NATIONALITY": NATIONALITY,
    "NATURE": NATURE,
    "NO_FAVOURITE": NO_FAVOURITE,
    "PARTNER": PARTNER,
    "PHOBIA": PHOBIA,
    "POSSESSION": POSSESSION,
    "SCHOOL": SCHOOL,
    "SIBLINGS": SIBLINGS,
    "SOLE": SOLE,
    "SKILL": SKILL,
    "SPAN": SPAN,
    "STILL_OPEN": STILL_OPEN,
    "TASTE": TASTE,
    "WHICH": WHICH,
    "ANSWERS": ANSWERS,
    "NEVER_USE": NEVER_USE,
    "TO_AN_ASSISTANT": TO_AN_ASSISTANT,
    "STANDING": STANDING,
}

# A row a line reads better than what the formatter makes of it.
# fmt: off
STATEMENT_PATTERNS: tuple[StatementPattern, ...] = (
    # Who they are
    _row(BIRTH, "Name is {x}", "name", is_name_in_any_case,
         "my (full |first |real )?name is (?P<x>.+?)(,? not .+)?"),
    _row(BIRTH, "Name is {x}", "name", is_name, "I am (called|named) <x>"),
    _row(BIRTH, "Is {x}, {y}", "name", is_name, "I am (?P<x>[^,]+), (?P<y>an? .+)"),
    _row(AGE, "Is {x}", None, is_complete, r"I am (?P<x>an? \d+[- ]years?[- ]old .+)"),
    _row(PROFILE, "Is called {x}", "nickname", is_name,
         "(please |just |you can )*call me <x>",
         "I go by <x>",
         "my nickname is <x>"),
    _row(PROFILE, "Is called {x} by {who}", "nickname", is_name,
         "(my )?(?P<who>friends|family|everyone|everybody|people|colleagues)( all)? calls? me <x>"),
    _row(AGE, "Is {x} years old", "age", is_complete,
         r"I (am|turned) (?P<x>\d{1,3}) years old",
         r"I (am|turned) (?P<x>[1-9]\d)"),
    _row(BIRTH, "Birthday is {x}", "birthday", is_complete,
         "my (birthday|date of birth) is (on )?<x:DATE>"),
    _row(BIRTH, "Was born on {x}", "birthday", is_complete, "I was born on <x:DATE>"),
    _row(BIRTH, "Was born in {x}", "birth_year", is_complete,
         r"I was born in (?P<x>(\w+ )?\d{4})"),
    _row(BIRTH, "Was born in {x}", "birthplace", is_place, "I was born (and raised )?in <x>"),
    _row(BIRTH, "Grew up in {x}", "childhood_home", is_place, "<W> grew up in <x>"),
    _row(BIRTH, "Is from {x}", "origin", is_place, "I (am|come)( originally)? from <x>"),
    _row(BIRTH, "Is {x}", "nationality", is_complete, "I am (?P<x>(half[- ])?<NATIONALITY>)"),
    _row(PROFILE, "Is {x}", "diet", is_complete, "I (am|went) (an? )?<x:DIET>"),
    _row(PROFILE, "Follows a {x} diet", "diet", is_complete,
         "I (am on|follow|eat) an? <x:DIET> diet"),
    _row(PROFILE, "Is no longer {x}", "diet", is_complete,
         "I am no longer (an? )?<x:DIET>",
         "I am not (an? )?<x:DIET> any ?more"),
    _row(BIRTH, "Is {x}", None, is_complete, "I am <x:NATURE>"),
    _row(PROFILE, "Is {x}", "marital_status", is_complete,
         "I am (happily |recently |newly )?(?P<x>married|single|divorced|widowed|engaged)",
         "<W> (are|got) (happily |recently )?(?P<x>married|engaged|divorced)"),
    _row(RELATIONSHIP, "Is married to {x}", "partner", is_name, "I am married to <x>"),
    _row(PROFILE, "Speaks {x}", None, is_complete,
         "I speak (?P<x>(fluent |some |native )?<LANGUAGE>((, and|,| and) (some )?<LANGUAGE>)*)("
         " fluently)?"),
    _row(BIRTH, "Native language is {x}", "native_language", is_complete,
         "my (native language|first language|mother tongue) is <x:LANGUAGE>"),
    _row(PROFILE, "Time zone is {x}", "time_zone", is_complete,
         r"my time ?zone is (?P<x>[\w/+:-]+( [\w+:-]+){0,2})"),
    _row(PROFILE, "Pronouns are {x}", "pronouns", bool, r"my pronouns are (?P<x>\w+(/\w+)+)"),
    _row(PROFILE, "Has been {x}", "diet", is_complete,
         "I have been (?P<x>(an? )?<DIET>( <SPAN>)?)"),
    # Health
    _row(HEALTH, "Is allergic to {x}", "allergy {x}", is_complete,
         "I am (very |severely |deathly |highly )?allergic to <x>"),
    _row(HEALTH, "Is not allergic to {x}", "allergy {x}", is_complete,
         "I am (not|no longer) allergic to <x>"),
    _row(HEALTH, "Is intolerant of {x}", "allergy {x}", is_complete,
         "I am intolerant (of|to) <x>"),
    _row(HEALTH, "Is {x} intolerant", "allergy {x}", is_complete,
         "I am (?P<x>[a-z]+)[- ]intolerant"),
    _row(HEALTH, "Has {x}", "has {x}", is_complete,
         "I (have|have had|live with|suffer from) <x:CONDITION>( <SPAN>)?",
         "I (was|got|have been) diagnosed with <x:CONDITION>( .+)?"),
    _row(PROFILE, "Is afraid of {x}", "afraid of {x}", is_complete,
         "I am (very |so )?(afraid|scared|terrified) of <x:PHOBIA>"),
    # Home and work
    _row(PROFILE, "Lives in {x}", "home", is_place,
         "<W> (live|am living|are living|am based|are based) in <x>"),
    _row(PROFILE, "Moved to {x}", "home", is_place,
         "<W> (have )?(moved|relocated)( back| here| from [^,]+?)? to <x>"),
    _row(PROFILE, "Has been {x}", "home", is_complete,
         "I have been (?P<x>living in (the )?(?-i:[A-Z]).+)"),
    _row(PROFILE, "Lives in {x}", None, is_kind_of_home, "<W> (live|am living|are living) in <x>"),
    _row(PROFILE, "Lives {x}", None, is_complete,
         "I live (?P<x>alone|by myself|with (my|two|three|a) .+|near (?-i:[A-Z]).+|on a .+)"),
    _row(PROFILE, "No longer lives in {x}", "home", is_place,
         "I no longer live in <x>",
         "I do not live in <x> any ?more"),
    _row(PROFILE, "Works {at} {x}", "employer", is_workplace,
         "I (work|am working) (?P<at>at|for) <x>"),
    _row(PROFILE, "Has been working {at} {x}", "employer", is_workplace,
         "I have been working (?P<at>at|for) <x>"),
    _row(PROFILE, "Works as {x}", "occupation", is_trade, "I (work|am working|am employed) as <x>"),
    _row(PROFILE, "Works from home", "workplace", is_complete,
         "I (?P<x>work (from home|remotely))( full[- ]time)?"),
    _row(PROFILE, "Works in {x}", "field_of_work", is_complete,
         "I work in (?P<x>([a-z]+ )?<FIELD>( (at|for) .+)?)"),
    _row(PROFILE, "Started working at {x}", "employer", is_employer,
         "I (have )?started (working |a (new )?job |my new job )?at <x>",
         "I got a (new )?job (at|with) <x>"),
    _row(PROFILE, "No longer works {at} {x}", "employer", is_workplace,
         "I no longer work (?P<at>at|for) <x>",
         "I do not work (?P<at>at|for) <x> any ?more",
         "I (quit|left) my job (?P<at>at) <x>"),
    _row(PROFILE, "Lost their job {x}", "employer", is_complete,
         "I (have )?lost my job(?P<x>( (as|at) .+)?)"),
    _row(PROFILE, "Was promoted to {x}", "occupation", is_complete,
         "I (was|got|have been|have just been) promoted to <x>"),
    _row(PROFILE, "Works as {x}", "occupation", is_trade,
         "my (job|occupation|profession|job title) is <x>"),
    _row(AGE, "Is {x}", "occupation", is_complete,
         "I am (?P<x>unemployed|between jobs|on parental leave|on maternity leave)"),
    _row(PROFILE, "Is retired", "occupation", is_complete, "I (am|have) (?P<x>retired)"),
    _row(PROFILE, "Is {x}", "occupation", is_occupation, "I (am|have become|became) (?P<x>an? .+)"),
    _row(PROFILE, "Is {x}", None, is_trade, "I (am|have become|became) (?P<x>an? .+)"),
    _row(AGE, "Studies {x}", "studies", is_study,
         "I (study|am studying|major in|am majoring in) <x>"),
    _row(AGE, "Goes to {x}", "school", is_complete, "I (go to|attend) <x:SCHOOL>"),
    _row(BIRTH, "Graduated from {x}", None, is_place, "I (have )?graduated from <x>"),
    _row(BIRTH, "Has {x}", None, is_complete,
         r"I (have|got|earned|hold) (?P<x>an? (\w+ )?(degree|phd|master's|bachelor's|mba"
         "|doctorate)( degree)? (in|from) .+)"),
    _row(FACT, "Volunteers {x}", None, is_complete,
         "I (volunteer|am volunteering) (?P<x>(at|for|with|as) .+)"),
    _row(FACT, "Owns {x}", None, is_complete, r"<W> own (?P<x>(an?|two|three|my own|\d+) .+)"),
    _row(PROFILE, "Runs {x}", None, is_complete,
         r"I run (?P<x>(an?|my own) ([\w-]+ ){0,3}(business|company|shop|store|studio|bakery"
         "|restaurant|cafe|agency|farm|school|startup|blog|channel|podcast|club|group))"),
    # The people and animals around them
    _row(RELATIONSHIP, "{role} is {x}", "partner", is_name,
         "my <role:PARTNER>('s name)? is (called |named )?<x>"),
    _row(RELATIONSHIP, "{role} is {x}", "manager", is_name,
         "my (new |current )?<role:BOSS>('s name)? is (called |named )?<x>"),
    _row(RELATIONSHIP, "{role} is {x}", "{role}", is_name,
         "my (new |current )?<role:SOLE>('s name)? is (called |named )?<x>"),
    _row(RELATIONSHIP, "{role} is called {x}", None, is_name,
         "(my|our) <role:KIN>('s name)? is (called |named )?<x>"),
    _row(RELATIONSHIP, "{role} is {x}", None, is_trade,
         "(my|our) (?P<role><KIN>|<PARTNER>|<BOSS>) is (?P<x>an? .+)"),
    _row(RELATIONSHIP, "{role} {does} {x}", None, is_place,
         "(my|our) (?P<role><KIN>|<PARTNER>) (?P<does>lives in|is from|moved to) <x>"),
    _row(RELATIONSHIP, "{role} {does} {x}", None, is_workplace,
         "(my|our) (?P<role><KIN>|<PARTNER>) (?P<does>works at|works for|works as) <x>"),
    _row(RELATIONSHIP, "{role} is allergic to {x}", None, is_complete,
         "(my|our) (?P<role><KIN>|<PARTNER>) is allergic to <x>"),
    _row(RELATIONSHIP, "Has {x}", "children", is_complete,
         "<W> have (?P<x><COUNT><DESCRIBED> <CHILDREN><WHICH>)"),
    _row(RELATIONSHIP, "Has {x}", None, is_complete,
         "<W> have (?P<x><COUNT><DESCRIBED> (<SIBLINGS>|<ANIMAL>)<WHICH>)"),
    _row(RELATIONSHIP, "{did} {x}", None, is_complete,
         "<W> (have )?(?P<did>adopted|rescued|got) (?P<x>(another|<COUNT>)<DESCRIBED>"
         " <ANIMAL><WHICH>)"),
    _row(RELATIONSHIP, "Has {x}", None, is_complete,
         r"I have (?P<x>an? (\w+ )?<PARTNER>(( named| called|,) .+)?)"),
    # Tastes and habits
    _row(PREFERENCE, "Favorite {what} is {x}", "favorite {what}", is_favourite,
         r"my (all-time |absolute )?(favou?rite|fave) <NO_FAVOURITE>(?P<what>[\w' -]{2,40}?) (is"
         "|has to be|has always been) <x>"),
    _row(PREFERENCE, "Favorite {what} are {x}", "favorite {what}", is_favourite,
         r"my (all-time |absolute )?(favou?rite|fave) <NO_FAVOURITE>(?P<what>[\w' -]{2,40}?) are"
         " <x>"),
    _row(PREFERENCE, "Prefers {x} to {y}", "prefers {pair}", is_liked,
         "I prefer (?P<x>.+?) (over|rather than|instead of) (?P<y>.+)",
         r"I prefer (?P<x>\w+( \w+)?) to (?P<y>\w+( \w+)?)"),
    _row(PREFERENCE, "Prefers {x} {what}", "answers", is_complete,
         r"I prefer (?P<x>[\w -]+?) (?P<what>answers|replies|responses|explanations|summaries)"),
    _row(PREFERENCE, "{does} {how}{x}", "likes {x}", is_liked, "<W> <does:TASTE> <LIKING_OF><x>"),
    _row(PREFERENCE, "No longer {does} {how}{x}", "likes {x}", is_liked,
         "I no longer (?P<does>like|love|enjoy|prefer|eat|drink) <LIKING_OF><x>",
         "I do not (?P<does>like|love|enjoy|eat|drink) <LIKING_OF>(?P<x>.+?) any ?more"),
    _row(PREFERENCE, "{often} {does} {x}", "likes {x}", is_liked,
         "I (?P<often>always|never) (?P<does>eat|drink|smoke) <x>"),
    _row(
        PREFERENCE, "Does not drink", "likes drinking", is_complete,
        "I (do not|never) (?P<x>drink)"
    ),
    _row(
        PREFERENCE, "Does not smoke", "likes smoking", is_complete,
        "I (do not|never) (?P<x>smoke)"
    ),
    _row(PREFERENCE, "Does not {verb} {how}{x}", "likes {x}", is_liked,
         "I do not (?P<verb>like|love|enjoy|eat|drink|smoke) <LIKING_OF><x>"),
    _row(PREFERENCE, "Cannot stand {how}{x}", "likes {x}", is_liked,
         "I cannot (stand|bear) <LIKING_OF><x>"),
    _row(PREFERENCE, "Is a fan of {x}", "likes {x}", is_liked,
         "I am an? (big |huge |massive |great |lifelong |long-time )*fan of <x>"),
    _row(PREFERENCE, "Is not a fan of {x}", "likes {x}", is_liked,
         "I am not (an? )?(big |huge )?fan of <x>"),
    _row(PREFERENCE, "Is {keen} {x}", "likes {x}", is_liked,
         "I am (very |super |so )?(?P<keen>into|passionate about|fond of|obsessed with|keen on)"
         " <x>"),
    _row(PREFERENCE, "Stopped {doing} {x}", "likes {x}", is_liked,
         "I (have )?(stopped|quit|gave up|given up) (?P<doing>eating|drinking|liking|smoking) <x>"),
    _row(PREFERENCE, "Quit {x}", "likes {x}", is_complete,
         "I (have )?(stopped|quit|gave up|given up) (?P<x>smoking|drinking|alcohol|coffee|meat"
         "|sugar|caffeine|dairy|gluten)"),
    _row(HABIT, "{often} {does} {x}", "habit {does} {x}", is_complete,
         "I (?P<often>always|never|usually) (?P<does>eat|drink|take|ride|wear|use|buy|drive"
         "|read|travel|sleep|skip|cook|work|carry|pay|fly|go|wake|get up|watch|listen|walk|run"
         "|order|smoke)"
         " (?P<x>.+)"),
    _row(HABIT, "{does} {x} {when}", None, is_complete,
         "I (?P<does>go|run|swim|walk|cycle|bike|meditate|practi[cs]e|exercise|work out|train"
         "|read|play|cook|volunteer|jog|hike|paint|write|do yoga|do|attend|take)(?P<x> .+?|)"
         " (?P<when>every (single )?(day|morning|evening|night|week|weekend|month|summer|winter"
         r"|year|\w+day)|(once|twice|three times|four times|five times|\d times) (a|per) (day"
         r"|week|month|year)|on \w+days)"),
    _row(PROFILE, "Plays {x}", "plays {x}", is_complete, "I play <x:GAME>( .+)?"),
    _row(PROFILE, "Has been {x}", None, is_complete,
         r"I have been (?P<x>(?!<STILL_OPEN>\b)\w+ing (?!for\b|since\b)\w.* <SPAN>)",
         "I have been (?P<x>into .+ <SPAN>)",
         "I have been (?P<x>(volunteering|teaching|studying|living|training|interning"
         "|freelancing) (at|in|as|with) .+)"),
    _row(PROFILE, "Has been {x}", None, is_trade, "I have been (?P<x>an? .+)"),
    _row(FACT, "Is {learning} {x}", "learning {x}", is_complete,
         "I (am|have been|have started|started) (?P<learning>learning) <x:SKILL>",
         "I am (?P<learning>trying to learn) <x:SKILL>"),
    _row(FACT, "Uses {x} for {y}", "tool for {y}", is_complete,
         "(I|we) use (?P<x>(?-i:[A-Z]).*?) for (?P<y>.+)"),
    _row(FACT, "No longer uses {x}", "uses {x}", is_complete,
         "(I|we) no longer use <x>",
         "(I|we) do not use <x> any ?more"),
    _row(PREFERENCE, "Has always {loved} {x}", "likes {x}", is_liked,
         "I have always (?P<loved>loved|enjoyed|liked|hated|preferred|been into"
         "|been a fan of) <x>"),
    _row(
        PREFERENCE, "Has always wanted to {x}", None, is_substantial,
        "I have always wanted to <x>"),
    _row(PREFERENCE, "{x} is their {what}", "{what}", is_liked,
         r"(?P<x>[\w-]+( [\w-]+){0,3}) (is|has always been) my "
         r"(?P<what>favou?rite <NO_FAVOURITE>\w+|dream job|go-to \w+)"),
    _row(PREFERENCE, "{x} is their {what}", "likes {x}", is_liked,
         r"(?P<x>[\w-]+( [\w-]+){0,3}) (is|has always been) my (biggest |true |greatest |real )?"
         "(?P<what>passion|hobby)"),
    _row(PREFERENCE, "{what} is {x}", None, is_liked,
         "my (biggest |true |greatest )?(?P<what>passion|hobby) is <x>"),
    _row(PREFERENCE, "Hobbies include {x}", "hobbies", is_liked, "my hobbies (are|include) <x>"),
    _row(PREFERENCE, "Collects {x}", "collects {x}", is_liked, "I collect <x>"),
    _row(RELATIONSHIP, "{role} {verb} {x}", None, is_liked,
         "(my|our) (?P<role>kids|children|parents|<KIN>|<PARTNER>) (?P<verb>loves?|likes?|hates?"
         "|enjoys?) <x>"),
    _row(RELATIONSHIP, "{role} {died}", None, is_complete,
         "my (?P<role>(?P<x><KIN>|<PARTNER>)) (has )?(?P<died>passed away|died)"),
    _row(PROFILE, "Teaches {x}", None, is_liked, "I teach <x>"),
    _row(PROFILE, "Is a member of {x}", None, is_group, r"I am (an? )?(\w+ )?(member|part) of <x>"),
    _row(FACT, "Has {x}", None, is_complete,
         r"I have (?P<x>an? ([\w.-]+ ){1,5}<POSSESSION>( (with|from|named) .+)?)"),
    _row(FACT, "Car is {x}", "car", is_complete, "my car is (?P<x>an? .+)"),
    _row(PROFILE, "Email address is {x}", "email", is_complete,
         r"my e-?mail( address)? is (?P<x>[^\s@]+@[^\s@]+)"),
    _row(PROFILE, "Phone number is {x}", "phone_number", is_complete,
         r"my (phone|mobile|cell)( number)? is (?P<x>[\d +()-]{6,20})"),
    _row(FACT, "Drives {x}", "car", is_complete, "I drive (?P<x>an? .*(?-i:[A-Z]).*)"),
    _row(EVENT, "Grew up {x}", None, is_complete, "I grew up (?P<x>(with|speaking|on an?) .+)"),
    _row(EVENT, "{did} {x}", None, is_step,
         "(I|we) (have )?(?P<did>joined|opened|launched|founded|enrolled in|signed up for|got"
         " accepted (for|to|into)|won|published|started|became|adopted) (?P<x>(an?|my own|our"
         " own|my first|our first) .+)"),
    _row(EVENT, "Started {x}", None, is_step,
         "I (have )?started (?P<x>(taking|learning|volunteering|teaching|playing|practicing"
         "|studying|training|attending|coaching|going to|writing an?|doing yoga|running) .+)"),
    _row(EVENT, "Went to {x}", None, is_journey,
         "<W> (have )?(visited|went to|traveled to|travelled to|flew to|been to|took a trip to)"
         " <x>"),
    _row(EVENT, "Bought {x}", None, is_complete,
         r"(I|we) (have )?bought (?P<x>(an?|my first|our first) ([\w-]+ ){0,3}(house|home"
         "|apartment|flat|condo|car|truck|boat|farm|motorcycle|van|piano|cottage|cabin)( in"
         " .+)?)"),
    # Decisions, plans, instructions, corrections
    _row(DECISION, "{did} {x}", None, is_resolve,
         "<W> (have )?(finally )?(?P<did>decided) (?P<x>(to|on|against|not to) .+)",
         "<W> (have )?(?P<did>agreed) (?P<x>(to|on) .+)"),
    _row(DECISION, "Decided to go with {x}", None, is_liked,
         "let us go with (?P<x>(?-i:[A-Z]).+|.+ for .+)",
         "<W> (have decided to go|decided to go|are going|am going) with (?P<x>(?-i:[A-Z]).+)"),
    _row(PLAN, "{what} is {x}", None, is_substantial,
         "my (?P<what>(career|long-term|life|personal|ultimate|biggest|lifelong) (goal|dream"
         "|ambition)|dream|ambition) is (?P<x>to .+)",
         "my (?P<what>goal) is (?P<x>to <BIG_STEP>.*)"),
    _row(PLAN, "Plans {x}", None, is_substantial,
         "<W> (am|are) (planning|going|hoping) (?P<x>to <BIG_STEP>.*)",
         "<W> plan (?P<x>to <BIG_STEP>.*)"),
    _row(PLAN, "Is planning {x}", None, is_complete,
         r"<W> (am|are) planning (?P<x>(an?|my|our) ([\w-]+ ){0,4}<JOURNEY>\b.* (?-i:[A-Z]).+)",
         r"<W> (am|are) planning (?P<x>(my|our) (\w+ )?(wedding|retirement|honeymoon)\b.*)"),
    _row(PLAN, "Is {x}", None, is_complete, "I am (?P<x>pregnant)( with .+)?"),
    _row(PLAN, "Is getting {x}", None, is_complete, "<W> (am|are) getting (?P<x>married.*)"),
    _row(PLAN, "Is moving to {x}", None, is_place, "<W> (am|are) (moving|relocating) to <x>"),
    _row(PLAN, "Is training for {x}", None, is_complete,
         "I am training for (?P<x>(an?|my|the) .+)"),
    _row(PLAN, "Is saving up for {x}", None, is_complete,
         "(I|we) (am|are) saving (up )?for (?P<x>(an?|my|our) .+)"),
    _row(PLAN, "Is expecting {x}", None, is_complete,
         "(I|we) (am|are) expecting (?P<x>(a baby|our .+ child|twins|a boy|a girl|a son|a"
         " daughter).*)"),
    _row(CORRECTION, "Meant {x}, not {y}", None, is_complete,
         "I meant (?P<x>[^,]{2,40}),? (and )?not (?P<y>[^,]{2,40})"),
)
# fmt: on

APPOSITION = re.compile(
    rf"\b(?:my|our) (?P<role>{KIN}|{PARTNER}|{BOSS})"
    r"(?: (?:named |called )?(?P<name>(?-i:[A-Z][a-z]{2,15}(?: [A-Z][a-z]{2,15})?))"
    r"(?!['’\w-]| (?-i:[A-Z]))"
    r"|, (?P<apart>(?-i:[A-Z][a-z]{2,15}))(?=[.!?]?$|, (?!and\b|or\b)))",
    re.I,
)
NO_GIVEN_NAME = re.compile(
    any_of("""
    the and but mom mum dad god lord santa christmas thanksgiving easter halloween english french
    spanish german instagram facebook google amazon thanks what when how yes also just really hey
    (?:mon|tues|wednes|thurs|fri|satur|sun)day january february march april may june july august
    september october november december not now then here american team please mrs? ms dr prof
    """),
    re.I,
)

INSTRUCTIONS = (
    r"(please )?<STANDING>,? (please )?(always |never )?<TO_AN_ASSISTANT>\b.+",
    r"(please )?(always|never) <TO_AN_ASSISTANT>\b.+",
    r"(please )?<TO_AN_ASSISTANT>\b.+ <STANDING>",
    "(whenever|every time|each time|any time|when) I (ask|say|write|send|mention|request|use) "
    r".+, (please )?(always |never )?<TO_AN_ASSISTANT>\b.+",
    r"(please )?(keep|make) <ANSWERS> \w.*",
    r"(please )?(do not|never|avoid|stop) us(e|ing) <NEVER_USE>\b.*",
    "I (want|need) you to (always|never) .+",
)
INSTRUCTION_KEYS: tuple[tuple[str, Pattern[str]], ...] = (
    (
        "answer_language",
        re.compile(rf"\b(?:answer|respond|reply|write|speak|talk)\b.* in {LANGUAGE}\b", re.I),
    ),
    ("answers", re.compile(rf"\b(?:keep|make) {ANSWERS}\b", re.I)),
)
