"""Keeps the threads of LangGraph's savers to their person, and deletes those of a person."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)

from remembrancer.errors import InvalidInput, NotAllowed
from remembrancer.integrations.langgraph.items import normalise_labels

PERSON_FIELDS = ("org_id", "user_id")


def run_config(
    org: str, user: str, thread: str, *, checkpoint: str | None = None
) -> RunnableConfig:
    """Return the configuration of a run for a user, with a thread id that no other user can have.

    With a checkpoint, the run continues from there on a new branch.
    """
    values = {
        "org_id": org,
        "user_id": user,
        "thread_id": _thread_prefix(org, user) + _quote(thread),
    }
    if checkpoint is not None:
        values["checkpoint_id"] = checkpoint
    return {"configurable": values}


class PersonalSaver(BaseCheckpointSaver[str]):
    """Part of a saver that refuses the threads of anyone but the person of a configuration.

    What it returns names the person as well, so that a run can go on from there.
    """

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        _check_thread(config)
        found = super().get_tuple(config)
        return found and _name_person(found, config["configurable"])

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        _check_thread(config)
        found = await super().aget_tuple(config)
        return found and _name_person(found, config["configurable"])

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """List the checkpoints of a thread, or those of the person whom the filter names."""
        person = _check_listing(config, filter)
        found = super().list(config, filter=filter, before=before, limit=limit)
        return (_name_person(one, person) for one in found)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """List the checkpoints of a thread, or those of the person whom the filter names."""
        person = _check_listing(config, filter)
        async for one in super().alist(config, filter=filter, before=before, limit=limit):
            yield _name_person(one, person)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        _check_thread(config)
        saved = super().put(config, checkpoint, metadata, new_versions)
        return _add_person(saved, config["configurable"])

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        _check_thread(config)
        saved = await super().aput(config, checkpoint, metadata, new_versions)
        return _add_person(saved, config["configurable"])

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        _check_thread(config)
        super().put_writes(config, writes, task_id, task_path)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        _check_thread(config)
        await super().aput_writes(config, writes, task_id, task_path)


def delete_threads(saver: BaseCheckpointSaver[str], org: str, user: str) -> int:
    """Delete all threads of a user from a saver; returns their number.

    Erasing a user does not reach them: the saver belongs to the application.
    """
    threads = _select_threads(saver.list(None, filter=_person_filter(org, user)), org, user)
    for thread in threads:
        saver.delete_thread(thread)
    return len(threads)


async def adelete_threads(saver: BaseCheckpointSaver[str], org: str, user: str) -> int:
    """Delete all threads of a user from an async saver; returns their number."""
    found = [one async for one in saver.alist(None, filter=_person_filter(org, user))]
    threads = _select_threads(found, org, user)
    for thread in threads:
        await saver.adelete_thread(thread)
    return len(threads)


def _select_threads(found: Iterable[CheckpointTuple], org: str, user: str) -> set[str]:
    threads = {str(one.config["configurable"]["thread_id"]) for one in found}
    return {one for one in threads if one.startswith(_thread_prefix(org, user))}


def _person_filter(org: str, user: str) -> dict[str, Any]:
    return dict(zip(PERSON_FIELDS, (org, user), strict=True))


def _thread_prefix(org: str, user: str) -> str:
    """Return the beginning of the ids of a person's threads."""
    return "".join(f"{_quote(name)}:" for name in normalise_labels((org, user)))


def _quote(name: str) -> str:
    return quote(name, safe="")


def _check_thread(config: RunnableConfig) -> None:
    """Raise an error unless the configuration names a person and one of their threads."""
    values = config.get("configurable", {})
    org, user = _require_person(values)
    thread = values.get("thread_id")
    if not isinstance(thread, str) or not thread.startswith(_thread_prefix(org, user)):
        raise NotAllowed(
            "The thread is not one of the person whom the run is for: "
            "name it with run_config(org, user, thread)."
        )


def _check_listing(
    config: RunnableConfig | None, filter: Mapping[str, Any] | None
) -> Mapping[str, Any]:
    """Return the fields that name the person; a listing without a thread needs them as filter."""
    if config is None:
        _require_person(filter or {})
        return filter or {}
    _check_thread(config)
    values: Mapping[str, Any] = config["configurable"]
    return values


def _require_person(values: Mapping[str, Any]) -> tuple[str, str]:
    org, user = (values.get(name) for name in PERSON_FIELDS)
    if not isinstance(org, str) or not isinstance(user, str):
        raise InvalidInput(
            "Say whose thread it is, with org_id and user_id as configurable: "
            "run_config(org, user, thread) sets them."
        )
    return org, user


def _name_person(found: CheckpointTuple, values: Mapping[str, Any]) -> CheckpointTuple:
    parent = found.parent_config
    return found._replace(
        config=_add_person(found.config, values),
        parent_config=_add_person(parent, values) if parent else None,
    )


def _add_person(config: RunnableConfig, values: Mapping[str, Any]) -> RunnableConfig:
    person = {name: values[name] for name in PERSON_FIELDS}
    return {**config, "configurable": {**config["configurable"], **person}}
