"""A statement and a wish for how to answer, told in one breath, are two memories."""

from __future__ import annotations

import pytest

from remembrancer.learn.rules.told import read_parts
from remembrancer.learn.rules.wish import split_wishes
from tests.learn.test_told import said

pytestmark = pytest.mark.feature("P4")

TOGETHER = {
    "I pay tax in Thailand and be concise": ("Pays tax in Thailand", "Be concise"),
    "I live in Oslo and be concise": ("Lives in Oslo", "Be concise"),
    "I'm 42 and be concise": ("Is 42 years old", "Be concise"),
    "I pay tax in Thailand. Be concise.": ("Pays tax in Thailand", "Be concise"),
    "I pay tax in Thailand and show percentages not dollars": (
        "Pays tax in Thailand",
        "Show percentages not dollars",
    ),
    "I pay tax in Thailand and I like short answers": (
        "Pays tax in Thailand",
        "Likes short answers",
    ),
    "I live in Oslo, but answer in English": ("Lives in Oslo", "Answer in English"),
    "I'm vegan and please never use emojis": ("Is vegan", "Never use emojis"),
    "I only do funds; keep your answers short": ("Only does funds", "Keep your answers short"),
    "My wife is called Ana and give me short answers": (
        "Wife is Ana",
        "Give me short answers",
    ),
    "I work at Acme and be direct with me": ("Works at Acme", "Be direct with me"),
    "I hold bonds and be as brief as possible": ("Holds bonds", "Be as brief as possible"),
    "Be concise and I live in Oslo": ("Be concise", "Lives in Oslo"),
    "Be honest. I live in Oslo.": ("Be honest", "Lives in Oslo"),
    "I'm colour-blind and no emojis please": ("Is colour-blind", "No emojis please"),
    "I live in Oslo and don't sugar-coat things": ("Lives in Oslo", "Don't sugar-coat things"),
    "I have two kids and skip the small talk": ("Has two kids", "Skip the small talk"),
    "I live in Oslo and use metric units": ("Lives in Oslo", "Use metric units"),
    "I'm a nurse and talk to me like a colleague": ("Is a nurse", "Talk to me like a colleague"),
    "I like tea and I prefer plain language": ("Likes tea", "Prefers plain language"),
    "I am learning Thai and I want you to be patient": ("Is learning Thai", "Be patient"),
    "I live in Rome, so answer in Italian": ("Lives in Rome", "Answer in Italian"),
    "I own a boat and your answers should be short": (
        "Owns a boat",
        "Your answers should be short",
    ),
    "I moved to Porto and short answers please": ("Moved to Porto", "Short answers please"),
    "I'm dyslexic and avoid jargon": ("Is dyslexic", "Avoid jargon"),
    "I have a mortgage and always show me the numbers": (
        "Has a mortgage",
        "Always show me the numbers",
    ),
    "I like tea, coffee and cake and be concise": ("Likes tea, coffee and cake", "Be concise"),
    "I want to retire at 50 and be concise": ("Wants to retire at 50", "Be concise"),
    "I bake bread and be brief and friendly": ("Bakes bread", "Be brief and friendly"),
    "My 401k is at Fidelity and get to the point": ("401k is at Fidelity", "Get to the point"),
    "I live in Oslo and from now on reply in Norwegian": (
        "Lives in Oslo",
        "From now on reply in Norwegian",
    ),
    "I never trade options and leave out the disclaimers": (
        "Never trades options",
        "Leave out the disclaimers",
    ),
}

MORE = {
    "I was born in Lima and be frank with me": (
        "I was born in Lima",
        "be frank with me",
    ),
    "My risk tolerance is low, so be clear about losses": (
        "My risk tolerance is low",
        "be clear about losses",
    ),
    "I have a pension with Aviva and reply briefly": (
        "I have a pension with Aviva",
        "reply briefly",
    ),
    "I drive a Volvo and stop apologizing": (
        "I drive a Volvo",
        "stop apologizing",
    ),
    "I file taxes in Spain. No jargon, please.": (
        "I file taxes in Spain.",
        "No jargon, please.",
    ),
    "I'm retired and explain things simply": (
        "I'm retired",
        "explain things simply",
    ),
    "I rent in Berlin and quote prices in euros": (
        "I rent in Berlin",
        "quote prices in euros",
    ),
    "I don't eat meat and please keep it brief": (
        "I don't eat meat",
        "please keep it brief",
    ),
    "I'm saving for a house and I hate long answers": (
        "I'm saving for a house",
        "I hate long answers",
    ),
    "We have three kids and could you be more concise": (
        "We have three kids",
        "could you be more concise",
    ),
    "I have ADHD and bullet points work best for me": (
        "I have ADHD",
        "bullet points work best for me",
    ),
    "I own shares in Apple but don't lecture me": (
        "I own shares in Apple",
        "don't lecture me",
    ),
    "I follow a vegan diet and never use emojis": (
        "I follow a vegan diet",
        "never use emojis",
    ),
    "I turn 40 in May and just give me the facts": (
        "I turn 40 in May",
        "just give me the facts",
    ),
    "My broker is Degiro. Please be precise.": (
        "My broker is Degiro.",
        "Please be precise.",
    ),
    "I hold no stocks and skip disclaimers": (
        "I hold no stocks",
        "skip disclaimers",
    ),
    "I speak German and address me formally": (
        "I speak German",
        "address me formally",
    ),
    "I'm new to investing, be patient": (
        "I'm new to investing",
        "be patient",
    ),
    "I live in Texas and use Fahrenheit": (
        "I live in Texas",
        "use Fahrenheit",
    ),
}
"""As they are said, not as they are stored."""

ONE = (
    "I like tea and be-bop",
    "I cook and bake",
    "my sister and I live in Oslo",
    "I work for Johnson and Be Concise Ltd",
    "I try to speak up and be direct at work",
    "My motto is to work hard and be honest",
    "I want to live in Oslo and be honest with people",
    "My boss says to come early and be concise",
    "My parents live in Rome and call me every day",
    "I write reports and use bullet points",
    "I teach maths and use plain English",
    "I work nights and skip breakfast",
    "I run a shop and list products on eBay",
    "I answer phones and reply to mails",
    "I paint and show my work in Oslo",
    "I cook at home and keep it simple",
    "I smoke and avoid alcohol",
    "I live in Oslo and speak Norwegian",
    "I travel and write in English",
    "I like short stories and long walks",
    "I prefer honest people and good coffee",
    "If I ask about tax, be concise",
    "When I ask about taxes, answer in German",
    "I have two cats. They are called A and B.",
    "I love the film Be Kind Rewind and popcorn",
    'My motto is "work hard and be honest"',
    "I have kids and give them lessons",
    "I live in Oslo and work at Acme",
    "I help customers and answer in German",
    "I should eat less and be more patient",
    "I make my team focus and be specific",
    "I trade and use leverage",
    "I work in support and make calls",
    "I like it short and sweet",
    "My brother is honest and direct",
    "I sing and be-yond that I dance",
    "I live with Ann and Be",
    "My kids are small and give me headaches",
    "I get up at six and be at work by seven",
    "I need to exercise more and be strict about it",
    "I like direct flights and clear skies",
    "My doctor told me to eat less and be patient",
    "I manage people and give feedback",
    "I edit films and cut scenes",
    "I prefer tea and my wife prefers coffee",
    "I keep bees and make honey",
    "I blog about cars and avoid clickbait",
    "I would rather rent and be flexible",
    "I hold bonds, stocks and gold",
    "I use Celsius and kilometres",
    "I read short stories and write long letters",
    "Whenever I mention Rex, be gentle",
    "I invest in index funds and limit fees",
    "I am honest and direct",
    "I show dogs and keep horses",
)


def contents(words: str) -> tuple[str, ...]:
    return tuple(told.content for _, told in read_parts(words))


@pytest.mark.parametrize(("words", "parts"), TOGETHER.items())
def test_a_wish_for_answers_is_told_apart_from_a_statement(
    words: str, parts: tuple[str, str]
) -> None:
    assert contents(words) == parts


@pytest.mark.parametrize(("words", "parts"), MORE.items())
def test_a_wish_of_many_kinds_is_found(words: str, parts: tuple[str, str]) -> None:
    assert tuple(one.words for one in split_wishes(words)) == parts
    assert split_wishes(words)[1].is_wish


@pytest.mark.parametrize("words", ONE)
def test_what_belongs_together_stays_together(words: str) -> None:
    assert len(read_parts(words)) == 1


LEARNED = {
    "I pay tax in Thailand and be concise": ["Pays tax in Thailand", "Be concise"],
    "I live in Oslo and be concise": ["Lives in Oslo", "Be concise"],
    "I pay tax in Thailand. Be concise.": ["Pays tax in Thailand", "Be concise"],
    "I pay tax in Thailand and be concise, what should I buy?": [
        "Pays tax in Thailand",
        "Be concise",
    ],
    "Always be concise.": ["Always be concise"],
    "I'm new here. Remember to be concise.": ["Be concise"],
    "I no longer own any crypto": ["No longer owns any crypto"],
    "I live in Oslo. Be brief, what should I see there?": ["Lives in Oslo"],
    "Explain ETFs to me and be concise.": [],
    "Be concise: what is an ETF?": [],
}


@pytest.mark.parametrize(("words", "contents"), LEARNED.items())
def test_rules_learn_a_wish_with_a_statement_and_none_of_a_single_answer(
    words: str, contents: list[str]
) -> None:
    assert [one.content for one in said(words)] == contents
