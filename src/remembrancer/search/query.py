"""Parses a query: its terms, speakers, periods, exclusions and intent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from itertools import chain

from remembrancer.search.dates import EventOffset, TimeWindow, find_offset, find_windows
from remembrancer.search.terms import extract_query_terms, extract_terms
from remembrancer.search.word_tables import load_tables

FRAMING_PATTERNS = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"\bmention only\b[^.?!]*[.?!]*",
        r"\b(?:can|could|would|will) you (?:please |also |just )*(?:list|give(?: me)?|"
        r"provide(?: me)?(?: with)?|walk me through|tell me(?: about)?|remind me(?: of)?|show me|"
        r"summari[sz]e|describe|explain|recap|help me (?:remember|recall))\b",
        r"\b(?:an?|the) (?:(?:clear|comprehensive|detailed|brief|complete|full|quick|short|concise|"
        r"thorough) )*(?:summary|overview|recap|timeline) of\b(?: how\b| everything\b)?",
        r"\b(?:the |in what |what )order (?:in which|that|did) i (?:first )?(?:brought up|bring up|"
        r"mention(?:ed)?|discuss(?:ed)?|talk(?:ed)? about|raised?|cover(?:ed)?)\b"
        r"(?: (?:the |my )?(?:different|various|several|main))*"
        r"(?: (?:aspects?|concepts?|topics?|parts?|areas?)(?: (?:of|related to|about|in))?)?",
        r"\b(?:throughout|across|over|during|in|from) (?:all )?(?:of )?(?:our|my|these|the) "
        r"(?:previous |past |earlier |last )*"
        r"(?:conversations?|chats?|discussions?|sessions?|messages?|requests?|questions?)\b",
        r"\bin order\b(?! to)",
        r"\bi(?:'m| am| was|'ve been)?(?: wanted| want| would like)?(?: to)? "
        r"(?:follow(?:ing)? up on|"
        r"going (?:back )?(?:through|over)|looking (?:back )?(?:at|through)|"
        r"thinking (?:back )?(?:about|to|on)|checking|revisit(?:ing)?|go(?:ing)? back to) "
        r"(?:our|the|my) (?:previous |last |earlier |past )*(?:conversation|chat|discussion)s?"
        r"(?: (?:about|on|regarding))?",
        r"\b(?:and )?i was (?:just )?wondering(?: if)?\b",
        r"\b(?:do|can) you remember\b",
    )
)
"""Words of asking, as opposed to the topic."""

ASKS_ASSISTANT_PATTERN = re.compile(
    r"\byou (?:said|mentioned|told|recommended|suggested|gave|provided|listed|explained|described|"
    r"were referring|referred|advised|wrote|shared|created|made)\b|\bdid you\b|\bremind me\b|"
    r"\b(?:our|the) (?:previous|last|earlier) (?:chat|conversation|discussion)\b|"
    r"\bprevious (?:chat|conversation)\b|"
    r"\byour (?:suggestion|recommendation|advice|answer|list|response)\b",
    re.I,
)
ASKS_WHEN_PATTERN = re.compile(
    r"^\s*when\b|\bwhat (?:date|day|month|year|time)\b|"
    r"\bhow (?:long|many (?:days|weeks|months|years))\b",
    re.I,
)
ASKS_ADVICE_PATTERN = re.compile(
    r"\b(?:can|could|would|do) you (?:please )?(?:suggest|recommend|show|help|explain|walk|give|"
    r"think|have any)\b|\b(?:any|some) (?:advice|tips|suggestions?|recommendations?|ideas)\b|"
    r"\bhow (?:should|can|do|could|would) (?:i|we)\b|\bwhat (?:should|can|would|steps|are some)\b|"
    r"\bi'?m (?:planning|looking|trying|thinking|about)\b|\bi(?:'ve| have) been\b",
    re.I,
)
LOOKS_BACK_PATTERN = re.compile(
    r"\border (?:in which|that)\b|\b(?:summary|summari[sz]e|recap|overview|timeline)\b|"
    r"\bthroughout\b|\bacross\b|\bover time\b|\bwalk me through\b|\bin (?:what )?order\b|"
    r"\bprogress(?:ed)?\b|\bevolved?\b|\bour conversations?\b|\bhave i (?:ever|\w+ed)\b|"
    r"\bhow many (?:times|different)\b|\bdid i (?:say|mention|tell)\b",
    re.I,
)
WORDING_FILE = "question_wording.toml"
LATEST_PATTERN = re.compile(
    r"\b(?:latest|newest|most recent(?:ly)?|current(?:ly)?|nowadays|these days|right now|by now)\b",
    re.I,
)
FIRST_PATTERN = re.compile(r"\b(?:at first|originally|initially|earliest|in the beginning)\b", re.I)
EXCLUSION_PATTERN = re.compile(
    r"\b(?:other than|except(?: for)?|apart from|aside from|besides|not counting|not including|"
    r"excluding|but not)\s+([^,.;?!]{2,60})",
    re.I,
)
WORD_PATTERN = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A parsed query.

    `embedding_text` is the query without words of asking, without exclusions and without the
    names of speakers: a name outweighs everything else in a vector.
    """

    embedding_text: str
    terms: tuple[str, ...]
    sequence: tuple[str, ...]
    topic: tuple[str, ...]
    unwanted: tuple[str, ...] = ()
    speakers: frozenset[str] = frozenset()
    windows: tuple[TimeWindow, ...] = ()
    offset: EventOffset | None = None
    asks_assistant: bool = False
    asks_when: bool = False
    asks_advice: bool = False
    looks_back: bool = False
    asks_list: bool = False
    asks_number: bool = False
    order: int = 0

    def drop_terms(self) -> ParsedQuery:
        """The same query for a purely semantic search."""
        return replace(self, terms=(), sequence=(), topic=(), unwanted=())


@dataclass(frozen=True, slots=True)
class CorpusInfo:
    """The speakers and the period of the memories, for parsing a query."""

    speakers: Sequence[str] = ()
    earliest: datetime | None = None
    latest: datetime | None = None


@cache
def _load_wording() -> dict[str, re.Pattern[str]]:
    """One pattern for each thing that a question can ask for, of all languages."""
    return {
        name: re.compile(rf"\b(?:{'|'.join(chain(*languages.values()))})", re.I)
        for name, languages in load_tables(__package__, WORDING_FILE).items()
    }


def _asks(what: str, query: str) -> bool:
    return bool(_load_wording()[what].search(query))


def parse_query(query: str, now: datetime | None, corpus: CorpusInfo) -> ParsedQuery:
    unwanted = tuple(match[1] for match in EXCLUSION_PATTERN.finditer(query))
    asked = _strip_framing(EXCLUSION_PATTERN.sub(" ", query) if unwanted else query) or query
    named = _find_speakers(query, corpus.speakers)
    wanted = extract_query_terms(asked)
    names = {term for word in named for term in extract_terms(word)}
    spanning = corpus.earliest is not None and corpus.latest is not None
    return ParsedQuery(
        embedding_text=_remove_names(named, asked) or asked,
        terms=tuple(wanted),
        sequence=tuple(extract_terms(asked)),
        topic=tuple(term for term in wanted if term not in names),
        unwanted=tuple(term for phrase in unwanted for term in extract_query_terms(phrase)),
        speakers=frozenset(named.values()),
        windows=find_windows(query, now, corpus.earliest, corpus.latest)  # type: ignore[arg-type]
        if spanning
        else (),
        offset=find_offset(query),
        asks_assistant=bool(ASKS_ASSISTANT_PATTERN.search(query)) or _asks("asks_assistant", query),
        asks_when=bool(ASKS_WHEN_PATTERN.search(query)),
        asks_advice=bool(ASKS_ADVICE_PATTERN.search(query)),
        looks_back=bool(LOOKS_BACK_PATTERN.search(query)),
        asks_list=_asks("asks_list", query),
        asks_number=_asks("asks_number", query),
        order=bool(LATEST_PATTERN.search(query)) - bool(FIRST_PATTERN.search(query)),
    )


def _strip_framing(query: str) -> str:
    for frame in FRAMING_PATTERNS:
        query = frame.sub(" ", query)
    plain = re.sub(r"\s+([,.?!])", r"\1", " ".join(query.split())).strip(" ,.;")
    return plain if len(WORD_PATTERN.findall(plain)) > 1 else ""


def _find_speakers(query: str, speakers: Sequence[str]) -> dict[str, str]:
    """The words of a query that name a speaker: the full name, the first name, or a short form."""
    found: dict[str, str] = {}
    firsts = {name.split()[0].casefold(): name for name in reversed(speakers)}
    for word in dict.fromkeys(WORD_PATTERN.findall(query)):
        plain = word.casefold()
        short = len(word) >= 3 and word[0].isupper()
        for first, name in firsts.items():
            if plain == first or (short and first.startswith(plain)):
                found[word] = name
    return found


def _remove_names(names: dict[str, str], text: str) -> str:
    for name in names:
        text = re.sub(rf"\b{re.escape(name)}\b(?:['’]s)?", " ", text)
    return " ".join(text.split())
