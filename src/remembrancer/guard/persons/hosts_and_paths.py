"""Detects IP addresses, host names and file paths in ASCII bytes."""

from __future__ import annotations

import ipaddress
import re

from remembrancer.guard.patterns import compile_pattern, has_any, one_of
from remembrancer.guard.persons.machines import has_machine

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
    if has_machine(data):
        return True
    if any(not _is_known_site(match[0]) for match in compile_pattern(_URL).finditer(data)):
        return True
    return any(_is_site(match[1], match[2]) for match in compile_pattern(_DOMAIN).finditer(data))


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
_PATH_PART = r"[A-Za-z0-9_.@*+-]+"
_FILE_TYPE = one_of(
    "py pyc ipynb js mjs cjs ts tsx jsx json jsonl ya?ml toml ini cfg conf env properties pem key "
    "crt cer p12 pfx jks asc gpg log txt md rst csv tsv parquet sql db sqlite3? bak dump sh bash "
    "zsh bat cmd ps1 exe dll so rb go rs java kt swift cc cpp hpp cs php pl lua dart vue svelte "
    "html? css scss less xml xsd svg png jpe?g gif webp bmp tiff? psd ai mp[34] wav mov zip tar gz "
    "tgz bz2 7z iso img bin hex elf deb rpm dmg apk ipa docx? xlsx? pptx? odt ods pdf rtf tex bib "
    "dwg dxf stl step ifc proto tf tfvars lock service plist gradle kts ttf otf woff2? "
    "avi mkv ogg flac mid musicxml epub sketch fig blend fbx obj glb gcode csr kdbx ovpn ics vcf "
    "eml"
)
_RELATIVE = (
    rf"{_BEFORE_PATH}(?:{_PATH_PART}/)+(?:[A-Za-z0-9_@*+-]+\.)+{_FILE_TYPE}\b",
    r"(?:^|[^A-Za-z0-9_.-])(?:[A-Za-z0-9_.-]+\\)+[A-Za-z0-9_-]+\.[A-Za-z0-9]{1,5}\b",
    rf"{_BEFORE_PATH}\.{{1,2}}/[A-Za-z0-9_.]",
    rf"{_BEFORE_PATH}\.[a-z][a-z0-9_-]+/{_PATH_PART}",
    rf"{_BEFORE_PATH}(?:{_PATH_PART}/)+{_PATH_PART}/(?:$|[\s\"')\]`>,;.])",
    rf"{_BEFORE_PATH}(?:src|lib|node_modules|site-packages)/{_PATH_PART}",
)
# Libraries whose names end like a script; requests with their method, and templates of routes.
_NO_PATHS = (
    r"(?i)\b[a-z0-9]+/(?:node|next|vue|nuxt|express|three|d3|ember|chart|react|angular)\.js\b",
    r"\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)[ ]+/[^\s]*",
    r"(?:^|[\s\"'(`])/[a-z][a-z0-9/_-]*/(?:\{[A-Za-z_]+\}|:[a-z_]+)[^\s]*",
)
_ABSOLUTE = rf"{_BEFORE_PATH}/([A-Za-z0-9_.{{}}:$@%+-]+)(?:/[A-Za-z0-9_.{{}}:$@%+-]+)+"
_ROUTES = re.compile(
    r"(?i)v\d+|apis?|rest|graphql|health\w*|ready\w*|live\w*|metrics|admin|static|auth|oauth\d?"
    r"|login|logout|internal|public|assets|docs|status|webhooks?|callbacks?|search|orders?"
    r"|products?|items|customers?|invoices?|accounts?|sessions?|tokens?|\.well-known|actuator"
    r"|swagger|openapi|debug|ws|rpc|events?|hooks?|exports?|imports?|downloads?|uploads?|payments?"
    r"|carts?|checkout|me|teams?|projects?|groups?|reports?|messages?|notifications?"
)


def has_file_path(data: bytes) -> bool:
    """True for a file path, absolute or relative; routes of an HTTP API do not count."""
    for harmless in _NO_PATHS:
        data = compile_pattern(harmless).sub(b" # ", data)
    if has_any(data, (*_PATHS, *_RELATIVE)):
        return True
    firsts = (match[1].decode("latin-1") for match in compile_pattern(_ABSOLUTE).finditer(data))
    return any(not _ROUTES.fullmatch(first) for first in firsts)
