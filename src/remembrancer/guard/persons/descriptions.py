"""Detects a particular person who is described rather than named, in ASCII bytes.

The sentence must say something about the one who has a role (leave, health, home, taste, habit,
mood, pay, family). What a role does in a process is a fact about the organisation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from remembrancer.guard.patterns import compile_pattern, one_of, word_set

_CLEAR_ROLES = one_of(
    "ceo cto cfo coo cio cmo cpo ciso vp svp president chairman chairwoman chairperson director "
    "manager boss supervisor foreman forewoman lead leader chief officer founder co-?founder "
    "secretary treasurer coordinator administrator receptionist intern trainee apprentice hire "
    "newcomer employee teammate colleague co-?worker engineer developer programmer designer "
    "architect tester analyst scientist researcher consultant contractor freelancer technician "
    "electrician plumber carpenter welder painter mason courier janitor cleaner caretaker cook "
    "chef baker waiter waitress barista bartender butcher sommelier doctor nurse midwife "
    "surgeon dentist pharmacist therapist psychologist vet veterinarian physician paramedic "
    "radiologist cardiologist teacher tutor trainer professor lecturer headmaster headteacher "
    "lawyer attorney counsel solicitor notary prosecutor paralegal accountant auditor "
    "bookkeeper banker author journalist photographer illustrator copywriter soloist violinist "
    "singer pianist drummer cellist organist actor actress dancer choreographer dramaturg "
    "farmer gardener vintner shepherd captain skipper sailor steward stewardess salesman "
    "saleswoman salesperson cashier clerk buyer purchaser recruiter dispatcher pastor priest "
    "vicar imam rabbi sexton mayor councillor librarian archivist curator firefighter policeman "
    "policewoman soldier landlord landlady neighbou?r roommate flatmate volunteer scrum_master "
    "concertmaster product_owner goalkeeper referee porter guide violist bassist flautist "
    "footballer athlete lifeguard security_guard production_planner stylist hairdresser tailor "
    "seamstress butler nanny babysitter au_pair housekeeper maid bookseller optician "
    "nutritionist dietitian physiotherapist social_worker case_worker postman postwoman "
    "bus_driver taxi_driver truck_driver train_driver co-?pilot lab_assistant "
    "teaching_assistant personal_assistant bass_player guitar_player chair_of_the_board roofer "
    "plasterer tiler locksmith surveyor estate_agent travel_agent beekeeper brewer winemaker "
    "cheesemaker forester fisherman miner principal assistant_coach head_coach"
)
# Words for persons that also mean software or a party to a contract.
_AMBIGUOUS_ROLES = one_of(
    "client customer user driver agent operator assistant guest patient member owner planner "
    "controller broker partner applicant candidate tenant worker speaker reviewer master "
    "editor writer interpreter translator conductor pilot guard mechanic coach student pupil judge"
)
_SOMEONE = one_of("someone somebody")
_PERSON = one_of("person guy man woman girl boy lady gentleman bloke chap fellow friend")
_COLLEAGUES = word_set(
    """teammate colleague coworker co-worker member person guy man woman girl boy lady gentleman
    bloke chap fellow friend neighbour neighbor roommate flatmate someone somebody"""
)
_SOFTWARE_MANAGERS = word_set(
    """account boot cache cluster config configuration connection content context cookie dependency
    device display download event extension file job key layout license lock memory network object
    package password permission plugin pool power process queue resource secret secrets service
    session state storage tag task theme transaction version volume window workflow engine auth
    database db test search lexical"""
)
_ANY_ROLE = r"[a-z]{3,20}(?:er|or|ist|ian|ant|man|woman|ess)"
_HEAD = r"head[ ]of[ ][a-z]+(?:[ ]and[ ][a-z]+)?"
_ROLE = (
    rf"(?i)(?:^|[^A-Za-z0-9-])(?:({_CLEAR_ROLES}|{_PERSON}|{_SOMEONE}|{_HEAD})"
    rf"|({_AMBIGUOUS_ROLES}|{_ANY_ROLE}))"
    r"(?:$|[^A-Za-z0-9_-])"
)
_ONE_OF_MANY = (
    rf"(?i)\b(?:one|another|[a-z]+e?st|older|younger|[a-z]+er)[ ](?:one[ ])?of[ ](?:the|our)[ ]"
    rf"(?:[a-z-]+[ ]){{0,3}}?(?:{_CLEAR_ROLES}|team[ ]member|{_PERSON})s?\b|"
    r"(?i)\b(?:one|another)[ ]of[ ](?:us|the[ ](?:team|crew|staff))\b"
)

_OPENS = r"^(?:[ ](?:of|in|from|for|at|on|with|to)(?:[ ][A-Za-z0-9'-]+){1,4}?){0,2}"
_RELATIVE = r"(?:[ ](?:who|that)(?:[ ][A-Za-z0-9'-]+){1,6}?)?"
_ADVERB = (
    r"(?:[ ](?:always|never|often|usually|currently|still|also|only|just|again|very|rather|quite"
    r"|a[ ]bit|too|so|already|now|mostly|sometimes|not|both|[a-z]+ly))*"
)
_START = rf"(?i){_OPENS}{_RELATIVE},?(?:[ ](?:who|that))?{_ADVERB}[ ]"
_BE = rf"(?:is|was|has[ ]been|had[ ]been|will[ ]be|got|gets|is[ ]getting){_ADVERB}[ ]"
_HAVE = r"(?:has|had|suffers[ ]from|got)[ ](?:[a-z0-9-]+[ ]){0,4}?"
_DAY = one_of("mondays? tuesdays? wednesdays? thursdays? fridays? saturdays? sundays?")
_MONTH = one_of(
    "january february march april may june july august september october november december"
)
_END = r"(?:$|[^A-Za-z0-9_-])"

_PHRASE_END = (
    r"(?:$|[^A-Za-z0-9_ -]|[ ](?:and|but|since|after|so|because|which|that|in|from|until|till|this"
    r"|last|next|to|at|for|again|with|on|today|now|due)\b)"
)
_CONDITIONS = one_of(
    "(?:out|off|home|away)_(?:sick|ill) ill unwell pregnant diabetic dyslexic autistic depressed "
    "burne?[dt]_out injured hospitali[sz]ed hard_of_hearing deaf_in colou?r-?blind "
    "in_(?:the_)?hospital (?:in|from)_rehab in_therapy (?:lactose|gluten)[ -]intolerant allergic "
    "drunk hungover overweight an?_smoker celiac coeliac gay lesbian transgender bisexual muslim "
    "jewish catholic hindu buddhist married divorced widowed dating pregnant_again "
    "(?:an?_)?(?:recovering_)?alcoholic having_an_affair caring_for "
    "recovering_from going_through undergoing_(?:surgery|chemo[a-z]*|treatment|therapy) "
    "(?:a_)?(?:single_|new_|proud_)(?:mother|father|parent|mum|dad|grandfather|grandmother)"
)
# Software can be in these states too.
_STATES = one_of(
    "sick deaf blind disabled addicted sober (?:an?_)?vegetarian (?:a_)?vegan retired retiring "
    "dying bankrupt broke homeless"
)
_LEAVES = (
    r"(?:(?:away|out|off|back|currently)[ ])?(?:on|from)[ ](?:[a-z-]+[ ]){0,2}?"
    r"(?:leave|vacation|holidays?|sabbatical|probation|honeymoon|medication|crutches|bed[ ]rest"
    r"|diet|performance[ ]plan|sick[ ]pay)"
)
_AILMENTS = one_of(
    "allergy allergies cancer diabetes adhd asthma migraines? depression arthritis epilepsy "
    "autism dyslexia anxiety burn-?out heart_attack stroke surgery broken_(?:arm|leg|hand|foot) "
    "flu fever covid hangover miscarriage insomnia phobia back_pain bad_back panic_attacks? "
    "hearing_loss drinking_problem (?:celiac|heart|kidney)_disease disability concussion "
    "nervous_breakdown"
)
_RELATIVES = one_of(
    "kids sons? daughters? twins babies baby girlfriend boyfriend husband wife newborn "
    "toddlers? stepson stepdaughter grandchild(?:ren)?"
)
_FEELINGS = one_of(
    "grumpy moody angry upset stressed exhausted bored jealous lonely sad unhappy afraid_of scared "
    "nervous anxious shy lazy rude arrogant bossy chatty impatient incompetent clumsy forgetful "
    "unreliable careless sloppy stubborn ticklish religious tall short bald left-handed frustrated "
    "furious homesick "
    "in_(?:an?|the)_(?:[a-z]+_)?mood in_love fed_up"
)
_PRIVATE = (
    rf"{_BE}{_CONDITIONS}{_END}",
    rf"{_BE}{_LEAVES}{_PHRASE_END}",
    rf"{_HAVE}{_AILMENTS}{_PHRASE_END}",
    rf"{_HAVE}{_RELATIVES}{_PHRASE_END}",
    r"(?:broke|broken|sprained|injured)[ ](?:an?|the|his|her|their|one)[ ](?:[a-z]+[ ])?"
    r"(?:arms?|legs?|hand|foot|fingers?|toe|ankle|wrist|rib|hip|knee|back|neck|nose|shoulder)\b",
    rf"{_BE}(?:expecting|looking[ ]after)[ ](?:a|another|twins|the[ ](?:kids|children|baby))",
    r"(?:takes?|took)[ ](?:medication|antidepressants|insulin|parental|maternity|paternity)\b",
)
_TRAITS = (
    rf"{_BE}{_STATES}{_END}",
    rf"{_HAVE}children{_PHRASE_END}",
    r"(?:is|was)[ ](?:[1-9][0-9])(?:$|[ ]?,|[ ](?:and|but))",
    r"(?:is|comes)[ ]from[ ](?-i:[A-Z])[a-z]+[ ]?$",
    rf"is[ ](?:[A-Za-z0-9']+[ ]){{0,4}}(?:nephew|niece|cousin|brother|sister|son|daughter){_END}",
    r"(?:votes|voted|prays|sleeps|gambles)\b",
)
_TASTES = (
    r"(?:prefers|likes|loves|hates|dislikes|enjoys|adores|detests|despises|loathes)\b",
    r"(?:does(?:[ ]not|n't)|did(?:[ ]not|n't))[ ](?:like|enjoy|eat|drink)\b",
    r"(?:can't|cannot|can[ ]not)[ ]stand\b",
    r"(?:drinks|eats)[ ](?:only|no|too|a[ ]lot|meat|fish|decaf|coffee|tea|beer|wine|at)\b",
    r"(?:smokes|vapes|snores|naps|commutes|jogs|knits|meditates|gossips|flirts)\b",
    r"(?:thinks|believes|fears|hopes|regrets|worries|dreams)\b",
    r"(?:complain(?:s|ed)|cried|cries|yell(?:s|ed)|shout(?:s|ed)|swore|swears|laugh(?:s|ed)"
    r"|apologi[sz]ed|confessed|admitted|bragg?(?:s|ed))\b",
    rf"{_BE}{_FEELINGS}{_END}",
    r"wears[ ](?:glasses|contact|hearing|a[ ]wig)\b",
)
_WHEREABOUTS = (
    r"(?:(?:lives|lived)[ ](?:in|at|alone|with|near|on|above|below|next|opposite|abroad|by)"
    r"|resides|grew[ ]up|was[ ]born|studied[ ](?:at|in|law|medicine)|graduated)\b",
    r"(?:works|worked|is[ ]working|dials[ ]in|joins)[ ]from[ ](?:home|(?-i:[A-Z]))",
    r"(?:works|worked|is[ ]working)[ ](?:remotely|part-?time|part[ ]time|nights|half[ ]days)\b",
    r"(?:is|was|will[ ]be)[ ](?:based|living|staying|stuck)[ ](?:in|at|near|on)\b",
    r"(?:is|was|will[ ]be)[ ](?:in|visiting)[ ](?-i:[A-Z])[a-z]+",
    r"(?:moved|relocated|emigrated|is[ ]moving|is[ ]relocating)[ ](?:to|from|back)\b",
    r"(?:is|was|will[ ]be)[ ](?:travell?ing|abroad|absent|commuting|at[ ]home"
    r"|at[ ]the[ ](?:dentist|doctor|gym))\b",
    r"(?:is|was|will[ ]be)[ ](?:away|out|off|unavailable|back)[ ](?:until|till|on|today|tomorrow"
    r"|this|next|for|in)\b",
    r"speaks[ ](?:(?:fluent|no|only|some|good|bad|native)[ ])?(?-i:[A-Z])[a-z]+",
)
_HABITS = (
    rf"(?:takes|took|has)[ ](?:the[ ]|every[ ])?(?:{_DAY}|mornings?|afternoons?|week|day)[ ]off\b",
    r"(?:arrives|comes|came|arrived|shows[ ]up|turns[ ]up)[ ](?:in[ ]|to[ ]work[ ])?"
    r"(?:late|early|hungover|drunk)\b",
    r"(?:is|was|has[ ]been)[ ](?:always|often|never|usually|constantly|rarely|mostly)[ ]"
    r"(?:late|early|on[ ]time|punctual|online|tired|hungry|busy|the[ ](?:first|last))\b",
    r"(?:forgets|forgot|oversleeps|overslept|procrastinates|micromanages|underperforms"
    r"|interrupts|daydreams)\b",
    r"(?:never|rarely|seldom|hardly[ ]ever)[ ](?:reads|answers|replies|listens|shows|turns|cleans"
    r"|tidies|helps|finishes|washes|smiles|laughs|talks|speaks|eats|sleeps|comes)\b",
    r"(?:loses|lost)[ ](?:the|his|her|their)[ ](?:licen[cs]e|temper|job|wallet|badge|phone"
    r"|mother|father|parents|laptop|voice|nerves?)\b",
    r"(?:makes|made)[ ](?:many|a[ ]lot[ ]of|too[ ]many|frequent|the[ ]same)[ ]mistakes\b",
    rf"{_BE}(?:slow|bad|good|terrible|great|weak|hopeless|brilliant|useless|excellent|poor)[ ]"
    r"(?:with|at)\b",
    r"(?:leaves|left|goes|comes)[ ][^,]{0,20}to[ ](?:pick[ ]up|collect|fetch|feed)[ ](?:the|a)[ ]"
    r"(?:kids?|children|son|daughter|dog)\b",
    r"plays[ ](?:the[ ])?(?:golf|tennis|football|chess|poker)\b",
)
_CAREERS = (
    r"(?:earns|earned|owes|makes[ ](?:[$]|eur|usd)[ ]?[0-9])",
    r"(?:quit|resigns|resigned|retires|retired|is[ ]leaving|is[ ]quitting)\b",
    r"left[ ](?:the[ ](?:company|firm|team|school)|last|in[ ]|yesterday)",
    r"(?:joined|joins)[ ](?:in|last|next|on|yesterday|the[ ](?:company|firm|team))\b",
    rf"(?:starts|started|begins)[ ](?:(?:on|next|in|last)[ ])?(?:{_DAY}|{_MONTH}|week|month"
    r"|tomorrow|yesterday|today)\b",
    r"(?:is|was|got|has[ ]been|is[ ]being)[ ](?:fired|promoted|demoted|hired|laid[ ]off|let[ ]go"
    r"|sacked|warned|poached|arrested|convicted|sued|bullied|harassed|underpaid|overpaid|overworked"
    r"|passed[ ]over)\b",
    r"(?:got|received|has|had)[ ](?:a[ ])?(?:raise|pay[ ]rise|(?:written|final|formal)[ ]warning"
    r"|promotion)\b",
    r"(?:is|was)[ ](?:looking[ ]for|applying|interviewing)[ ]"
    r"(?:an?[ ]|another|new|at|with|elsewhere)",
    r"(?:asked|is[ ]asking)[ ]for[ ]a[ ](?:raise|pay[ ]rise|transfer|divorce)\b",
)
_POSSESSIONS = (
    r"(?i)^'s?[ ](?:[a-z0-9-]+[ ])?(?:wife|husband|daughters?|sons?|kids?|children|baby|mother"
    r"|father|parents|brother|sister|family|girlfriend|boyfriend|salary|pay|bonus|health|illness"
    r"|diagnosis|divorce|wedding|pregnancy|surgery|therapy|therapist|mood|temper|drinking|age|house"
    r"|home|flat|apartment|car|dog|cat|holidays?|vacation|flight|religion|medication"
    r"|private|hobby|hobbies|commute)(?:$|[^A-Za-z0-9_-])"
)
_GENERAL = word_set("each every any no either neither whichever whatever per")
_INDEFINITE = word_set("a an")
_DEFINITE = word_set(
    "the our one this that another my his her their your whose its said former current"
)
_CONDITIONAL = word_set(
    "if when whenever unless once whether until till while after before case where should"
)
_IS_GENERAL = (
    r"(?i)\b(?:must|may|can|cannot|should|shall|has[ ]to|have[ ]to|needs[ ]to|if|when|unless|counts"
    r"|gets|is[ ]entitled)\b"
)
_SENTENCE_END = r"[.!?;:](?:[ ]|$)|\n"
_MAX_HEADLINE_WORDS = 2
"""Words before a role without an article, as in a note: "Lead engineer prefers tabs"."""

_MAX_PREDICATE_BYTES = 160
_MAX_PHRASE_BYTES = 60


@dataclass(frozen=True, slots=True)
class Mention:
    """Words for one person, with the text of the sentence before and after them."""

    role: str
    ambiguous: bool
    before: tuple[str, ...]
    after: bytes

    @property
    def determiner(self) -> str:
        known = (word for word in reversed(self.before[-5:]) if word in _DETERMINERS)
        return next(known, "")

    @property
    def is_someone(self) -> bool:
        return self.role in _COLLEAGUES


_DETERMINERS = _GENERAL | _INDEFINITE | _DEFINITE


def describes_person(data: bytes) -> bool:
    """True if a sentence says something about the particular person who has a role."""
    return any(_is_described(one) for one in _find_mentions(data))


def _find_mentions(data: bytes) -> Iterator[Mention]:
    for match in compile_pattern(_ONE_OF_MANY).finditer(data):
        yield Mention("colleague", False, ("one",), _read_sentence(data, match.end()))
    at = 0
    while match := compile_pattern(_ROLE).search(data, at):
        group = match.lastindex
        at = match.end(group)
        before = data[max(0, match.start(group) - _MAX_PHRASE_BYTES) : match.start(group)]
        last = compile_pattern(_SENTENCE_END).split(before)[-1]
        yield Mention(
            match[group].decode("latin-1").lower(),
            group == 2,
            tuple(last.decode("latin-1").lower().split()),
            _read_sentence(data, at),
        )


def _read_sentence(data: bytes, start: int) -> bytes:
    rest = data[start : start + _MAX_PREDICATE_BYTES]
    end = compile_pattern(_SENTENCE_END).search(rest)
    sentence: bytes = rest[: end.start()] if end else rest
    return sentence


def _is_described(one: Mention) -> bool:
    if _is_hypothetical(one) or _is_software(one):
        return False
    if _says(one, _PRIVATE):
        return True
    if one.ambiguous or (one.determiner in _INDEFINITE and not one.is_someone):
        return False
    if compile_pattern(_POSSESSIONS).search(one.after):
        return True
    return _says(one, (*_TRAITS, *_TASTES, *_WHEREABOUTS, *_HABITS, *_CAREERS))


def _is_hypothetical(one: Mention) -> bool:
    """True for anyone who has the role, and for a condition."""
    if one.determiner in _GENERAL or not _CONDITIONAL.isdisjoint(one.before[-5:]):
        return True
    if not one.determiner:
        return len(one.before) > _MAX_HEADLINE_WORDS and one.role not in ("someone", "somebody")
    return one.determiner in _INDEFINITE and bool(compile_pattern(_IS_GENERAL).search(one.after))


def _is_software(one: Mention) -> bool:
    return one.role == "manager" and bool(one.before) and one.before[-1] in _SOFTWARE_MANAGERS


def _says(one: Mention, predicates: tuple[str, ...]) -> bool:
    return bool(compile_pattern(_predicate_pattern(predicates)).search(one.after))


@cache
def _predicate_pattern(predicates: tuple[str, ...]) -> str:
    return f"{_START}(?:{'|'.join(predicates)})"
