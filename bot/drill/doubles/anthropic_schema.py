"""Which JSON schemas structured output takes.

Source: docs of structured outputs: objects are closed, and bounds of numbers, texts and lists
cannot be promised.
"""

from collections.abc import Iterator
from typing import Any

UNSUPPORTED = {
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "string": ("minLength", "maxLength"),
    "array": ("maxItems", "uniqueItems"),
    "object": ("minProperties", "maxProperties", "patternProperties"),
}


def schema_complaints(schema: Any, where: str) -> Iterator[str]:
    """Go through what is not supported in `schema`, nested schemas included."""
    if not isinstance(schema, dict):
        yield f"{where}: Input should be a valid dictionary"
        return
    kind = schema.get("type")
    if kind == "object" and schema.get("additionalProperties") is not False:
        yield f"{where}: For 'object' type, 'additionalProperties' must be explicitly set to false"
    unsupported = UNSUPPORTED.get(kind, ()) if isinstance(kind, str) else ()
    if found := [name for name in unsupported if name in schema]:
        yield f"{where}: For '{kind}' type, properties {', '.join(found)} are not supported"
    if kind == "array" and schema.get("minItems", 0) > 1:
        yield f"{where}: For 'array' type, 'minItems' values other than 0 or 1 are not supported"
    yield from _nested(schema, where)


def _nested(schema: dict[str, Any], where: str) -> Iterator[str]:
    for group in ("properties", "$defs", "definitions"):
        for name, each in (schema.get(group) or {}).items():
            yield from schema_complaints(each, f"{where}.{group}.{name}")
    for group in ("anyOf", "allOf", "oneOf"):
        if group == "oneOf" and group in schema:
            yield f"{where}: Schema type 'oneOf' is not supported"
        for index, each in enumerate(schema.get(group) or []):
            yield from schema_complaints(each, f"{where}.{group}.{index}")
    if "items" in schema:
        yield from schema_complaints(schema["items"], f"{where}.items")
