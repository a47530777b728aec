"""Every small fault that can be put into a module, one at a time."""

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Change = Callable[[ast.AST], None]
MOST_ELEMENTS = 12
"""Of a longer list each element is a word of a vocabulary, not a rule."""
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip
NAMES = {"any": "all", "all": "any", "min": "max", "max": "min"}


@dataclass(frozen=True)
class Fault:
    """One change of one node."""

    node: int
    """Its place in a walk of the tree."""
    line: int
    what: str
    change: Change

    def put_into(self, tree: ast.Module) -> ast.Module:
        """A copy of the module with the fault in it."""
        faulty = copy.deepcopy(tree)
        self.change(list(ast.walk(faulty))[self.node])
        return ast.fix_missing_locations(faulty)


def faults(tree: ast.Module) -> list[Fault]:
    """All of them, in the order of the lines."""
    idle = {
        id(inner) for node in ast.walk(tree) for part in _idle(node) for inner in ast.walk(part)
    }
    found = [
        Fault(place, _line(node), what, change)
        for place, node in enumerate(ast.walk(tree))
        if id(node) not in idle
        for what, change in _of(node)
    ]
    return sorted(found, key=lambda fault: (fault.line, fault.node))


def _line(node: ast.AST) -> int:
    return int(getattr(node.target if isinstance(node, ast.comprehension) else node, "lineno", 0))


PLAIN = frozenset(
    {"property", "cached_property", "cache", "lru_cache", "staticmethod", "classmethod", "override"}
)
"""Decorators under which the function itself can be reached."""


def swappable(tree: ast.Module) -> frozenset[int]:
    """Lines inside functions that can be given other code while they are loaded."""
    found = [one for one in tree.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    for one in tree.body:
        if isinstance(one, ast.ClassDef):
            found += [m for m in one.body if isinstance(m, ast.FunctionDef | ast.AsyncFunctionDef)]
    at_once = _called_on_loading(tree)
    reached = [
        f
        for f in found
        if {_called(d) for d in f.decorator_list} <= PLAIN and f.name not in at_once
    ]
    return frozenset(
        line for f in reached for line in range(f.body[0].lineno, (f.end_lineno or 0) + 1)
    )


def _called_on_loading(tree: ast.Module) -> frozenset[str]:
    """Name the functions that make the module's constants: later nobody asks them."""
    made = [one for one in tree.body if isinstance(one, ast.Assign | ast.AnnAssign)]
    calls = [node for one in made for node in ast.walk(one) if isinstance(node, ast.Call)]
    return frozenset(call.func.id for call in calls if isinstance(call.func, ast.Name))


def _called(decorator: ast.expr) -> str:
    return ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)


def _idle(node: ast.AST) -> Iterator[ast.AST]:
    """Parts that decide nothing: annotations, decorators, docstrings, texts of errors and logs."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from node.decorator_list
            yield from filter(None, [node.returns])
        case ast.ClassDef():
            yield from node.decorator_list
        case ast.AnnAssign():
            yield node.annotation
        case ast.arg(annotation=ast.AST() as note):
            yield note
        case ast.Raise(exc=ast.AST() as told):
            yield told


def _of(node: ast.AST) -> Iterator[tuple[str, Change]]:
    yield from _of_flow(node)
    yield from _of_value(node)


def _of_flow(node: ast.AST) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.Compare(ops=[op, *_]) if type(op) in SWAPS:
            yield _swap("ops", op)
        case ast.BoolOp() | ast.BinOp() if type(node.op) in SWAPS:
            yield _swap("op", node.op)
        case ast.UnaryOp(op=ast.Not()):
            yield "not dropped", _negated("operand")
        case ast.If() | ast.IfExp() | ast.While() if not isinstance(node.test, ast.Constant):
            yield "condition turned round", _negated("test")
        case ast.comprehension(ifs=[_, *_]):
            yield "filter turned round", _filter_turned
        case ast.Return(value=ast.Constant(value=str())):
            yield "returns other text", _set("value", ast.Constant("other"))
        case ast.Return(value=ast.AST() as value) if not _says_nothing(value):
            yield "returns None", _set("value", ast.Constant(None))
        case ast.Expr(value=ast.Call() | ast.Await()):
            yield "call dropped", _set("value", ast.Constant(None))


def _of_value(node: ast.AST) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.Constant(value=bool() | int() | float() as value):
            other = (not value) if isinstance(value, bool) else _other(value)
            yield f"{value} becomes {other}", _set("value", other)
        case ast.Name(id=name) if name in NAMES and isinstance(node.ctx, ast.Load):
            yield f"{name} becomes {NAMES[name]}", _set("id", NAMES[name])
        case ast.Set(elts=some) | ast.Tuple(elts=some, ctx=ast.Load()) if _is_rule(some):
            yield from ((f"element {n + 1} dropped", _without("elts", n)) for n in range(len(some)))
        case ast.Dict(keys=keys) if 1 < len(keys) <= MOST_ELEMENTS:
            yield from ((f"entry {n + 1} dropped", _without("keys", n)) for n in range(len(keys)))


def _is_rule(elements: list[ast.expr]) -> bool:
    named = all(isinstance(one, ast.Attribute | ast.Constant) for one in elements)
    return 1 < len(elements) <= MOST_ELEMENTS and named


def _says_nothing(value: ast.AST) -> bool:
    """Whether None would say the same; False and 0 are turned into something as values."""
    return isinstance(value, ast.Constant) and not value.value


def _other(value: float) -> float:
    return value + 1 if isinstance(value, int) else round(value * 1.25 + 0.01, 6)


def _swap(field: str, op: ast.AST) -> tuple[str, Change]:
    other = SWAPS[type(op)]

    def change(node: ast.AST) -> None:
        if field == "ops":
            node.ops[0] = other()  # type: ignore[attr-defined]
        else:
            setattr(node, field, other())

    return f"{type(op).__name__} becomes {other.__name__}", change


def _negated(field: str) -> Change:
    def change(node: ast.AST) -> None:
        setattr(node, field, ast.UnaryOp(ast.Not(), getattr(node, field)))

    return change


def _filter_turned(node: ast.AST) -> None:
    assert isinstance(node, ast.comprehension)
    node.ifs[0] = ast.UnaryOp(ast.Not(), node.ifs[0])


def _set(field: str, value: object) -> Change:
    return lambda node: setattr(node, field, value)


def _without(field: str, place: int) -> Change:
    def change(node: ast.AST) -> None:
        del getattr(node, field)[place]
        if isinstance(node, ast.Dict):
            del node.values[place]

    return change
