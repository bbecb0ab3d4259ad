"""Builds the OpenAPI document, with summaries and an example of every request and response."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import FastAPI

from remembrancer.server.problems import Problem

Schema = Mapping[str, Any]

TAGS = [
    {"name": "verbs", "description": "Remember, recall, build prompts, learn, forget and undo."},
    {"name": "memories", "description": "List, read and edit single memories."},
    {"name": "sessions", "description": "Sessions and their turns."},
    {"name": "maintenance", "description": "Audit, consolidate and forecast one's own memory."},
    {"name": "me", "description": "The caller and the profile that applies to them."},
    {"name": "keys", "description": "The caller's API keys."},
    {"name": "privacy", "description": "Export, import and erase one's own data."},
    {"name": "team", "description": "Shared team facts and their review."},
    {"name": "people", "description": "The users of the caller's tenant."},
    {"name": "admin", "description": "Recurring jobs and backups."},
    {
        "name": "instances",
        "description": "Bot instances, and the memories of one of them as table rows.",
    },
    {"name": "chat completions", "description": "OpenAI-compatible chat with memory."},
    {"name": "server", "description": "Probes, metrics and browser login."},
]

EXAMPLE_VALUES: dict[str, Any] = {
    "content": "Ada drinks tea in the afternoon.",
    "query": "What does Ada drink?",
    "id": "fact_01kjq3v4rxe8fy0zkb5t5f3m2a",
    "memory_id": "fact_01kjq3v4rxe8fy0zkb5t5f3m2a",
    "target": "fact_01kjq3v4s0d5m8xw2nq7ac9t6b",
    "rule": "rule_01kjq3v4s0d5m8xw2nq7ac9t6b",
    "session": "monday",
    "session_id": "monday",
    "sourceConversationId": "monday",
    "scope": "global",
    "agent": "support-bot",
    "instanceId": "support-bot",
    "title": "Tea",
    "prompt": "Plan my week.",
    "what": "the tea",
    "subject": "ada",
    "predicate": "drinks",
    "category": "fact",
    "label": "laptop",
    "secret": "rem_ and 52 letters and digits",
    "surface": "rest",
    "capabilities": ["users:view"],
    "kinds": ["fact"],
    "tags": ["habits"],
    "ids": ["fact_01kjq3v4rxe8fy0zkb5t5f3m2a"],
    "importance": 3,
    "confidence": 1.0,
    "sure": 0.9,
}
"""Values in examples, by field name."""

EXAMPLES_BY_FORMAT = {"date-time": "2026-03-02T12:00:00Z"}
EXAMPLES_BY_TYPE: dict[str, Any] = {"integer": 1, "number": 1.0, "boolean": True, "string": "text"}


def install(app: FastAPI) -> None:
    """Replace the application's OpenAPI document by one with summaries and examples."""
    build_plain = app.openapi

    def build_document() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = build_plain()
            schemas = document["components"]["schemas"]
            _require_response_fields(document)
            problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas.update({**problem.pop("$defs", {}), "Problem": problem})
            for operation in _list_operations(document):
                operation["summary"] = _summarise(operation["description"])
                _add_examples(operation, schemas)
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = build_document  # type: ignore[method-assign]


def _list_operations(document: Schema) -> list[dict[str, Any]]:
    return [one for methods in document["paths"].values() for one in methods.values()]


def _summarise(description: str) -> str:
    """Return the first sentence of a description."""
    return description.partition("\n")[0].partition(". ")[0].removesuffix(".")


def _require_response_fields(document: Schema) -> None:
    """Mark all fields of responses as required, because responses never omit a field.

    Pydantic marks fields with a default as optional, although it always serialises them.
    """
    schemas = document["components"]["schemas"]
    bodies = [one["requestBody"] for one in _list_operations(document) if "requestBody" in one]
    parameters = [one.get("parameters", []) for one in _list_operations(document)]
    request_schemas: set[str] = set()
    pending = [*_find_references(bodies), *_find_references(parameters)]
    while pending:
        name = pending.pop()
        if name not in request_schemas:
            request_schemas.add(name)
            pending += _find_references(schemas.get(name, {}))
    for name, schema in schemas.items():
        if name not in request_schemas and "properties" in schema:
            schema["required"] = list(schema["properties"])


def _find_references(value: object) -> Iterator[str]:
    """Yield the names of all schemas that a part of the document refers to."""
    if isinstance(value, Mapping):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"].rpartition("/")[2]
        for child in value.values():
            yield from _find_references(child)
    elif isinstance(value, list):
        for child in value:
            yield from _find_references(child)


def _add_examples(operation: dict[str, Any], components: Schema) -> None:
    responses = operation["responses"]
    successes = [one for status, one in responses.items() if status.startswith("2")]
    for body in (operation.get("requestBody", {}), *successes):
        content = body.get("content", {}).get("application/json", {})
        if content.get("schema"):
            content.setdefault("example", build_example(content["schema"], components))
    if "422" in responses and "401" in responses:
        responses["422"]["content"] = responses["401"]["content"]


def build_example(schema: Schema, components: Schema, name: str = "") -> Any:
    """Return a value that is valid for a schema."""
    if "$ref" in schema:
        return build_example(components[schema["$ref"].rpartition("/")[2]], components, name)
    for fixed in ("const", "default"):
        if schema.get(fixed) is not None:
            return schema[fixed]
    if "enum" in schema:
        return schema["enum"][0]
    choices = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if choices:
        return build_example(choices[0], components, name)
    if schema.get("type") == "object":
        return _build_object_example(schema, components)
    if schema.get("type") == "array" and not isinstance(EXAMPLE_VALUES.get(name), list):
        return [build_example(schema["items"], components, name)] if schema.get("items") else []
    if name in EXAMPLE_VALUES:
        return EXAMPLE_VALUES[name]
    return EXAMPLES_BY_FORMAT.get(
        schema.get("format", ""), EXAMPLES_BY_TYPE.get(schema.get("type", "string"))
    )


def _build_object_example(schema: Schema, components: Schema) -> dict[str, Any]:
    required = schema.get("required", ())
    return {
        name: build_example(one, components, name)
        for name, one in schema.get("properties", {}).items()
        if name in required
    }
