"""What the value suite stands on: its table of special cases and its oracles."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip("mpmath", reason="the oracle of the mathematical functions")

from refarray.testing.standard import (
    compare,
    exact,
    oracle_elementwise,
    oracle_python,
    special_cases,
)
from refarray.testing.standard.functions import FUNCTIONS
from refarray.testing.standard.runner import Report

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def every_case():
    return [row for row in special_cases.table()["cases"] if "result" in row]


def test_every_word_of_the_table_is_explained_and_understood():
    table = special_cases.table()
    elementwise = [r for r in every_case() if r["function"] in FUNCTIONS]
    for row in elementwise:
        conditions = dict(row["when"])
        pair = conditions.pop("pair", None)
        assert pair is None or (pair in table["pairs"] and pair in special_cases.PAIRS)
        for condition in conditions.values():
            assert condition in table["conditions"]
            assert condition in special_cases.CONDITIONS
    assert len(elementwise) >= 500


def test_every_case_can_be_drawn():
    numbers = special_cases.pool("float32")
    for row in every_case():
        if row["function"] in FUNCTIONS:
            drawn = special_cases.draw(row, numbers, 60)
            assert all(values.size for values in drawn.values()), row


CONSTANTS = ("nan", "+inf", "-inf", "+0", "-0", "1", "-1")


def test_cases_that_overlap_agree():
    """What one case gives, every other case that the operands meet admits."""
    numbers = special_cases.pool("float64")
    compared = 0
    for function in FUNCTIONS:
        rows = special_cases.rows(function, "real")
        for row in (r for r in rows if r["result"] in CONSTANTS):
            drawn = special_cases.draw(row, numbers, 200)
            for other in (r for r in rows if r is not row):
                met = {k: v[meets(other, drawn)] for k, v in drawn.items()}
                got = np.full(len(next(iter(met.values()))), float(row["result"]))
                if got.size:
                    compared += 1
                    assert special_cases.agrees(other, met, got).all(), (row, other)
    assert compared > 40


def meets(row, drawn):
    conditions = dict(row["when"])
    pair = conditions.pop("pair", None)
    masks = [special_cases.CONDITIONS[c](drawn[n]) for n, c in conditions.items()]
    if pair:
        masks.append(special_cases.PAIRS[pair](drawn["x1"], drawn["x2"]))
    return np.logical_and.reduce(masks)


@pytest.mark.parametrize(
    "function, count",
    [("acos", 16), ("atan2", 23), ("pow", 24), ("remainder", 20), ("tanh", 16)],
)
def test_the_table_has_as_many_cases_as_the_standard(function, count):
    cases = {
        (row["operands"], row["case"])
        for row in every_case()
        if row["function"] == function
    }
    assert len(cases) == count


@pytest.mark.parametrize(
    "value, float32, float64",
    [
        (Fraction(1, 3), 11184811 / 2**25, 1 / 3),
        (1 + Fraction(1, 2**24), 1.0, 1 + 2.0**-24),  # a tie goes to even
        (1 + Fraction(3, 2**24), 1 + 2.0**-22, 1 + 3 * 2.0**-24),
        (Fraction(2) ** 128, math.inf, 2.0**128),
        (Fraction(2) ** 128 - 2**103, math.inf, math.ldexp(2**25 - 1, 103)),
        (
            Fraction(2) ** 128 - 2**104,
            math.ldexp(2**24 - 1, 104),
            math.ldexp(2**24 - 1, 104),
        ),
        (Fraction(1, 2**150), 0.0, 2.0**-150),  # half the smallest: to even, zero
        (Fraction(3, 2**151), 2.0**-149, 3 * 2.0**-151),
        (Fraction(-1, 2**1074), 0.0, -5e-324),
        (Fraction(0), 0.0, 0.0),
    ],
)
def test_rounding_of_exact_values(value, float32, float64):
    assert exact.rounded(value, "float32") == float32
    assert exact.rounded(value, "float64") == float64


def test_signs_of_exact_zeros():
    zeros = np.asarray([0.0, 0.0, -0.0, -0.0, 1.0])
    others = np.asarray([0.0, -0.0, 0.0, -0.0, -1.0])
    assert np.signbit(exact.add(zeros, others)).tolist() == [0, 0, 0, 1, 0]
    assert np.signbit(exact.multiply(zeros, others)).tolist() == [0, 1, 1, 0, 1]


def test_the_oracle_tells_the_sides_of_a_branch_cut():
    z = np.asarray([complex(-4, 0.0), complex(-4, -0.0)])
    assert oracle_elementwise.evaluate("sqrt", z).tolist() == [2j, -2j]
    log = oracle_elementwise.evaluate("log", z)
    assert log.imag.tolist() == [math.pi, -math.pi]
    x = np.asarray([complex(0.0, 2), complex(-0.0, 2)])
    assert np.sign(oracle_elementwise.evaluate("asinh", x).real).tolist() == [1, -1]


def test_units_in_the_last_place():
    one = np.asarray([1.0, 2.0, 0.0, 5e-324, 1.7976931348623157e308])
    unit = compare.ulp(one)
    assert unit.tolist() == [2.0**-52, 2.0**-51, 5e-324, 5e-324, 2.0**971]
    beyond = compare.farther(np.asarray([1.0]), 1)
    assert not beyond(np.asarray([1 + 2.0**-52])).any()
    assert beyond(np.asarray([1 + 2.0**-51])).all()
    assert beyond(np.asarray([math.nan])).all()
    assert beyond(np.asarray([math.inf])).all()


def test_comparison_of_single_values():
    report = Report(np)
    with report.case("f") as case:
        assert case.equal(np.asarray([np.nan]), np.asarray([np.nan]))
        assert not case.equal(np.asarray([0.0]), np.asarray([-0.0]))
        assert case.equal(np.asarray([0.0]), np.asarray([-0.0]), signed_zeros=False)
        assert not case.equal(np.asarray([0]), np.asarray([0.0]))
        assert not case.equal(np.asarray([[0.0]]), np.asarray([0.0]))
        assert not case.equal(0.0, np.asarray(0.0))
    assert len(report.deviations) == 4


def test_integers_wrap_only_where_bits_are_shifted_out():
    assert oracle_python.wrapped(0b1_1000_0001, "uint8") == 0b1000_0001
    assert oracle_python.wrapped(200, "int8") == -56
    assert oracle_python.wrapped(-129, "int8") == 127
    x = np.asarray([100, 100], "int8")
    wanted, (kept, _) = oracle_python.evaluate("add", "int8", x, x // [1, 10])
    assert wanted.tolist() == [110]  # 100 + 100 has no defined result
    assert kept.tolist() == [100]


def test_python_rounding_and_signs():
    x = np.asarray([0.5, 1.5, -0.5, -2.5, math.inf, math.nan])
    wanted, _ = oracle_python.evaluate("round", "float64", x)
    assert wanted.tolist()[:5] == [0, 2, 0, -2, math.inf]
    assert np.signbit(wanted[2])
    assert math.isnan(wanted[5])
