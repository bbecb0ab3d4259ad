"""Looks up single words in the lists of names and scores how much a word looks like a name."""

from __future__ import annotations

from functools import cache
from importlib import resources

from remembrancer.guard.persons.person_words import words_of

_FOLDER = resources.files("remembrancer.guard") / "words"
_MAX_RUN_CHARS = 4
_MAX_WORD_CHARS = 40
# Too frequent to be treated as names, although some lists of names contain them.
_FUNCTION_WORDS = frozenset(
    """
    a about after all also am an and any are as at be because been before being but by can cannot
    could did do does done each either else every few for from had has have here how if in into is
    it its just less many may might more most much must need neither never no nor not now of off on
    once one only onto or other out over own per same shall should since so some still such than
    that the their them then there these they this those through thus to too under until up upon
    used very via was were what when where whether which while who whom whose why will with within
    without would yet
    aber alle als am auch auf aus bei beim bis das dem den der des die dies durch ein eine einem
    einen einer es fur gegen hat ihr ihre im ist kein mit nach nicht noch nur oder ohne sich sie
    sind uber um und vom von vor war wenn werden wird zu zum zur
    au aux avec ce ces cette dans de des du est et il ils la le les leur ne ou par pas plus
    pour que qui sa sans ses son sont sur un une
    al como con cuando del el en entre es esta este las lo los mas muy no o para pero por que
    se sin sobre su sus un una y
    alla che chi da dal dalla degli dei della delle di dove e gli ha ho il nel nella non per piu
    sono sul sulla uno
    ao as com da das do dos em mais na nas nao os ou para pela pelo pois sao seu sua um uma
    aan bij dat de den deze dit door een elke en er het hij in is maar met naar niet nog of om ook
    op te tot uit van voor wordt zijn
    """.split()
)


@cache
def _load_words(name: str) -> frozenset[str]:
    lines = (_FOLDER / name).read_text(encoding="ascii").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


@cache
def _load_run_weights() -> dict[str, int]:
    weights: dict[str, int] = {}
    for line in (_FOLDER / "looks.txt").read_text(encoding="ascii").splitlines():
        if not line.startswith("#"):
            weight, *runs = line.split()
            weights.update(dict.fromkeys(runs, int(weight)))
    return weights


def is_common_given_name(word: str) -> bool:
    """True for a given name in many countries that is not an English word or a product."""
    return word in _load_words("given_common.txt") and word not in _load_words("technical.txt")


def is_given_name(word: str) -> bool:
    """True for a given name anywhere, even if it is an English word or a product."""
    return word in _load_words("given_common.txt") or word in _load_words("given.txt")


def is_surname(word: str) -> bool:
    """True for a listed surname, even if it is an English word."""
    return word in _load_words("surnames.txt")


def is_technical(word: str) -> bool:
    """True for a product, a method, a place or a month, even if it is named after a person."""
    return word in _load_words("technical.txt") or word in _load_words("packages.txt")


def is_ordinary(word: str) -> bool:
    """True for an English word that is or looks like a name, and for function words."""
    if word in _FUNCTION_WORDS or word in _load_words("ordinary.txt"):
        return True
    if word in words_of("word_surnames"):
        return True
    return not is_given_name(word) and not is_surname(word) and _is_inflected(word)


def _is_inflected(word: str) -> bool:
    ordinary = _load_words("ordinary.txt")
    return any(
        word.endswith(ending)
        and (word[: -len(ending)] in ordinary or word[: -len(ending)] + "e" in ordinary)
        for ending in ("s", "es", "ed", "ing", "ly", "er", "ers")
        if len(word) > len(ending) + 2
    )


def name_log_odds(word: str) -> float:
    """The log odds that a word is a name, from its sequences of letters."""
    runs = _load_run_weights()
    whole = f"^{word[:_MAX_WORD_CHARS]}$"
    total = sum(
        runs.get(whole[start : start + length], 0)
        for length in range(1, _MAX_RUN_CHARS + 1)
        for start in range(len(whole) - length + 1)
    )
    return total / 10
