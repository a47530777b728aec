"""Puts small faults into the code that stamps findings, and counts those no test notices.

`python -m tests.mutants [--minutes N] [--every N] [MODULE…]`
"""

import argparse
import ast
import importlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.faults import faults
from tests.mutants.trial import notices

STAMPS = "tests/engine/test_stamps.py"
LIMITS = "tests/engine/test_limits.py"
PROMQL = "tests/engine/promql"
GROUND = "tests/engine/groundedness"
CLASSES = "tests/bot/backends/test_failure_classes.py"
TARGETS: dict[str, Sequence[str]] = {
    "engine/trust.py": [STAMPS, LIMITS],
    "engine/confidence.py": [STAMPS, LIMITS],
    "engine/disposition.py": [STAMPS, LIMITS],
    "engine/may_act.py": [STAMPS, "tests/engine/test_grounded_findings.py"],
    "engine/citations.py": [STAMPS, "tests/engine/test_triage_flow.py"],
    "engine/caveats.py": [STAMPS],
    "engine/calibration.py": ["tests/engine/test_calibration.py"],
    "engine/verification/vetoes.py": ["tests/engine/verification/test_vetoes.py"],
    "engine/verification/refuters.py": ["tests/engine/verification/test_vetoes.py"],
    "engine/failures.py": ["tests/engine/test_failing.py"],
    **{str(path): [GROUND] for path in sorted(Path("engine/groundedness").glob("[a-z]*.py"))},
    **{str(path): [PROMQL] for path in sorted(Path("engine/promql").glob("[a-z]*.py"))},
    **{str(path): [CLASSES] for path in sorted(Path("bot/backends/failing").glob("[a-z]*.py"))},
}
"""Each module with the tests that must notice; the quickest first."""
LEAST = 0.9
"""Share of faults that must be noticed in every module."""
LONGEST_S = 60.0
HEAVY = ("pydantic", "sqlalchemy.ext.asyncio", "psycopg", "promql_parser", "pytest_asyncio", "yaml")
"""Loaded before the trials, which inherit them."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("modules", nargs="*", help="paths; none: every one")
    parser.add_argument("--minutes", type=float, default=30, help="stop after that long")
    parser.add_argument("--every", type=int, default=1, help="try only every nth fault")
    asked = parser.parse_args()
    for name in HEAVY:
        importlib.import_module(name)
    until_s = time.monotonic() + asked.minutes * 60
    chosen = [name for name in TARGETS if not asked.modules or name in asked.modules]
    weak = [name for name in chosen if not strong(name, asked.every, until_s)]
    if weak:
        sys.exit(f"less than {LEAST:.0%} noticed in {', '.join(weak)}")


def strong(name: str, every: int, until_s: float) -> bool:
    """Try the faults of a module; False when too few were noticed."""
    path, tests = Path(name), TARGETS[name]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if notices(path, tree, tests, LONGEST_S):
        sys.exit(f"{name}: its tests fail without any fault")
    tried = noticed = 0
    for fault in faults(tree)[::every]:
        if time.monotonic() > until_s:
            print(f"{name}: out of time after {tried} faults")
            break
        tried += 1
        if notices(path, fault.put_into(tree), tests, LONGEST_S):
            noticed += 1
        else:
            print(f"{name}:{fault.line}: {fault.what}: nobody notices", flush=True)
    share = noticed / tried if tried else 1.0
    print(f"{name}: {noticed} of {tried} faults noticed ({share:.0%})", flush=True)
    return share >= LEAST


if __name__ == "__main__":
    main()
