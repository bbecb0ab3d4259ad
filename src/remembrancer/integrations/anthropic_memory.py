"""The memory tool of the Anthropic SDK, backed by a memory."""

from __future__ import annotations

import asyncio

from anthropic.lib.tools import ToolError
from anthropic.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool
from pydantic import BaseModel

from remembrancer.client import RemoteMemory
from remembrancer.errors import RemembrancerError
from remembrancer.integrations.memory_files import MemoryFiles
from remembrancer.memory import Memory


class MemoryTool(BetaAbstractMemoryTool):
    """A memory tool for the `tools` of `client.beta.messages.tool_runner`."""

    def __init__(self, memory: Memory | RemoteMemory) -> None:
        super().__init__()
        self._files = MemoryFiles(memory)

    def _do(self, command: BaseModel) -> str:
        return _execute(self._files, command)

    view = create = str_replace = insert = delete = rename = _do


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """`MemoryTool` for an async client."""

    def __init__(self, memory: Memory | RemoteMemory) -> None:
        super().__init__()
        self._files = MemoryFiles(memory)

    async def _do(self, command: BaseModel) -> str:
        return await asyncio.to_thread(_execute, self._files, command)

    view = create = str_replace = insert = delete = rename = _do


def _execute(files: MemoryFiles, command: BaseModel) -> str:
    try:
        return files.do(command.model_dump())
    except RemembrancerError as error:
        raise ToolError(str(error)) from None
