"""What the alert's author wrote down to do; addresses are named and never visited."""

import re
from collections.abc import Iterator, Mapping

from engine.model.pack import SectionName, TextFacts
from engine.pack.section import Case, Gathered, Items, PackSection, Ports

_ADDRESSES = ("runbook_url", "runbook", "playbook_url", "playbook", "dashboard_url")
_STEPS = (
    "runbook", "playbook", "steps", "action", "actions", "resolution", "remediation",
    "mitigation", "troubleshooting",
)  # fmt: skip
_MOST_STEPS = 4
_LONGEST_STEP = 200


async def gather(case: Case) -> Gathered:
    """Quote addresses and the first steps of every rule that fires, the lead's first."""
    items = Items("B", case)
    lead = case.incident.lead
    members = [lead, *(m for m in case.incident.members if m is not lead)]
    seen: set[str] = set()
    for member in members:
        for line in _lines(member.alert.rule, member.alert.annotations):
            if line not in seen:
                seen.add(line)
                items.add(line, TextFacts(untrusted=True))
    return items.section(SectionName.RUNBOOK)


def _lines(rule: str, annotations: Mapping[str, str]) -> Iterator[str]:
    for key in _ADDRESSES:
        text = annotations.get(key, "").strip()
        if _is_address(text):
            yield f"{rule} {key}: {text[:_LONGEST_STEP]}"
    for key in _STEPS:
        text = annotations.get(key, "").strip()
        if text and not _is_address(text):
            for step in _steps(text):
                yield f"{rule} {key}: {step}"


def _is_address(text: str) -> bool:
    return re.fullmatch(r"https?://\S+", text) is not None


def _steps(text: str) -> list[str]:
    steps = [line.strip() for line in re.split(r"\n+|(?<=[.;]) +(?=\d+[.)] )", text)]
    return [step[:_LONGEST_STEP] for step in steps if step][:_MOST_STEPS]


def _configured(_: Ports) -> bool:
    return True


SECTION = PackSection(
    name=SectionName.RUNBOOK, configured=_configured, gather=gather, anchored=False
)
