"""Loki: whether it lets us in, and whether anything is written to it."""

from bot.cli.checks.line import Line, absent, bad, ok
from bot.cli.unreachable import why
from bot.tools.loki import LokiTool
from engine.model.evidence import Gap

PART = "loki"
_NO_LINES = "no log lines in the pack, and none for a model to look up: faults in code stay unseen"


def not_configured() -> Line:
    """No log store at all."""
    return absent(PART, "not set up", "set loki: {url: …} in caveat.yaml, if you run it", _NO_LINES)


async def loki(tool: LokiTool, url: str, matchers: dict[str, str]) -> Line:
    """Ask for the labels of lately; what its lines are held to must be among them."""
    labels = await tool.labels()
    if isinstance(labels, Gap):
        happened, cure = why("Loki", url, labels)
        return bad(PART, happened, cure, _NO_LINES)
    if not labels:
        cure = "check that something ships logs to it, and loki.tenant if it has several"
        return bad(PART, f"{url} holds no lines of the last hours", cure, _NO_LINES)
    unknown = sorted(set(matchers) - set(labels))
    if unknown:
        said = f"no line at {url} carries {', '.join(unknown)}"
        return bad(PART, said, "correct loki.extra_matchers in caveat.yaml", _NO_LINES)
    return ok(PART, f"{len(labels)} labels at {url}")
