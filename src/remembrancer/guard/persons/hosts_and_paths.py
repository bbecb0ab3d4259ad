"""Detects IP addresses, host names and file paths in ASCII bytes."""

from __future__ import annotations

import ipaddress
import re

from remembrancer.guard.patterns import compile_pattern, has_any, one_of
from remembrancer.guard.persons import name_lists as lists

_IPV4_PATTERN = (
    r"(?:^|[^0-9A-Za-z.])([0-9]{1,3}(?:\.[0-9]{1,3}){3})(?:/[0-9]{1,2})?"
    r"(?:$|[^0-9A-Za-z.]|\.(?:$|[^0-9]))"
)
_IPV6_PATTERN = (
    r"(?:^|[^0-9A-Za-z:.])((?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4})(?:$|[^0-9A-Za-z:])"
)
_VERSION = r"(?i)(?:\bversion|\brelease|\bbuild|\bv\.?)[ ]*[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b"
_WELL_KNOWN_ADDRESSES = frozenset(
    "0.0.0.0 127.0.0.1 255.255.255.255 1.1.1.1 8.8.8.8 :: ::1".split()
)


def has_ip_address(data: bytes) -> bool:
    """True for an IP address, except well-known ones such as 127.0.0.1 and netmasks."""
    data = compile_pattern(_VERSION).sub(b"#", data)
    # A match includes the character after it, which the next address can need before it.
    spaced = data.replace(b" ", b"  ").replace(b",", b", ")
    matches = (
        match
        for shape in (_IPV4_PATTERN, _IPV6_PATTERN)
        for match in compile_pattern(shape).finditer(spaced)
    )
    return any(_is_address(match[1].decode()) for match in matches)


def _is_address(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if text in _WELL_KNOWN_ADDRESSES or re.fullmatch(r"255\.\d+\.\d+\.0", text):
        return False
    return any(char.isdigit() for char in text) and address.version in {4, 6}


_SCHEMES = one_of(
    "https? ftps? sftp ssh git wss? rsync ldaps? smb nfs file imaps? smtp telnet vnc rdp"
)
_URL = rf"(?i)\b{_SCHEMES}://[^\s\"<>]+"
_DOMAIN = (
    r"(?i)(?:^|[^a-z0-9@._/-])((?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.){1,8}([a-z]{2,24}))"
    r"(?:$|[^a-z0-9_(=]|_$)"
)
_DEVICE = one_of(
    "mbp macbook(?:-?(?:pro|air))? imac iphone ipad laptop notebook desktop pc thinkpad "
    "workstation surface"
)
_SERVER = one_of(
    "srv host vm pc nb ws bastion jumphost jump hv esx esxi dc nas fs app web db mail mx ns proxy "
    "kube k8s worker master"
)
_DEVICES = (
    r"\b(?:DESKTOP|LAPTOP|WIN|PC|NB|WS|MBP|MB|SRV|VM|HOST)-[A-Z0-9]*[0-9][A-Z0-9]*\b",
    r"\b(?:DESKTOP|LAPTOP)-[A-Z0-9]{4,}\b",
    r"\b(?:DESKTOP|LAPTOP|NOTEBOOK|WORKSTATION)_?[0-9A-Z]*[0-9]\b",
    rf"(?i)\b{_DEVICE}-(?:of|von|de|van|di|da)-[a-z0-9]+\b",
    rf"(?i)\b{_SERVER}-?[a-z]{{0,12}}-?0[0-9]{{1,3}}\b",
    r"(?i)\bip-[0-9]{1,3}(?:-[0-9]{1,3}){3}\b",
    r"(?i)\b(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}\b",
    r"\\\\[A-Za-z0-9_.-]+\\",
)
_OWNED_DEVICES = (rf"(?i)\b([a-z]{{2,20}})-{_DEVICE}\b", rf"(?i)\b{_DEVICE}-([a-z]{{2,20}})\b")
_KNOWN_SITES = frozenset(
    """github.com gitlab.com bitbucket.org docs.rs
    stackoverflow.com readthedocs.io python.org docs.python.org example.com example.org example.net
    socket.io draw.io fly.io java.io kotlin.io asp.net vb.net ml.net ado.net schema.org w3.org
    kernel.org letsencrypt.org golang.org go.dev web.dev""".split()
)
_PRIVATE_ENDS = frozenset(
    """internal local localdomain lan corp intranet home private prod staging cluster svc arpa
    onion""".split()
)
# File extensions and members of code that are also top-level domains.
_FILE_ENDS = frozenset(
    """app as cat cc cd do go id in info int is it mc md me mk ml mm name net no pl po ps py rs run
    sc sh sl so st tel tf to vi blog company digital email group jobs link live media network news
    page pro shop site space store systems team today world zone""".split()
)
_SITE_ENDS_TOO = frozenset("app me net in name it to shop site info blog email".split())
_TOP_LEVEL = frozenset(
    """com org net edu gov mil int info biz name pro aero coop museum io ai app dev xyz online site
    tech store shop cloud blog eu asia cat jobs mobi tel travel club live news email link agency
    company digital group media network solutions systems team today world zone page space website
    ac ad ae af ag al am ao ar at au aw az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by bz ca
    cc cd cf cg ch ci ck cl cm cn co cr cu cv cy cz de dj dk dm do dz ec ee eg er es et fi fj fk fm
    fo fr ga gb gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in
    iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc
    md me mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz na nc ne nf ng ni nl no np nr nu nz
    om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd se sg sh si sk sl sm
    sn so sr ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug uk us uy uz
    va vc ve vg vi vn vu wf ws ye yt za zm zw""".split()
)


def has_host(data: bytes) -> bool:
    """True for the name of a machine or a site, except sites that every developer knows."""
    if has_any(data, _DEVICES):
        return True
    if any(not _is_known_site(match[0]) for match in compile_pattern(_URL).finditer(data)):
        return True
    if any(_is_site(match[1], match[2]) for match in compile_pattern(_DOMAIN).finditer(data)):
        return True
    owned = (
        match[1] for shape in _OWNED_DEVICES for match in compile_pattern(shape).finditer(data)
    )
    return any(_can_be_owner(owner.decode().lower()) for owner in owned)


def _is_known_site(url: bytes) -> bool:
    host = url.split(b"://", 1)[1].rstrip(b"/.,;)").decode("latin-1").lower()
    return host in _KNOWN_SITES or host.split(":")[0] == "localhost"


def _is_site(name: bytes, end: bytes) -> bool:
    host, last = name.decode("latin-1").lower(), end.decode("latin-1").lower()
    if host in _KNOWN_SITES:
        return False
    if host.startswith("www.") or last in _PRIVATE_ENDS:
        return True
    if last in _FILE_ENDS:
        return host.count(".") > 1 and last in _SITE_ENDS_TOO
    # A capital after the dot is a member of code, or a sentence without a space before it.
    return last in _TOP_LEVEL and not end[:1].isupper()


def _can_be_owner(owner: str) -> bool:
    bare = owner.removesuffix("s")
    if lists.is_ordinary(owner) or lists.is_technical(owner):
        return False
    return lists.is_given_name(owner) or lists.is_given_name(bare) or lists.name_log_odds(bare) > 3


_BEFORE_PATH = r"(?:^|[\s\"'(=:,`<>\[])"
_ROOTS = one_of(
    "home Users root etc var usr opt tmp mnt srv Volumes media private proc dev sys boot run lib "
    "bin sbin data workspace export nfs Library Applications System"
)
_PATHS = (
    rf"{_BEFORE_PATH}~[A-Za-z0-9_.-]*[/\\]",
    r"(?i)(?:^|[^a-z0-9])[a-z]:[\\/][^\s]",
    r"\\\\[A-Za-z0-9_.$-]+\\[A-Za-z0-9_.$-]+",
    r"(?i)%(?:userprofile|appdata|homepath|localappdata|username|temp)%",
    r"\$\{?(?:HOME|USER|USERNAME|LOGNAME)\b",
    rf"{_BEFORE_PATH}/{_ROOTS}(?:/[A-Za-z0-9_.$@%+-]+)+",
    r"(?i)(?:^|[^a-z0-9])(?:home|users|documents and settings)[/\\][a-z0-9_.-]+",
    r"(?i)\bfile://",
)
_ABSOLUTE = rf"{_BEFORE_PATH}/([A-Za-z0-9_.{{}}:$@%+-]+)(?:/[A-Za-z0-9_.{{}}:$@%+-]+)+"
_ROUTES = re.compile(
    r"(?i)v\d+|apis?|rest|graphql|health\w*|ready\w*|live\w*|metrics|admin|static|auth|oauth\d?"
    r"|login|logout|internal|public|assets|docs|status|webhooks?|callbacks?|search|orders?"
    r"|products?|items|customers?|invoices?|accounts?|sessions?|tokens?|\.well-known|actuator"
    r"|swagger|openapi|debug|ws|rpc|events?"
)


def has_file_path(data: bytes) -> bool:
    """True for a file path; routes of an HTTP API do not count."""
    if has_any(data, _PATHS):
        return True
    firsts = (match[1].decode("latin-1") for match in compile_pattern(_ABSOLUTE).finditer(data))
    return any(not _ROUTES.fullmatch(first) for first in firsts)
