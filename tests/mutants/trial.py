"""One trial: a process of its own imports a faulty module in place of the sound one and tests."""

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, ModuleType

import hypothesis
import pytest

NOTICED = {pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED, pytest.ExitCode.USAGE_ERROR}
OPTIONS = ["-x", "-q", "--no-header", "--no-summary", "--assert=plain", "-p", "no:xdist"]
PAUSE_S = 0.02


class Planted(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module from code that was made beforehand."""

    def __init__(self, name: str, code: CodeType) -> None:
        self._name, self._code = name, code

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        return importlib.util.spec_from_loader(fullname, self, origin=self._code.co_filename)

    def exec_module(self, module: ModuleType) -> None:
        module.__file__ = self._code.co_filename
        exec(self._code, module.__dict__)


def notices(path: Path, tree: ast.Module, tests: Sequence[str], longest_s: float) -> bool:
    """Whether the tests fail with this tree in place of a module; too long is failing, too."""
    code = compile(tree, str(path.resolve()), "exec")
    child = os.fork()
    if child == 0:
        os._exit(_tested(".".join(path.with_suffix("").parts), code, tests))
    until_s = time.monotonic() + longest_s
    while time.monotonic() < until_s:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status) != 0
        time.sleep(PAUSE_S)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return True


def _tested(name: str, code: CodeType, tests: Sequence[str]) -> int:
    """In the child: 0 when every test passes."""
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    sys.meta_path.insert(0, Planted(name, code))
    hypothesis.settings.register_profile(
        "trial", max_examples=40, derandomize=True, database=None, deadline=None
    )
    hypothesis.settings.load_profile("trial")
    return int(pytest.main([*OPTIONS, *tests]))
