"""How much time a predictive alert leaves, read with the alert's own expression."""

import re

from engine.model.evidence import Answered, Gap
from engine.pack.own import of_alert
from engine.pack.section import Case

_DIVISOR = re.compile(r"/\s*(86400|3600|60|24)\b")
_CLOCK = re.compile(r"\btime\s*\(\s*\)")
_TREND = re.compile(r"predict_linear\s*\(\s*([^\[\]]+)(\[[^\]]+\])\s*,")


async def until_s(case: Case) -> float | Gap | None:
    """Seconds until the predicted failure; None when the expression does not tell.

    A difference with `time()` is seconds left once its division into hours or days is undone;
    a falling trend reaches nothing after value by slope.
    """
    expression = case.survey.own_expression or case.anchor.expression or ""
    trend = _TREND.search(expression)
    if trend is not None:
        metric, over = trend[1].strip(), trend[2]
        return await _least(f"{metric} / -(deriv({metric}{over}) < 0)", 1, case)
    if _CLOCK.search(expression) and case.survey.own_expression:
        scale = 1.0
        for divisor in _DIVISOR.findall(expression):
            scale *= float(divisor)
        return await _least(expression, scale, case)
    return None


async def _least(query: str, scale: float, case: Case) -> float | Gap | None:
    outcome = await case.ask(query)
    if isinstance(outcome, Gap):
        return outcome
    if not isinstance(outcome, Answered):
        return None
    own = of_alert(outcome.results["value"], case.incident.lead.alert)
    return min((series.last * scale for series in own), default=None)
