"""Cases in which every text from outside is what somebody else wants it to be."""

import json
from typing import Any

from engine.model.run import CaseFile

FREE = frozenset(
    {
        "rule",
        "summary",
        "description",
        "name",
        "query",
        "text",
        "component",
        "what",
        "root_cause",
        "missing",
        "next_step",
        "service",
        "host",
        "environment",
        "asked",
        "detail",
        "note",
        "taken_by",
        "unit",
        "sparkline",
        "generator_url",
        "last_root_cause",
        "progress",
        "unsupported_claims",
        "backend",
        "failure_text",
    }
)
LABELS = frozenset({"labels", "annotations", "scope", "grouping_key", "shared", "facts"})
CLOSED = frozenset({"kind", "code", "name_of"})


def poisoned(case: CaseFile, text: str) -> CaseFile:
    """The case with `text` in every place a stranger can write to."""
    dumped = json.loads(case.model_dump_json())
    return CaseFile.model_validate_json(json.dumps(_poison(dumped, text, "")))


def _poison(node: Any, text: str, key: str) -> Any:
    if isinstance(node, dict):
        if key in LABELS and "kind" not in node:
            return dict.fromkeys(node, text) | {"alertname": text or "x"}
        section = "status" in node and "items" in node
        return {k: v if section and k == "name" else _poison(v, text, k) for k, v in node.items()}
    if isinstance(node, list):
        return [_poison(value, text, key) for value in node]
    return text if isinstance(node, str) and key in FREE else node
