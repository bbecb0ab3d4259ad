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
│   ├── ModelUnavailable    model_unavailable  503   .transient, in llm
│   ├── InvalidModelResponse model_misspoke    503   in llm
│   ├── TelegramUnavailable telegram_unavailable 503 .transient, in assistant.telegram
│   └── StoreUnavailable    store_unavailable  503
│       ├── StoreClosed     store_closed       503
│       ├── StoreBusy       store_busy         503
│       ├── StoreFull       store_full         507
│       ├── StoreReadOnly   store_read_only    503
│       ├── StoreDamaged    store_damaged      503
│       └── OutcomeUnknown  outcome_unknown    503
└── SchemaTooNew            schema_too_new     500
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from remembrancer.types import Record


class RemembrancerError(Exception):
    """The root of all errors that are raised on purpose."""

    code = "error"
    status = 500
    passes_by_itself = False
    """True if the same call can succeed a little later, although nobody does anything."""


class InvalidInput(RemembrancerError):
    """The input cannot be stored or queried; nothing was changed."""

    code = "bad_input"
    status = 400


class BadBackup(InvalidInput):
    """The file is not a backup, is damaged, or is of another version; nothing was changed."""

    code = "bad_backup"


class InvalidSetting(InvalidInput):
    """A setting in the configuration or a profile has an invalid value."""

    code = "bad_setting"


class ScopeRequired(InvalidInput):
    """The profile isolates agents, so the call must name its agent."""

    code = "scope_required"


class NotFound(RemembrancerError):
    """There is no such memory for this owner; others' memories are never revealed."""

    code = "not_found"
    status = 404


class UnknownPerson(NotFound):
    """Nothing is stored for this person, or they were erased."""


class Ambiguous(NotFound):
    """Several memories match the words; `candidates` lists them."""

    code = "ambiguous"
    status = 409

    def __init__(self, message: str, candidates: Sequence[Record] = ()) -> None:
        super().__init__(message)
        self.candidates = tuple(candidates)


class NotAllowed(RemembrancerError):
    """The caller lacks the capability; nothing was read or changed."""

    code = "not_allowed"
    status = 403


class Conflict(RemembrancerError):
    """The memory has changed since; read it again before deciding."""

    code = "conflict"
    status = 409


class NotUndoable(Conflict):
    """The change cannot be undone: it destroyed data on purpose, or was undone already."""

    code = "not_undoable"


class Unavailable(RemembrancerError):
    """A dependency does not answer; nothing was changed, and a retry can succeed."""

    code = "unavailable"
    status = 503
    passes_by_itself = True


class EmbeddingFailed(Unavailable):
    """The embedding endpoint did not return usable vectors."""

    code = "embedding_failed"


class StoreUnavailable(Unavailable):
    """The database or the data directory cannot be reached."""

    code = "store_unavailable"


class StoreClosed(StoreUnavailable):
    """The store was closed; nothing was read or changed."""

    code = "store_closed"

    def __init__(self) -> None:
        super().__init__("The store was closed. Open it again with remembrancer.open().")


class StoreBusy(StoreUnavailable):
    """A lock, a connection, a file handle or memory did not become free in time."""

    code = "store_busy"


class StoreFull(StoreUnavailable):
    """No space is left on the disk; nothing was stored, and what is stored stays readable."""

    code = "store_full"
    status = 507
    passes_by_itself = False


class StoreReadOnly(StoreUnavailable):
    """The file, directory or database can be read but not written; nothing was stored."""

    code = "store_read_only"
    passes_by_itself = False


class StoreDamaged(StoreUnavailable):
    """A file or table of the store is damaged, or is not one of ours."""

    code = "store_damaged"
    passes_by_itself = False


class OutcomeUnknown(StoreUnavailable):
    """The connection was lost while a change was being confirmed: it is stored or it is not."""

    code = "outcome_unknown"
    passes_by_itself = False


class SchemaTooNew(RemembrancerError):
    """A newer version of Remembrancer wrote this store; upgrade before opening it."""

    code = "schema_too_new"
