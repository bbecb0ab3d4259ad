"""Plain statements that are read by their frame, and sentences that only look like them."""

from __future__ import annotations

import pytest

from tests.learn.test_rule_extractor import said

WORTH_KEEPING = [
    # English
    "We run a small cidery outside Hereford.",
    "ive been on the parish council since 2017",
    "My aunt Bridie lives on the third floor, no lift, in Dundalk.",
    "I mend clocks for the museum in Whitby every Thursday.",
    "Our allotment is number 12, behind the Methodist hall.",
    "We've 40 ewes and a collie called Fern.",
    "My hip has been plastic since 2020.",
    "My stepson Kit boards at a school in Wells.",
    # German
    "Wir vermieten seit 2016 zwei Zimmer an Studenten.",
    "Ich gebe dienstags Nachhilfe in Fürth.",
    "Meine Tante Hilde züchtet Dackel in Passau.",
    "Bin seit Ostern Schöffe am Amtsgericht.",
    "Unser Garten liegt in Britz, Parzelle 9.",
    "Ab 1. Mai leite ich die Filiale in Ulm.",
    "Samstags spiele ich Orgel in Sankt Georg.",
    # Spanish
    "Reparto fruta por Chueca de 5 a 11.",
    "Mi sobrina Vera estudia danza en Lyon.",
    "Ensayamos los lunes en el ateneo de Gràcia.",
    "Tenemos 300 colmenas cerca de Teruel.",
    "Desde marzo cuido de mi abuela en Soria.",
    "Entreno a un equipo de rugby, los martes y viernes.",
    "Canto en el coro de la catedral desde 2011.",
    # French
    "On loue un gîte près d'Uzès depuis 2014.",
    "Je répare des vélos le samedi à Pantin.",
    "Mon frère Gaël conduit des trains à Brest.",
    "Ma tante Odile fait 60 kilos de miel par an.",
    "Je chante dans un chœur à Dijon, le jeudi soir.",
    "Depuis janvier je dirige la crèche de Vannes.",
    "Nos poules pondent 8 œufs chaque matin.",
    "J'anime un atelier d'écriture à Rezé chaque lundi.",
]

NOT_WORTH_KEEPING = [
    # questions
    "Do we run the heating in Hereford every night?",
    "Soll ich dienstags in Fürth anfangen?",
    "¿Ensayamos los lunes en Gràcia?",
    "On loue quelque chose près d'Uzès ?",
    # wishes and hypotheticals
    "I'd love to run a cidery outside Hereford.",
    "If we had 40 ewes, I would need a collie called Fern.",
    "Ich würde gern samstags in Sankt Georg Orgel spielen.",
    "Si tuviera 300 colmenas, viviría en Teruel.",
    "Si je vivais à Dijon, je chanterais le jeudi.",
    "Ojalá entrenara a un equipo los martes.",
    # jokes and irony
    "Oh great, I just love three hours in A&E every Friday.",
    "Na toll, ich liebe 40 Minuten Stau in Fürth.",
    # reported speech and quotes
    "My aunt says Bridie moved to Dundalk in 2019.",
    'The sign said "We rent two rooms in Passau since 2016".',
    "Mein Nachbar behauptet, wir wohnen seit 2016 in Passau.",
    "Mi prima dice que cuido de mi abuela en Soria.",
    "Selon Gaël, je chante faux le jeudi à Dijon.",
    # states of the moment
    "I'm stuck in traffic on the M6 near Stafford.",
    "We are waiting at Gate 12 in Gatwick.",
    "Ich stehe gerade in Ulm am Gleis 4.",
    "Estoy esperando en la puerta 12 de Barajas.",
    "Je suis à Vannes jusqu'à ce soir.",
    "My stepson is sleeping on the sofa.",
    # what was done once
    "I ate 3 scones at Betty's.",
    "Wir haben gestern 5 Stunden in Passau gewartet.",
    "Comimos 2 paellas en Sueca.",
    # requests and the work at hand
    "I need 300 words about Whitby by Thursday.",
    "Ich brauche bis Dienstag 3 Ideen für Fürth.",
    "Necesito 5 frases sobre Teruel.",
    "Il me faut 3 phrases sur Brest.",
]


@pytest.mark.parametrize("text", WORTH_KEEPING)
def test_a_plain_statement_is_kept_whatever_its_verb(text: str) -> None:
    found = said(text)
    assert found
    assert all(one.quote in text for one in found)


@pytest.mark.parametrize("text", NOT_WORTH_KEEPING)
def test_what_does_not_last_or_is_not_asserted_is_not_kept(text: str) -> None:
    assert said(text) == []
