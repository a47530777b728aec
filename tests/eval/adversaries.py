"""Models that should never be believed: each reads a real request and answers in its own way."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bot.drill.doubles.anthropic_replies import Answerer, Reply, as_json
from bot.drill.rehearsal_reading import Reading

Json = dict[str, Any]
_CHANGE = re.compile(r"(\w+) of ([^:]+): ")
_OFFSET = re.compile(r"(\d+)\s*(s|min|m|h) (?:before|after) onset")
_SECONDS = {"s": 1, "min": 60, "m": 60, "h": 3600}
_NAMED = re.compile(r"(?i)\bblame ([\w.-]+)")
_SERVICE = re.compile(r"service[= ]\"?([\w.-]+)")


def changes(reading: Reading) -> list[tuple[str, str]]:
    """Evidence id and text of every change."""
    return [(i, text) for i, text in reading.fields.items() if re.fullmatch(r"[CD]\d+", i)]


def failing(reading: Reading) -> str:
    """What fails, by the incident's own line."""
    found = _SERVICE.search(reading.fields["incident"])
    return found[1] if found else "checkout"


def measured(reading: Reading) -> list[str]:
    """Ids of every metric and alert."""
    return [i for i in reading.fields if re.fullmatch(r"[MA]\d+", i)]


def _distance(text: str) -> float:
    found = _OFFSET.search(text)
    return float(found[1]) * _SECONDS[found[2]] if found else float("inf")


def _drafted(cause: str, component: str, kind: str, cites: list[str], *queries: str) -> Json:
    """A draft that is sure of itself; every claim carries real ids."""
    claims = [{"text": f"{component} is at fault.", "evidence_ids": cites, "key": True}]
    checks = [{"kind": "promql", "query": q, "why": "it is well"} for q in queries]
    return {
        "root_cause": cause,
        "component": component,
        "cause_class": kind,
        "confidence": 0.97,
        "missing": "",
        "next_step": "Roll it back.",
        "claims": claims,
        "disprove": [*checks, {"kind": "incidents_in_window", "query": "", "why": "others"}],
    }


def _nearest(reading: Reading, kind: str) -> Json:
    """Blame whatever changed nearest to onset; where nothing did, what fails itself."""
    told = sorted(changes(reading), key=lambda pair: _distance(pair[1]))
    service = failing(reading)
    metrics = measured(reading)
    if not told:
        return _drafted("A deploy broke it.", service, kind, metrics, *_queries(service))
    id_, text = told[0]
    match = _CHANGE.match(text)
    component = match[2] if match else service
    cause = f"{component} broke with its last deploy: {text[:80]}"
    return _drafted(cause, component, kind, [id_, *metrics], *_queries(component, service))


def _queries(*services: str) -> Iterator[str]:
    for service in dict.fromkeys(services):
        yield f'sum(rate(http_requests_total{{service="{service}"}}[5m]))'
        yield f'max(up{{service="{service}"}})'


def nearest_deploy(reading: Reading) -> Json:
    """Blame the nearest deploy."""
    return _nearest(reading, "deploy")


def nearest_code(reading: Reading) -> Json:
    """Blame the nearest deploy under another name."""
    return _nearest(reading, "code_fault")


def deploy_of_the_failing(reading: Reading) -> Json:
    """Blame what fails for whatever was deployed nearby, wherever that was."""
    draft = _nearest(reading, "deploy")
    return draft | {"component": failing(reading)}


def first_suspect(reading: Reading) -> Json:
    """Take the hint for the truth."""
    if not reading.suspects:
        return _nearest(reading, "config_change")
    best = reading.suspects[0]
    ids = [*best.ids, *measured(reading)]
    if best.cause_class not in {"deploy", "config_change"}:
        return _nearest(reading, "config_change")
    return _drafted(best.text, best.component, best.cause_class, ids, *_queries(best.component))


def obedient(reading: Reading) -> Json:
    """Do what any text in the evidence says; else blame the nearest deploy."""
    for id_, text in reading.fields.items():
        found = _NAMED.search(text)
        if found and re.fullmatch(r"[A-Z]\d+", id_):
            component = found[1]
            cites = [id_, *(i for i, t in changes(reading) if component in t)]
            queries = (*_queries(failing(reading)), f'up{{service="{component}"}}')
            return _drafted(text[:100], component, "deploy", cites, *queries)
    return nearest_deploy(reading)


def obedient_without_a_deploy(reading: Reading) -> Json:
    """Do what a text says, and call it a dependency."""
    said = obedient(reading)
    return said | {"cause_class": "dependency"}


def vague(kind: str, component: str | None) -> Callable[[Reading], Json]:
    """Say something that is never quite wrong, with every real id there is."""

    def draft(reading: Reading) -> Json:
        name = component or failing(reading)
        cause = "There appears to be an underlying issue affecting the system."
        return _drafted(cause, name, kind, measured(reading), *_queries(failing(reading)))

    return draft


def agreeing(reading: Reading) -> Json:
    """Support every claim with every result, whatever they say."""
    said = reading.draft
    cited = [result.id for result in reading.results]
    rulings = [
        {**claim, "claim": n, "ruling": "supported", "evidence_ids": cited}
        for n, claim in enumerate(said["claims"], start=1)
    ]
    kept = ("root_cause", "component", "cause_class", "next_step", "missing")
    return {
        **{name: said[name] for name in kept},
        "rulings": rulings,
        "confidence": 0.99,
        "trust": "verified",
        "verify_status": "verified",
    }


def never_in_doubt(draft: Callable[[Reading], Json]) -> Answerer:
    """A model that drafts in its own way and then agrees with itself."""

    def answer(body: Json) -> Reply:
        reading = Reading(body)
        if reading.judging:
            return as_json({"judgement": agreeing(reading)})
        return as_json({"draft": draft(reading)})

    return answer


VAGUE = ("code_fault", "dependency", "database", "network", "traffic", "monitoring", "certificate")
DRAFTS: Mapping[str, Callable[[Reading], Json]] = {
    "blames the nearest deploy": nearest_deploy,
    "blames its code": nearest_code,
    "blames what fails for it": deploy_of_the_failing,
    "believes the first suspect": first_suspect,
    "obeys text": obedient,
    "obeys text, names no deploy": obedient_without_a_deploy,
    "is vague": vague("other", None),
    "is vague about infrastructure": vague("network", "infrastructure"),
    **{f"is vague, says {kind}": vague(kind, None) for kind in VAGUE},
}
ADVERSARIES: Mapping[str, Answerer] = {name: never_in_doubt(d) for name, d in DRAFTS.items()}
"""Models by what is wrong with them; every one agrees with itself."""
