"""The description of the API (OpenAPI), with an example of every answer and every request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI

from remembrancer.server.problems import Problem

Schema = Mapping[str, Any]

WORDS: dict[str, Any] = {
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

FORMATS = {"date-time": "2026-03-02T12:00:00Z"}
PLAIN: dict[str, Any] = {"integer": 1, "number": 1.0, "boolean": True, "string": "text"}


def install(app: FastAPI) -> None:
    """Let the application describe itself with examples."""
    plain = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = plain()
            schema["components"]["schemas"].update(_problem())
            for methods in schema["paths"].values():
                for operation in methods.values():
                    _illustrate(operation, schema["components"]["schemas"])
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = described  # type: ignore[method-assign]


def _problem() -> dict[str, Any]:
    schema = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    return {**schema.pop("$defs", {}), "Problem": schema}


def _illustrate(operation: dict[str, Any], known: Schema) -> None:
    for body in (operation.get("requestBody"), *_successes(operation)):
        for media, content in (body or {}).get("content", {}).items():
            if media == "application/json" and content.get("schema"):
                content.setdefault("example", example(content["schema"], known))
    answers = operation["responses"]
    if "422" in answers:
        problem = answers["401"]["content"] if "401" in answers else None
        answers["422"]["content"] = problem or answers["422"]["content"]


def _successes(operation: Mapping[str, Any]) -> list[Any]:
    return [one for status, one in operation["responses"].items() if status.startswith("2")]


def example(schema: Schema, known: Schema, name: str = "") -> Any:
    """A value that a schema allows."""
    if "$ref" in schema:
        return example(known[schema["$ref"].rpartition("/")[2]], known, name)
    for given in ("const", "default"):
        if schema.get(given) is not None:
            return schema[given]
    if "enum" in schema:
        return schema["enum"][0]
    choices = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if choices:
        return example(choices[0], known, name)
    if schema.get("type") == "object":
        return _object(schema, known)
    if schema.get("type") == "array" and not isinstance(WORDS.get(name), list):
        return [example(schema["items"], known, name)] if schema.get("items") else []
    if name in WORDS:
        return WORDS[name]
    return FORMATS.get(schema.get("format", ""), PLAIN.get(schema.get("type", "string")))


def _object(schema: Schema, known: Schema) -> dict[str, Any]:
    required = schema.get("required", ())
    return {
        name: example(one, known, name)
        for name, one in schema.get("properties", {}).items()
        if name in required
    }
