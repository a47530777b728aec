"""What is wrong, in the words it is remembered and recalled by."""

from engine.model.pack import Anchor


def symptom(anchor: Anchor) -> str:
    """The rule, where, and what it says; what a person saves is worded in the same order."""
    scope = " ".join(f"{k}={v}" for k, v in sorted(anchor.grouping_key.items()))
    return " ".join(part for part in (anchor.rule, scope, anchor.summary) if part)
