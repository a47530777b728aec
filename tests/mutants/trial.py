"""One trial: a process of its own runs the tests over a faulty module.

A fault inside a function is put into the function that is loaded already, which takes a tenth of
the time; a fault anywhere else needs everything to be loaded anew.
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

OPTIONS = ["-x", "-q", "--no-header", "--no-summary", "--assert=plain", "-p", "no:xdist"]
PAUSE_S = 0.005
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


def anew(path: Path, code: CodeType) -> None:
    """Have the module loaded with this code; nothing of the product may be loaded yet."""
    sys.meta_path.insert(0, Planted(name_of(path), code))


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


def notices(prepare: Callable[[], None], tests: Sequence[str], longest_s: float) -> bool:
    """Whether the tests fail once a fault is in; too long is failing, too."""
    child = os.fork()
    if child == 0:
        silence()
        prepare()
        os._exit(tested(tests))
    until_s = time.monotonic() + longest_s
    while time.monotonic() < until_s:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status) != 0
        time.sleep(PAUSE_S)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return True


def fail_as_they_are(tests: Sequence[str]) -> bool:
    """Load everything in this process, and say whether the tests fail over sound code."""
    before = (os.dup(1), os.dup(2))
    silence()
    failed = tested(tests) != 0
    os.dup2(before[0], 1)
    os.dup2(before[1], 2)
    return failed


def silence() -> None:
    """Let nothing be printed from now on."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def tested(tests: Sequence[str]) -> int:
    """Run tests in this process; 0 when every one passes."""
    hypothesis.settings.register_profile(
        "trial", max_examples=40, derandomize=True, database=None, deadline=None
    )
    hypothesis.settings.load_profile("trial")
    return int(pytest.main([*OPTIONS, *tests]))
