"""Puts small faults into the code that stamps findings, and counts those no test notices.

`python -m tests.mutants [--minutes N] [--most N] [MODULE…]`
"""

import argparse
import ast
import importlib
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.faults import Fault, faults, swappable
from tests.mutants.trial import anew, compiled, together

STAMPS = "tests/engine/test_stamps.py"
SLOW = "real field servers server_differ dashboard any_value any_order no_text on_board any_two"
PROMQL = ["tests/engine/promql", "-k", f"not ({' or '.join(SLOW.split())})"]
"""Without the tests that read whole collections of rules: those take half a minute."""
GROUND = "tests/engine/groundedness"
GROUNDED = "tests/engine/test_grounded_findings.py"
CLASSES = [f"tests/bot/backends/test_failure_{name}.py" for name in ("edges", "classes")]
CLASSES += ["-k", "not hostile and not no_body"]
CHECKS = "tests/engine/verification"
FLOW = [
    "tests/engine/verification/test_judging.py",
    "tests/engine/test_triage_flow.py",
    "tests/engine/investigation/test_loop.py",
]
VETOES = [
    f"tests/engine/verification/test_{name}.py"
    for name in ("accused", "veto_lists", "vetoes", "veto_edges")
]
TARGETS: dict[str, Sequence[str]] = {
    "engine/trust.py": [STAMPS],
    "engine/confidence.py": [STAMPS],
    "engine/disposition.py": [STAMPS],
    "engine/may_act.py": [STAMPS, GROUNDED],
    "engine/citations.py": [STAMPS, "tests/engine/test_triage_flow.py"],
    "engine/caveats.py": [STAMPS, "tests/engine/test_caveat_edges.py"],
    "engine/calibration.py": ["tests/engine/test_calibration.py", "-k", "not without_verdicts"],
    **{str(path): [CHECKS] for path in sorted(Path("engine/verification").rglob("[a-z]*.py"))},
    "engine/verification/judging.py": FLOW,
    "engine/verification/round.py": [CHECKS, *FLOW],
    "engine/verification/vetoes.py": VETOES,
    "engine/verification/independence.py": VETOES,
    "engine/verification/accused.py": VETOES,
    "engine/verification/refuters.py": VETOES,
    "engine/failures.py": ["tests/engine/test_failing.py"],
    **{str(path): [GROUND] for path in sorted(Path("engine/groundedness").glob("[a-z]*.py"))},
    **{f"engine/groundedness/{name}.py": [GROUND, GROUNDED] for name in ("finding", "score")},
    **{str(path): PROMQL for path in sorted(Path("engine/promql").glob("[a-z]*.py"))},
    **{str(path): CLASSES for path in sorted(Path("bot/backends/failing").glob("[a-z]*.py"))},
}
"""Each module with the tests that must notice; the quickest first."""
LEAST = 0.9
"""Share of faults that must be noticed in every module."""
LONGEST_S = 60.0
STUCK_S = 15.0
HEAVY = ("pydantic", "sqlalchemy.ext.asyncio", "psycopg", "promql_parser", "pytest_asyncio", "yaml")
"""Loaded before the trials, which inherit them."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("modules", nargs="*", help="paths; none: every one")
    parser.add_argument("--minutes", type=float, default=30, help="stop after that long")
    parser.add_argument(
        "--most", type=int, default=0, help="try no more of a module, spread evenly"
    )
    asked = parser.parse_args()
    for name in HEAVY:
        importlib.import_module(name)
    until_s = time.monotonic() + asked.minutes * 60
    chosen = [name for name in TARGETS if not asked.modules or name in asked.modules]
    weak = [name for name in chosen if not apart(name, asked.most, until_s)]
    if weak:
        sys.exit(f"not {LEAST:.0%} noticed in {', '.join(weak)}")


def apart(name: str, most: int, until_s: float) -> bool:
    """Try a module's faults in a process of its own, which loads what the next one must not."""
    child = os.fork()
    if child == 0:
        os._exit(0 if strong(name, most, until_s) else 1)
    return os.waitpid(child, 0)[1] == 0


def strong(name: str, most: int, until_s: float) -> bool:
    """Try the faults of a module; False when too few were noticed."""
    path, tests = Path(name), TARGETS[name]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    bodies = swappable(tree)
    there = faults(tree)
    chosen = spread(there, most)
    outside = [fault for fault in chosen if fault.line not in bodies]
    inside = [fault for fault in chosen if fault.line in bodies]
    noticed = [
        anew(path, compiled(path, fault.put_into(tree)), tests, LONGEST_S)
        for fault in outside
        if time.monotonic() < until_s
    ]
    missed = [one for one, seen in zip(outside, noticed, strict=False) if not seen]
    codes = [compiled(path, fault.put_into(tree)) for fault in inside]
    trials = together(path, codes, tests, STUCK_S, until_s)
    if not trials.sound:
        print(f"{name}: its tests fail without any fault", flush=True)
        return False
    missed += [one for one, seen in zip(inside, trials.noticed, strict=False) if not seen]
    return _told(name, len(noticed) + len(trials.noticed), len(there), missed)


def spread(there: Sequence[Fault], most: int) -> list[Fault]:
    """So many of them, evenly; all of them where no number is given."""
    if not most or len(there) <= most:
        return list(there)
    return [there[n * len(there) // most] for n in range(most)]


def _told(name: str, tried: int, there: int, missed: Sequence[Fault]) -> bool:
    for fault in missed:
        print(f"  {name}:{fault.line}: {fault.what}")
    share = 1 - len(missed) / tried if tried else 1.0
    left = f", {there - tried} not tried" if there > tried else ""
    noticed = f"{tried - len(missed)} of {tried} faults noticed ({share:.0%}){left}"
    print(f"{name}: {noticed}", flush=True)
    return share >= LEAST


if __name__ == "__main__":
    main()
