"""The profile numpy_interop: dtypes and arrays mix with NumPy's there, nowhere else."""

import copy
import operator
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import refarray as xp
from refarray import profiles
from refarray._base.dtypes import BY_NAME, HELD, STANDARD, bfloat16, float16

KNOWN = (*STANDARD, float16)


@pytest.fixture
def interop():
    with profiles.use("numpy_interop"):
        yield


# Dtypes ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", KNOWN, ids=str)
def test_a_dtype_hashes_as_numpys_under_every_profile(dtype):
    before = hash(dtype)
    assert before == hash(np.dtype(str(dtype)))
    with profiles.use("numpy_interop"):
        assert hash(dtype) == before
    assert {dtype: 1}[dtype] == 1


@pytest.mark.parametrize("dtype", KNOWN, ids=str)
def test_attributes_are_numpys(interop, dtype):
    known = np.dtype(str(dtype))
    for name in ("kind", "name", "itemsize", "char", "str", "alignment", "names"):
        assert getattr(dtype, name) == getattr(known, name)
    with pytest.raises(AttributeError, match="no attribute 'colour'"):
        _ = dtype.colour


@pytest.mark.parametrize("dtype", (*STANDARD, *HELD), ids=str)
@pytest.mark.parametrize("name", ["kind", "name", "itemsize", "__numpy_dtype__"])
def test_elsewhere_a_dtype_has_no_attribute_of_numpys(dtype, name):
    with pytest.raises(AttributeError, match=rf"refarray\.{dtype} .*{name!r}.*str\(\)"):
        getattr(dtype, name)


@pytest.mark.parametrize("dtype", KNOWN, ids=str)
def test_equality_is_numpys_from_both_sides(interop, dtype):
    known = np.dtype(str(dtype))
    for other in (known, known.type, known.name, known.char, known.str):
        assert dtype == other
        assert not dtype != other
    assert known == dtype
    assert not known != dtype
    assert {known: 1}[dtype] == 1
    assert {dtype: 1}[known] == 1
    for other in KNOWN:
        if other is not dtype:
            assert dtype != np.dtype(str(other))
            assert np.dtype(str(other)) != dtype


def test_equality_with_what_is_no_dtype(interop):
    assert xp.float64 != None  # noqa: E711  (NumPy finds these two equal)
    assert xp.int64 == np.dtype("longlong") and xp.int64 == np.longlong
    assert xp.int64 != np.dtype(">i8")
    assert (xp.int64 == [1, 2]) is False
    assert (xp.int64 == np.ones(3)) is False
    assert all(xp.float64 == kind for kind in (float, np.float64, np.double))
    assert xp.float64 != np.floating
    assert xp.float64 != "float" + "32" and xp.float64 != "no such name"
    assert xp.float64 != np.dtype([("a", "f8")])
    assert bfloat16 != np.dtype("uint16")


def test_elsewhere_a_dtype_equals_itself_alone():
    for dtype in KNOWN:
        known = np.dtype(str(dtype))
        assert dtype == BY_NAME[str(dtype)]
        assert dtype != known and known != dtype
        assert dtype != known.type and dtype != str(dtype)


def test_numpy_takes_a_dtype_for_its_own(interop):
    for dtype in KNOWN:
        assert np.dtype(dtype) is np.dtype(str(dtype))
        assert np.zeros(2, dtype=dtype).dtype == np.dtype(str(dtype))
    assert np.result_type(xp.int8, xp.float32) == np.dtype("float32")
    assert np.issubdtype(xp.int8, np.integer)
    with pytest.raises(TypeError):
        np.dtype(bfloat16)


def test_elsewhere_numpy_does_not():
    with pytest.raises(TypeError):
        np.dtype(xp.int8)


def test_dtypes_are_constants_all_the_same(interop):
    assert pickle.loads(pickle.dumps(xp.int8)) is xp.int8
    assert copy.deepcopy(xp.int8) is xp.int8
    with pytest.raises(AttributeError, match="constant"):
        xp.int8.kind = "u"


MAKERS = {
    "asarray": lambda dtype: xp.asarray([1, 2], dtype=dtype),
    "astype": lambda dtype: xp.astype(xp.asarray([1, 2]), dtype),
    "zeros": lambda dtype: xp.zeros(2, dtype=dtype),
    "ones_like": lambda dtype: xp.ones_like(xp.zeros(2), dtype=dtype),
    "full": lambda dtype: xp.full(2, 1, dtype=dtype),
    "arange": lambda dtype: xp.arange(2, dtype=dtype),
    "linspace": lambda dtype: xp.linspace(0, 1, 2, dtype=dtype),
    "eye": lambda dtype: xp.eye(2, dtype=dtype),
    "empty": lambda dtype: xp.empty(2, dtype=dtype),
    "sum": lambda dtype: xp.sum(xp.asarray([1, 2]), dtype=dtype),
    "prod": lambda dtype: xp.prod(xp.asarray([1, 2]), dtype=dtype),
    "cumulative_sum": lambda d: xp.cumulative_sum(xp.asarray([1, 2]), dtype=d),
    "fftfreq": lambda dtype: xp.fft.fftfreq(2, dtype=dtype),
    "trace": lambda dtype: xp.linalg.trace(xp.asarray([[1, 2], [3, 4]]), dtype=dtype),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_dtype_argument_may_be_numpys(interop, make):
    for given in (np.dtype("float32"), np.float32, "float32"):
        assert make(given).dtype is xp.float32
    for given in (np.dtype(">f4"), np.dtype("S3"), np.dtype("M8[s]"), np.floating):
        with pytest.raises(TypeError, match="a dtype is an object of refarray"):
            make(given)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_elsewhere_it_may_not(make):
    for given in (np.dtype("float32"), np.float32, "float32"):
        with pytest.raises(TypeError, match=r"write refarray\.float32"):
            make(given)


def test_functions_of_dtypes_take_numpys(interop):
    f4, i8 = np.dtype("float32"), np.dtype("int64")
    assert xp.isdtype(f4, "real floating") is True
    assert xp.isdtype(f4, np.float32) is True
    assert xp.isdtype(xp.float32, (i8, f4)) is True
    assert xp.isdtype(xp.float32, (i8, "bool")) is False
    assert xp.can_cast(np.int8, i8) is True
    assert xp.can_cast(xp.zeros(2), f4) is False
    assert xp.result_type(f4, xp.float64) is xp.float64
    assert xp.result_type(xp.zeros(2, dtype=f4), np.float32, 1.0) is xp.float32
    assert xp.finfo(f4).bits == 32 and xp.iinfo(np.int8).max == 127
    with pytest.raises(TypeError, match="no common dtype"):
        xp.result_type(f4, i8)
    with pytest.raises(ValueError, match="no kind of dtype is named 'float'"):
        xp.isdtype(f4, "float")


def test_elsewhere_functions_of_dtypes_refuse_numpys():
    f4 = np.dtype("float32")
    for call in (
        lambda: xp.isdtype(f4, "bool"),
        lambda: xp.isdtype(xp.float32, f4),
        lambda: xp.can_cast(f4, xp.float64),
        lambda: xp.can_cast(xp.float32, f4),
        lambda: xp.result_type(f4, xp.float64),
        lambda: xp.finfo(f4),
    ):
        with pytest.raises(TypeError):
            call()


# Arrays ------------------------------------------------------------------------------


def test_len_and_nbytes(interop):
    x = xp.zeros((3, 4), dtype=xp.float32)
    assert len(x) == 3 and len(x[0, :]) == 4
    assert x.nbytes == 48 and x[:, ::2].nbytes == 24
    assert bool(xp.zeros(())) is False
    with pytest.raises(TypeError, match="unsized"):
        len(xp.zeros(()))


def test_elsewhere_there_is_neither():
    x = xp.zeros((3, 4))
    with pytest.raises(TypeError, match=r"'Array' has no len\(\)"):
        len(x)
    with pytest.raises(AttributeError, match="nbytes"):
        _ = x.nbytes
    assert not hasattr(x, "nbytes")
    assert [int(i) for i in xp.asarray([1, 2])] == [1, 2]
    assert bool(xp.asarray(3)) is True


OPERATIONS = {
    "x + n": lambda x, n: x + n,
    "n + x": lambda x, n: n + x,
    "x < n": lambda x, n: x < n,
    "x == n": lambda x, n: x == n,
    "n == x": lambda x, n: n == x,
    "x * scalar": lambda x, n: x * np.float32(2),
    "scalar * x": lambda x, n: np.float32(2) * x,
    "x @ n": lambda x, n: x @ n,
    "np.sin(x)": lambda x, n: np.sin(x),
    "np.add(x, n)": lambda x, n: np.add(x, n),
    "np.add(x, x)": lambda x, n: np.add(x, x),
}


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_numpys_operators_take_arrays_and_give_numpys(interop, operation):
    n = np.asarray([1.0, 2.5, -3.0])
    result = operation(xp.asarray(n), n)
    assert isinstance(result, (np.ndarray, np.generic))
    np.testing.assert_array_equal(result, operation(n, n), strict=True)


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_elsewhere_they_refuse(operation):
    n = np.asarray([1.0, 2.5, -3.0])
    with pytest.raises(TypeError):
        operation(xp.asarray(n), n)


def test_lists_are_refused_still(interop):
    x, values = xp.ones(2), [1.0, 2.0]
    for operation in (operator.add, operator.eq):
        with pytest.raises(TypeError, match="list"):
            operation(x, values)


def test_a_result_may_go_into_an_array_of_numpys(interop):
    n = np.zeros(3)
    n += xp.asarray([1.0, 2.0, 3.0])
    assert n.tolist() == [1, 2, 3]


def test_array_ufunc_follows_the_profile():
    x = xp.ones(2)
    assert xp.Array.__array_ufunc__ is None and x.__array_ufunc__ is None
    with profiles.use("numpy_interop"):
        assert not hasattr(xp.Array, "__array_ufunc__")
        assert not hasattr(x, "__array_ufunc__")
    assert xp.Array.__array_ufunc__ is None


def test_indices_and_values_of_numpys(interop):
    x = xp.asarray([10, 20, 30, 40])
    assert np.asarray(x[np.asarray([3, 0])]).tolist() == [40, 10]
    assert np.asarray(x[np.asarray([True, False, True, False])]).tolist() == [10, 30]
    x[np.asarray([1, 2])] = np.asarray([5, 6])
    x[0] = np.asarray(7)
    assert np.asarray(x).tolist() == [7, 5, 6, 40]
    with pytest.raises(TypeError, match="cannot be assigned"):
        x[:2] = np.asarray([0.5, 1.5])
    with pytest.raises(IndexError, match="integer or boolean"):
        x[np.asarray([0.0])]
    with pytest.raises(TypeError, match="datetime64"):
        x[:1] = np.zeros(1, "M8[s]")


def test_elsewhere_indices_and_values_of_numpys_are_refused():
    x = xp.asarray([10, 20, 30, 40])
    with pytest.raises(TypeError, match=r"refarray\.asarray"):
        x[np.asarray([3, 0])]
    with pytest.raises(TypeError, match=r"refarray\.asarray"):
        x[:2] = np.asarray([1, 2])


def test_a_device_may_be_given_by_name(interop):
    cpu = xp.Device("cpu")
    assert xp.zeros(2, device="cpu").device is cpu
    info = xp.__array_namespace_info__()
    assert info.default_dtypes(device="cpu")["integral"] == np.int64
    with pytest.raises(TypeError, match=r"Device\('cpu'\)"):
        xp.zeros(2, device="gpu")
    with profiles.use("strict"), pytest.raises(TypeError, match=r"Device\('cpu'\)"):
        xp.zeros(2, device="cpu")


def test_the_environment_sets_it_for_the_whole_process():
    program = (
        "import threading, numpy as np, refarray as xp\n"
        "kinds = []\n"
        "t = threading.Thread(target=lambda: kinds.append(xp.float64.kind))\n"
        "t.start(); t.join()\n"
        "assert kinds == ['f'] and xp.zeros(2, dtype=np.dtype('i2')).nbytes == 4\n"
    )
    subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        env={**os.environ, "REFARRAY_PROFILE": "numpy_interop"},
        cwd=Path(__file__).parents[2],
    )
