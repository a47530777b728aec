"""What every value of the engine is: frozen, strict, and able to say itself canonically."""

import hashlib
import json
from typing import Any

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """A value: never changed after it was made, and made of known fields only."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def canonical(self) -> str:
        """Say the value as JSON whose bytes are the same for equal values."""
        return canonical_json(self.model_dump(mode="json"))


def canonical_json(value: Any) -> str:
    """Write JSON with sorted keys and no spaces; the only spelling that is hashed or compared."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def digest(text: str, length: int = 64) -> str:
    """Hash a text: the first `length` hex characters of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]
