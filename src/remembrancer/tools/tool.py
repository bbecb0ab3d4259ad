"""Turns a function into a tool that a model can call.

The signature becomes the input schema, the docstring the description, the result the output schema.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model

from remembrancer.clock import end_bare_date
from remembrancer.errors import InvalidInput
from remembrancer.profiles import Profile
from remembrancer.tools.caller import Caller
from remembrancer.tools.results import MemoryListResult, ToolResult

MEMORY_KINDS = ("fact", "rule", "episode")
HIDDEN_KEYWORDS = frozenset({"title", "default"})


class ToolEffect(StrEnum):
    """READS changes nothing, ADDS is not idempotent, SETS is idempotent, ENDS is destructive."""

    READS = "reads"
    ADDS = "adds"
    SETS = "sets"
    ENDS = "ends"


READS, ADDS, SETS, ENDS = ToolEffect

ToolFunction = Callable[..., ToolResult]


def parse_json_list(value: object) -> object:
    # Some clients send a list as a JSON string.
    if isinstance(value, str) and value.startswith("["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


StringList = Annotated[list[str], BeforeValidator(parse_json_list)]
KindList = Annotated[list[Literal["fact", "rule", "episode"]], BeforeValidator(parse_json_list)]
KindName = Literal["episode", "fact", "rule"]
PermanenceName = Literal["permanent", "stable", "standard", "volatile", "ephemeral"]
SearchMode = Literal["hybrid", "semantic", "keyword"]
MemoryReference = Annotated[str, Field(description="id, or words only it has")]
PastMoment = Annotated[datetime, BeforeValidator(end_bare_date)]
AS_OF_FIELDS: Mapping[str, Any] = {
    "as_of": (Annotated[PastMoment, Field(description="as known then")] | None, None),
    "true_at": (Annotated[PastMoment, Field(description="what was true then")] | None, None),
}
"""The arguments by which every reading tool looks back."""


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    description: str
    function: ToolFunction
    input_model: type[BaseModel]
    output_model: type[ToolResult]
    effect: ToolEffect

    def input_schema(self, profile: Profile, *, agent: bool = False) -> dict[str, Any]:
        """Return the schema for a profile; `agent` adds an argument that names the agent."""
        schema: dict[str, Any] = _shorten_schema(self.input_model.model_json_schema())
        properties = schema["properties"]
        if set(properties.get("kind", {}).get("enum", ())) == set(MEMORY_KINDS):
            _offer_recallable_kinds(properties, profile)
        if "category" in properties:
            properties["category"]["enum"] = [*profile.categories]
        if "importance" in properties:
            properties["importance"].update(minimum=1, maximum=profile.importance.max)
        if agent:
            properties["agent"] = {"type": "string", "description": "who you are"}
            if profile.scopes.visibility == "isolated":
                schema["required"] = [*schema.get("required", ()), "agent"]
        return schema

    def output_schema(self) -> dict[str, Any]:
        hidden = HIDDEN_KEYWORDS | {"description"}
        schema: dict[str, Any] = _shorten_schema(self.output_model.model_json_schema(), hidden)
        return schema

    def call(self, caller: Caller, arguments: Mapping[str, Any]) -> ToolResult:
        """Validate the arguments and run the tool; raises `InvalidInput` if they are wrong."""
        given = dict(arguments)
        if caller.must_name_agent and (agent := given.pop("agent", None)) is not None:
            caller = caller.acting_as(_check_storable("agent", agent))
        try:
            parsed = self.input_model.model_validate(given)
        except ValidationError as error:
            raise InvalidInput("; ".join(map(_format_problem, error.errors()))) from None
        values = {name: getattr(parsed, name) for name in parsed.model_fields_set}
        for name, value in values.items():
            for text in value if isinstance(value, list) else [value]:
                _check_storable(name, text)
        if self.effect is ToolEffect.READS:
            caller = caller.looking_back(values.pop("as_of", None), values.pop("true_at", None))
        else:
            caller = replace(caller, memory=caller.memory.by_model())
        return self.function(caller, **values)


def _offer_recallable_kinds(properties: dict[str, Any], profile: Profile) -> None:
    """Offer no kind that the profile never recalls, and no choice if there is only one."""
    kinds = [one for one in MEMORY_KINDS if one in profile.recall.kinds]
    if len(kinds) > 1:
        properties["kind"]["enum"] = kinds
    else:
        del properties["kind"]


def tool(effect: ToolEffect) -> Callable[[ToolFunction], Tool]:
    """Return a decorator that makes a tool of a function; its first argument is the caller."""

    def decorate(function: ToolFunction) -> Tool:
        signature = inspect.signature(function, eval_str=True)
        _, *parameters = signature.parameters.values()
        fields: dict[str, Any] = {
            one.name: (one.annotation, ... if one.default is one.empty else one.default)
            for one in parameters
        }
        if effect is ToolEffect.READS:
            fields |= AS_OF_FIELDS
        return Tool(
            name=function.__name__,
            description=" ".join((function.__doc__ or "").split()),
            function=function,
            input_model=create_model(
                function.__name__, __config__=ConfigDict(extra="forbid"), **fields
            ),
            output_model=signature.return_annotation,
            effect=effect,
        )

    return decorate


def search(caller: Caller, query: str, **options: Any) -> MemoryListResult:
    """Recall with the options that are not None, at the moment that the caller looks back to."""
    found = caller.memory.recall(query, **drop_none(as_of=caller.as_of, **options))
    return MemoryListResult.from_recall(caller.memory, found)


def drop_none(**values: Any) -> Any:
    return {name: value for name, value in values.items() if value is not None}


def _check_storable(name: str, value: Any) -> Any:
    """Return the value; raises `InvalidInput` for text that no database can store."""
    if isinstance(value, str):
        if "\x00" in value:
            raise InvalidInput(f"{name}: the text contains a NUL character.")
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InvalidInput(f"{name}: the text contains an unpaired surrogate.") from None
    return value


def _format_problem(problem: Any) -> str:
    """Describe a validation problem without repeating the value."""
    name = ".".join(map(str, problem["loc"])) or "arguments"
    match problem["type"]:
        case "extra_forbidden":
            return f"{name[:50]}: there is no such argument"
        case "missing":
            return f"{name}: missing"
        case _:
            return f"{name}: {problem['msg']}"


def _shorten_schema(schema: Any, hidden: frozenset[str] = HIDDEN_KEYWORDS) -> Any:
    """Remove the keywords that do not help a model, and the null alternative of optional fields."""
    if isinstance(schema, list):
        return [_shorten_schema(one, hidden) for one in schema]
    if not isinstance(schema, dict):
        return schema
    short: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            short[key] = {name: _shorten_schema(inner, hidden) for name, inner in value.items()}
        elif key == "anyOf":
            (only,) = (one for one in value if one != {"type": "null"})
            short |= _shorten_schema(only, hidden)
        elif key not in hidden and value is not False:
            short[key] = _shorten_schema(value, hidden)
    return short
