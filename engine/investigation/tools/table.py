"""Every tool there is, in the order they are offered."""

from collections.abc import Mapping
from typing import Any

from engine.investigation.tool import Bench, Tool
from engine.investigation.tools import (
    changes,
    compliance_facts,
    incidents,
    kubernetes_events,
    logs,
    metrics_now,
    metrics_over_time,
)
from engine.model.ledger import ToolName

TOOLS: Mapping[ToolName, Tool[Any]] = {
    tool.name: tool
    for tool in (
        metrics_now.TOOL,
        metrics_over_time.TOOL,
        logs.TOOL,
        changes.TOOL,
        incidents.TOOL,
        kubernetes_events.TOOL,
        compliance_facts.TOOL,
    )
}


def offered(bench: Bench) -> Mapping[str, Tool[Any]]:
    """The tools that have somebody to ask, by the name a model calls them."""
    return {name.value: tool for name, tool in TOOLS.items() if tool.offered(bench)}
