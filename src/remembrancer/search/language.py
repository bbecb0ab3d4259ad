"""Detects the language of a text by its function words. No I/O."""

from __future__ import annotations

from enum import StrEnum

from remembrancer.search.terms import WORD_PATTERN

MAX_SCANNED_CHARS = 4000
MIN_LEAD = 1
"""By how many function words a language must lead the next one."""

MIN_FOREIGN_CHARS = 5
"""The shortest word that is looked up in other languages than that of its text."""


class Language(StrEnum):
    """The languages whose wording is understood; checks are neutral towards all others."""

    ENGLISH = "en"
    GERMAN = "de"
    SPANISH = "es"
    FRENCH = "fr"


FUNCTION_WORDS = {
    Language.ENGLISH: frozenset(
        "the a an and or but of to in on at is are was were be been am i i'm you he she it we they "
        "my your his her our their me him them this that these those with for from not no do does "
        "did don't can can't will would should have has had what which who when where how why if "
        "than then there just about so it's i've i'd i'll what's let's".split()
    ),
    Language.GERMAN: frozenset(
        "der die das den dem des ein eine einen einem einer eines und oder aber nicht kein keine "
        "ich du er sie es wir ihr mein meine meinen meinem meiner dein deine sein seine unser "
        "unsere mich mir dich dir ihn ihm uns euch ist sind war waren bin bist hat habe hab haben "
        "hatte wird werde werden wurde zu zum zur im am auf für mit von vom bei nach aus um über "
        "dass wie was wer wo wann warum welche welcher wenn als auch noch schon nur mal so jetzt "
        "kann muss soll will möchte nich nen".split()
    ),
    Language.SPANISH: frozenset(
        "el la los las un una unos unas y o pero de del al a en con por para sin sobre no sí yo tú "
        "él ella nosotros ellos mi mis tu tus su sus me te se le lo les nos es son era soy eres "
        "estoy está están fue ser hay he ha han que qué quién cuál cuándo dónde cómo cuánto "
        "porque si como más muy ya también este esta eso esto puedo tengo tiene quiero".split()
    ),
    Language.FRENCH: frozenset(
        "le la les un une des du de d l et ou mais à au aux en dans avec pour par sans sur ne pas "
        "plus je j tu il elle on nous vous ils elles mon ma mes ton ta tes son sa ses notre nos "
        "leur me m te t se s est sont était suis es ai as a avons ont c ce cette ces ça qui que qu "
        "quoi quel quelle quand où comment combien pourquoi si comme très y oui non moi "
        "n'est c'est j'ai".split()
    ),
}


def detect_language(text: str) -> Language | None:
    """The language with the most function words; None if there are none or two languages tie."""
    words = text[:MAX_SCANNED_CHARS].casefold().replace("’", "'").split()
    found = [word.strip('.,;:!?"()¿¡«»…') for word in words]
    bare = [part for word in found for part in WORD_PATTERN.findall(word)] + [
        word for word in found if "'" in word
    ]
    counts = {
        language: sum(word in known for word in bare) for language, known in FUNCTION_WORDS.items()
    }
    best, second = sorted(counts, key=lambda one: -counts[one])[:2]
    return best if counts[best] - counts[second] >= MIN_LEAD else None


def list_other_languages(word: str, language: Language | None) -> list[Language]:
    """The languages in which to look up a word that the language of its text does not have."""
    if language is not None and len(word) < MIN_FOREIGN_CHARS:
        return []
    return [one for one in Language if one != language]
