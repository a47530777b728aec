"""Whether memory may answer first, and for which embedding its distance was set."""

from bot.cli.checks.line import Line, bad, ok
from engine.model.policy import TriageRule

PART = "memory"


def short_circuit(rule: TriageRule, embedding: str) -> list[Line]:
    """Nothing where it is off; a fault where its distance is for another embedding."""
    distance = rule.memory_shortcircuit_distance
    if distance <= 0:
        return []
    if rule.memory_shortcircuit_embedding == embedding:
        return [ok(PART, f"answers first up to a distance of {distance:g} ({embedding})")]
    wanted = rule.memory_shortcircuit_embedding or "none"
    said = f"its distance of {distance:g} is for the embedding {wanted}, {embedding} is in use"
    cure = f"set triage.memory_shortcircuit_embedding to {embedding}"
    return [bad(PART, said, cure, "memory never answers first")]
