"""Detects postal addresses and postcodes as written in Europe and America, in ASCII bytes."""

from __future__ import annotations

from remembrancer.guard.patterns import has_any, one_of

_NUMBER = r"[0-9]{1,5}[A-Za-z]?(?:[-/][0-9]{1,4}[A-Za-z]?)?"
_WAY = one_of(
    "street avenue boulevard road lane drive court place square terrace crescent highway parkway "
    "close grove mews esplanade quay hwy blvd ave rd st ln pkwy cres pde tce str"
)
_WAY_AS_END = one_of(
    r"strasse str\. straat gasse gatan gata gate vagen veien vegen veg vej gade katu tie laan weg "
    "plein platz allee damm ufer steig kade gracht dreef stien stigen bakken polku kuja utca korut "
    "tanav puiestee iela gatve ulica trida namesti cesta ulice"
)
_WAY_FIRST = one_of(
    r"rue avenue boulevard bd place quai chemin impasse allee via viale corso piazza piazzale "
    r"vicolo strada largo calle avenida avda plaza paseo carrer ronda camino rua travessa praca "
    r"estrada ul\. ulica al\. os\. pl\. aleja osiedle str\. bulevardul calea nam\. c/ cl\."
)
_FRENCH_WAY = one_of(
    "rue avenue boulevard bd place quai chemin impasse allee allees cours route square passage"
)
_OF_A_PERSON = one_of("home billing shipping mailing postal residential private")
# Without those that are also words or technical abbreviations: ID, IN, OR, PR, OK, HI, ME.
_STATE = one_of(
    "AL AK AZ AR CA CO CT DE DC FL GA IL IA KS KY LA MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND "
    "OH PA RI SC SD TN TX UT VT VA WA WV WI WY"
)
_CODE = one_of("zip zip_?code post(?:al)?_?code plz cap cp")

_STREETS = (
    rf"\b{_NUMBER},?[ ](?:[A-Z0-9][A-Za-z0-9.'-]*[ ]){{1,4}}(?i:{_WAY})\b",
    rf"\b[A-Z][A-Za-z'-]+[ ](?i:{_WAY})\.?[ ]{_NUMBER}\b",
    rf"(?i)\b[a-z'-]*[a-z]{_WAY_AS_END}[ ]{_NUMBER}\b",
    rf"(?i)\b{_WAY_FIRST}[ ]+[a-z][a-z' .-]{{1,40}}[ ,]+{_NUMBER}\b",
    rf"\b[0-9]{{1,5}},?[ ](?i:{_FRENCH_WAY})[ ][A-Za-z]",
    r"\b(?:Suite|Apt|Apartment|Unit|Flat|Ste)\.?[ ]#?[0-9]{2,5}[A-Za-z]?\b",
    r"(?i)\b(?:apt|apartment)\.?[ ]#?[0-9]+[a-z]?\b",
    r"(?i)\b(?:p\.?[ ]?o\.?[ ]?box|postfach|bp|apartado|casella postale)[ ]+[0-9]{2,}",
    r"(?i)\b(?:apo|fpo|dpo),?[ ](?:aa|ae|ap)[ ][0-9]{5}\b|\bunit[ ][0-9]{4}[ ]box[ ][0-9]+",
)
_POSTCODES = (
    r"\b[A-PR-UWYZ][A-HK-Y]?[0-9][0-9A-HJKSTUW]?[ ][0-9][ABD-HJLNP-UW-Z]{2}\b",
    r"\b[ABCEGHJ-NPRSTVXY][0-9][A-Z][ -][0-9][A-Z][0-9]\b",
    rf"(?i)\b{_CODE}\b(?:[ ]code)?[ ]*(?:is|:|=|#)?[ ]*[0-9][0-9A-Z]{{1,4}}[ -]?[0-9A-Z]{{0,4}}\b",
    rf"(?i)\b{_CODE}\b(?:[ ]code)?[ ]*(?:is|:|=|#)[ ]*[0-9A-Z]{{2,5}}[ -]?[0-9A-Z]{{2,4}}\b",
    rf"\b{_STATE}[ ][0-9]{{5}}(?:-[0-9]{{4}})?\b",
    r"\b(?:[A-Z]{1,2}-)[0-9]{4,5}[ ][A-Z][a-z]+",
    r"\b[0-9]{5}(?:-[0-9]{4})?[ ][A-Z][a-z]{3,}(?:[ ]?$|[ ]?[,.;\n]|[ ](?:[A-Z]|am|an|bei))",
    r"\b(?:in|from|at|near|to|of)[ ][A-Z][a-z]+(?:[ -][A-Z][a-z]+){0,3},?[ ][0-9]{5}\b",
    r"\n[ ]*(?:[A-Z][A-Za-z.()-]+[ ,]+){1,4}[0-9]{5}[ ]*(?:$|\n)",
    r"[A-Z][a-z]+,[ ](?:[A-Z][A-Za-z()]+[ ]){1,3}(?:[0-9]{5,6}|[03-9][0-9]{3})\b",
)
_HOMES = (
    r"\b(?:lives|lived|resides|resided|residing|living)[ ](?:at|on)[ ][A-Z0-9][A-Za-z0-9]",
    r"(?i)(?:^|[.!?\n][ ]*|\b(?:his|her|their|my|your|our|home|new|old|whose)[ ])"
    r"address(?:[ ]is|:)[ ]+[^\n]{0,40}[0-9]",
    rf"(?i)\b{_OF_A_PERSON}[ ]address[ ]*:",
)


def has_address(data: bytes) -> bool:
    """True for a street with a number, a postcode with a place, or a statement of a residence."""
    return has_any(data, (*_STREETS, *_POSTCODES, *_HOMES))
