"""Lists the requirements that have a test as their proof, and the test."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent


def marks(path: Path) -> Iterator[tuple[str, str]]:
    """(requirement, test) of one file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for mark in node.decorator_list:
            if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.proves":
                for argument in mark.args:
                    name = f"{path.relative_to(HERE)}::{node.name}"
                    yield str(ast.literal_eval(argument)), name


def order(requirement: str) -> tuple[str, int]:
    seed, _, number = requirement.partition("-")
    return seed, int(number)


def main() -> None:
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(HERE.rglob("test_*.py")):
        for requirement, test in marks(path):
            found[requirement].append(test)
    for requirement in sorted(found, key=order):
        print(f"{requirement:8} {', '.join(sorted(set(found[requirement])))}")
    print(f"{len(found)} requirements have a proof")


if __name__ == "__main__":
    main()
