"""Compliance facts: whether the file can be read, and what it holds."""

from pathlib import Path

from bot.cli.checks.line import Line, absent, bad, ok
from bot.tools.compliance import MAX_BYTES, ComplianceFile
from engine.model.evidence import Gap, GapCause

PART = "compliance"
_NO_FACTS = "a model cannot look up what the last scan said of a host or workload"
_CURES = {
    GapCause.UNREACHABLE: "check the path in compliance_file, and that our user may read it",
    GapCause.TOO_LARGE: f"keep the file under {MAX_BYTES // 1_000_000} MB",
}
_GARBLED = "write it as a list of {subject: …, control: …, status: …}"


def not_configured() -> Line:
    """No scan's file at all."""
    return absent(PART, "not set up", "set compliance_file, if you run scans", _NO_FACTS)


async def compliance(file: ComplianceFile, path: Path) -> Line:
    """Read it as a question would."""
    facts = await file.facts()
    if isinstance(facts, Gap):
        cure = _CURES.get(facts.cause, _GARBLED)
        return bad(PART, f"{path}: {facts.detail}", cure, _NO_FACTS)
    if not facts:
        return bad(PART, f"{path} holds no facts", "let the scan write into it", _NO_FACTS)
    newest = max(fact.at for fact in facts)
    dated = f", the newest of {newest}" if newest else ""
    return ok(PART, f"{len(facts)} facts in {path}{dated}")
