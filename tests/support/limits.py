"""Runs a function in a process of its own, where limits and permissions can be changed at will."""

from __future__ import annotations

import ctypes
import os
import resource
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.support.processes import forked

CAPABILITY_VERSION = 0x20080522
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1 << 1, 1 << 2


def apart(function: Callable[..., Any], *args: Any) -> Any:
    """The result of a function that runs in another process; its failure is the test's."""
    ours, theirs = forked.Pipe()
    child = forked.Process(target=_run, args=(theirs, function, args))
    child.start()
    theirs.close()
    try:
        failure, result = ours.recv()
    finally:
        child.join(60)
    assert failure is None, failure
    return result


def _run(pipe: Connection, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    try:
        pipe.send((None, function(*args)))
    except BaseException:
        pipe.send((traceback.format_exc(), None))


@contextmanager
def limited(kind: int, number: int) -> Iterator[None]:
    """Lower a limit of this process until the block is left."""
    before, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (number, hard))
    try:
        yield
    finally:
        resource.setrlimit(kind, (before, hard))


def full_disk() -> Any:
    """A disk that is full as soon as a file has a few pages; files this small stay writable."""
    return limited(resource.RLIMIT_FSIZE, 16 * 1024)


@contextmanager
def few_handles(spare: int) -> Iterator[None]:
    """So many more files can be opened than are open now."""
    highest = max(int(one) for one in os.listdir("/proc/self/fd"))
    fillers = [os.open(os.devnull, os.O_RDONLY)]
    while fillers[-1] <= highest:
        fillers.append(os.open(os.devnull, os.O_RDONLY))
    try:
        with limited(resource.RLIMIT_NOFILE, fillers[-1] + 1 + spare):
            yield
    finally:
        for one in fillers:
            os.close(one)


@contextmanager
def read_only(directory: Path) -> Iterator[None]:
    """This process cannot write a directory and what is in it until the block is left."""
    _obey_modes()
    paths = [directory, *directory.rglob("*")]
    modes = {path: path.stat().st_mode for path in paths}
    for path in paths:
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        yield
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


def _obey_modes() -> None:
    """Root gives up the right to write what the mode of a file forbids."""
    if os.geteuid() != 0:
        return
    system = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()
    assert system.capget(header, sets) == 0
    for place in range(3):
        sets[place] &= ~(CAP_DAC_OVERRIDE | CAP_DAC_READ_SEARCH)
    assert system.capset(header, sets) == 0
