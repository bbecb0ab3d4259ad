"""Tells words that name all memories, such as "everything you know about me", from words of one.

Pure; in English, German, Spanish, French and Italian.
"""

from __future__ import annotations

import re

ALL_WORDS = frozenset(
    "all everything anything whatever every entire whole complete "
    "alles alle allem sämtliche sämtlichen ganze ganzes gesamte gesamtes "
    "todo toda todos todas tout toute tous toutes tutto tutta tutti tutte".split()
)
OWN_WORDS = frozenset(
    "my our mein meine meinen meiner mi mis mon ma mes mio mia miei mie me mich mir mí moi".split()
)
DATA_WORDS = frozenset(
    "data memory memories daten gedächtnis erinnerung erinnerungen datos memoria recuerdos "
    "données mémoire souvenirs dati ricordi".split()
)
OTHER_WORDS = frozenset(
    # English
    "the of it that you your ve have has had got i d did ever to from for by in on about and or "
    "know knew remember remembered learn learned learnt stored store saved save kept keep recorded "
    "collected gathered noted told think info information details facts things stuff what "
    "are is there personal one single bit so far please now right "
    # German
    "was du dir von vom über uber ueber zu zur im in dein deinem deine der die das den dem und "
    "weißt weisst weiss hast gespeichert gespeicherten gespeicherte gemerkt gelernt kennst bekannt "
    "informationen infos angaben bisher je jemals bitte jetzt sofort mal doch "
    # Spanish
    "lo la los las el que sabes conoces recuerdas de del sobre acerca tienes has guardado guardada "
    "guardados aprendido tu tus información informacion cuanto cosas por favor ahora "
    # French
    "ce le les des du tu sais connais as sur au sujet à a enregistré enregistrées retenu "
    "appris mémorisé ta tes informations vous savez avez s il te plaît plait maintenant "
    # Italian
    "quello quanto ciò cio che sai conosci ricordi hai su di i il lo gli le memorizzato salvato "
    "salvati imparato tua tue informazioni riguardo mio favore piacere adesso ora".split()
)
KNOW_WORDS = frozenset(
    "know knew have remember remembered weißt weisst sabes sais savez sai".split()
)
WHAT_WORDS = frozenset("what was lo ce quello".split())
KNOWN_WORDS = ALL_WORDS | OWN_WORDS | DATA_WORDS | OTHER_WORDS
TOPIC_PATTERN = re.compile(r"\b(?:about|on) (?:it|that|this|them)$")
MAX_WORDS = 20


def names_everything(words: str) -> bool:
    """True if the words mean all that is remembered of the person, and name no topic of it."""
    spoken = re.findall(r"\w+", words.casefold())[: MAX_WORDS + 1]
    if not spoken or len(spoken) > MAX_WORDS or not KNOWN_WORDS.issuperset(spoken):
        return False
    if TOPIC_PATTERN.search(" ".join(spoken)):
        return False
    if not ALL_WORDS.isdisjoint(spoken):
        return True
    if OWN_WORDS.isdisjoint(spoken):
        return False
    is_knowledge = spoken[0] in WHAT_WORDS and not KNOW_WORDS.isdisjoint(spoken)
    return is_knowledge or not DATA_WORDS.isdisjoint(spoken)
