"""The rehearsal model: answers from the evidence in the request, and from nothing else.

It names the best suspect, asks whether what moved had moved before, and rules by what came back.
No scenario is known to it: another pack gets another answer.
"""

from collections.abc import Sequence
from typing import Any

from bot.drill.doubles.anthropic_replies import Reply, as_json, calls
from bot.drill.rehearsal_reading import Measured, Reading, Result, Suspected
from engine.promql.selectors import selector

Json = dict[str, Any]

WIDE = frozenset({"cloud_provider", "network", "node", "dns"})
HEALTHY = 0.85
"""Share of peers up from which nothing wide is broken."""
MOVED = 3.0
"""Deviations from which a metric has left its baseline."""
SAME = 0.9
"""Share of the larger of two values from which they are the same."""
_COUNTERS = ("_total", "_count", "_sum")


def answer(body: Json) -> Reply:
    """Answer one request of the Messages API."""
    reading = Reading(body)
    said = {"judgement": judge(reading)} if reading.judging else {"draft": draft(reading)}
    if body.get("tools") and not body.get("output_config"):
        return calls((body["tools"][-1]["name"], said))
    return as_json(said)


def draft(reading: Reading) -> Json:
    """Blame the best suspect, or say what is missing."""
    if not reading.suspects:
        return _abstained(reading) | {"claims": []} | _checks(reading, None)
    best = reading.suspects[0]
    moved = _moved(reading, best)
    claims = [{"text": best.text, "evidence_ids": list(best.ids), "key": True}]
    if moved is not None and moved.id not in best.ids:
        text = f"{moved.name} left its baseline by {moved.deviation:+.0f} deviations"
        claims.append({"text": text, "evidence_ids": [moved.id], "key": True})
    return {
        **_blamed(best),
        "claims": claims,
        "confidence": round(0.45 + 0.35 * best.score, 2),
        "missing": "",
        "next_step": reading.runbook or f"Look at {best.component}: {best.text}",
        **_checks(reading, moved),
    }


def _blamed(suspect: Suspected) -> Json:
    what = suspect.cause_class.replace("_", " ")
    return {
        "root_cause": f"{suspect.component}, {what}: {suspect.text}",
        "component": suspect.component,
        "cause_class": suspect.cause_class,
    }


def _abstained(reading: Reading) -> Json:
    silent = ", ".join(reading.not_looked_at)
    return {
        "root_cause": None,
        "component": None,
        "cause_class": None,
        "confidence": 0,
        "missing": f"No suspect stands out. Nothing is known of: {silent or 'anything else'}.",
        "next_step": reading.runbook or "Look at the newest change of what fails by hand.",
    }


def _moved(reading: Reading, suspect: Suspected) -> Measured | None:
    """Find the metric to ask about: one the suspect rests on, else the wildest."""
    own = [metric for metric in reading.metrics if metric.id in suspect.ids]
    wild = [metric for metric in reading.metrics if abs(metric.deviation) >= MOVED]
    return next(iter([*own, *wild]), None)


def _checks(reading: Reading, moved: Measured | None) -> Json:
    """Ask for the metric as it is and as it was an hour ago."""
    if not reading.kinds:
        return {}
    if moved is None or "promql" not in reading.kinds:
        return {"disprove": []}
    why = f"{moved.name} is what it was an hour before"
    queries = [_query(moved, ""), _query(moved, " offset 1h")]
    return {"disprove": [{"kind": "promql", "query": q, "why": why} for q in queries]}


def _query(metric: Measured, offset: str) -> str:
    if metric.percentile:
        buckets = selector(f"{metric.name}_bucket", metric.labels)
        return f"histogram_quantile(0.95, sum by (le) (rate({buckets}[5m]{offset})))"
    chosen = selector(metric.name, metric.labels)
    if metric.name.endswith(_COUNTERS):
        return f"sum(rate({chosen}[5m]{offset}))"
    return f"max({chosen}{offset})"


def judge(reading: Reading) -> Json:
    """Rule on the draft by what the checks brought."""
    blamed = reading.draft
    if blamed["root_cause"] is None:
        return _abstained(reading) | {"rulings": []}
    ruling, cited = _ruling(blamed, reading.results)
    rulings = [
        {
            "claim": number,
            "text": claim["text"],
            "key": claim["key"],
            "ruling": ruling,
            "evidence_ids": cited,
        }
        for number, claim in enumerate(blamed["claims"], start=1)
    ]
    if ruling == "contradicted":
        return _another(reading, rulings)
    confidence = blamed["confidence"] + (0.1 if ruling == "supported" else -0.1)
    kept = {name: blamed[name] for name in ("root_cause", "component", "cause_class", "next_step")}
    return {**kept, "rulings": rulings, "confidence": round(confidence, 2), "missing": ""}


def _ruling(blamed: Json, results: Sequence[Result]) -> tuple[str, list[str]]:
    """Say what the results mean for the draft, and which of them."""
    told = [result for result in results if result.outcome == "fetched"]
    for result in told:
        healthy = result.share_up is not None and result.share_up >= HEALTHY
        if blamed["cause_class"] in WIDE and healthy:
            return "contradicted", [result.id]
    before = [result for result in told if " offset 1h" in result.text]
    now = [r for r in told if r.source == "model" and r.value is not None and r not in before]
    if not now:
        return "neither", []
    value = now[0].value or 0.0
    if any(_same(result.value or 0.0, value) for result in before):
        return "contradicted", [now[0].id, before[0].id]
    return "supported", [result.id for result in [*now[:1], *before[:1]]]


def _same(before: float, now: float) -> bool:
    return min(before, now) >= SAME * max(before, now)


def _another(reading: Reading, rulings: list[Json]) -> Json:
    """Fall to the next suspect of another kind, with what the evidence has on it; or abstain."""
    was = (reading.draft["component"], reading.draft["cause_class"])
    dropped = [ruling | {"key": False} for ruling in rulings]
    for suspect in reading.suspects[1:]:
        if (suspect.component, suspect.cause_class) != was and suspect.cause_class not in WIDE:
            ids = list(suspect.ids)
            claim = {"claim": None, "text": suspect.text, "key": True, "evidence_ids": ids}
            return {
                **_blamed(suspect),
                "rulings": [*dropped, claim | {"ruling": "neither"}],
                "confidence": round(0.3 + 0.3 * suspect.score, 2),
                "missing": "",
                "next_step": f"Look at {suspect.component}: {suspect.text}",
            }
    return _abstained(reading) | {"rulings": rulings}
