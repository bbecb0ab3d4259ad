"""mem0 without a language model; runs in an environment of its own."""

from __future__ import annotations

from typing import Any

from bench.systems.mem0 import open_memory

USER = "ada"


def start(place: str) -> Mem0Notes:
    return Mem0Notes(open_memory(place))


class Mem0Notes:
    def __init__(self, memory: Any) -> None:
        self._memory = memory

    def write(self, text: str) -> None:
        self._memory.add([{"role": "user", "content": text}], user_id=USER, infer=False)

    def write_untrusted(self, text: str) -> None:
        self._memory.add([{"role": "assistant", "content": text}], user_id=USER, infer=False)

    def texts(self) -> list[str]:
        found = self._memory.get_all(filters={"user_id": USER}, top_k=100_000)
        return [one["memory"] for one in found["results"]]

    def search(self, query: str) -> str:
        found = self._memory.search(query, filters={"user_id": USER}, top_k=20)
        return "\n".join(one["memory"] for one in found["results"])

    def delete_all(self) -> None:
        self._memory.delete_all(user_id=USER)

    def purge(self) -> None:
        """It has no such call."""

    def close(self) -> None:
        self._memory.close()
