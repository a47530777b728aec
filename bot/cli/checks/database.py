"""The database: version, size, and whether memory can search by likeness."""

from pathlib import Path

from bot.cli.checks.line import Line, absent, bad, ok
from storage.about import DatabaseFacts
from storage.postgres.programs import vector_supported

LEAST_MAJOR = 15
PART = "database"
_COSTS = "no memory: earlier incidents that look alike are not found; everything else works"


def database(facts: DatabaseFacts, *, embedded: bool, cpu: Path | None = None) -> list[Line]:
    """Judge what the server said; `cpu` is where the processor's abilities stand."""
    where = "embedded" if embedded else "yours"
    said = f"PostgreSQL {facts.version}, {where}, {_size(facts.size_bytes)}"
    major = facts.version.partition(".")[0]
    if major.isdecimal() and int(major) < LEAST_MAJOR:
        return [bad(PART, said, f"use PostgreSQL {LEAST_MAJOR} or newer")]
    return [ok(PART, said), _vector(facts, embedded=embedded, cpu=cpu)]


def _vector(facts: DatabaseFacts, *, embedded: bool, cpu: Path | None) -> Line:
    fits, why = (vector_supported(cpu) if cpu else vector_supported()) if embedded else (True, "")
    if not fits:
        return absent("memory", "pgvector cannot run here", why, _COSTS)
    if not facts.vector_installed:
        return absent("memory", "pgvector is not installed", "install it on the server", _COSTS)
    return ok("memory", "pgvector is there")


def _size(count: int) -> str:
    return f"{count / 1_000_000:.0f} MB"
