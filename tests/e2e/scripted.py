"""Models that say what a play needs said, each from what stands in the request."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from bot.drill.doubles.anthropic_replies import ERRORS, Answerer, Reply, as_json, calls
from bot.drill.rehearsal_model import answer as honest
from bot.drill.rehearsal_reading import Reading

Json = dict[str, Any]
NOTHING: Json = {"root_cause": None, "component": None, "cause_class": None, "confidence": 0}


def _scripted(draft: Callable[[Reading], Json], judge: Callable[[Reading], Json]) -> Answerer:
    def answer(body: Json) -> Reply:
        reading = Reading(body)
        if reading.judging:
            return as_json({"judgement": judge(reading)})
        said = draft(reading)
        if not reading.kinds:
            said.pop("disprove")
        return as_json({"draft": said})

    return answer


def _changes(reading: Reading) -> list[str]:
    return [name for name in reading.fields if name[0] in "DC" and name[1:].isdecimal()]


def _blames_the_deploy(reading: Reading) -> Json:
    """Blame whatever was deployed last, sure of itself, without looking at when."""
    told = _changes(reading) or [name for name in reading.fields if name.startswith("A")]
    cited = told[:1]
    words = reading.fields[cited[0]][:60] if cited else "a deploy"
    return {
        "root_cause": f"The last deploy broke it: {words}",
        "component": "checkout",
        "cause_class": "deploy",
        "confidence": 0.95,
        "missing": "",
        "next_step": "Roll back the last deploy.",
        "claims": [{"text": "The last deploy broke it.", "evidence_ids": cited, "key": True}],
        "disprove": [
            {"kind": "promql", "query": 'max(up{service="checkout"})', "why": "it is down"}
        ],
    }


def _agrees(reading: Reading) -> Json:
    """Support every claim, whatever the checks say."""
    cited = [result.id for result in reading.results]
    kept = {
        name: reading.draft[name]
        for name in ("root_cause", "component", "cause_class", "next_step", "missing")
    }
    rulings = [
        {**claim, "claim": number, "ruling": "supported", "evidence_ids": cited}
        for number, claim in enumerate(reading.draft["claims"], start=1)
    ]
    return {**kept, "rulings": rulings, "confidence": 0.97}


def _abstains(_: Reading) -> Json:
    wanted = "Logs of the service are missing; no section names a cause."
    rest = {"missing": wanted, "next_step": "Read the service's own logs.", "claims": []}
    return {**NOTHING, **rest, "disprove": []}


def _abstains_again(reading: Reading) -> Json:
    said = _abstains(reading)
    return {name: said[name] for name in said if name not in {"claims", "disprove"}} | {
        "rulings": []
    }


def _blames_the_region(reading: Reading) -> Json:
    cited = [name for name in reading.fields if name.startswith("A")][:1]
    return {
        "root_cause": "A regional infrastructure event takes the whole platform down.",
        "component": "eu-1",
        "cause_class": "cloud_provider",
        "confidence": 0.9,
        "missing": "",
        "next_step": "Open the provider's status page.",
        "claims": [{"text": "The region is down.", "evidence_ids": cited, "key": True}],
        "disprove": [],
    }


def _gives_the_region_up(reading: Reading) -> Json:
    """Give the regional cause up where peers are well; keep it where they are not."""
    healthy = [r for r in reading.results if (r.share_up or 0) > 0.85]
    if not healthy:
        return _agrees(reading)
    claim = {**reading.draft["claims"][0], "claim": 1, "key": False}
    own = {
        "claim": None,
        "text": "Only checkout fails while its peers are up.",
        "key": True,
        "ruling": "supported",
        "evidence_ids": [healthy[0].id],
    }
    return {
        "root_cause": "checkout fails by itself while its peers are up.",
        "component": "checkout",
        "cause_class": "code_fault",
        "confidence": 0.93,
        "missing": "",
        "next_step": "Compare checkout with its peers.",
        "rulings": [{**claim, "ruling": "contradicted", "evidence_ids": [healthy[0].id]}, own],
    }


def _invents(reading: Reading) -> Json:
    """Tell a story full of names nobody measured, as sure as can be."""
    said = _blames_the_deploy(reading)
    story = "db-9 at 203.0.113.9 dropped 4,711 sessions after v9.9.9 of the ledger."
    claims = [{"text": story, "evidence_ids": said["claims"][0]["evidence_ids"], "key": True}]
    return {**said, "root_cause": story, "confidence": 0.99, "claims": claims}


def _repairing(body: Json) -> bool:
    """Whether this is the call that corrects queries."""
    return "the syntax of PromQL" in json.dumps(body["system"])


def _asks_nonsense(body: Json) -> Reply:
    """Plan one check that is no PromQL and repair it into another one; otherwise be honest."""
    if _repairing(body):
        other = "sum(rate(payment_requests_total[5m]))"
        return as_json({"repairs": [{"index": 1, "query": other}]})
    said = honest(body)
    draft = json.loads(said.content[0]["text"]) if not Reading(body).judging else {}  # type: ignore[union-attr]
    if "draft" not in draft:
        return said
    broken = {"kind": "promql", "query": "sum(rate(http_requests_total[5m])", "why": "it is idle"}
    draft["draft"]["disprove"] = [broken, *draft["draft"].get("disprove", [])]
    return as_json(draft)


def _runs_away(body: Json) -> Reply:
    """Ask for one more hour of metrics, for ever, and conclude nothing."""
    turn = sum(message["role"] == "assistant" for message in body["messages"])
    query = f'sum(rate(http_requests_total{{namespace="shop",service="checkout"}}[{turn + 1}m]))'
    return calls(("metrics_now", {"query": query}), ("incidents", {"minutes": 60}))


def _looks_first(body: Json) -> Reply:
    """Look at what the pack does not hold, then be honest."""
    if Reading(body).judging or len(body["messages"]) > 1:
        return honest(body)
    query = 'sum by (code) (rate(http_requests_total{service="checkout"}[2m]))'
    asked = ("metrics_over_time", {"query": query})
    return calls(asked, ("incidents", {"minutes": 60}), said="Let me look at both.")


def _rules_on_the_correction(body: Json) -> Reply:
    """Support a person's correction whatever its probe says; otherwise be honest."""
    said = honest(body)
    reading = Reading(body)
    if not reading.judging:
        return said
    judgement = json.loads(said.content[0]["text"])  # type: ignore[union-attr]
    probes = [r.id for r in reading.results if r.kind == "cause_series"]
    judgement["judgement"]["correction"] = {"ruling": "supported", "evidence_ids": probes}
    judgement["judgement"]["confidence"] = 0.9
    return as_json(judgement)


SCRIPTS: Mapping[str, Answerer] = {
    "honest": honest,
    "agreeable": _scripted(_blames_the_deploy, _agrees),
    "abstaining": _scripted(_abstains, _abstains_again),
    "inventing": _scripted(_invents, _agrees),
    "regional": _scripted(_blames_the_region, _gives_the_region_up),
    "nonsense": _asks_nonsense,
    "runaway": _runs_away,
    "looking": _looks_first,
    "corrected": _rules_on_the_correction,
    "broke": lambda _: ERRORS["credit_balance"],
}
"""Models by the name scenes call them."""
