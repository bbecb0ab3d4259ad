"""Detects identity documents, cards, accounts and ages in ASCII bytes; verifies check digits."""

from __future__ import annotations

from remembrancer.guard.patterns import compile_pattern, has_any, one_of
from remembrancer.guard.persons.contacts import mask_other_numbers

_OPEN = r"(?:^|[^0-9A-Za-z-])"
_SHUT = r"(?:$|[^0-9A-Za-z-])"
_BARE_OPEN = r"(?:^|[^0-9A-Za-z#_.,-])"
_BARE_SHUT = r"(?:$|[^0-9A-Za-z_-])"
_DOCUMENTS = one_of(
    "social_security ssn social_insurance national_insurance nino national_id id_card "
    "identity_card personal_id passport driver'?s?'?_?licen[cs]e driving_licen[cs]e "
    "dl_?(?:number|no) licen[cs]e_plate number_plate tax_?(?:payer)?_?id(?:entification)? "
    "tin itin nhs medicare health_insurance insurance_(?:number|policy) medical_record mrn npi "
    "personalausweis reisepass fuhrerschein steuer-?id sozialversicherungsnummer dni nie nif cpf "
    "curp codice_fiscale bsn pesel personnummer cpr hetu aadhaar pan_card student_id "
    "employee_(?:id|number) staff_id personnel_number visa_number green_card"
)
# Matched before dates and amounts are masked; the second is Brazil's, which contains dots.
_AS_WRITTEN = (
    rf"(?i)\b{_DOCUMENTS}\b[^\n]{{0,30}}?[A-Z0-9]*[0-9][A-Z0-9. /-]*[0-9]",
    r"\b[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}\b",
)
# United States, Britain, Italy, Mexico, Spain, Finland and Denmark, Sweden, France, India;
# then licences and passports, and digits too long for a quantity.
_NATIONAL = (
    rf"{_OPEN}[0-9]{{3}}[- ][0-9]{{2}}[- ][0-9]{{4}}{_SHUT}",
    r"(?:^|[^0-9-])[0-9]{2}-[0-9]{7}(?:$|[^0-9-])",
    r"\b[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z][ ]?[0-9]{2}[ ]?[0-9]{2}[ ]?[0-9]{2}[ ]?[A-D]\b",
    r"\b[A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]\b",
    r"\b[A-Z]{4}[0-9]{6}[HM][A-Z]{5}[A-Z0-9][0-9]\b",
    r"\b(?:[0-9]{8}|[XYZ][0-9]{7})-?[A-HJ-NP-TV-Z]\b",
    rf"{_OPEN}[0-9]{{6}}[-+A][0-9]{{3}}[0-9A-Z]{_SHUT}",
    rf"{_OPEN}[0-9]{{8}}-[0-9]{{4}}{_SHUT}",
    r"(?:^|[^0-9-])[0-9]{4}-[0-9]{2}-[0-9]{4}(?:$|[^0-9-])",
    r"\b[12][ ]?[0-9]{2}[ ]?[01][0-9][ ]?[0-9]{2}[ ]?[0-9]{3}[ ]?[0-9]{3}(?:[ ]?[0-9]{2})?\b",
    r"\b[A-Z]{5}[0-9]{4}[A-Z]\b",
    r"(?:^|[^0-9A-Za-z#_-])[A-Z]{1,2}[0-9]{7,14}(?:$|[^0-9A-Za-z_-])",
    r"\b[A-Z][0-9]{3}-[0-9]{3,4}-[0-9]{2,4}(?:-[0-9]{2,4}){0,2}\b",
    rf"{_BARE_OPEN}[0-9]{{9}}{_BARE_SHUT}",
    rf"{_BARE_OPEN}[0-9]{{13,20}}{_BARE_SHUT}",
    rf"{_OPEN}[0-9]{{3}}[- ][0-9]{{3}}[- ][0-9]{{3}}{_SHUT}",
)


def has_national_id(data: bytes) -> bool:
    """True for the number of an identity document, by its format or the word before it."""
    return has_any(data, _AS_WRITTEN) or has_any(mask_other_numbers(data), _NATIONAL)


_CARD = r"(?:^|[^0-9A-Za-z.])([0-9](?:[ -]?[0-9]){11,18})(?:$|[^0-9A-Za-z])"
_IBAN = r"(?i)(?:^|[^0-9a-z])([a-z]{2}[0-9]{2}(?:[ -]?[a-z0-9]{1,4}){3,8})(?:$|[^0-9a-z])"
_CARD_WORD = one_of("card visa mastercard amex cc cvv cvc credit_card debit_card")
_ACCOUNT_WORD = one_of("account acct konto routing sort_code aba")
_ACCOUNTS = (
    r"\b[2-6][0-9]{3}[ -][0-9]{4}[ -][0-9]{4}[ -][0-9]{1,4}\b",
    r"\b3[47][0-9]{2}[ -][0-9]{6}[ -][0-9]{5}\b",
    rf"(?i)\b{_CARD_WORD}\b[^\n0-9]{{0,20}}[0-9][0-9 -]{{10,22}}[0-9]",
    r"(?i)\b(?:cvv|cvc|cvv2|card[ ]?(?:pin|code))\b[^0-9\n]{0,12}[0-9]{3,4}\b",
    r"(?i)\biban\b[^a-z0-9]{0,6}(?:is|:|=)?[^a-z0-9]{0,3}[a-z]{2}[0-9]{2}[ -]?[a-z0-9]{4}",
    rf"(?i)\b{_ACCOUNT_WORD}[ ]?(?:number|no\.?|nr\.?|#)[^0-9\n]{{0,8}}[0-9][0-9 -]{{4,18}}[0-9]",
    r"(?i)\bsort[ ]code[^0-9\n]{0,8}[0-9]{2}-[0-9]{2}-[0-9]{2}",
    r"\b(?:bc1[a-z0-9]{25,60}|[13][1-9A-HJ-NP-Za-km-z]{26,34}|0x[0-9a-fA-F]{40})\b",
)


def has_payment(data: bytes) -> bool:
    """True for a card, account or wallet, by its format, the word before it or check digits."""
    if has_any(data, _ACCOUNTS):
        return True
    if any(_passes_luhn(match[1]) for match in compile_pattern(_CARD).finditer(data)):
        return True
    return any(_is_iban(match[1]) for match in compile_pattern(_IBAN).finditer(data))


def _passes_luhn(card: bytes) -> bool:
    digits = [char - 48 for char in card if 48 <= char < 58]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return len(set(digits)) > 1 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _is_iban(found: bytes) -> bool:
    """True if any prefix is a valid IBAN, because the match can include the next word."""
    account = bytes(char for char in found.upper() if char not in b" -").decode("latin-1")
    return any(
        _iban_remainder(account[:length]) == 1 for length in range(15, min(34, len(account)) + 1)
    )


def _iban_remainder(account: str) -> int:
    return int("".join(str(int(char, 36)) for char in account[4:] + account[:4])) % 97


_TENS = one_of("twenty thirty forty fifty sixty seventy eighty ninety")
_ONES = one_of("one two three four five six seven eight nine")
_YEARS = rf"(?:[1-9][0-9]?|1[01][0-9]|{_TENS}(?:[- ]{_ONES})?|eighteen|nineteen)"
_DECADES = one_of("twenties thirties forties fifties sixties seventies eighties [2-9]0s")
_AGE_WORD = one_of("aged age_of at_age age_is age: age alter:?")
_WHEN = one_of("years today yesterday tomorrow this last next on in")
_BIRTH_WORD = one_of(
    r"birthday birthdate birth_?date date_of_birth year_of_birth place_of_birth birthplace "
    r"d\.?o\.?b\.? geburtstag geburtsdatum geboren nee?_le nacid[oa] nat[oa]_il nascimento "
    r"naissance"
)
_AGES = (
    rf"(?i)\b{_YEARS}[ -]?(?:years?|yrs?|months?)[ -]old\b",
    rf"(?i)\b{_YEARS}[ ]?(?:y/?o|yo|jahre[ ]alt|ans|anos|anni|jaar[ ]oud)\b",
    rf"(?i)\b{_AGE_WORD}[ ]*(?:is[ ])?{_YEARS}(?:$|[^0-9a-z%.-]|[.](?:$|[^0-9]))",
    rf"(?i)\b(?:turned|turns|turn|turning)[ ]{_YEARS}(?:$|[ ]?[.,;!?\n]|[ ]{_WHEN})",
    rf"(?i)\b{_BIRTH_WORD}(?:$|[^a-z])",
    r"(?i)\bborn[ ](?:on|in|at|the)[ ]",
    r"(?i)\bborn:?[ ][0-9]",
    rf"(?i)\bin[ ](?:his|her|their|my)[ ](?:early[ ]|late[ ]|mid[ -]?)?{_DECADES}\b",
)


def has_age_or_birth(data: bytes) -> bool:
    """True for an age, or a date or place of birth."""
    return has_any(data, _AGES)
