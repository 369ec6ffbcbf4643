"""The value suite catches what it should: mutants of NumPy, one function at a time.

A mutant namespace is NumPy with one function or operator replaced by a wrong one. It is
caught when a check reports a deviation that it does not report for NumPy itself. Here
are the elementwise functions and the operators; test_standard_suite_rest.py has the
other functions, test_standard_oracles.py what the suite compares with.
"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

pytest.importorskip("mpmath", reason="the oracle of the mathematical functions")

from refarray.testing import standard
from refarray.testing.standard import __main__ as command_line
from refarray.testing.standard import check_sums, runner
from refarray.testing.standard.functions import FUNCTIONS, OPERATORS, UNARY_OPERATORS
from refarray.testing.standard.runner import Check

BINARY = [name for name, about in FUNCTIONS.items() if about.operands == 2]
IN_PLACE = [name for name, each in OPERATORS.items() if each.in_place]

# Where the right results are zeros: integers are never NaN or infinite, and of the
# unsigned ones only zero has a negative.
ALL_ZEROS = {
    ("isinf", "int8"),
    ("isinf", "uint64"),
    ("isnan", "int8"),
    ("isnan", "uint64"),
    ("negative", "uint64"),
}

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


class Mutant:
    """NumPy with some functions replaced."""

    def __init__(self, **replaced):
        self.replaced = replaced

    def __getattr__(self, name):
        return self.replaced.get(name) or getattr(np, name)


def is_number(value):
    return type(value) in (bool, int, float, complex)


def zeros_of(call, when=lambda *operands: True):
    """A function that returns zeros of the right dtype and shape."""

    def wrong(*operands, **options):
        result = call(*operands, **options)
        return np.zeros_like(result) if when(*operands) else result

    return wrong


def caught(mutant, subject):
    """Whether some check of a subject notices; the first one that does suffices."""
    for check in standard.all_checks():
        if check.subject == subject:
            found = runner.run(mutant, [check]).deviations
            if found and set(found) - set(runner.run(np, [check]).deviations):
                return True
    return False


@pytest.mark.parametrize("function", FUNCTIONS)
def test_zeros_for_arrays_are_caught(function):
    assert caught(Mutant(**{function: zeros_of(getattr(np, function))}), function)


@pytest.mark.parametrize("function", BINARY)
@pytest.mark.parametrize("side", [0, 1])
def test_zeros_beside_a_number_are_caught(function, side):
    wrong = zeros_of(getattr(np, function), lambda *x: is_number(x[side]))
    assert caught(Mutant(**{function: wrong}), function)


@pytest.mark.parametrize(
    "function, dtype",
    [
        (function, dtype)
        for function, about in FUNCTIONS.items()
        for dtype in ("int8", "uint64", "float32", "complex64")
        if dtype in about.dtypes and (function, dtype) not in ALL_ZEROS
    ],
)
def test_zeros_for_one_dtype_are_caught(function, dtype):
    wrong = zeros_of(
        getattr(np, function),
        lambda *x: any(getattr(each, "dtype", None) == dtype for each in x),
    )
    assert caught(Mutant(**{function: wrong}), function)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_zeros_for_views_are_caught(function):
    wrong = zeros_of(
        getattr(np, function),
        lambda *x: any(getattr(each, "strides", (1,))[-1:] < (0,) for each in x),
    )
    assert caught(Mutant(**{function: wrong}), function)


def wrong_array(method, when):
    """A namespace whose arrays have one operator that returns zeros."""
    base = getattr(np.ndarray, method)

    def operator(self, *other):
        result = base(self, *other)
        if not when(*other):
            return result
        if method.startswith("__i") and method != "__invert__":
            result[...] = 0
            return result
        return np.zeros_like(result).view(wrong)

    def asarray(*args, **options):
        return np.asarray(*args, **options).view(wrong)

    wrong = type("wrong", (np.ndarray,), {method: operator})
    return Mutant(asarray=asarray)


@pytest.mark.parametrize("method", [*UNARY_OPERATORS, *OPERATORS])
def test_operators_that_return_zeros_for_arrays_are_caught(method):
    when = {0: lambda: True, 1: lambda other: not is_number(other)}
    mutant = wrong_array(method, when[0 if method in UNARY_OPERATORS else 1])
    assert caught(mutant, method)


@pytest.mark.parametrize("method", OPERATORS)
def test_operators_that_return_zeros_for_numbers_are_caught(method):
    assert caught(wrong_array(method, is_number), method)


@pytest.mark.parametrize("method", IN_PLACE)
def test_reflected_operators_that_return_zeros_are_caught(method):
    reflected = method.replace("__", "__r", 1)
    assert caught(wrong_array(reflected, is_number), reflected)
    assert caught(wrong_array(reflected, lambda x: not is_number(x)), reflected)


@pytest.mark.parametrize("method", IN_PLACE)
def test_in_place_operators_that_set_zeros_are_caught(method):
    in_place = method.replace("__", "__i", 1)
    assert caught(wrong_array(in_place, is_number), in_place)
    assert caught(wrong_array(in_place, lambda x: not is_number(x)), in_place)


SUBTLE = {
    "abs": lambda x: (
        np.sqrt(x.real**2 + x.imag**2) if x.dtype.kind == "c" else np.abs(x)
    ),
    "acosh": lambda x: np.log(x + np.sqrt(x * x - 1)),
    "add": lambda a, b: (np.add(a, b) + 0.0).astype(np.result_type(a, b)),
    "asinh": lambda x: np.log(x + np.sqrt(x * x + 1)),
    "atan2": lambda a, b: np.arctan(np.divide(a, b)),
    "bitwise_right_shift": lambda a, b: np.right_shift(abs(a), b),
    "ceil": lambda x: np.floor(x) + (x != np.floor(x)).astype(x.dtype),
    "clip": lambda x, min=None, max=None: np.fmin(
        np.fmax(x, x if min is None else min), x if max is None else max
    ),
    "copysign": lambda a, b: np.where(np.less(b, 0), -np.abs(a), np.abs(a)),
    "cosh": lambda x: (np.exp(x) + np.exp(-x)) / x.dtype.type(2),
    "divide": lambda a, b: np.multiply(a, np.reciprocal(b)),
    "equal": lambda a, b: np.isclose(a, b),
    "exp": lambda x: np.power(x.dtype.type(math.e), x),
    "expm1": lambda x: np.exp(x) - x.dtype.type(1),
    "floor_divide": lambda a, b: np.trunc(np.divide(a, b)).astype(np.result_type(a, b)),
    "greater_equal": lambda a, b: ~np.less(a, b),
    "hypot": lambda a, b: np.sqrt(np.square(a) + np.square(b)),
    "isfinite": lambda x: ~np.isnan(x),
    "isinf": lambda x: ~np.isfinite(x),
    "less_equal": lambda a, b: ~np.greater(a, b),
    "log1p": lambda x: np.log(x + x.dtype.type(1)),
    "log2": lambda x: np.log(x) / x.dtype.type(0.6931),
    "logaddexp": lambda a, b: np.log(np.exp(a) + np.exp(b)),
    "maximum": np.fmax,
    "minimum": np.fmin,
    "multiply": lambda a, b: np.multiply(a, b) + np.result_type(a, b).type(0),
    "negative": lambda x: x.dtype.type(0) - x,
    "nextafter": lambda a, b: np.where(a == b, a, np.nextafter(a, b)),
    "not_equal": lambda a, b: np.less(a, b) | np.greater(a, b),
    "pow": lambda a, b: np.exp(np.multiply(b, np.log(a))).astype(np.result_type(a, b)),
    "remainder": np.fmod,
    "round": lambda x: np.floor(x + x.dtype.type(0.5)) if x.dtype.kind == "f" else x,
    "sign": lambda x: (x > 0).astype(x.dtype) - (x < 0).astype(x.dtype),
    "signbit": lambda x: x < 0,
    "sinh": lambda x: (np.exp(x) - np.exp(-x)) / x.dtype.type(2),
    "sqrt": lambda x: np.power(x, x.dtype.type(0.5)),
    "square": lambda x: x * np.abs(x),
    "subtract": lambda a, b: -np.subtract(b, a),
    "tanh": lambda x: np.sinh(x) / np.cosh(x),
    "trunc": np.floor,
}


@pytest.mark.parametrize("function", SUBTLE)
def test_plausible_but_wrong_formulas_are_caught(function):
    assert caught(Mutant(**{function: SUBTLE[function]}), function)


def test_a_wrong_dtype_or_shape_is_caught():
    wide = Mutant(add=lambda a, b: np.add(a, b).astype(np.float64))
    flat = Mutant(add=lambda a, b: np.add(a, b).reshape(-1))
    assert caught(wide, "add")
    assert caught(flat, "add")


def test_a_changed_operand_is_caught():
    def negative(x):
        result = -x
        if x.flags.writeable:
            x[...] = result
        return result

    assert caught(Mutant(negative=negative), "negative")


def test_an_exception_is_a_deviation_and_ends_nothing():
    def broken(x):
        raise MemoryError("no")

    report = standard.run(Mutant(signbit=broken), only="signbit")
    assert report.deviations
    assert all(d.got == "MemoryError: no" for d in report.deviations)
    assert report.cases >= len(report.deviations) > 10


def test_a_missing_function_is_reported_once():
    class Less:
        __getattr__ = staticmethod(lambda name: getattr(np, name))
        signbit = None

    report = standard.run(Less(), only="signbit")
    assert [(d.function, d.got) for d in report.deviations] == [("signbit", "missing")]


def test_a_check_that_fails_itself_is_reported_under_its_name():
    def check_nothing(xp, report):
        raise RuntimeError("broken check")

    report = runner.run(np, [Check("add", check_nothing)])
    (deviation,) = report.deviations
    assert deviation.given == "check_nothing"
    assert deviation.got == "RuntimeError: broken check"


def one_after_another(x, *, axis, **options):
    return np.add.accumulate(x, axis=axis).take(-1, axis=axis)


def mean_of_such(x, *, axis, **options):
    return one_after_another(x, axis=axis) / x.shape[axis]


def std_of_such(x, *, axis, **options):
    center = np.expand_dims(mean_of_such(x, axis=axis), axis)
    return np.sqrt(np.mean((x - center) ** 2, axis=axis))


@pytest.mark.parametrize(
    ("function", "naive", "dtypes"),
    [
        ("sum", one_after_another, 4),
        ("mean", mean_of_such, 4),
        ("std", std_of_such, 2),
        ("var", lambda x, **options: std_of_such(x, **options) ** 2, 2),
    ],
)
def test_an_error_that_grows_with_the_number_of_terms_is_noted(function, naive, dtypes):
    """Along both axes and in each dtype, as a note: no clause limits the error."""
    checks = [check for check in check_sums.CHECKS if check.subject == function]
    report = runner.run(Mutant(**{function: naive}), checks)
    assert report.deviations == []
    assert len(report.notes) == 2 * dtypes
    assert {note.function for note in report.notes} == {function}


def test_notes_are_shown_and_leave_the_exit_status(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(np, "sum", one_after_another)
    monkeypatch.setattr(
        command_line, "all_checks", lambda: check_sums.CHECKS, raising=True
    )
    target, rows = tmp_path / "report.json", tmp_path / "report.md"
    files = ["--json", str(target), "--markdown", str(rows)]
    assert command_line.main(["numpy", "--only", "sum", *files]) == 0
    printed = capsys.readouterr().out
    assert "Quality, where no clause demands it:" in printed
    assert "sum(array of shape (100003, 2), axis=0)" in printed
    content = json.loads(target.read_text())
    assert content["deviations"] == []
    assert {note["function"] for note in content["notes"]} == {"sum"}
    assert "Quality, where no clause demands it:" in rows.read_text()


def test_the_command_line(tmp_path, capsys):
    target, rows = tmp_path / "report.json", tmp_path / "report.md"
    files = ["--json", str(target), "--markdown", str(rows)]
    status = command_line.main(["numpy", "--only", "expm1", *files])
    printed = capsys.readouterr().out
    content = json.loads(target.read_text())
    assert status == 1  # the complex special cases
    assert "expm1, special cases, complex operands, case 4" in printed
    assert content["namespace"] == "numpy"
    assert "| `expm1` | complex64 complex128 |" in rows.read_text()
    assert {d["function"] for d in content["deviations"]} == {"expm1"}
    assert command_line.main(["numpy", "--only", "signbit"]) == 0
    assert command_line.main(["no_such_namespace_at_all"]) == 2
    assert command_line.main(["numpy", "--only", "no_such_function"]) == 2


def test_without_mpmath_the_command_says_what_to_install(monkeypatch, capsys):
    def no_mpmath():
        raise ModuleNotFoundError("No module named 'mpmath'", name="mpmath")

    monkeypatch.setattr(command_line, "all_checks", no_mpmath)
    assert command_line.main(["numpy"]) == 2
    assert "pip install mpmath" in capsys.readouterr().err
