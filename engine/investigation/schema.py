"""The shape of every reply of a triage. One schema for all calls keeps the prompt cache."""

from collections.abc import Mapping, Sequence
from typing import Any

from engine.investigation.reply import RULED
from engine.model.finding import MemoryVerdict, PlannedCheckKind, Ruling
from engine.model.pack import CauseClass

Schema = Mapping[str, Any]
NAME = "conclude"

_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_FLAG: Schema = {"type": "boolean"}
_IDS: Schema = {"type": "array", "items": _TEXT}


def _one_of(names: Sequence[str]) -> Schema:
    return {"type": "string", "enum": list(names)}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _listed(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def _closed(fields: Mapping[str, Schema], optional: Sequence[str] = ()) -> Schema:
    """Make an object that has these fields and no other."""
    return {
        "type": "object",
        "properties": dict(fields),
        "required": [name for name in fields if name not in optional],
        "additionalProperties": False,
    }


_CAUSE: Mapping[str, Schema] = {
    "root_cause": _or_null(_TEXT),
    "component": _or_null(_TEXT),
    "cause_class": _or_null(_one_of([*CauseClass])),
}
_REST: Mapping[str, Schema] = {"confidence": _NUMBER, "missing": _TEXT, "next_step": _TEXT}
_CLAIMS = _listed(_closed({"text": _TEXT, "evidence_ids": _IDS, "key": _FLAG}))
_CHECKS = _listed(_closed({"kind": _one_of([*PlannedCheckKind]), "query": _TEXT, "why": _TEXT}))
_RULINGS = _listed(
    _closed(
        {
            "claim": _or_null({"type": "integer"}),
            "text": _TEXT,
            "key": _FLAG,
            "ruling": _one_of([*Ruling]),
            "evidence_ids": _IDS,
        }
    )
)
_MEMORY = _one_of([*MemoryVerdict])
_CORRECTION = _closed({"ruling": _one_of(RULED), "evidence_ids": _IDS})

TWO_CALLS: Schema = _closed(
    {
        "draft": _closed({**_CAUSE, "claims": _CLAIMS, **_REST, "disprove": _CHECKS}),
        "judgement": _closed(
            {
                **_CAUSE,
                "rulings": _RULINGS,
                **_REST,
                "memory_verdict": _MEMORY,
                "correction": _CORRECTION,
            },
            optional=["memory_verdict", "correction"],
        ),
    },
    optional=["draft", "judgement"],
)
"""`{"draft": …}` or `{"judgement": …}`."""

ONE_CALL: Schema = _closed(
    {"draft": _closed({**_CAUSE, "claims": _CLAIMS, **_REST, "memory_verdict": _MEMORY})}
)
"""With verification switched off nothing is planned and nothing is judged."""
