"""One trial: a process of its own runs the tests over a faulty module.

A fault inside a function is put into the function that is loaded already, and the tests that were
collected once are run over it, the quickest first, which takes a tenth of the time. A fault
anywhere else needs everything to be loaded anew.
"""

import ast
import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

import hypothesis
import pytest
from _pytest.runner import runtestprotocol

OPTIONS = [
    "-x",
    "-q",
    "--no-header",
    "--no-summary",
    "--assert=plain",
    "-p",
    "no:xdist",
    "-p",
    "no:cacheprovider",
]
PAUSE_S = 0.005
TOO_LONG = 5
"""Times as long as without a fault."""
OWN = ("engine.", "cards.", "storage.", "bot.")


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


def name_of(path: Path) -> str:
    """What a file is imported as."""
    return ".".join(path.with_suffix("").parts)


def compiled(path: Path, tree: ast.Module) -> CodeType:
    """The code of a module, as if it stood in its file."""
    return compile(tree, str(path.resolve()), "exec")


def anew(path: Path, code: CodeType, tests: Sequence[str], longest_s: float) -> bool:
    """Whether a fault is noticed where everything is loaded; here nothing may be loaded yet."""

    def trial() -> bool:
        sys.meta_path.insert(0, Planted(name_of(path), code))
        return tested(tests) != 0

    return notices(trial, longest_s)


def in_place(path: Path, code: CodeType) -> None:
    """Give every loaded function of the module its new code; what was remembered is forgotten."""
    fresh = {(one.co_qualname, one.co_firstlineno): one for one in _codes(code)}
    for own in _functions(importlib.import_module(name_of(path))):
        new = fresh.get((own.__code__.co_qualname, own.__code__.co_firstlineno))
        if new is not None:
            own.__code__ = new
    for module in _own():
        for value in vars(module).values():
            if isinstance(value, functools._lru_cache_wrapper):
                value.cache_clear()


def _own() -> list[ModuleType]:
    return [one for name, one in sys.modules.items() if name.startswith(OWN)]


def _codes(code: CodeType) -> Iterator[CodeType]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from _codes(one)


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    """Every function of a module and of its classes, unwrapped."""
    for value in [*vars(module).values()]:
        if isinstance(value, type) and value.__module__ == module.__name__:
            for member in [*vars(value).values()]:
                yield from _unwrapped(member)
        yield from _unwrapped(value)


def _unwrapped(value: object) -> Iterator[FunctionType]:
    inner = [getattr(value, name, None) for name in ("__wrapped__", "fget", "func", "__func__")]
    for one in [value, *inner]:
        if isinstance(one, FunctionType):
            yield one


def notices(trial: Callable[[], bool], longest_s: float) -> bool:
    """Whether the tests of a trial fail, in a process of its own; too long is failing, too."""
    child = os.fork()
    if child == 0:
        silence()
        failed = True
        try:
            failed = trial()
        finally:
            os._exit(failed)
    until_s = time.monotonic() + longest_s
    while time.monotonic() < until_s:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status) != 0
        time.sleep(PAUSE_S)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return True


class Together:
    """Tries faults one after the other on tests that are loaded and collected once."""

    def __init__(
        self, path: Path, codes: Sequence[CodeType], longest_s: float, until_s: float
    ) -> None:
        self._path, self._codes = path, codes
        self._longest_s, self._until_s = longest_s, until_s
        self.sound = False
        """Whether the tests pass while there is no fault."""
        self.noticed: list[bool] = []
        """Of every fault in turn, as far as the time went."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        took_s: dict[str, float] = {}
        self.sound = not fails(session.items, took_s)
        self._longest_s = max(self._longest_s, TOO_LONG * sum(took_s.values()))
        items = sorted(session.items, key=lambda item: took_s.get(item.nodeid, 0))
        for code in self._codes if self.sound else ():
            if time.monotonic() > self._until_s:
                break
            self.noticed.append(self._notices(code, items))
        return True

    def _notices(self, code: CodeType, items: Sequence[pytest.Item]) -> bool:
        def trial() -> bool:
            in_place(self._path, code)
            return fails(items, {})

        return notices(trial, self._longest_s)


def fails(items: Sequence[pytest.Item], took_s: dict[str, float]) -> bool:
    """Run tests up to the first that fails, and keep how long each took."""
    for item, after in zip(items, [*items[1:], None], strict=True):
        reports = runtestprotocol(item, log=False, nextitem=after)
        took_s[item.nodeid] = sum(report.duration for report in reports)
        if any(report.failed for report in reports):
            return True
    return False


def together(
    path: Path, codes: Sequence[CodeType], tests: Sequence[str], longest_s: float, until_s: float
) -> Together:
    """Load everything in this process, and try the faults on it."""
    trials = Together(path, codes, longest_s, until_s)
    before = (os.dup(1), os.dup(2))
    silence()
    tested(tests, trials)
    os.dup2(before[0], 1)
    os.dup2(before[1], 2)
    return trials


def silence() -> None:
    """Let nothing be printed from now on."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def tested(tests: Sequence[str], *plugins: object) -> int:
    """Run tests in this process; 0 when every one passes."""
    hypothesis.settings.register_profile(
        "trial", max_examples=15, derandomize=True, database=None, deadline=None
    )
    hypothesis.settings.load_profile("trial")
    return int(pytest.main([*OPTIONS, *tests], plugins))
