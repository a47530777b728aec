"""What tokens are assumed to cost. Costs made from it are estimates and are marked as such."""

from collections.abc import Mapping

from engine.model.base import Frozen
from engine.model.run import Usage

MILLION = 1_000_000


class Rate(Frozen):
    """US dollars per million tokens."""

    input: float
    output: float


ASSUMED: Mapping[str, Rate] = {
    "claude-haiku": Rate(input=1, output=5),
    "claude-sonnet": Rate(input=3, output=15),
    "claude-opus": Rate(input=5, output=25),
}
"""By the beginning of the model's name, so that a new version of a line has a price at once."""


def cost_usd(model: str, usage: Usage, rates: Mapping[str, Rate] = ASSUMED) -> float | None:
    """Price a call: cache writes cost 1.25 and reads 0.10 of an input token; None when unknown.

    A gateway may put its own prefix before the name.
    """
    name = model.rsplit("/", 1)[-1].lower()
    known = [start for start in rates if name.startswith(start)]
    if not known:
        return None
    rate = rates[max(known, key=len)]
    return (usage.effective_input * rate.input + usage.output_tokens * rate.output) / MILLION
