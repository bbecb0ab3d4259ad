"""Separates a person's own words from text that they pasted into a turn. No I/O."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property

from remembrancer.learn.wording.word_list import list_languages, load_word_lists, straighten
from remembrancer.search.language import Language

MIN_PASTED_WORDS = 6
"""Shorter text after an introduction counts as the person's own."""

MIN_QUOTED_WORDS = 5
"""Words from which a quotation counts as a sentence of somebody else."""

MAX_INTRODUCTION_CHARS = 200
"""How much of a line is read before and after the colon of an introduction."""

MAX_OWN_TAIL_WORDS = 60
"""Longer paragraphs after pasted text without an end belong to it."""

_ALL = frozenset(Language)
_NAME = r"[A-ZÀ-ÖØ-Þ][\w'.’-]*"
_NAMES = re.compile(rf"[\s,!.–-]*{_NAME}(?:[ &,]+{_NAME}){{0,4}}\W{{0,9}}")
_QUOTATION = re.compile(
    r"\"([^\"\n]{15,600})\"|“([^”\n]{15,600})”|„([^“”\n]{15,600})[“”]|«([^»\n]{15,600})»"
)
_BULLET = re.compile(r"\s*(?:[-*•·–]|\d{1,2}[.)])\s+\S")
_MAIL_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+\.\w+")
_LOG_LINE = re.compile(
    r"\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d\b|\[\d{1,2}[./]\d{1,2}[./]\d{2,4},? "
    r"|\w+(?:Error|Exception): |Traceback \(|\s+at [\w.$]+\(|\s*File \"|(?:\[)?(?:DEBUG|INFO|WARN"
    r"|WARNING|ERROR|FATAL)\b[\]:\s])"
)
_JSON_START = re.compile(r"\s*(?:\{\s*$|\{\s*\"|\[\s*\{|\[\s*$|<[?!/]?\w+[^>]*>)")
_JSON_LINE = re.compile(r"\s*(?:[\]}{\[]|\"[^\"]+\"\s*:|<[/?!]?\w)")
_HEADING = re.compile(r"[^a-zà-öø-ÿ!?]{10,120}$")


class _Lines(list[str]):
    """The lines of a turn."""

    @cached_property
    def sign_offs(self) -> list[int]:
        """The lines that follow the sign-off of a letter."""
        return [at + 1 for at in range(len(self)) if _signs_off(self, at)]


def split_pasted(text: str) -> tuple[str, str]:
    """Split a person's turn into their own words and the text they pasted."""
    lines = _Lines(text.splitlines())
    own: list[str] = []
    pasted: list[str] = []
    at = 0
    while at < len(lines):
        end = _find_end(lines, at)
        if end > at:
            pasted += lines[at:end]
            at = end
        else:
            mine, theirs = _split_line(lines[at])
            own.append(mine)
            pasted += theirs
            at += 1
    return "\n".join(own), "\n".join(pasted).strip()


def _find_end(lines: _Lines, at: int) -> int:
    """The line after the pasted text that begins at a line; the line itself if none does."""
    if not lines[at].strip():
        return at
    structured = _find_structured_end(lines, at)
    if structured > at:
        return structured
    introduced = _is_introduced(lines, at)
    if not (introduced or _starts_message(lines, at) or _is_heading(lines, at)):
        return at
    return _find_message_end(lines, at)


def _find_structured_end(lines: Sequence[str], at: int) -> int:
    """The end of quoted lines, code, JSON, markup or log lines."""
    if lines[at].lstrip().startswith("```"):
        fences = (n for n in range(at + 1, len(lines)) if lines[n].lstrip().startswith("```"))
        return next(fences, len(lines) - 1) + 1
    end = at
    while end < len(lines) and lines[end].lstrip().startswith(">"):
        end += 1
    if end > at:
        return end
    pattern = _JSON_LINE if _JSON_START.match(lines[at]) else _LOG_LINE
    while end < len(lines) and pattern.match(lines[end]):
        end += 1
    long_enough = end - at > 1 or (pattern is _JSON_LINE and '":' in lines[at].replace(" ", ""))
    return end if long_enough else at


def _is_introduced(lines: Sequence[str], at: int) -> bool:
    """True if the line before announces a text, and a blank line or a colon sets it apart."""
    before = at - 1
    while before >= 0 and not lines[before].strip():
        before -= 1
    if before < 0 or (before == at - 1 and not lines[before].rstrip().endswith(":")):
        return False
    if len(_paragraph(lines, at).split()) < MIN_PASTED_WORDS:
        return False
    intro = straighten(lines[before])
    if _matches("from_others", intro) or _ends_with_saying(intro):
        return True
    return _matches("request", intro) and not _is_list(lines, at)


def _starts_message(lines: _Lines, at: int) -> bool:
    """True for header lines, a mark of a forwarded message, or a letter's salutation."""
    line = straighten(lines[at]).strip()
    if _match_start("forwarded", line) or _is_header(lines, at):
        return True
    signed = _find_sign_off(lines, at) > at
    if _match_start("formal_salutation", line):
        return signed or _has_text(lines[:at])
    return signed and bool(_match_start("salutation", line)) and _has_own_around(lines, at)


def _is_header(lines: Sequence[str], at: int) -> bool:
    """True for two header lines, or one with an e-mail address."""
    if not _names_header(lines[at]):
        return False
    following = lines[at + 1] if at + 1 < len(lines) else ""
    return bool(_MAIL_ADDRESS.search(lines[at])) or _names_header(following)


def _names_header(line: str) -> bool:
    name, colon, _ = line.strip().partition(":")
    found = _match_start("header", name.strip())
    return bool(colon and found and found.end() == len(name.strip()))


def _is_heading(lines: Sequence[str], at: int) -> bool:
    """True for a line in capitals after a blank line, and text below it."""
    line = lines[at].strip()
    alone = at > 0 and not lines[at - 1].strip()
    below = at + 1 < len(lines) and bool(lines[at + 1].strip())
    words = re.findall(r"[A-ZÀ-ÖØ-Þ]{2,}", line)
    return alone and below and len(words) > 1 and bool(_HEADING.match(line))


def _find_message_end(lines: _Lines, at: int) -> int:
    """The line after the sign-off, else the first paragraph in which the person speaks again."""
    signed = _find_sign_off(lines, at)
    if signed > at:
        return signed
    end = _paragraph_end(lines, at)
    while end < len(lines):
        following = _next_text(lines, end)
        if following == len(lines) or _is_own_again(_paragraph(lines, following)):
            return end
        end = _paragraph_end(lines, following)
    return end


def _find_sign_off(lines: _Lines, at: int) -> int:
    """The line after a letter's sign-off; `at` if there is none."""
    following = bisect_right(lines.sign_offs, at)
    return lines.sign_offs[following] if following < len(lines.sign_offs) else at


def _signs_off(lines: Sequence[str], at: int) -> bool:
    """True for a line with a sign-off and a name, or with the name after a sign-off."""
    line = straighten(lines[at]).strip()
    below = at > 0 and _names_alone(line) and _is_bare_sign_off(lines, at - 1)
    return below or _ends_with_sign_off(line)


def _is_bare_sign_off(lines: Sequence[str], at: int) -> bool:
    line = straighten(lines[at]).strip().rstrip(",.!– -")
    found = _match_start("sign_off", line)
    return bool(found and found.end() >= len(line) - 2)


def _names_alone(line: str) -> bool:
    return len(line) < 60 and bool(_NAMES.fullmatch(line))


def _ends_with_sign_off(line: str) -> bool:
    """True if a line ends with a sign-off and a name: "Regards, Kim"."""
    found = load_word_lists("pasted.toml")["sign_off"].find_all(line, _ALL)
    return any(
        _names_alone(line[one.end() :]) and _begins_sentence(line, one.start()) for one in found
    )


def _begins_sentence(line: str, at: int) -> bool:
    before = line[:at].rstrip()
    return not before or before[-1] in ".!?…)\"'”" or not before[-1].isalnum()


def _has_own_around(lines: _Lines, at: int) -> bool:
    """True if the turn has text outside the letter: a turn that is one letter is the person's."""
    after = lines[_find_sign_off(lines, at) :]
    return _has_text(lines[:at]) or _has_text(after)


def _has_text(lines: Sequence[str]) -> bool:
    return any(one.strip() for one in lines)


def _is_own_again(paragraph: str) -> bool:
    text = straighten(paragraph).strip().lstrip("¿¡")
    if len(text.split()) > MAX_OWN_TAIL_WORDS:
        return False
    return text.rstrip(" )\"'”").endswith("?") or bool(_match_start("own_again", text))


def _is_list(lines: Sequence[str], at: int) -> bool:
    return all(_BULLET.match(one) for one in lines[at : _paragraph_end(lines, at)])


def _paragraph(lines: Sequence[str], at: int) -> str:
    return "\n".join(lines[at : _paragraph_end(lines, at)])


def _paragraph_end(lines: Sequence[str], at: int) -> int:
    end = at
    while end < len(lines) and lines[end].strip():
        end += 1
    return end


def _next_text(lines: Sequence[str], at: int) -> int:
    while at < len(lines) and not lines[at].strip():
        at += 1
    return at


def _split_line(line: str) -> tuple[str, list[str]]:
    """Take from a line what it quotes or introduces as somebody else's words."""
    own, pasted = _cut_quotations(line)
    if pasted:
        return own, pasted
    introduced = _find_introduced(line)
    return line[:introduced].rstrip(), [line[introduced:]] if introduced < len(line) else []


def _cut_quotations(line: str) -> tuple[str, list[str]]:
    pasted = [one[0] for one in _QUOTATION.finditer(line) if _is_attributed(line, one)]
    for one in pasted:
        line = line.replace(one, "", 1)
    return line, pasted


def _is_attributed(line: str, quotation: re.Match[str]) -> bool:
    """True if a whole sentence is quoted, and the words beside it name somebody else."""
    if len(quotation[0].split()) < MIN_QUOTED_WORDS:
        return False
    plain = straighten(line)
    before = re.split(r"[.!?]\s", plain[: quotation.start()])[-1][-80:]
    after = re.split(r"[.!?]", plain[quotation.end() :])[0][:40]
    return any(_is_said_by_others(one) for one in (before, after))


def _is_said_by_others(words: str) -> bool:
    languages = list_languages(words)
    said = load_word_lists("pasted.toml")["said"].search(words, languages)
    return said is not None and not _is_by_user(said[0])


def _is_by_user(saying: str) -> bool:
    return bool(_match_start("speaker_is_user", saying.strip()))


def _ends_with_saying(intro: str) -> bool:
    """True if a line ends with a verb of saying and its subject: "he wrote:"."""
    last = re.split(r"[.!?]\s", intro)[-1].rstrip(" :")
    found = load_word_lists("pasted.toml")["said"].find_all(last, list_languages(last))
    return any(one.end() == len(last) and not _is_by_user(one[0]) for one in found)


def _find_introduced(line: str) -> int:
    """Where somebody else's words begin after an introduction with a colon; the end if nowhere."""
    plain = straighten(line)
    for colon in re.finditer(r":\s+(?=\S)", plain):
        before = plain[max(0, colon.start() - MAX_INTRODUCTION_CHARS) : colon.start() + 1]
        intro = re.split(r"[.!?]\s", before)[-1]
        rest = plain[colon.end() : colon.end() + MAX_INTRODUCTION_CHARS]
        if len(rest.split()) >= MIN_PASTED_WORDS and _matches("from_others", intro):
            return colon.end()
    return len(line)


def _matches(name: str, text: str) -> bool:
    return load_word_lists("pasted.toml")[name].search(text, list_languages(text)) is not None


def _match_start(name: str, text: str) -> re.Match[str] | None:
    patterns = load_word_lists("pasted.toml")[name].patterns.values()
    return next((found for one in patterns if (found := one.match(text))), None)
