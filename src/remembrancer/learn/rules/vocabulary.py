"""Word lists and checks that recognise names, places, occupations and preferences."""

from __future__ import annotations

import re
from collections.abc import Callable

Check = Callable[[str], bool]

MAX_OBJECT_CHARS = 120
MAX_OBJECT_WORDS = 18


def any_of(words: str) -> str:
    """A pattern that matches one of the words; an underscore stands for a space."""
    return f"(?:{'|'.join(word.replace('_', ' ') for word in words.split())})"


DANGLING = re.compile(
    r"\b"
    + any_of(r"""
    it it's its this these those they them their he she him her his you your yours here there one
    ones such something someone somewhere anything everything everyone stuff things? same others?
    both each either former latter above below too else that first second last which
    """)
    + r"\b",
    re.I,
)
RELATIVE = re.compile(
    rf"\b(?:that {any_of('is are has have can makes? helps? lets? works? focus feels? starts?')}"
    rf"|each {any_of('other day week month year morning evening night')}"
    rf"|(?:first|second|last) {any_of('name language year grade world')})\b",
    re.I,
)
MOMENTARY = re.compile(
    r"\b"
    + any_of(r"""
    today tonight tomorrow yesterday right_now at_the_moment lately so_far for_now before
    last_(?:night|week|weekend|month) later soon earlier the_other_day next_(?:week|weekend|day)
    """)
    + r"\b",
    re.I,
)


VAGUE = re.compile(
    r"\bthe "
    + any_of("""
    industry field company team city place area game book show series recipe shop store
    model code app group event picture painting process results?
    """)
    + r"(?= for\b| since\b|$)"
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
NO_NAME = re.compile(
    any_of(r"""
    not on the an? in at too very so really crazy old later back when if maybe great good sure lazy
    weird paranoid biased stupid spelled pronounced my your our what who how all also always now
    from short long hard everything someone
    """)
    + r"\b",
    re.I,
)


def is_name(words: str) -> bool:
    """True if the words can name a person or a pet."""
    if NO_NAME.match(words) or re.fullmatch(NATIONALITY, words, re.I):
        return False
    return NAME.fullmatch(words) is not None


def is_name_in_any_case(words: str) -> bool:
    """Like `is_name`, but also accepts names without capitals."""
    return is_name(words) or bool(UNCAPPED_NAME.fullmatch(words) and not NO_NAME.match(words))


PLACE = re.compile(
    r"(?:(?:the|downtown|central|north(?:ern)?|south(?:ern)?|east(?:ern)?|west(?:ern)?|upstate|rural"
    r"|suburban) )*[A-Z].*"
)
NO_PLACE = re.compile(
    any_of(r"""
    linux windows mac macos android ios python rust go java git docker kubernetes postgres mysql vim
    emacs slack teams notion chrome firefox phase step version level option plan monday tuesday
    wednesday thursday friday saturday sunday hr it sales marketing accounting support engineering
    """)
    + r"\b.*|.*\d.*",
    re.I,
)
CAMEL = re.compile(r"[A-Z][a-z]+[A-Z]")


def is_place(words: str) -> bool:
    """True if the words can name a town or a country, judged by spelling."""
    if CAMEL.match(words) or NO_PLACE.fullmatch(words):
        return False
    return is_complete(words) and bool(PLACE.fullmatch(words))


HOME = any_of(
    "town city village flat apartment house studio condo farm suburbs? cottage boat van dorm"
    " townhouse cabin island neighbou?rhood"
)
KIND_OF_HOME = re.compile(
    rf"an? (?:[\w-]+ ){{0,3}}{HOME}\b.*|the (?:suburbs|countryside|mountains)", re.I
)


def is_kind_of_home(words: str) -> bool:
    return is_complete(words) and bool(KIND_OF_HOME.fullmatch(words))


TRADE = re.compile(
    r"[\w-]*[a-z]{2}(?:er|or|ist|ian|eer|ress|man|woman)|"
    + any_of(r"""
    nurse chef cook student undergrad freshman sophomore pilot judge coach athlete parent mom mum
    dad father mother grandma grandpa widow twin native veteran citizen immigrant expat resident
    intern clerk guard agent executive analyst architect barista monk priest pastor rabbi imam nanny
    au_pair model host vet paramedic mechanic critic academic postdoc phd_candidate cto ceo cfo coo
    lead apprentice trainee graduate retiree diabetic celiac introvert extrovert atheist agnostic
    muslim jew hindu catholic night_owl early_bird morning_person cat_person dog_person only_child
    accountant assistant consultant lieutenant sergeant attendant merchant firefighter
    """),
    re.I,
)
NO_TRADE = re.compile(
    r"\b"
    + any_of(r"""
    believer beginner newcomer sucker loser winner fighter number corner other matter better starter
    supporter lover follower burner member partner mentor outsider stranger wonder dreamer goner
    monster disaster hater survivor human ever never over more super bit little lot fan huge big
    great good bad terrible horrible total real true complete firm poor quick slow sort kind few
    couple pro mess late way part amateur honorary worse wonderful amazing proud former ex future
    aspiring would-be different new favor error factor horror mirror colou?r giant constant sponsor
    potential not visitor customer contributor master natural reminder leader driver performer
    talker thinker learner listener hard fast heavy light strong weak decent frequent regular player
    better_person stronger bother answer offer order power silver older younger elder power finger
    year-older newbie eager excited happy keeper helper volunteer role
    letter quitter newer tiger user adopter
    """)
    + r"\b",
    re.I,
)
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


NO_LIVING = re.compile(
    r"\b"
    + any_of("""
    parent mom mum dad father mother grandma grandpa grandmother grandfather widow twin native
    veteran citizen immigrant expat resident diabetic celiac introvert extrovert atheist agnostic
    christian muslim jew hindu catholic owl bird person child survivor runner gamer reader swimmer
    dancer singer writer painter hiker cyclist musician cook guitarist pianist collector gardener
    travell?er drinker smoker eater sleeper speaker owner sister brother daughter sufferer teenager
    feminist environmentalist perfectionist optimist pessimist realist minimalist climber skier
    woman man
    """)
    + r"\b",
    re.I,
)


def is_occupation(words: str) -> bool:
    """True for an occupation for a living, of which most people have only one."""
    return is_trade(words) and not NO_LIVING.search(AFTER_HEAD.sub("", words))


WORKPLACE = re.compile(r"(?:an?|the|my) .+|[A-Z].*|myself", re.S)
NO_WORKPLACE = re.compile(
    "(?:(?:an?|the|my) )?"
    + any_of(r"""
    home while bit lot time moment day week month year night least same few long
    """)
    + r"\b.*|.*\b(?:idea|project|pace)\b.*",
    re.I,
)


def is_workplace(words: str) -> bool:
    fits = WORKPLACE.fullmatch(words) and not NO_WORKPLACE.fullmatch(words)
    return bool(fits) and is_complete(words)


def is_employer(words: str) -> bool:
    return words[:1].isupper() and is_workplace(words)


SCHOOL = (
    r"(?:the )?(?-i:[A-Z]).*(?:university|college|school|institute|academy).*|(?-i:[A-Z]{3,5})"
    r"|(?:an? |the )?(?:high school|college|university|law school|medical school|grad school).*"
)
SUBJECT_OF_STUDY = re.compile(
    r"(?:[\w-]+ )?"
    + any_of("""
    law medicine nursing biology chemistry physics maths? mathematics history economics psychology
    philosophy sociology engineering architecture computer_science literature linguistics finance
    accounting marketing business journalism music art design politics statistics education theology
    anthropology film theatre theater geography geology astronomy pharmacy dentistry counseling
    """)
    + r"(?: (?:at|in|and) .+)?",
    re.I,
)


def is_study(words: str) -> bool:
    return is_complete(words) and bool(SUBJECT_OF_STUDY.fullmatch(words))


POINTING = re.compile(
    any_of(r"""
    the_(?!outdoors|ocean|sea|beach|mountain|countryside|rain|snow|cold|heat|winter|[A-Z][a-z]+s$)
    how what when where why who seeing hearing having knowing getting doing trying finding helping
    thinking making_sure being(?!_outdoors|_outside|_alone|_in_nature) becoming
    to_(?:just_)?(?:hear|see|know|be|help|do|get|have|think|say|talk|share|point|keep|thank)
    to_(?:just_)?(?:support|start|try|find)
    to_(?:just_)?(?:make_sure|add|stay|come|use|include|check|explore)
    to_(?:just_)?(?:take|incorporate|mix|focus|go_with)
    all_(?:the|of|my|our|these|those) all$ my_(?:new|time) our_(?:new|time)
    every so very much more most me us an?_(?:lot|bit|few|the)
    and or some any not no with from in at for of about by because better best
    going(?!_to|_on|_for|_out|_hiking|_camping|_fishing|_swimming|_running|_skiing|_dancing)
    using(?!_[A-Z]) working_(?:on|with) learning_(?:about|more|new) combining incorporating
    watching_(?:my|our)
    (?:playing|watching|making|doing)_(?:for|with|in|on|at|by|together)
    discovering exploring_(?:new|different) reading_about giving being_able sharing putting
    as_(?:a|well) bringing "
    """)
    + r"\b",
)
PASSING = re.compile(
    r"\b"
    + any_of(r"""
    idea suggestions? options? advice plan recipes? approach tips combo pun design for_sure vibes?
    the_way look_of concept quote pic photo picture photos message progress enthusiasm effort
    detail passion spirit attitude energy life difference
    """)
    + r"\b",
    re.I,
)


def is_liked(words: str) -> bool:
    """True for a thing in general; false for something just talked about."""
    return is_complete(words) and not POINTING.match(words) and not PASSING.search(words)


NO_FAVOURITE = r"(?!(?:\w+ )?(?:part|things?|memory|memories|moments?|scene|way|bit|aspect|one)\b)"
VAGUE_START = re.compile(
    rf"{any_of('when how what where probably definitely to the_way in being getting seeing')}\b",
    re.I,
)


def is_favourite(words: str) -> bool:
    return is_complete(words) and not VAGUE_START.match(words) and len(words.split()) <= 8


def is_substantial(words: str) -> bool:
    """True if a goal is more than a good intention."""
    return is_complete(words) and len(words.split()) >= 3 and not GOOD_INTENT.search(words)


GOOD_INTENT = re.compile(
    r"\b"
    + any_of(r"""
    try give take_a share keep check make_a make_sure do_my best happy difference
    help(?:ing)?_others people inspire better enjoy surprise treat break be_more have_fun the_world
    stay continue
    wait see spend catch_up stick get go_for hang make_the make_things focus stop_by impact
    """)
    + r"\b",
    re.I,
)

GROUP = any_of(
    "club team band choir church group association society gym union board community orchestra"
    " league brigade program"
)
A_GROUP = re.compile(rf"(?:an?|the) (?:[\w'-]+ )+{GROUP}\b.*|(?:the )?[A-Z].*", re.S)


def is_group(words: str) -> bool:
    return is_complete(words) and bool(A_GROUP.fullmatch(words))


TRIVIAL = re.compile(
    r"\b"
    + any_of("""
    conversation chat new_book book series movie show game few couple bunch fire lot bit new_one
    habit journey list playlist ticket tickets document spreadsheet draft post discussion thread
    hike ride party call meeting walk picnic painting puzzle project concert movie_night
    shirt dress gift snack coffee drink meal plan process account new_chapter trend fan different
    """)
    + r"\b",
    re.I,
)


def is_step(words: str) -> bool:
    """True for an important step in life, false for an errand."""
    slight = TRIVIAL.search(words) or GOOD_INTENT.search(words)
    return is_complete(words) and len(words.split()) >= 2 and not slight


def is_journey(words: str) -> bool:
    """True for a place that someone travelled to, false for an outing."""
    return is_place(words) and not TRIVIAL.search(words)


PASSING_RESOLVE = re.compile(
    "(?:not )?to "
    + any_of("""
    go(?!_(?:with|vegan|back_to|to_(?:college|university|grad|law|med)|freelance|part-time)) have do
    celebrate watch eat order cook bake play walk hike hang paint read relax rest come invite call
    drive head bring grab throw host sit leave_early look talk ask join_(?:him|her|them) surprise
    """)
    + r"\b",
    re.I,
)


def is_resolve(words: str) -> bool:
    """True if a decision is about more than the day."""
    return is_substantial(words) and not PASSING_RESOLVE.match(words)


KIN = (
    r"(?:(?:older|younger|elder|little|big|eldest|oldest|youngest|late|best|twin|step|half)[ -]?)?"
    + any_of("""
    sister brother son daughter mother father mom mum dad grandmother grandfather grandma grandpa
    aunt uncle cousin niece nephew stepson stepdaughter stepmother stepfather sister-in-law
    brother-in-law mother-in-law father-in-law son-in-law daughter-in-law friend roommate flatmate
    housemate neighbou?r colleague co-?worker teacher mentor dog cat puppy kitten parrot horse
    rabbit hamster pet turtle snake guinea_pig bird goldfish pup assistant baby kid
    """)
)
PARTNER = any_of("wife husband partner spouse girlfriend boyfriend fianc[eé]e?")
BOSS = any_of("manager boss supervisor line_manager team_lead")
SOLE = any_of(
    "doctor gp dentist therapist landlord landlady accountant lawyer psychiatrist advis[eo]r"
)
CONDITION = (
    r"(?:(?:type (?:1|2|one|two)|severe|mild|chronic|seasonal|high|low|an?|bad|really bad) )*"
    + any_of("""
    diabetes asthma adhd add autism epilepsy migraines? c(?:o)?eliac_disease celiac
    crohn's(?:_disease)? ibs pcos ocd ptsd bipolar_disorder depression anxiety_disorder dyslexia
    arthritis hypertension blood_pressure hypothyroidism endometriosis eczema psoriasis insomnia
    sleep_apnea tinnitus hay_fever ana?emia lupus scoliosis fibromyalgia glaucoma
    [a-z]+_allerg(?:y|ies) heart_condition heart_disease chronic_[a-z]+ [a-z]+_intolerance
    """)
)
POSSESSION = any_of("""
    camera car truck bike bicycle motorcycle guitar piano keyboard laptop phone telescope boat tank
    aquarium garden subscription membership
    """)
ANIMAL = any_of("""
    dogs? cats? puppy puppies kittens? parrots? horses? rabbits? hamsters? turtles? snakes? fish
    birds? chickens? goats? guinea_pigs? ferrets? lizards? geckos? bearded_dragons? pets? pups?
    """)
CHILDREN = any_of("kids? children child sons? daughters? boys? girls? twins toddlers?")
SIBLINGS = any_of(
    "brothers? sisters? siblings? grandchildren grandkids grandsons? granddaughters? cousins?"
    " nephews? nieces? roommates? flatmates?"
)
COUNT = any_of(r"an? one two three four five six seven eight nine ten several \d{1,2} no")
DESCRIBED = r"(?: [\w'-]+){0,3}?"
WHICH = r"(?:(?:,| and| named| called| aged| from| who (?:is|are)) .+)?"
DIET = r"(?:strict |lifelong )?" + any_of(
    "vegetarian vegan pescatarian flexitarian kosher halal gluten-free keto paleo dairy-free"
)
MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
DATE = (
    rf"(?:[\w ]*{MONTH}\b[^a-z]*\d[\w, ]*|(?:the )?\d\S* (?:of )?{MONTH}.{{0,6}}"
    r"|\d{1,4}[/.-]\d\S*)"
)
LANGUAGE = any_of("""
    english french german spanish italian portuguese dutch swedish norwegian danish finnish polish
    czech russian ukrainian greek turkish arabic hebrew hindi urdu bengali tamil telugu punjabi
    mandarin cantonese chinese japanese korean vietnamese thai indonesian malay tagalog swahili
    catalan welsh irish gaelic romanian hungarian serbian croatian bulgarian persian farsi latin
    esperanto sign_language asl
    """)
NATIONALITY = any_of("""
    american canadian mexican brazilian argentinian chilean colombian british english scottish welsh
    irish french german spanish italian portuguese dutch belgian swiss austrian swedish norwegian
    danish finnish polish czech russian ukrainian greek turkish egyptian moroccan nigerian kenyan
    south_african israeli iranian indian pakistani bangladeshi chinese japanese korean vietnamese
    thai indonesian filipino filipina australian romanian hungarian cuban jamaican peruvian
    """)
NATURE = any_of("""
    (?:type_[12]_)?diabetic asthmatic epileptic dyslexic autistic colou?r[-_]?blind deaf blind
    hard_of_hearing left-handed right-handed ambidextrous bilingual trilingual catholic muslim
    jewish hindu buddhist christian protestant atheist agnostic gay lesbian bisexual trans
    transgender non-?binary queer asexual introverted extroverted neurodivergent self-employed
    """)
PHOBIA = any_of("""
    heights flying spiders snakes dogs needles the_dark clowns water public_speaking enclosed_spaces
    thunderstorms bugs insects crowds
    """)
FIELD = any_of("""
    finance marketing sales healthcare education tech it hr retail construction insurance banking
    advertising publishing consulting real_estate hospitality logistics law manufacturing
    engineering research accounting academia design government cybersecurity software media
    journalism film
    """)
GAME = r"(?:the )?" + any_of(r"""
    (?:\w+_)?guitar piano violin cello drums bass flute saxophone trumpet clarinet ukulele harp
    keyboard banjo harmonica viola accordion chess tennis soccer football basketball baseball
    volleyball hockey golf rugby cricket badminton squash poker bridge
    """)
INWARD = any_of(
    "be let accept trust love appreciate embrace take balance say stop enjoy live deal cope manage"
    " listen prioriti[sz]e find make keep get give see value slow ask set"
)
SKILL = (
    rf"(?:{LANGUAGE}|{GAME}|(?:how )?to (?!{INWARD}\b)\w+ .+"
    "|to (?:drive|swim|cook|code|sew|knit|dance|ski|surf))"
)
TASTE = any_of("like love enjoy adore prefer hate dislike loathe detest despise")
LIKING_OF = r"(?P<how>(?:to (?:eat|drink|cook|wear|read)|eating|drinking|smoking|wearing) )?"
SPAN = (
    r"(?:(?:for|over|going on) "
    r"(?:(?:over|about|almost|nearly|more than|around|the past|the last) )*"
    r"(?:a decade|a while|\w+\+? (?:years|months)|years|decades|most of my life|my whole life)"
    r"(?: now)?"
    r"|since (?:I was .+|\d{4}|childhood|college|high school|birth|university))"
)
STILL_OPEN = any_of("""
    meaning thinking looking trying planning wanting considering waiting feeling dealing struggling
    wondering hoping dreaming searching going getting having working_hard experiencing dying doing
    enjoying loving using_my
    """)
BIG_STEP = any_of("""
    move study retire get_married marry buy_an? buy_our adopt become relocate enrol+ emigrate
    start_(?:an?|my|our)_(?:own_)?(?:business|company|family|blog|podcast|shop|store|nonprofit)
    open_(?:an?|my|our) launch_(?:an?|my|our) learn_(?!more|about) propose
    go_(?:back_)?to_(?:college|grad|law|med|university) run_(?:an?|the|for) write_an? quit_my
    leave_my pursue publish climb compete visit_(?=(?:the_)?(?-i:[A-Z]))
    """)
JOURNEY = any_of(
    "trip wedding vacation holiday honeymoon road_trip family_reunion retirement tour cruise"
)
TO_AN_ASSISTANT = any_of("""
    answer respond reply write use include format provide show explain address speak talk ask tell
    avoid cite start end begin add mention suggest recommend assume translate convert summari[sz]e
    be_(?:brief|concise|direct|honest|polite|formal|informal|casual) list put check call_me give_me
    keep_(?:your|answers|replies|responses|explanations|it_short|things_short) make_sure refer
    do_not(?!_give_up|_forget|_worry|_stop|_let) stick_to double-check verify prefer code remind_me
    highlight present describe limit offer specify structure reference ensure sign quote
    """)
ANSWERS = (
    "(?:your |all your |all |the |my )?"
    "(?:answers|replies|responses|explanations|messages|summaries)"
)
NEVER_USE = any_of("""
    emojis? jargon bullet_points? markdown exclamation_(?:marks|points) tables slang headings
    semicolons em_dashes abbreviations acronyms filler
    """)
