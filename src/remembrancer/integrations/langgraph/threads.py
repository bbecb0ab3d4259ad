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
from remembrancer.integrations.langgraph.run_person import GraphRun
from remembrancer.types import validate_name

ORG_FIELD, USER_FIELD = "org_id", "user_id"
PERSON_FIELDS = (ORG_FIELD, USER_FIELD)

RUNTIME_FIELD = "__pregel_runtime"
"""Where LangGraph tells a saver of the run that it saves for, with its context."""

PersonFields = Mapping[str, str]
"""The configurable fields that name a person; the organisation can be missing."""


def run_config(
    org: str | None, user: str, thread: str, *, checkpoint: str | None = None
) -> RunnableConfig:
    """Return the configuration of a run for a user, with a thread id that no other user can have.

    Without an organisation the user is of the one that the store is configured for. With a
    checkpoint, the run continues from there on a new branch.
    """
    person = _person_fields(org, user)
    thread_id = _thread_prefix(person) + _quote(validate_name(thread, "thread"))
    values = {**person, "thread_id": thread_id}
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
        try:
            found = await super().aget_tuple(config)
        except NotImplementedError:
            raise InvalidInput(
                "This saver is for invoke and stream: open one with aopen_saver(…) for a graph "
                "that runs with ainvoke or astream."
            ) from None
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
        return (_name_person(one, person) for one in found if _is_thread_of(one, person))

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
            if _is_thread_of(one, person):
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


def delete_threads(saver: BaseCheckpointSaver[str], org: str | None, user: str) -> int:
    """Delete all threads of a user from a saver; returns their number.

    Erasing a user does not reach them: the saver belongs to the application.
    """
    person = _person_fields(org, user)
    threads = _select_threads(saver.list(None, filter=person), person)
    for thread in threads:
        saver.delete_thread(thread)
    return len(threads)


async def adelete_threads(saver: BaseCheckpointSaver[str], org: str | None, user: str) -> int:
    """Delete all threads of a user from an async saver; returns their number."""
    person = _person_fields(org, user)
    threads = _select_threads([one async for one in saver.alist(None, filter=person)], person)
    for thread in threads:
        await saver.adelete_thread(thread)
    return len(threads)


def _select_threads(found: Iterable[CheckpointTuple], person: PersonFields) -> set[str]:
    return {_get_thread(one) for one in found if _is_thread_of(one, person)}


def _is_thread_of(found: CheckpointTuple, person: PersonFields) -> bool:
    """False for the threads of a namesake in an organisation that the person does not name."""
    return _get_thread(found).startswith(_thread_prefix(person))


def _get_thread(found: CheckpointTuple) -> str:
    return str(found.config["configurable"]["thread_id"])


def _person_fields(org: str | None, user: str) -> dict[str, str]:
    """Return the configurable fields that name a person."""
    named = {} if org is None else {ORG_FIELD: validate_name(org, ORG_FIELD)}
    return {**named, USER_FIELD: validate_name(user, USER_FIELD)}


def _thread_prefix(person: PersonFields) -> str:
    """Return the beginning of the ids of a person's threads; no name has a colon there."""
    names = person.get(ORG_FIELD, ""), person[USER_FIELD]
    return "".join(f"{_quote(name)}:" for name in normalise_labels(names))


def _quote(name: str) -> str:
    return quote(name, safe="")


def _check_thread(config: RunnableConfig) -> None:
    """Raise an error unless the configuration names a person and one of their threads."""
    values = config.get("configurable", {})
    person = _require_person(values)
    thread = values.get("thread_id")
    if not isinstance(thread, str) or not thread.startswith(_thread_prefix(person)):
        raise NotAllowed(
            "The thread is not one of the person whom the run is for: "
            "name it with run_config(org, user, thread)."
        )


def _check_listing(
    config: RunnableConfig | None, filter: Mapping[str, Any] | None
) -> Mapping[str, Any]:
    """Return the fields that name the person; a listing without a thread needs them as filter."""
    if config is None:
        return _require_person(filter or {})
    _check_thread(config)
    return _require_person(config["configurable"])


def _require_person(values: Mapping[str, Any]) -> PersonFields:
    run = GraphRun(values, getattr(values.get(RUNTIME_FIELD), "context", None))
    named = {name: run.get_field(name) for name in PERSON_FIELDS}
    person = {name: one for name, one in named.items() if one is not None}
    if USER_FIELD not in person or not all(isinstance(one, str) for one in person.values()):
        raise InvalidInput(
            "Say whose thread it is, with user_id, and org_id if there is one, in configurable or "
            "in the context: run_config(org, user, thread) sets them."
        )
    return person


def _name_person(found: CheckpointTuple, values: PersonFields) -> CheckpointTuple:
    parent = found.parent_config
    return found._replace(
        config=_add_person(found.config, values),
        parent_config=_add_person(parent, values) if parent else None,
    )


def _add_person(config: RunnableConfig, values: Mapping[str, Any]) -> RunnableConfig:
    person = _require_person(values)
    return {**config, "configurable": {**config["configurable"], **person}}
