"""Names of subjects and attributes: folded, and one name for each common attribute. No I/O."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping
from functools import cache, lru_cache
from re import Match
from typing import Any

from remembrancer.search.word_tables import load_tables

USER_SUBJECT = "user"
PARTNER = "partner"
JOB_ATTRIBUTES = ("employer", "occupation", "work")
HOME_ATTRIBUTES = ("home", "address", "living_situation")
USER_SYNONYMS = frozenset(
    "user i me myself the_user "
    "ich benutzer nutzer yo usuario usuaria je moi utilisateur utilisatrice".split()
)
"""Names that can mean nobody else."""

_COUNT_WORDS = re.compile(
    r"^(?:number_of|count_of|how_many|(?:an)?zahl(?:_der|_von)?|cantidad_de|nombre_de)_|_count$"
)
_TRANSCRIBED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "−": "-", "\ufe0f": ""})
_ACCENTS = re.compile("[\u0300-\u036f]")
_SIGNS = re.compile(
    r"(?P<telling>(?<=[^\W_])#+|(?<!\S)-(?=\d)|(?<=^[^\W_])-$|(?<=^[^\W_]{2})-$)|[\W_]"
)
"""The telling ones are part of a name: "C#", "-5", "A-", "AB-"."""

_TELLING_CATEGORIES = ("M", "S")
_SEPARATING_SYMBOLS = "`^´|=~<>"
_CAMEL_CASE = re.compile(r"(?:[a-z]{2}|[A-Z][a-z])[a-z\d]*[A-Z][^\W_]*")
_HUMPS = re.compile(r"(?<=[^\W_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def fold_name(name: str) -> str:
    """Equal for names that differ only in case, accents, spacing and punctuation.

    Symbols make a difference, as in "C++" and "team 🐶", and so do all signs of a name without
    letters and digits.
    """
    plain = unicodedata.normalize("NFC", name.casefold()).translate(_TRANSCRIBED).strip()
    if not any(map(str.isalnum, plain)):
        return plain
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", plain))
    return re.sub("_+", "_", _SIGNS.sub(_fold_sign, bare)).strip("_")


def _fold_sign(found: Match[str]) -> str:
    is_telling = unicodedata.category(found[0][0]).startswith(_TELLING_CATEGORIES)
    is_separating = found[0] in _SEPARATING_SYMBOLS
    return found[0] if found["telling"] or (is_telling and not is_separating) else "_"


def fold_attribute(predicate: str) -> str:
    """The folded name of an attribute, also in camel case."""
    if not _CAMEL_CASE.fullmatch(predicate):
        return fold_name(predicate)
    apart = fold_name(_HUMPS.sub("_", predicate))
    is_name = predicate[0].isupper() and apart not in _load_synonyms()
    return fold_name(predicate) if is_name else apart


def canonical_attribute(predicate: str) -> str:
    """The common name of an attribute; its own folded name if it is not a common one."""
    folded = fold_attribute(predicate)
    common = _load_synonyms().get(folded)
    return common or _COUNT_WORDS.sub("", folded) or folded or predicate


def can_have_several(predicate: str) -> bool:
    """True for an attribute of which a subject can have several values at once."""
    return bool(_load_attributes().get(canonical_attribute(predicate), {}).get("several"))


def list_kinds(predicate: str) -> frozenset[str]:
    """The common attributes that a predicate or one of its words names."""
    synonyms = _load_synonyms()
    folded = fold_attribute(predicate)
    words = (folded, *folded.split("_"))
    return frozenset(synonyms[one] for one in words if one in synonyms)


def list_attributes() -> tuple[str, ...]:
    return tuple(_load_attributes())


def canonical_subject(subject: str, own_names: Collection[str] = ()) -> str:
    """`user` for the person themselves, by whatever name; other subjects as they are."""
    folded = fold_name(subject)
    if folded in USER_SYNONYMS or folded in {fold_name(one) for one in own_names}:
        return USER_SUBJECT
    return " ".join(subject.split())


@lru_cache(maxsize=65_536)
def name_slot(subject: str, predicate: str) -> tuple[str, str]:
    """Equal for all spellings of one attribute of one subject."""
    return fold_name(canonical_subject(subject)), canonical_attribute(predicate)


@cache
def _load_synonyms() -> Mapping[str, str]:
    return {
        fold_name(synonym): name
        for name, values in _load_attributes().items()
        for synonym in (name, *values["synonyms"])
    }


def _load_attributes() -> Mapping[str, Mapping[str, Any]]:
    return load_tables(__package__, "attributes.toml")
