"""Every error a caller can meet, each with a stable code and the HTTP status it maps to.

RemembrancerError
├── InvalidInput            bad_input          400
│   ├── BadBackup           bad_backup         400
│   ├── InvalidSetting      bad_setting        400
│   └── ScopeRequired       scope_required     400
├── NotFound                not_found          404
│   ├── UnknownPerson       not_found          404
│   └── Ambiguous           ambiguous          409   .candidates
├── NotAllowed              not_allowed        403
├── Conflict                conflict           409
│   └── NotUndoable         not_undoable       409
├── Unavailable             unavailable        503
│   ├── EmbeddingFailed     embedding_failed   503
│   ├── ModelUnavailable    model_unavailable  503   .passing, in llm
│   ├── ModelMisspoke       model_misspoke     503   in llm
│   ├── TelegramUnavailable telegram_unavailable 503 .passing, in assistant.telegram
│   └── StoreUnavailable    store_unavailable  503
└── SchemaTooNew            schema_too_new     500
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from remembrancer.types import Record


class RemembrancerError(Exception):
    """The root: catch this to catch everything we raise on purpose."""

    code = "error"
    status = 500


class InvalidInput(RemembrancerError):
    """What was given cannot be stored or asked; nothing was changed."""

    code = "bad_input"
    status = 400


class BadBackup(InvalidInput):
    """The file is no backup, is damaged, or was made for another version; nothing was changed."""

    code = "bad_backup"


class InvalidSetting(InvalidInput):
    """A key of the configuration or of a profile has a value it cannot have."""

    code = "bad_setting"


class ScopeRequired(InvalidInput):
    """The profile isolates agents from each other, so the call must say which agent it is."""

    code = "scope_required"


class NotFound(RemembrancerError):
    """No such memory here; whether it exists for someone else is never said."""

    code = "not_found"
    status = 404


class UnknownPerson(NotFound):
    """Nothing is remembered of this person, or nothing any more."""


class Ambiguous(NotFound):
    """Several memories fit the words; `candidates` holds them so that one can be chosen."""

    code = "ambiguous"
    status = 409

    def __init__(self, message: str, candidates: Sequence[Record] = ()) -> None:
        super().__init__(message)
        self.candidates = tuple(candidates)


class NotAllowed(RemembrancerError):
    """Whoever calls has not the capability for this; nothing was read or changed."""

    code = "not_allowed"
    status = 403


class Conflict(RemembrancerError):
    """The memory has changed since; look at it again before deciding."""

    code = "conflict"
    status = 409


class NotUndoable(Conflict):
    """This change cannot be taken back: it destroyed data on purpose, or was taken back already."""

    code = "not_undoable"


class Unavailable(RemembrancerError):
    """A part we depend on does not answer; nothing was changed and a later try may succeed."""

    code = "unavailable"
    status = 503


class EmbeddingFailed(Unavailable):
    """The embedding endpoint did not give usable vectors."""

    code = "embedding_failed"


class StoreUnavailable(Unavailable):
    """The database or the data directory cannot be reached."""

    code = "store_unavailable"


class SchemaTooNew(RemembrancerError):
    """A newer version of Remembrancer wrote this store; upgrade before opening it."""

    code = "schema_too_new"
