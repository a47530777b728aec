"""Kubernetes: its version, and whether its events may be listed."""

from bot.cli.checks.line import Line, absent, bad, ok
from bot.cli.unreachable import why
from bot.tools.kubernetes import KubernetesTool
from engine.model.evidence import Gap, GapCause

PART = "kubernetes"
_FORBIDDEN = "403"
_NO_EVENTS = "no events in the pack: kills, failed pulls, evictions and dead nodes stay unseen"


def not_configured() -> Line:
    """No cluster at all."""
    cure = "set kubernetes: {url: …, bearer_file: …}, if you run it"
    return absent(PART, "not set up", cure, _NO_EVENTS)


async def kubernetes(tool: KubernetesTool, url: str, namespace: str | None) -> Line:
    """Ask for its version, then for one event as an incident would."""
    where = f"in namespace {namespace}" if namespace else "in every namespace"
    refused = await tool.allowed()
    if refused is None:
        version = await tool.version()
        told = "version not told" if isinstance(version, Gap) else version
        return ok(PART, f"{told} at {url}, events may be listed {where}")
    happened, cure = why("Kubernetes", url, refused, "/version")
    if refused.cause is GapCause.NOT_LET_IN and refused.detail.startswith(_FORBIDDEN):
        role = "Role" if namespace else "ClusterRole"
        cure = f"bind its user to a {role} with the verb list on events, and nothing more"
        if not namespace:
            cure += "; for one namespace alone set kubernetes.extra_matchers: {namespace: …}"
    return bad(PART, happened, cure, _NO_EVENTS)
