"""The sample data of the demo: texts of a fictional user, and how many days ago each was said."""

from __future__ import annotations

from dataclasses import dataclass

USER, TENANT = "ada", "difference-works"


@dataclass(frozen=True, slots=True)
class DemoFact:
    """A fact; a later one with the same subject and predicate supersedes it."""

    days: int
    content: str
    subject: str
    predicate: str
    permanence: str = "standard"


@dataclass(frozen=True, slots=True)
class DemoRule:
    """A rule, the days on which it helped, and the days and reasons of harm."""

    days: int
    content: str
    helped: tuple[int, ...] = ()
    harmed: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class DemoConversation:
    """A conversation; the messages of the user and the assistant alternate."""

    days: int
    title: str
    messages: tuple[str, ...]
    surface: str = "web"


FACTS = (
    DemoFact(362, "Ada lives in London, in a flat by the canal.", "ada", "lives_in", "stable"),
    DemoFact(362, "Ada is lactose intolerant; oat milk is fine.", "ada", "diet", "permanent"),
    DemoFact(361, "Byron, the cat, is eleven and afraid of the hoover.", "byron", "is", "stable"),
    DemoFact(360, "Ada starts the day with two espressos.", "ada", "morning_drink"),
    DemoFact(358, "Charles runs the workshop and prefers letters to calls.", "charles", "prefers"),
    DemoFact(352, "Ada is reading Dune, slowly.", "ada", "reading", "volatile"),
    DemoFact(341, "The engine drives looms with eight shafts.", "engine", "shafts"),
    DemoFact(333, "Ada runs along the canal on Tuesdays and Thursdays.", "ada", "sport"),
    DemoFact(310, "The engine will be released in May.", "engine", "release", "volatile"),
    DemoFact(
        287, "Mary answers the customers' letters and has every second Friday off.", "mary", "job"
    ),
    DemoFact(
        262,
        "Ada is reading Middlemarch, and likes it more each week.",
        "ada",
        "reading",
        "volatile",
    ),
    DemoFact(
        240, "Ada gave up coffee; starts the day with a pot of Assam.", "ada", "morning_drink"
    ),
    DemoFact(
        221, "Byron needs half a pill at eight in the morning.", "byron", "medicine", "stable"
    ),
    DemoFact(204, "The engine will be released in September.", "engine", "release", "volatile"),
    DemoFact(176, "Ada swims on Tuesdays, since the knee does not like running.", "ada", "sport"),
    DemoFact(158, "The engine drives looms with sixteen shafts.", "engine", "shafts"),
    DemoFact(
        131,
        "Byron needs a whole pill, at eight and again in the evening.",
        "byron",
        "medicine",
        "stable",
    ),
    DemoFact(
        96, "Ada lives in Ockham, in the house with the lime walk.", "ada", "lives_in", "stable"
    ),
    DemoFact(94, "Ada takes the 8:12 to London on Mondays and Wednesdays.", "ada", "commute"),
    DemoFact(83, "Ada is reading a book on bees, for the garden.", "ada", "reading", "volatile"),
    DemoFact(
        61, "The engine was released, and forty looms run on it.", "engine", "release", "stable"
    ),
    DemoFact(38, "The spare key is with Mrs Somerville next door.", "house", "spare_key", "stable"),
    DemoFact(17, "The boiler is serviced by Wheatstone & Son every spring.", "house", "boiler"),
    DemoFact(
        4, "The talk in Turin is on the last Thursday of the month.", "turin", "talk", "ephemeral"
    ),
    DemoFact(0, "Nell's train arrives on Saturday at 11:40.", "nell", "arrives", "ephemeral"),
)

CONFIRMATIONS = (
    (120, "oat milk"),
    (60, "pot of Assam"),
    (45, "sixteen shafts"),
    (20, "every second"),
    (30, "Answer first"),
    (12, "prefers letters"),
    (14, "book on bees"),
    (9, "swims on Tuesdays"),
    (7, "Show the units"),
)

RULES = (
    DemoRule(356, "Answer first, explain after, keep it short.", helped=tuple(range(340, 0, -20))),
    DemoRule(322, "Show the units of every number.", helped=(300, 241, 188, 121, 77, 33)),
    DemoRule(
        290,
        "Round every number to whole thousands.",
        harmed=(
            (260, "the drawing was off by a row"),
            (233, "the invoice was forty pounds short"),
            (210, "a thread count lost its last digit"),
        ),
    ),
    DemoRule(150, "Propose a train before a flight.", helped=(140, 70)),
    DemoRule(40, "Ask before sending anything to someone else."),
)

CONVERSATIONS = (
    DemoConversation(
        345,
        "Planning the week",
        (
            "Please remember that my sister Nell visits on the first weekend of every month.",
            "Noted. Shall I keep those Saturdays free?",
            "Yes. And I prefer trains to flying, always.",
            "Trains it is. Here is the week: drawings on Monday, the dentist on Tuesday at ten.",
        ),
    ),
    DemoConversation(
        297,
        "Cards for the loom",
        (
            "I decided to number the cards from the left.",
            "From the left, then. I will renumber the drawings that Charles has not seen yet.",
            "Thank you. He has the first twelve.",
            "Then I start at thirteen.",
        ),
    ),
    DemoConversation(
        251,
        "Dinner for six",
        (
            "I am allergic to walnuts.",
            "No walnuts, then. Shall I plan around the oven or the grill?",
            "The oven. Nell brings the pudding.",
            "Leek tart, roast carrots, a green salad; all of it can be made the day before.",
        ),
        "telegram",
    ),
    DemoConversation(
        178,
        "The knee",
        (
            "The doctor says no running for three months.",
            "I am sorry. Would the pool on Tuesdays do instead?",
            "I like swimming in the morning.",
            "The lanes are quiet before nine.",
        ),
    ),
    DemoConversation(
        108,
        "Moving house",
        (
            "I am moving to Ockham in two weeks.",
            "I have a list: the movers, the post, the cat's basket, the meter readings.",
            "Please remember that the movers come at seven in the morning.",
            "At seven. I would put the kettle in the last box.",
        ),
    ),
    DemoConversation(
        64,
        "Release day",
        (
            "It is out. Forty looms, and not one thread broke.",
            "Congratulations! Shall I draft the letter to everyone who waited?",
            "Yes, a short one. From now on, sign letters with my first name only.",
            "“It is done, and it weaves. Thank you for waiting. Ada”",
        ),
    ),
    DemoConversation(
        22,
        "A talk in Turin",
        (
            "I am giving a talk in Turin about patterns that repeat.",
            "How long may it be, and who will listen?",
            "Forty minutes, for weavers rather than engineers.",
            "Then I would begin with the cloth, and show the machine last.",
        ),
    ),
    DemoConversation(
        3,
        "Trains to Turin",
        (
            "Which way is best, with one night in Paris?",
            "The morning train to Paris, the night near the Gare de Lyon, and on at half past six.",
            "My favourite seat is by the window, facing forward.",
            "By the window, facing forward. Shall I show you the fares?",
        ),
        "telegram",
    ),
)

VISIT_MESSAGES = (
    "When does Nell's train arrive?",
    "Remember that Nell brings her dog, Whistler, who sleeps in the kitchen.",
    "What does Nell eat?",
)
"""Today's chat without a model, which answers from memory."""

OTHER_USERS_FACTS = (
    (300, "charles", "Prefers letters to calls, and no letters on Sundays."),
    (210, "charles", "The lathe is oiled on the first of the month."),
    (120, "mary", "Answers customers in the morning, and nobody after four."),
)
"""Memories of other users, invisible to Ada."""

DISMISSED = (
    (200, "The parcel is at the porter's until Friday.", "forget"),
    (19, "Call the plumber about the tap in the kitchen.", "forget"),
    (8, "Testing, one, two.", "delete"),
    (2, "The Wi-Fi in the café is called Bluebell.", "delete"),
)
"""Memories that were forgotten or deleted a day later."""

EPISODES = (
    (13, "gardener", "Sowed the second row of beans; it rained in the evening."),
    (11, "cook", "Made the leek tart again. Nell asked for the recipe."),
    (9, "gardener", "Found slugs under the pots by the door and moved the pots."),
    (6, "researcher", "Read three papers on twill that repeats; kept one of them."),
    (5, "gardener", "Watered the tomatoes late; the leaves had curled."),
    (3, "cook", "The oven runs hot by twenty degrees: the biscuits burned at the edges."),
    (1, "gardener", "Ordered twelve bamboo canes, which come on Thursday."),
    (1, "researcher", "Found the pattern book of 1841 in the library's scans."),
)

AGENT_FACTS = (
    (
        "gardener",
        DemoFact(90, "The bed by the wall gets sun until four.", "garden", "sun", "stable"),
    ),
    ("gardener", DemoFact(41, "The tomatoes stand by the wall.", "tomatoes", "place", "volatile")),
    ("researcher", DemoFact(75, "The library lends scans for two weeks.", "library", "scans")),
    ("cook", DemoFact(55, "The oven is electric and runs hot.", "oven", "heat", "stable")),
    ("cook", DemoFact(30, "Nell does not eat meat.", "nell", "diet", "permanent")),
)

AGENT_RULES = (
    ("gardener", DemoRule(88, "Water in the evening, never at noon.", helped=(60, 50, 31, 16, 5))),
    ("cook", DemoRule(52, "Set the oven twenty degrees lower than the recipe says.", helped=(11,))),
)

TEAM = (
    (190, "Deploys are frozen on Fridays.", "fact", ("ada", "charles")),
    (160, "To run the tests, call make test in the root.", "howto", ("charles", "mary")),
    (130, "A shaft is what lifts the threads of one kind.", "glossary", ("mary", "ada", "charles")),
    (70, "The guide for new looms is in the wiki under Setting up.", "reference", ("charles",)),
    (10, "The test loom is reset every night at two.", "fact", ("ada",)),
    (6, "Deploys are frozen on Thursdays.", "fact", ("mary",)),
)

TEAM_QUESTIONS = (
    (150, "When are deploys frozen?"),
    (95, "How do I run the tests?"),
    (33, "May I deploy on a Friday?"),
)
LINKS = (
    (90, "lime walk", "8:12 to London"),
    (50, "forty looms", "sixteen shafts"),
)
