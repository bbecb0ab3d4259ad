"""Finds what a message asks to have forgotten, if that is all it asks. Pure.

"Forget that idea and tell me about gold" changes the topic of a conversation and forgets nothing.
"""

from __future__ import annotations

import re

from remembrancer.assistant.next_question import BREAK, LINK, QUESTION, SELF

MAX_REQUEST_CHARS = 1000
PRONOUNS = ("it", "that", "this")

_FORGET = re.compile(
    r"/?forget\s+(?P<about>(?:about|that|what i (?:said|told you) about|"
    r"everything about(?! me\b))\s+)?(?P<topic>.+)",
    re.I | re.S,
)
_POLITE_END = re.compile(
    r"[\s,.!;–—-]+(?:please|thanks|thank you|(?:would|will) you|ok(?:ay)?|"
    r"(?:(?:because|since|as) )?(?:"
    r"(?:it|that|this|they)(?:['’]s|['’]re| is| are| was| were| isn['’]t| aren['’]t)?"
    r"(?: (?:no longer|not|now|all|simply))* (?:wrong|false|true|right|correct|incorrect|outdated|"
    r"out of date|obsolete|relevant|the case|so|a mistake)(?: any ?more| now)?|"
    r"i(?:['’]ve| have)? (?:changed my mind|moved|was (?:wrong|joking|kidding)|made (?:it|that) up)"
    r"))$",
    re.I,
)
"""What adds nothing to a request: politeness, and that what is to be forgotten is wrong."""
_NEVER_MIND = re.compile(
    r"(?:about )?(?:it|that|this|me|all (?:of )?(?:it|that|this)|the past|the idea|"
    r"them|these|those|"
    r"(?:that|this|these|those|(?:my|your|the) (?:last|previous|first)) "
    r"(?:idea|thought|plan|question|suggestion|topic|subject|point|message|request|answer|reply|"
    r"part|bit|one|thing|comment|remark|nonsense)s?|"
    r"it (?!all\b).*|you (?:(?:just|ever|even) )*(?:heard|saw|read) .*|"
    r"(?:(?:that|what|everything) )?i (?:(?:just|ever|even|have) )*"
    r"(?:said|asked|mentioned|wrote|brought it up)(?: (?:it|that|this|so|anything|before))?)"
    r"(?:\s*[,.;:!?–—].*|\s-\s.*|\s+(?:and|then|but|so|for now|please|instead)\b.*)?",
    re.I | re.S,
)
"""What stands for the talk itself; "forget it" usually means "never mind"."""
_TALKED_ABOUT = re.compile(
    r"(?:that )?i (?:(?:just|ever|even|have) )*"
    r"(?:asked (?:you )?(?:about|if|whether|how|why|what|which|when|where|who)|"
    r"(?:said|mentioned|asked|wrote) (?:anything|something) (?:about|on)|brought up)\b.*|"
    r"i (?:(?:just|ever|even|have) )*(?:asked (?:you )?for|mentioned)\b.*|"
    r"what i (?:(?:just|ever|even|have) )*(?:asked|was asking)\b.*|"
    r"(?:that|this|these|those|my|your|the) questions?(?: (?:about|on) .*)?|"
    r"your (?:ideas?|thoughts?|suggestions?|answers?|advice|proposals?)\b.*",
    re.I | re.S,
)
"""A question or an idea of this talk, which is no memory: "forget I asked about bonds"."""
_SET_ASIDE = re.compile(
    r"\bfor (?:now|today|the (?:moment|time being)|an? (?:moment|minute|second|sec|bit|while))\b",
    re.I,
)

_REQUEST = (
    r"let['’]?s|let us|let me|"
    r"(?:tell|show|give|send|teach|help|remind|advise|find|get|walk|ask|warn|guide|make|write|read|"
    r"buy|talk to|explain to|answer|assume|focus|consider) (?:me|us|my|our)|"
    r"explain|describe|compare|suggest|recommend|summari[sz]e|analy[sz]e|calculate|discuss|"
    r"talk about|focus on|concentrate on|move on|go (?:on|back|ahead)|carry on|back to|"
    r"start (?:over|again|afresh|anew|from|with)|continue|look (?:at|up|into|for|ahead)|"
    r"think (?:about|of)|get (?:on with|back to|started)|"
    r"just (?:answer|do|say|listen|talk|write|help)|"
    r"(?:keep|remember|note|save|add|update|change|replace) (?:that|only|my|our|the|it)|"
    r"(?:i|we)(?:['’]d| would| also| really| just| still)* "
    r"(?:rather|want|wanted|need|wonder|like to|(?:am|was) (?:asking|wondering|curious)|"
    r"have (?:a|another) question)|i['’]m (?:asking|wondering|curious|more interested|looking)"
)
_BARE_REQUEST = (
    r"(?:answer|list|check|buy|sell|pick|choose|rank|plan|write|draft|try|play|use|do|be|say|stop|"
    r"search|find|show|give|tell|read|sing|help|ask|imagine|consider|assume|take|go|look|get|make|"
    r"put|hold|invest|teach|translate|book|cook|work|run|open|start|begin|focus) \w+"
)
_CLAUSE = (
    rf"(?:{SELF}|every(?:one|body)|no(?:body| one)|people)(?:['’]\w+)? \w+|"
    r"(?:is|are|was|were|does|do|did|can|could|should|will|would|has|have) \w+"
)
_NOUN_CLAUSE = (
    r"(?!who|which|that|where)[\w'’ -]{1,40}? (?:is|are|was|were|isn['’]t|aren['’]t|has|have|"
    r"will|can|looks?|seems?|sounds?|matters?|pays?|costs?)"
)
_GOES_ON = re.compile(
    rf"(?:{BREAK}|\s+(?:and|but|then|so)\s+){LINK}(?:{_REQUEST}|{QUESTION})\b"
    rf"|{BREAK}{LINK}(?:{_BARE_REQUEST}|{_CLAUSE})\b"
    rf"|{BREAK}(?:[\w'’-]+ ){{1,4}}instead$",
    re.I,
)
_GOES_ON_AFTER_NAME = re.compile(
    rf"\s+(?:and|but|then|so)\s+{LINK}(?:{_BARE_REQUEST}|i (?:will|am)\b|i['’](?:ll|m)\b)"
    rf"|{BREAK}{LINK}{_NOUN_CLAUSE}\b",
    re.I,
)
"""After a thing, not after a clause: "forget that I sing and play chess" is one request."""
_BEGINS_CLAUSE = re.compile(rf"(?:that )?(?:{SELF}|my|our)\b", re.I)


def find_forget_topic(request: str) -> str | None:
    """What the request names; None if it names nothing or asks for something else as well.

    What begins with a slash is a command, however it goes on.
    """
    if len(request) > MAX_REQUEST_CHARS:
        return None
    asked = request
    while found := _POLITE_END.search(asked):
        asked = asked[: found.start()]
    match = _FORGET.fullmatch(asked)
    if match is None:
        return None
    topic = match["topic"]
    if request.startswith("/") and topic.casefold() not in PRONOUNS:
        return topic.strip(" \"'“”")
    named = asked.partition(" ")[2].strip()
    if _NEVER_MIND.fullmatch(named) or _TALKED_ABOUT.fullmatch(named):
        return None
    if _SET_ASIDE.search(topic) or _GOES_ON.search(topic):
        return None
    is_clause = (match["about"] or "").strip().lower() == "that" and _BEGINS_CLAUSE.match(topic)
    if not is_clause and _GOES_ON_AFTER_NAME.search(topic):
        return None
    return topic.strip(" \"'“”")
