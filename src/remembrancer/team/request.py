"""Parses requests such as "remember this for the team: …". No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TEAM = r"(?:the|our) (?:whole |entire )?team"
_KEEP = (
    r"(?:remember|note|save|keep|store|record|share|propose|write|make a note of|a note)"
    r"(?: (?:this|that|it))?(?: down)?"
)
_FOR_TEAM = (
    rf"(?:{_KEEP}[,:]? (?:for|with|to) {_TEAM}(?: to know)?"
    rf"|add (?:this|that|it)? ?to (?:{_TEAM}|team)(?:['’]s)? (?:memory|knowledge)|team note)"
)
_SHOULD_KNOW = rf"{_TEAM} (?:should|must|ought to|needs to) (?:know|remember)(?: about)?"
_TELL = rf"(?:tell {_TEAM}|let {_TEAM} know)(?: about)?"
_SEPARATOR = r"(?:\s*[:\n–—]\s*|\s*[,.!]?\s+-\s+|,?\s+that[\s,:]+|[,.!]\s+)(?=\S)"
_REQUEST = re.compile(
    rf"(?:(?:{_FOR_TEAM}|{_SHOULD_KNOW}|{_TELL}){_SEPARATOR}"
    rf"|for {_TEAM}(?: to (?:know|remember))?\s*:\s*)(?P<content>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_REFERENCE = re.compile(
    rf"(?:{_FOR_TEAM}|(?:{_SHOULD_KNOW}|{_TELL}) (?:this|that|it))(?:,? (?:too|as well|please))?",
    re.IGNORECASE,
)
_REQUEST_AT_END = re.compile(
    rf"(?P<content>.*\S)(?:(?<=[.!;,:])\s+|\s*\n\s*|\s+[–—-]\s+)"
    rf"(?:(?:and|so|please)[\s,]+)*(?:{_REFERENCE.pattern})[\s.!:]*",
    re.IGNORECASE | re.DOTALL,
)
_REQUEST_START = re.compile(
    r"(?:^|(?<=[.!?;])\s+)(?:(?:please|and|also|so|ok(?:ay)?)[\s,]+|(?:can|could) you )*", re.I
)
_END = " \t\n.!:"
_QUOTES = {'"': '"', "“": "”", "„": "“", "'": "'", "‘": "’"}


def parse_team_request(message: str) -> str | None:
    """What a message asks to remember for the team; None if it asks nothing of the kind.

    The answer is empty if the message refers to what was said before it.
    """
    text = message.strip()
    if found := _REQUEST.fullmatch(text):
        return _clean(found["content"])
    if _REFERENCE.fullmatch(text.rstrip(_END)):
        return ""
    found = _REQUEST_AT_END.fullmatch(text)
    return _clean(found["content"].rstrip(",;:")) if found else None


def find_team_requests(text: str) -> Iterator[str]:
    """Yield what each line of a longer text asks to remember for the team."""
    for line in text.splitlines():
        content = parse_team_request(line)
        if content is None:
            starts = (found.end() for found in _REQUEST_START.finditer(line))
            requests = (_REQUEST.fullmatch(line, start) for start in starts)
            content = next((_clean(one["content"]) for one in requests if one), None)
        if content is not None:
            yield content


def _clean(content: str) -> str:
    text = content.strip()
    if len(text) > 1 and _QUOTES.get(text[0]) == text[-1]:
        text = text[1:-1].strip()
    return text[:1].upper() + text[1:]
