"""Resident memory of a process and of those below it, from /proc."""

from pathlib import Path

KIB_PER_MB = 1_000_000 / 1024


def resident_mb(pid: int) -> float:
    """What one process holds in memory."""
    return _status(pid, "VmRSS") / KIB_PER_MB


def proportional_mb(pids: list[int]) -> float:
    """What processes hold in memory, pages they share counted once."""
    return sum(_pss(pid) for pid in pids) / KIB_PER_MB


def below(pid: int) -> list[int]:
    """Every process that descends from this one."""
    own = [int(c) for c in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return [*own, *(grandchild for child in own for grandchild in below(child))]


def _status(pid: int, name: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def _pss(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
