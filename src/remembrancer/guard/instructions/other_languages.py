"""Patterns of the most common instructions to an assistant in other languages than English."""

from __future__ import annotations

from dataclasses import dataclass

from remembrancer.guard.instructions.patterns import GAP, Directive, words_pattern


@dataclass(frozen=True, slots=True)
class LanguagePatterns:
    """The words of one language, as alternatives without accents."""

    ignore: str
    prior: str
    orders: str
    reveal: str
    prompt: str
    from_now_on: str
    you_do: str
    machine: str
    no_limits: str


_GERMAN = LanguagePatterns(
    ignore=r"ignorier\w*|vergiss|vergesst|vergessen sie|missacht\w*|beachte\w* nicht",
    prior=r"(?:vorherig|bisherig|vorig|obig|fruher|vorangegangen|vorstehend|vorhergehend)\w*"
    r"|alle deine|alle ihre",
    orders=r"(?:anweisung|instruktion|vorgabe|regel|befehl|richtlinie|prompt|anordnung)\w*",
    reveal=r"zeig\w*|verrat\w*|nenn\w*|gib|gebe\w*|offenbar\w*|wiederhol\w*",
    prompt=r"system-?\s?prompt\w*|systemanweisung\w*",
    from_now_on=r"ab (?:jetzt|sofort|nun)|von (?:jetzt|nun) an|kunftig",
    you_do=r"antworte\w*|(?:musst|sollst|wirst|bist|darfst) du|(?:mussen|sollen) sie|immer|niemals",
    machine=r"ki|assistent\w*|sprachmodell\w*|bot",
    no_limits=r"ohne (?:jede |alle )?(?:einschrankung|regel|filter|beschrankung)",
)
_FRENCH = LanguagePatterns(
    ignore=r"ignor(?:e|ez|er|ons)|oubli(?:e|ez|er|ons)|neglige[rz]?|ne ten\w+ pas compte"
    r"|ne sui(?:s|vez) (?:plus|pas)",
    prior=r"precedent\w*|anterieur\w*|ci-dessus|prealable\w*|initial\w*|que (?:tu as|vous avez)",
    orders=r"instructions?|consignes?|directives?|regles?|ordres",
    reveal=r"revel\w+|montr\w+|affich\w+|donn\w+|divulgu\w+|repet\w+",
    prompt=r"prompt (?:du )?systeme|instructions? (?:du )?systeme|invite systeme",
    from_now_on=r"a partir de maintenant|desormais|dorenavant",
    you_do=r"tu (?:es|dois|vas|repond\w*)|vous (?:etes|devez|allez)|repond\w*|toujours",
    machine=r"ia|assistant|modele|robot",
    no_limits=r"sans (?:aucune? )?(?:restriction|limite|filtre|regle|censure)",
)
_SPANISH = LanguagePatterns(
    ignore=r"ignor(?:a|e|ar|en|es|ad)|olvid(?:a|e|ar|ate|en|es)|desestim\w+|haz caso omiso"
    r"|no sigas|no hagas caso",
    prior=r"anterior(?:es)?|previ[ao]s?|precedentes?|de arriba|iniciales|que (?:te|has|recibiste)",
    orders=r"instrucci\w+|indicaci\w+|ordenes|reglas|directrices|directivas",
    reveal=r"revel\w+|muestr\w+|mostrar|dime|divulga\w*|imprim\w+|repit\w+|ensena\w*",
    prompt=r"prompt (?:del? )?sistema|(?:instrucciones|mensaje) del sistema",
    from_now_on=r"a partir de (?:ahora|este momento)|de ahora en adelante|desde ahora",
    you_do=r"eres|debes|vas a|tienes que|responde\w*|siempre|nunca|actua\w*",
    machine=r"ia|asistente|modelo|bot",
    no_limits=r"sin (?:ninguna? )?(?:restricci|limit|filtr|regla|censura)",
)
_ITALIAN = LanguagePatterns(
    ignore=r"ignor(?:a|are|ate|i)|dimentic(?:a|are|ate|hi)|trascur(?:a|are|ate)|non seguire",
    prior=r"precedent[ei]|di cui sopra|qui sopra|sopra|anterior[ei]|inizial[ei]|ricevute",
    orders=r"istruzion[ei]|indicazion[ei]|regol[ae]|direttiv[ae]|ordini|comandi",
    reveal=r"rivel\w+|mostr\w+|stamp\w+|divulg\w+|ripet\w+|dimmi",
    prompt=r"prompt (?:di|del) sistema|istruzioni (?:di|del) sistema",
    from_now_on=r"d'ora in (?:poi|avanti)|da (?:ora|adesso) in (?:poi|avanti)",
    you_do=r"sei|devi|dovrai|rispond\w*|sempre|mai|agisci",
    machine=r"ia|assistente|modello|bot",
    no_limits=r"senza (?:alcuna? )?(?:restrizion|limit|filtr|regol|censur)",
)
_PORTUGUESE = LanguagePatterns(
    ignore=r"ignor(?:e|a|ar|em)|esquec\w+|desconsider\w+|desrespeit\w+|nao siga",
    prior=r"anterior(?:es)?|previ[ao]s|acima|precedentes?|iniciais|que (?:voce )?recebeu",
    orders=r"instruc\w+|orientac\w+|regras|ordens|diretrizes|diretivas|comandos",
    reveal=r"revel\w+|mostr\w+|exib\w+|imprim\w+|divulg\w+|repit\w+",
    prompt=r"prompt (?:do|de) sistema|instrucoes do sistema",
    from_now_on=r"a partir de agora|de agora em diante|doravante",
    you_do=r"voce (?:e|deve|vai|ira)|responda|sempre|nunca|aja",
    machine=r"ia|assistente|modelo|bot|robo",
    no_limits=r"sem (?:nenhuma? |qualquer )?(?:restric|limit|filtr|regra|censura)",
)
_DUTCH = LanguagePatterns(
    ignore=r"negeer\w*|negeren|vergeet|vergeten|volg niet",
    prior=r"vorige|voorgaande|eerdere|bovenstaande|voorafgaande|oorspronkelijke|al je|al uw",
    orders=r"instructies?|opdrachten|regels|aanwijzingen|richtlijnen|bevelen|prompts?",
    reveal=r"toon|onthul\w*|laat|geef|herhaal\w*|deel",
    prompt=r"systeem-?\s?prompts?|systeeminstructies?",
    from_now_on=r"vanaf (?:nu|heden)|voortaan",
    you_do=r"(?:ben|moet|zal|zul) je|antwoord\w*|altijd|nooit|je (?:bent|moet|zult|zal)",
    machine=r"ai|assistent|model|bot",
    no_limits=r"zonder (?:enige )?(?:beperking|regel|filter|restrictie)",
)


def _build_directives(language: LanguagePatterns) -> tuple[Directive, ...]:
    """The directives of a language in which an adjective can precede or follow its noun."""
    return (
        Directive(
            "override",
            rf"\b(?:{language.ignore}){GAP}{words_pattern(4)}(?:"
            rf"(?:{language.prior}){GAP}{words_pattern(2)}(?:{language.orders})\b"
            rf"|(?:{language.orders}){GAP}{words_pattern(2)}(?:{language.prior})\b)",
            unless=r"\b(?:n'|non |nicht |niet |nao |no |ne )(?:ti |te |se )?"
            r"(?:oubli|ignor|olvid|dimentic|esque|vergess|vergeet|negeer)",
        ),
        Directive(
            "exfiltration",
            rf"\b(?:{language.reveal}){GAP}{words_pattern(4)}(?:{language.prompt})\b",
        ),
        Directive("memory-directive", rf"\b(?:{language.from_now_on}),?\s+(?:{language.you_do})\b"),
        Directive(
            "persona", rf"\b(?:{language.machine})\b[^.!?\n]{{0,40}}\b(?:{language.no_limits})"
        ),
    )


LATIN_DIRECTIVES: tuple[Directive, ...] = tuple(
    directive
    for language in (_GERMAN, _FRENCH, _SPANISH, _ITALIAN, _PORTUGUESE, _DUTCH)
    for directive in _build_directives(language)
)

_SAME_SENTENCE = r"[^。.!?\n]"

NON_LATIN_DIRECTIVES: tuple[Directive, ...] = (
    Directive(
        "override",
        r"(?:игнорир\pL*|забуд\pL*|забыть|отмени\pL*|не (?:следу|обраща)\pL*)\s+(?:\pL+\s+){0,3}"
        r"(?:предыдущ|прежн|прошл|вышеуказанн|вышеприведенн|ранее|все\s+сво|все\s+тво)\pL*\s+"
        r"(?:\pL+\s+){0,2}(?:инструкци|указани|команд|правил|распоряжени|промпт|подсказ)",
        unless=r"не\s+(?:игнорир|забуд|забыва)",
    ),
    Directive(
        "override",
        rf"(?:忽略|无视|無視|忘记|忘記|忘掉|忽视|忽視|不要理会|不要遵守|别管){_SAME_SENTENCE}{{0,8}}"
        r"(?:之前|以上|上述|先前|前面|此前|上面|所有|一切|你的|系统|系統|以前)"
        rf"{_SAME_SENTENCE}{{0,10}}(?:指令|指示|说明|說明|规则|規則|提示|命令|设定|設定|限制)",
        unless=r"(?:不要|不能|不得|请勿|切勿|别)(?:忽略|无视|無視|忘记|忘記|忽视|忽視)",
    ),
    Directive(
        "override",
        rf"(?:以前|これまで|ここまで|上記|前述|先ほど|すべて|全て|システム){_SAME_SENTENCE}{{0,12}}"
        rf"(?:指示|命令|ルール|指令|プロンプト|規則|制約|設定){_SAME_SENTENCE}{{0,8}}"
        r"(?:無視し|無視せ|忘れて|忘れろ|従わな|破棄し)",
        unless=r"(?:無視しな|忘れな)",
    ),
    Directive(
        "override",
        rf"(?:이전|위의|앞의|모든|지금까지){_SAME_SENTENCE}{{0,12}}(?:지시|명령|규칙|프롬프트|지침)"
        rf"{_SAME_SENTENCE}{{0,8}}(?:무시하|무시해|잊어|따르지\s*마)",
        unless=r"무시하지",
    ),
    Directive(
        "exfiltration",
        r"(?:покажи|раскрой|выведи|напиши|повтори|сообщи)\pL*\s+(?:\pL+\s+){0,3}системн\pL*\s+"
        r"(?:промпт|подсказ|инструкци|сообщени)"
        rf"|(?:显示|顯示|透露|输出|輸出|告诉|告訴|泄露|洩露|打印|重复){_SAME_SENTENCE}{{0,10}}"
        r"(?:系统提示|系統提示|系统指令)"
        rf"|(?:システムプロンプト|システム指示){_SAME_SENTENCE}{{0,8}}(?:表示し|教え|出力し|見せ|公開し|開示し)"
        rf"|시스템\s*프롬프트{_SAME_SENTENCE}{{0,8}}(?:보여|출력|알려|공개)",
    ),
    Directive(
        "persona",
        r"(?:ты|вы)\s+(?:теперь|больше\s+не)\s+(?:\pL+\s+){0,4}без\s+(?:\pL+\s+)?"
        r"(?:ограничени|правил|цензур)"
        rf"|你现在是{_SAME_SENTENCE}{{0,20}}(?:没有|不受){_SAME_SENTENCE}{{0,8}}(?:限制|约束|规则)"
        rf"|あなたは(?:今|これ|もう){_SAME_SENTENCE}{{0,20}}(?:制限|制約|ルール){_SAME_SENTENCE}{{0,4}}(?:ない|なし)",
    ),
    Directive(
        "memory-directive",
        r"(?:с этого момента|отныне|впредь),?\s+(?:ты|вы|всегда|никогда|отвечай)"
        r"|(?:从现在开始|从现在起|從現在開始|從現在起)[,、]?\s*"
        r"(?:你|您|请你|总是|始终|永远|必须|不要)"
        r"|(?:今後|これから|以降)は?[、,]?\s*(?:あなたは|常に|必ず|絶対に|すべての(?:回答|返答|応答))",
    ),
)
