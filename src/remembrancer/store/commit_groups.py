"""Lets threads that write to one SQLite file share a transaction, and with it one sync of the disk.

A writer that finds another one waiting leaves its transaction open to it, and the last one commits.
Then all of them are acknowledged, or all are refused; until then no reader sees anything of it.
The measurements are in docs/decisions/durable-by-default.md.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, RootTransaction
from sqlalchemy.exc import DBAPIError

from remembrancer.errors import StoreUnavailable

MAX_WRITERS = 32
MAX_SECONDS = 0.05
"""A transaction that has so many writers, or has been open for so long, takes no more."""


@dataclass(slots=True)
class _Group:
    """An open transaction, the number of writes in it, and whether and why it failed."""

    connection: Connection
    transaction: RootTransaction
    began: float = field(default_factory=time.monotonic)
    writes: int = 0
    failure: BaseException | None = None
    ended: threading.Event = field(default_factory=threading.Event)

    def takes_more(self) -> bool:
        is_young = time.monotonic() - self.began < MAX_SECONDS
        return self.failure is None and 0 < self.writes < MAX_WRITERS and is_young

    @contextlib.contextmanager
    def write(self) -> Iterator[None]:
        """The turn of one writer, whose error takes back no one else's write."""
        if not self.writes:
            yield
        else:
            with self._savepoint():
                yield
        self.writes += 1

    @contextlib.contextmanager
    def _savepoint(self) -> Iterator[None]:
        self.connection.exec_driver_sql("SAVEPOINT writer")
        try:
            yield
            self.connection.exec_driver_sql("RELEASE writer")
        except BaseException as error:
            self._undo(error)
            raise

    def _undo(self, error: BaseException) -> None:
        if not self._is_in_transaction():  # SQLite rolls all back after some errors of the disk
            self.failure = error
            return
        try:
            self.connection.exec_driver_sql("ROLLBACK TO writer")
            self.connection.exec_driver_sql("RELEASE writer")
        except DBAPIError as failure:
            self.failure = failure

    def _is_in_transaction(self) -> bool:
        raw: Any = self.connection.connection.driver_connection
        return bool(raw.in_transaction)

    def end(self) -> None:
        """Commit; if that or something before fails, roll back and keep the error."""
        try:
            if self.writes and self.failure is None:
                self.transaction.commit()
        except Exception as error:
            self.failure = error
        except BaseException as error:  # an interrupt, which can come before or after the commit
            self.failure = error if self._is_in_transaction() else None
            raise
        finally:
            self.connection.close()

    def raise_failure(self) -> None:
        """Raise the error in each writer's thread; an exception belongs to one thread only."""
        error = self.failure
        if isinstance(error, DBAPIError) and error.orig is not None:
            raise type(error)(
                error.statement, error.params, error.orig, hide_parameters=True
            ) from error
        if error is not None:
            raise StoreUnavailable(
                "A write was interrupted, and nothing was stored. Try again."
            ) from error


class CommitGroups:
    """The write transactions of one file, for which the threads of this process take turns.

    `after_commit` and `after_failure` are called before anyone is answered.
    """

    def __init__(
        self,
        connect: Callable[[], Connection],
        *,
        is_shared: bool,
        after_commit: Callable[[], None],
        after_failure: Callable[[], None],
    ) -> None:
        self._connect = connect
        self._is_shared = is_shared
        self._after_commit = after_commit
        self._after_failure = after_failure
        self._lock = threading.RLock()
        self._waiting: set[object] = set()
        self._open: _Group | None = None

    @contextlib.contextmanager
    def begin(self, *, alone: bool = False, durable: bool = True) -> Iterator[Connection]:
        """Begin a transaction, or join the one that the previous writer has left open.

        One that is not `durable` is committed without a sync, unless it joins others.
        """
        with self._turn():
            if alone:
                self._end_open()
            group, self._open = self._open or self._start(durable), None
            try:
                with group.write():
                    yield group.connection
            finally:
                is_shared = self._is_shared and durable and not alone
                if is_shared and self._waiting and group.takes_more():
                    self._open = group
                else:
                    self._end(group)
        if not group.ended.wait(MAX_SECONDS):
            with self.exclude():
                group.ended.wait()
        group.raise_failure()

    @contextlib.contextmanager
    def exclude(self) -> Iterator[None]:
        """Keep the writers of this process out while something else is done with the file."""
        with self._turn():
            self._end_open()
            yield

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        waiter = object()
        self._waiting.add(waiter)
        try:
            with self._lock:
                self._waiting.discard(waiter)
                yield
        finally:
            self._waiting.discard(waiter)

    def _start(self, durable: bool) -> _Group:
        connection = self._connect()
        try:
            connection.execution_options(rem_immediate=True, rem_durable=durable)
            return _Group(connection, connection.begin())
        except BaseException:
            connection.close()
            raise

    def _end_open(self) -> None:
        group, self._open = self._open, None
        if group is not None:
            self._end(group)

    def _end(self, group: _Group) -> None:
        try:
            group.end()
            if group.failure is not None:
                self._after_failure()
            elif group.writes:
                self._after_commit()
        finally:
            group.ended.set()
