"""The limits before the parser: each is taken to its last, and no further."""

import pytest

from engine.promql.caps import MAX_CHARACTERS, MAX_NESTING, MAX_OPERATORS, MAX_WIDE, over
from engine.promql.expression import Expression


def broken(text: str) -> str | None:
    return over(Expression(text))


def test_length() -> None:
    assert broken("x" * MAX_CHARACTERS) is None
    assert broken("x" * (MAX_CHARACTERS + 1)) == "over 4000 characters"


@pytest.mark.parametrize(("opener", "closer"), ["()", "[]", "{}"])
def test_nesting(opener: str, closer: str) -> None:
    assert broken(opener * MAX_NESTING + "x") is None
    assert broken(opener * (MAX_NESTING + 1) + "x") == "nested deeper than 50"
    assert broken((opener + closer) * (MAX_NESTING + 1)) is None
    assert broken((opener + closer + closer) * (MAX_NESTING + 1)) is None


SIGNS = ["==", "!=", ">=", "<=", ">", "<", "+", "-", "*", "/", "%", "^", "@", "["]


@pytest.mark.parametrize("operator", [*SIGNS, "and", "or", "OR", "unless", "atan2", "offset"])
def test_operators(operator: str) -> None:
    sides = " 1 ]" if operator == "[" else " 1 "
    assert broken(f"x {operator}{sides}" * MAX_OPERATORS) is None
    assert broken(f"x {operator}{sides}" * (MAX_OPERATORS + 1)) == "over 100 operators"


@pytest.mark.parametrize("operator", ["=", "==", "!=", "=~", "!~"])
def test_matchers_are_no_operators(operator: str) -> None:
    matchers = ",".join([f'a{operator}"b"'] * (MAX_OPERATORS + 1))
    assert broken(f"x{{{matchers}}}") is None


@pytest.mark.parametrize(
    ("regex", "wide"),
    [
        (r"\w{%d}", MAX_WIDE),
        (r"\W{1,%d}", MAX_WIDE),
        (r"\p{,%d}", MAX_WIDE),
        (r"(\wa){%d}", MAX_WIDE),
        (r"(\w\w){%d}", MAX_WIDE // 2),
        (r"((\w){2}\w){%d}", 66),
        (r"\w(a){%d}\w", None),
        (r"\wa{%d}", None),
        (r"\d{%d}", None),
        (r"\\w{%d}", None),
    ],
)
@pytest.mark.parametrize("operator", ["=~", "!~"])
def test_wide_classes_are_counted_with_their_repetitions(
    regex: str, wide: int | None, operator: str
) -> None:
    def of(times: int) -> str | None:
        return broken(f"x{{a{operator}`{regex % times}`}}")

    if wide is None:
        assert of(9_999) is None
        return
    assert of(wide) is None
    assert of(wide + 1) == "regular expressions too wide"


def test_wide_classes_of_all_expressions_add_up_and_plain_values_do_not_count() -> None:
    half = r"\w" * (MAX_WIDE // 2)
    assert broken(f'x{{a=~"{half}",b!~"{half}"}}'.replace("\\", "\\\\")) is None
    assert broken(f'x{{a=~"{half}",b!~"{half}w"}}'.replace("\\", "\\\\") + '/y{a=~"\\\\w"}')
    assert broken(f"x{{a=`{half}{half}{half}`}}") is None
    assert broken(r"x{a=~`\w{0}`}") is None
