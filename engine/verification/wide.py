"""Claims about more than what fails: they count only with a check that looked that far."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from engine.model.evidence import QueryOutcome
from engine.model.finding import CheckResult, ClaimRuling, Ruling
from engine.model.incident import Incident
from engine.verification.independence import restates
from engine.verification.scope import ladder
from engine.verification.vetoes import COMPARING

WIDE_LABELS: Final = frozenset(
    {"region", "zone", "availability_zone", "az", "datacenter", "dc", "cluster"}
    | {"environment", "env"}
)
CONTRASTING: Final = COMPARING | {"host_neighbours"}
"""Kinds of check that set what fails against what does not."""
_MANY = r"(?:all|every|each|entire|whole|most|no other|none of|the rest of)"
_WIDE = (
    r"(?:regions?|zones?|clusters?|data ?cent(?:er|re)s?|fleet|platform|environments?|sites?|"
    r"network|provider|services|nodes|hosts|machines|namespaces|tenants|workloads|versions)"
)
_ONE = r"(?:region|zone|cluster|namespace|service|workload|node|host|machine|version|release)"
_GAP = r"(?:\W+\w+){0,3}?\W+"
_SAID = re.compile(
    rf"\b{_MANY}\b{_GAP}{_WIDE}\b"
    rf"|\b(?:every|each|no other)\b(?:\W+\w+)?\W+{_ONE}\b"
    rf"|\b(?:only|exclusively|solely)\b{_GAP}{_ONE}\b"
    r"|\b(?:fleet|cluster|region|zone|platform|site|network|provider|world)[- ]?wide\b"
    r"|\b(?:everywhere|everything|globally|regional(?:ly)?)\b",
    re.IGNORECASE,
)
_PLACE = r"[a-z]{2,}-(?:gov-)?(?:north|south|east|west|central)[a-z]*(?:-?\d+[a-z]?)?"
"""Looks like a region of some provider."""
_GONE = r"(?:down|out|away|unavailable|unreachable|offline|failing|broken|outage)"


def claims_wider(text: str, incident: Incident) -> bool:
    """Whether a sentence speaks of more than the incident's own members."""
    if _SAID.search(text):
        return True
    places = "|".join([*map(re.escape, _places(incident)), _PLACE])
    whole = rf"\b{_MANY}\b(?: of| in)?\W+(?:{places})\b|\b(?:{places})\b{_GAP}{_GONE}\b"
    return re.search(whole, text, re.IGNORECASE) is not None


def _places(incident: Incident) -> list[str]:
    """Name what the members lie in."""
    labels = [member.alert.labels for member in incident.members]
    found = {value for one in labels for name, value in one.items() if name in WIDE_LABELS}
    return sorted(filter(None, found))


def held_to_checks(
    rulings: Sequence[ClaimRuling],
    results: Sequence[CheckResult],
    incident: Incident,
    expression: str | None,
) -> tuple[ClaimRuling, ...]:
    """Take back support for wide claims that rest on nothing which looked further."""
    wide = {r.id for r in results if looked_further(r, incident, expression)}
    return tuple(_held(rulings, wide, incident))


def _held(
    rulings: Sequence[ClaimRuling], wide: set[str], incident: Incident
) -> Iterator[ClaimRuling]:
    for one in rulings:
        cited = {*one.evidence_ids, *one.claim.evidence_ids}
        bare = one.ruling is Ruling.SUPPORTED and not cited & wide
        if bare and claims_wider(one.claim.text, incident):
            yield one.model_copy(update={"ruling": Ruling.NEITHER})
        else:
            yield one


def looked_further(result: CheckResult, incident: Incident, expression: str | None) -> bool:
    """Whether a check answered about more than the members' own scope."""
    if result.outcome is not QueryOutcome.FETCHED or result.backend is None:
        return False
    if result.kind in CONTRASTING:
        return True
    own = ladder(incident)[0].labels
    inside = "host" in result.scope or (bool(own) and own.items() <= dict(result.scope).items())
    return not inside and not restates(result.asked, expression)
