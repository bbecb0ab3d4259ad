"""The description of the API (OpenAPI), with an example of every answer and every request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI

from remembrancer.server.problems import Problem

Schema = Mapping[str, Any]

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
"""What stands in examples, by the name of the field."""

EXAMPLES_BY_FORMAT = {"date-time": "2026-03-02T12:00:00Z"}
EXAMPLES_BY_TYPE: dict[str, Any] = {"integer": 1, "number": 1.0, "boolean": True, "string": "text"}


def install(app: FastAPI) -> None:
    """Let the application describe itself with examples."""
    plain = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = plain()
            schema["components"]["schemas"].update(_build_problem_schemas())
            for methods in schema["paths"].values():
                for operation in methods.values():
                    _add_examples(operation, schema["components"]["schemas"])
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = described  # type: ignore[method-assign]


def _build_problem_schemas() -> dict[str, Any]:
    schema = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    return {**schema.pop("$defs", {}), "Problem": schema}


def _add_examples(operation: dict[str, Any], components: Schema) -> None:
    for body in (operation.get("requestBody"), *_list_success_responses(operation)):
        for media, content in (body or {}).get("content", {}).items():
            if media == "application/json" and content.get("schema"):
                content.setdefault("example", build_example(content["schema"], components))
    answers = operation["responses"]
    if "422" in answers:
        problem = answers["401"]["content"] if "401" in answers else None
        answers["422"]["content"] = problem or answers["422"]["content"]


def _list_success_responses(operation: Mapping[str, Any]) -> list[Any]:
    return [one for status, one in operation["responses"].items() if status.startswith("2")]


def build_example(schema: Schema, components: Schema, name: str = "") -> Any:
    """A value that a schema allows."""
    if "$ref" in schema:
        return build_example(components[schema["$ref"].rpartition("/")[2]], components, name)
    for given in ("const", "default"):
        if schema.get(given) is not None:
            return schema[given]
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
