"""Detects names of computers, phones and servers in ASCII bytes, by the shape of the name."""

from __future__ import annotations

from collections.abc import Callable

from remembrancer.guard.patterns import compile_pattern, has_any, one_of, word_set
from remembrancer.guard.persons import name_lists as lists

_GENERIC_DEVICE = one_of("laptop notebook desktop pc workstation surface")
_BRAND = one_of(
    "mac-?book mbp imac mac-?mini mac-?pro mac-?studio iphone ipad thinkpad ideapad xps chromebook"
)
# Brands that are also words of everyday English; only their capitals tell.
_BRAND_WORD = one_of("Pixel Galaxy Surface Latitude Inspiron EliteBook Zenbook Studio-?Display")
_DEVICE = rf"(?:{_BRAND}|{_GENERIC_DEVICE})"
_ROLE = (
    "srv server host vm esx esxi hv gw gateway fw firewall sw switch rtr router lb nas san db mx "
    "ns dns proxy bastion jumphost jump vpn runner worker builder master k8s kube broker mail "
    "backup web app cache replica till pos kiosk"
)
_NUMBERED_SERVER = one_of(_ROLE)
_SOFTWARE_SERVER = one_of(f"{_ROLE} redis pg postgres mysql mongo kafka elastic nginx")
_SERVER = one_of(
    "srv host vm pc nb ws bastion jumphost jump hv esx esxi dc nas fs app web db mail mx ns proxy "
    "kube k8s worker master"
)
_SITED_SERVER = one_of(
    "srv server host vm esx hv gw fw sw rtr lb nas db mx ns dns proxy bastion jump vpn web app"
)
_SERVER_NAMES = (
    # prod-db-1, ci-runner-12, warehouse-pc-07; then gw-ams-1; then vm-114; then ns1; then build01.
    rf"\b[a-z][a-z0-9]{{1,14}}-(?:[a-z0-9]{{1,10}}-)?(?:{_SOFTWARE_SERVER}|pc)-?[0-9]{{1,3}}\b",
    rf"\b{_SITED_SERVER}-[a-z]{{2,4}}[0-9]?-[0-9]{{1,3}}\b",
    rf"\b{_NUMBERED_SERVER}-[0-9]{{1,4}}\b",
    r"\b(?:dns|ns|mx|vm|srv|esx)[1-9][0-9]?\b",
    rf"\b(?:{_NUMBERED_SERVER}|build|ci|node)-?0[0-9]{{1,3}}\b",
    rf"(?i)\b{_SERVER}-?[a-z]{{0,12}}-?0[0-9]{{1,3}}\b",
    r"(?i)\bip-[0-9]{1,3}(?:-[0-9]{1,3}){3}\b",
)
_DEVICE_NAMES = (
    r"\b(?:DESKTOP|LAPTOP|WIN|PC|NB|WS|MBP|MB|SRV|VM|HOST)-[A-Z0-9]*[0-9][A-Z0-9]*\b",
    r"\b(?:DESKTOP|LAPTOP)-[A-Z0-9]{4,}\b",
    r"\b(?:DESKTOP|LAPTOP|NOTEBOOK|WORKSTATION)_?[0-9A-Z]*[0-9]\b",
    r"\b[A-Z]{2,10}-(?:PC|NB|WS|SRV|LAPTOP|DESKTOP)-?[0-9]{1,4}\b",
    r"(?i)\b(?:laptop|notebook|pc|workstation|till|kiosk)-[0-9]{1,4}\b",
    rf"(?i)\b{_DEVICE}-(?:of|von|de|van|di|da)-[a-z0-9]+\b",
    r"(?i)\b(?:mac-?book(?:-(?:pro|air))?|mac-?(?:mini|pro|studio)|imac|mbp)-[0-9]{1,4}\b",
    rf"\b[A-Z][a-z]{{2,}}s?[-_]{_BRAND_WORD}(?:[-_][A-Za-z0-9]+)*\b",
    r"(?i)\b(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}\b",
    r"\\\\[A-Za-z0-9_.-]+\\",
)
_OWNED_DEVICES = (
    rf"(?i)\b([a-z]{{2,20}})-{_GENERIC_DEVICE}\b",
    rf"(?i)\b{_DEVICE}-([a-z]{{2,20}})\b",
)
_NAMED_DEVICE = rf"(?i)\b([a-z0-9]+)[-_]{_BRAND}(?:[-_]|\b)"
_BEFORE_BRAND = word_set(
    """all any anti apple co cross dell dual every first google intel lenovo lg microsoft mid multi
    new no non older one per plus post pre re refurbished samsung semi single sub ultra"""
)
_POSSESSED_DEVICE = (
    rf"\b([A-Z][A-Za-z]+)'s?[ ](?:[A-Za-z0-9]+[ ])?(?i:{_BRAND}|{_BRAND_WORD}|phone|tablet|laptop"
    r"|notebook|desktop|pc|workstation)\b"
)
_VENDORS = word_set(
    """apple dell lenovo google microsoft samsung hp asus acer sony huawei fujitsu toshiba intel
    amd nvidia xiaomi today tomorrow yesterday everyone everybody anyone nobody vendor"""
)
_MACHINE = one_of(
    "host server machine box workstation bastion jump_host file_server build_machine node nas"
)
_CALLED = (
    rf"(?i)\b(?:{_MACHINE}|laptop|computer|hostname)[ ](?:is[ ]|was[ ])?(?:called|named)[ ]"
    r"[\"'`]?([a-z][a-z0-9-]+)",
    r"(?i)\bhost[ -]?name(?:[ ]is|:|=)[ ]?[\"'`]?([a-z][a-z0-9-]+)",
)
_BESIDE_MACHINE = (
    rf"(?i)\b(?:on|to|from|into|via|over|by)[ ](?:the[ ])?{_MACHINE}[ ]([a-z][a-z0-9-]{{2,}})"
    r"(?:[ ]?[.,;:!?]|$|[ ](?:is|are|was|runs|has|at|in|every|and|or|each|only|for|over|with))",
    r"(?i)^(?:the[ ])?(?:host|machine|box)[ ]([a-z][a-z0-9-]{2,})[ ](?:is|was|runs|has|serves)\b",
)
_IS_MACHINE = (
    r"\b(?i:host|machine|box|bastion|workstation)[ ]is[ ]([A-Z][a-z]+)(?:[ ]?[.,;!]|$)",
    r"(?:^|[.!?][ ])([A-Z][a-z]+)[ ]is[ ](?:the|our|a|an)[ ](?:[a-z]+[ ]){0,2}"
    r"(?:host|machine|box|bastion|workstation)\b",
)
_POPULAR_NAMES = word_set(
    """aphrodite apollo aragorn ares ariel artemis asgard athena atlantis bender bilbo callisto
    ceres charon chewbacca cthulhu deimos discovery earth enceladus endor enterprise europa
    frodo galadriel gandalf ganymede gimli gondor hades hal heimdall hera hercules hermes
    hyperion io isengard janus jupiter kirk legolas leia loki luna mars marvin mercury merlin
    midgard minerva mordor moria morpheus neo neptune nibbler oberon odin odysseus orion
    pandora pegasus phobos picard pluto pollux poseidon prometheus proteus rhea rivendell rohan
    saturn sauron selene sirius skynet smaug spock tatooine tethys thor titan titania trillian
    tron uranus valhalla vega venus voyager vulcan yavin yggdrasil yoda zeus"""
)
_NOT_CALLED = word_set(
    """after by when if for to from in on at with once twice only every each a an the as and or via
    differently directly http https localhost automatically over through back"""
)


def has_machine(data: bytes) -> bool:
    """True for the name of one computer, phone or server; a product or a port is no name."""
    return (
        has_any(data, (*_DEVICE_NAMES, *_SERVER_NAMES))
        or _finds(data, _OWNED_DEVICES, _can_be_owner)
        or _finds(data, (_NAMED_DEVICE,), lambda word: word not in _BEFORE_BRAND)
        or _finds(data, (_POSSESSED_DEVICE,), lambda word: word not in _VENDORS)
        or _finds(data, _CALLED, lambda word: word not in _NOT_CALLED)
        or _finds(data, _BESIDE_MACHINE, _can_be_machine)
        or _finds(data, _IS_MACHINE, _can_be_machine)
    )


def _finds(data: bytes, shapes: tuple[str, ...], accepts: Callable[[str], bool]) -> bool:
    return any(
        accepts(match[1].decode("latin-1").lower())
        for shape in shapes
        for match in compile_pattern(shape).finditer(data)
    )


def _can_be_machine(word: str) -> bool:
    """True for a name that many machines have, and for what looks like no other word."""
    if word in _POPULAR_NAMES or any(char.isdigit() for char in word):
        return True
    if lists.is_ordinary(word) or lists.is_technical(word):
        return False
    return lists.name_log_odds(word) > 1.5


def _can_be_owner(owner: str) -> bool:
    bare = owner.removesuffix("s")
    if lists.is_ordinary(owner) or lists.is_technical(owner):
        return False
    return lists.is_given_name(owner) or lists.is_given_name(bare) or lists.name_log_odds(bare) > 3
