"""Format specs: an array without dimensions is formatted as its Python scalar."""

import numpy as np
import pytest

import refarray as xp
from refarray import profiles

SCALARS = [
    (xp.bool, True, ["d", ">6", "5d"]),
    (xp.int8, -7, ["d", "04d", "+d", "x", "b", ",", ".2f", "e", "%", "c>9"]),
    (xp.uint64, 2**64 - 1, ["d", ",", "_", "#x", ">30"]),
    (xp.float32, 0.5, [".3f", "08.2f", "e", "g", "%", "+.1f", "^12", "n"]),
    (xp.float64, 2.5, [".3f", "08.2f", "e", "g", "%", "+.1f", "^12", ",.2f"]),
    (xp.float64, float("nan"), [".3f", ">8"]),
    (xp.float64, -float("inf"), [".3f", ">8"]),
    (xp.complex64, 1 - 2j, [".2f", "+g", ">20"]),
    (xp.complex128, 1e300 - 2j, [".2e", "g"]),
]


@pytest.mark.parametrize(("dtype", "value", "specs"), SCALARS)
def test_a_spec_formats_the_python_scalar(dtype, value, specs):
    x = xp.asarray(value, dtype=dtype)
    for spec in specs:
        assert format(x, spec) == format(value, spec)
        assert f"{x:{spec}}" == f"{value:{spec}}"
        assert "{:{}}".format(x, spec) == "{:{}}".format(value, spec)


def test_an_element_of_an_array_is_formatted_as_well():
    x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    assert [f"{element:.1f}" for element in x[1, ...]] == ["3.0", "4.0"]
    assert f"{xp.mean(x):6.2f}" == "  2.50"
    assert "%.2f" % xp.asarray(2.5) == "2.50"  # noqa: UP031
    assert "%d" % xp.asarray(7) == "7"  # noqa: UP031


@pytest.mark.parametrize("value", [True, 7, 2.5, 1 + 2j, [1.0, 2.0], [[1], [2]], []])
def test_without_a_spec_it_is_the_text_of_the_array(value):
    x = xp.asarray(value)
    assert f"{x}" == format(x) == format(x, "") == str(x)


@pytest.mark.parametrize(
    ("value", "spec"), [(True, ".2f!"), (7, "s"), (2.5, "d"), (1j, "d"), (2.5, "0.f.")]
)
def test_a_spec_that_the_scalar_refuses_is_refused(value, spec):
    with pytest.raises(ValueError) as wanted:
        format(value, spec)
    with pytest.raises(ValueError) as refused:
        format(xp.asarray(value), spec)
    assert str(refused.value) == str(wanted.value)


@pytest.mark.parametrize("shape", [(0,), (1,), (2, 3)])
def test_a_spec_for_an_array_with_dimensions_is_an_error(shape):
    with pytest.raises(TypeError, match=r"'\.3f'.*shape.*elements one at a time"):
        format(xp.ones(shape), ".3f")


def test_dtypes_that_do_not_compute_are_refused_as_by_float():
    half = xp.from_dlpack(np.asarray(1.5, dtype="float16"))
    for refused in (lambda: float(half), lambda: f"{half:.1f}"):
        with pytest.raises(TypeError, match="float16"):
            refused()
    assert f"{half}" == "1.5"


def test_where_values_are_out_of_reach_a_spec_raises():
    x = xp.asarray(2.5)
    with profiles.use(values="raise"):
        for refused in (lambda: float(x), lambda: f"{x:.3f}"):
            with pytest.raises(TypeError, match=r"needs the values of an array"):
                refused()
        assert f"{x}" == "[...]"


def test_a_spec_is_a_transfer_where_float_is_one():
    with profiles.use("gpu") as gpu:
        assert f"{xp.asarray(2.5):.2f}" == "2.50"
        assert [t[1:] for t in gpu.transferred] == [("gpu", "cpu", 8)]
    with profiles.use("gpu", transfers="raise"):
        x = xp.asarray(2.5)
        with pytest.raises(RuntimeError, match="forbids transfers"):
            f"{x:.2f}"
