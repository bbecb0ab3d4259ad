"""Detects email addresses, phone numbers, handles and personal web pages in ASCII bytes."""

from __future__ import annotations

import re

from remembrancer.guard.patterns import compile_pattern, has_any, one_of
from remembrancer.guard.persons import name_lists as lists

# A complete number: no letter, digit or joining sign on either side.
_BEFORE_NUMBER = r"(?:^|[^0-9A-Za-z.,-])"
_AFTER_NUMBER = r"(?:$|[^0-9A-Za-z-])"
_AT = r"(?:@|[ ]?[\[({<][ ]?at[ ]?[\])}>][ ]?)"
_DOT = r"(?:\.|[ ]?[\[({<][ ]?dot[ ]?[\])}>][ ]?)"
_EMAILS = (
    rf"(?i)[a-z0-9_.+%'-]+{_AT}(?:[a-z0-9-]+{_DOT})+[a-z]{{2,24}}",
    r"(?i)\b[a-z0-9_.+-]+[ ]at[ ](?:[a-z0-9-]+(?:[ ]dot[ ]|\.))+"
    + one_of("com org net io de eu co uk edu gov dev")
    + r"\b",
    r"(?i)\b[a-z0-9_.+-]{2,}[ ](?:at|@)[ ][a-z0-9-]+[ ](?:dot|\.)[ ][a-z]{2,6}\b",
    r"(?i)\bmailto:",
)


def has_email(data: bytes) -> bool:
    """True for an email address, also one with "at" and "dot" written out."""
    return has_any(data, _EMAILS)


_YEAR = r"(?:19|20)[0-9]{2}"
_COUNTED = one_of(
    "ports? lines? pages? rows? ids? range from between items? bytes channels? blocks? steps? "
    "rooms? pins? parts?"
)
_VERSIONED = one_of(
    "version release build firmware driver v chrome firefox edge safari windows macos ios android"
)
# Digits that are not a phone number: dates, times, versions, sizes, ranges.
_OTHER_NUMBERS = (
    rf"\b{_YEAR}[-/.][01]?[0-9][-/.][0-3]?[0-9]"
    r"(?:[T ]+[0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:\.[0-9]+)?Z?)?",
    rf"\b[0-3]?[0-9][-/.][0-3]?[0-9][-/.]{_YEAR}\b",
    rf"\b{_YEAR}[ ]?(?:-|/|to|and|or)[ ]?(?:19|20)?[0-9]{{2}}\b",
    r"\b[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?:[ ]?(?:-|to)[ ]?[0-9]{1,2}:[0-9]{2})?\b",
    rf"\b{_YEAR}[01][0-9][0-3][0-9](?:[T-]?[0-9]{{4,6}})?\b",
    r"\b[0-9]{1,3}(?:[, '][0-9]{3})*[, ']000\b",
    r"\b[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?\b",
    r"\b0x[0-9A-Fa-f]+\b",
    rf"(?i)\b{_VERSIONED}[ ]?[0-9]+(?:\.[0-9]+)+",
    rf"(?i)\b{_COUNTED}[ ]+[0-9]{{1,5}}[ ]?(?:-|to|and)[ ]?[0-9]{{1,5}}\b",
    r"\b[0-9]+\.[0-9]+(?:[eE][-+]?[0-9]+)?(?:$|[^0-9.xeE]|\.(?:$|[^0-9]))",
    r"\b(?:2147483647|2147483648|4294967295|4294967296|1000000007|3735928559)\b",
    r"\b[0-9]{1,6}0000+\b",
)
_CALLED = one_of(
    "phone tel telephone call calls dial fax mobile cell sms text whatsapp reach ring hotline "
    "extension telefon handy desk"
)
_BETWEEN = one_of(r"is at me us on number no\.? nr\.? line him her them to")
_EXTENSION = r"[ ]?(?:x|ext\.?)[ ]?[0-9]{1,6}"
_GROUPS = (
    rf"{_BEFORE_NUMBER}[0-9]{{2,5}}(?:[ ./-][0-9]{{2,4}}){{2,5}}(?:{_EXTENSION})?{_AFTER_NUMBER}"
)
_PHONES = (
    r"\+[ ]?[1-9][0-9]{0,3}[ ()./0-9-]{5,20}[0-9]",
    r"\b00[1-9][0-9 ()./-]{6,18}[0-9]",
    r"\([0-9]{2,5}\)[ ]?[0-9][0-9 .-]{3,12}[0-9]",
    rf"{_BEFORE_NUMBER}[0-9]{{2,5}}[ ./-][0-9]{{5,8}}{_AFTER_NUMBER}",
    rf"{_BEFORE_NUMBER}[0-9]{{4}}[ -][0-9]{{4}}{_AFTER_NUMBER}",
    rf"{_BEFORE_NUMBER}[0-9]{{3}}[-. ][0-9]{{4}}{_AFTER_NUMBER}",
    r"(?:^|[^0-9A-Za-z.,_#-])[0-9]{10,12}(?:$|[^0-9A-Za-z_-])",
    rf"[0-9]{{3,4}}[ .-][0-9]{{3,4}}{_EXTENSION}\b",
    rf"(?i)\b{_CALLED}\b[^0-9a-z]{{0,4}}(?:{_BETWEEN}[^0-9a-z]{{1,3}}){{0,3}}"
    r"\+?[0-9(][0-9 ()./-]{4,20}[0-9]",
)


def mask_other_numbers(data: bytes) -> bytes:
    """Replace dates, times, versions, amounts, ranges and memory addresses by `#`."""
    for pattern in _OTHER_NUMBERS:
        data = compile_pattern(pattern).sub(b"#", data)
    return data


def has_phone(data: bytes) -> bool:
    """True for a phone number, after other numbers have been masked."""
    data = mask_other_numbers(data)
    groups = (match[0] for match in compile_pattern(_GROUPS).finditer(data))
    return has_any(data, _PHONES) or any(_count_digits(group) >= 7 for group in groups)


def _count_digits(text: bytes) -> int:
    return sum(48 <= char < 58 for char in text)


_HANDLE = r"(?:^|[^A-Za-z0-9_.@/`+-])@([A-Za-z0-9_][A-Za-z0-9_.-]{0,38})(/?)"
_SERVICE = one_of(
    "username user_name user-name login nick(?:name)? handle screen_name user_?id github gitlab "
    "twitter slack discord skype telegram instagram mastodon irc"
)
_LOGINS = (
    rf"(?i)\b{_SERVICE}[ ]*(?:is|:|=|user|name|handle|account)[ ]*(?:is|:|=)?[ ]*"
    r"@?([a-z][a-z0-9._-]*[0-9._][a-z0-9._-]*[a-z0-9])\b",
    r"(?:^|[\s(\"'=])([A-Za-z_][A-Za-z0-9_.-]*)@([A-Za-z][A-Za-z0-9-]*)(?:$|[\s:)\"',;.])",
    r"(?:^|[\s(])/?u/[A-Za-z0-9_-]{3,}",
)
_DECORATORS = frozenset(
    """abstractmethod after all app async attribute author autowired bean before beforeeach
    bindable builder cache cached cached_property channel charset classmethod click component config
    configuration contextmanager controller data dataclass decorator define deprecated directive
    disabled document email entity enum environmentobject equals event everyone export extend field
    file final fixture font-face functools generated get getter given group here host id ignore
    import include injectable inject input interface internal jit keyframes layer lru_cache main
    media memoize method mixin mock model module name namespace njit nonnull notnull nullable
    observable observed observedobject ondelete output overload override page param patch path pipe
    post postmapping private property protected provides public published pure put pytest query
    readonly register repository rest restcontroller retry returns route safevarargs scheduled
    schema see serializable service setter shared since singleton size slf4j spy state stateobject
    staticmethod step supports suppresswarnings table tailwind task team test testable then todo
    tool transactional transient type types typing use utility validated value version viewchild
    when wraps""".split()
)


def has_handle(data: bytes) -> bool:
    """True for a username on a service; package scopes and decorators do not count."""
    for match in compile_pattern(_HANDLE).finditer(data):
        if not match[2] and not _is_decorator(match[1].decode("latin-1")):
            return True
    return has_any(data, _LOGINS)


def _is_decorator(handle: str) -> bool:
    first, *_ = handle.rstrip(".-").split(".")
    if first.lower() in _DECORATORS:
        return True
    parts = [part.lower() for part in re.findall(r"[A-Z][a-z]+", first)]
    return len(parts) > 1 and not any(map(_can_be_name, parts))


def _can_be_name(word: str) -> bool:
    return lists.is_given_name(word) or lists.name_log_odds(word) > 1


_NETWORKS = one_of(
    "github gitlab bitbucket twitter x facebook instagram t medium tiktok keybase vk xing flickr "
    "pinterest youtube reddit stackoverflow researchgate orcid gravatar mastodon"
)
_OWN_FOLDER = one_of(
    "~ @ u/ users?/ profiles?/ people/ members?/ authors?/ in/ staff/ employees?/ by/"
)
_PERSONAL_URLS = (
    r"(?i)\b[a-z][a-z0-9+.-]{1,12}://[^\s/@]+@",
    rf"(?i)\b(?:linkedin\.com/in|{_NETWORKS}\.[a-z]{{2,6}})/[@a-z0-9_.-]{{2,}}",
    rf"(?i)(?:\.[a-z]{{2,10}}|://[^\s/]+)/(?:[^\s]*/)?{_OWN_FOLDER}[a-z0-9_.-]+",
    r"(?i)https?://[^\s]*[?&](?:user|username|name|email|login|uid|userid|author)=[^&\s]+",
)


def has_personal_url(data: bytes) -> bool:
    """True for a link that contains a login or leads to someone's own page."""
    return has_any(data, _PERSONAL_URLS)
