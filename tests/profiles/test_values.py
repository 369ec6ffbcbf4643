"""Values that cannot be had: `values="raise"`, which profiles `dask` and `jit` have.

Whatever would show an element, or depend on one in Python, raises TypeError; whatever
gives arrays goes on.
"""

import copy
import io
import math
import operator
import pickle
import struct
import weakref
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import refarray as xp
from refarray import dlpack, profiles
from refarray._memory.native import import_object

PROFILES = ("dask", "jit")


@pytest.fixture(params=PROFILES)
def a(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Arrays, made before the profile is in force."""
    arrays = SimpleNamespace(
        profile=request.param,
        vector=xp.asarray([31.5, 41.25, 59.75]),
        float=xp.asarray(26.5),
        int=xp.asarray(3),
        bool=xp.asarray(True),
        complex=xp.asarray(53 + 5j),
        mask=xp.asarray([True, False, True]),
    )
    with profiles.use(request.param):
        yield arrays


READS: dict[str, Callable[[Any], object]] = {
    # ---- Python scalars --------------------------------------------------------------
    "bool": lambda a: bool(a.bool),
    "int": lambda a: int(a.int),
    "int of a float": lambda a: int(a.float),
    "float": lambda a: float(a.float),
    "complex": lambda a: complex(a.complex),
    "index": lambda a: operator.index(a.int),
    "if": lambda a: 1 if a.bool else 0,
    "and": lambda a: a.bool and a.int,
    "not": lambda a: not a.bool,
    "chained comparison": lambda a: 0 < a.int < 5,
    "in": lambda a: 41.25 in a.vector,
    "not in": lambda a: 1.0 not in a.vector,
    "any": lambda a: any(a.mask),
    "max": lambda a: max(a.vector),
    "sorted": lambda a: sorted(a.vector),
    "math.sqrt": lambda a: math.sqrt(a.float),
    "range": lambda a: range(a.int),
    "an index of a list": lambda a: [1, 2, 3, 4][a.int],
    "a slice of a list": lambda a: [1, 2, 3, 4][: a.int],
    "a bound of a slice": lambda a: a.vector[: a.int],
    "%f": lambda a: "%.1f" % a.float,  # noqa: UP031
    # ---- Other libraries -------------------------------------------------------------
    "numpy.asarray": lambda a: np.asarray(a.vector),
    "numpy.asarray of a number": lambda a: np.asarray(a.int),
    "numpy.asarray of numbers": lambda a: np.asarray([a.int, a.int]),
    "numpy.asarray of vectors": lambda a: np.asarray([a.vector, a.vector]),
    "numpy.asarray with a dtype": lambda a: np.asarray([a.int], dtype="int64"),
    "numpy.array": lambda a: np.array(a.vector, copy=True),
    "numpy.concatenate": lambda a: np.concatenate([a.vector, a.vector]),
    "numpy.mean": lambda a: np.mean(a.vector),
    "numpy.testing": lambda a: np.testing.assert_allclose(a.vector, 1.0),
    "__array__": lambda a: a.vector.__array__(),
    "memoryview": lambda a: memoryview(a.vector),
    "bytes": lambda a: bytes(a.vector),
    "bytearray": lambda a: bytearray(a.vector),
    "a file": lambda a: io.BytesIO().write(a.vector),
    "struct": lambda a: struct.unpack_from("d", a.vector),
    "numpy.frombuffer": lambda a: np.frombuffer(a.vector),
    "__dlpack__": lambda a: a.vector.__dlpack__(),
    "__dlpack__ of a copy": lambda a: a.vector.__dlpack__(
        dl_device=(1, 0), max_version=(1, 0), copy=True
    ),
    "numpy.from_dlpack": lambda a: np.from_dlpack(a.vector),
    "from_dlpack": lambda a: xp.from_dlpack(a.vector),
    "to_capsule": lambda a: dlpack.to_capsule(a.vector),
    "inspect": lambda a: dlpack.inspect(a.vector),
    "Tensor": lambda a: dlpack.Tensor.from_array(a.vector),
    "the exchange API": lambda a: import_object(
        xp.Array.__dlpack_c_exchange_api__, a.vector
    ),
    "pickle": lambda a: pickle.dumps(a.vector),
    "pickle, protocol 2": lambda a: pickle.dumps(a.vector, 2),
    # ---- Arguments that are numbers --------------------------------------------------
    "arange": lambda a: xp.arange(a.int),
    "asarray": lambda a: xp.asarray([a.int, a.int]),
    "broadcast_to": lambda a: xp.broadcast_to(a.float, (a.int,)),
    "diff": lambda a: xp.diff(a.vector, n=a.int),
    "expand_dims": lambda a: xp.expand_dims(a.vector, axis=a.int),
    "eye": lambda a: xp.eye(a.int),
    "fft": lambda a: xp.fft.rfft(a.vector, n=a.int),
    "fftfreq": lambda a: xp.fft.fftfreq(a.int),
    "full": lambda a: xp.full((2,), a.float),
    "full_like": lambda a: xp.full_like(a.vector, a.float),
    "linspace": lambda a: xp.linspace(a.float, 1.0, 5),
    "matrix_power": lambda a: xp.linalg.matrix_power(xp.ones((2, 2)), a.int),
    "reshape": lambda a: xp.reshape(a.vector, (a.int,)),
    "roll": lambda a: xp.roll(a.vector, a.int),
    "sum": lambda a: xp.sum(a.vector, axis=a.int),
    "tile": lambda a: xp.tile(a.vector, (a.int,)),
    "tril": lambda a: xp.tril(xp.ones((2, 2)), k=a.int),
    "zeros": lambda a: xp.zeros((2, a.int)),
}


@pytest.mark.parametrize("name", READS)
def test_values_cannot_be_had(name: str, a: Any) -> None:
    message = f"needs the values of an array, and under profile '{a.profile}'"
    with pytest.raises(TypeError, match=message):
        READS[name](a)


@pytest.mark.parametrize(
    "function", [np.sin, np.isnan, np.sum], ids=lambda f: f.__name__
)
def test_numpy_functions_are_refused(function: Any, a: Any) -> None:
    with pytest.raises(TypeError, match="does not support ufuncs"):
        function(a.vector)
    with pytest.raises(TypeError, match="takes arrays of refarray"):
        np.ones(3) + a.vector


def test_what_is_shown(a: Any) -> None:
    assert repr(a.vector) == "Array([...], shape=(3,), dtype=refarray.float64)"
    assert repr(a.int) == "Array([...], shape=(), dtype=refarray.int64)"
    assert repr(xp.zeros((2, 0))) == (
        "Array([...], shape=(2, 0), dtype=refarray.float64)"
    )
    assert str(a.vector) == f"{a.vector}" == "[...]"
    with pytest.raises(TypeError):
        f"{a.float:.2f}"


def test_an_unknown_size_is_not_shown() -> None:
    x = xp.ones((14159, 2))
    with profiles.use("dask"):
        y = x[x[:, 0] > 0, :]
        assert repr(y) == "Array([...], shape=(None, 2), dtype=refarray.float64)"
        assert str(y) == "[...]"
    with profiles.use("dask+gpu"):
        assert repr(xp.ones(2)) == (
            "Array([...], shape=(2,), dtype=refarray.float64, device=Device('gpu'))"
        )


def test_errors_show_no_values(a: Any) -> None:
    secret = xp.asarray([27182, 81828])
    operations: list[Callable[[], object]] = [
        lambda: xp.zeros(secret[0]),
        lambda: xp.full((2,), secret),
        lambda: xp.linalg.vector_norm(a.vector, ord=secret[0]),
        lambda: xp.std(a.vector, correction=secret[0]),
        lambda: xp.sum(secret, axis=secret[0]),
        lambda: xp.reshape(secret, secret[0]),
        lambda: xp.permute_dims(secret, secret),
        lambda: xp.astype(secret, secret[0]),
        lambda: xp.asarray([secret, secret]),
        lambda: float(secret),
        lambda: secret * [1],
    ]
    for operation in operations:
        with pytest.raises((TypeError, ValueError)) as caught:
            operation()
        assert "27182" not in str(caught.value)
    for operation in (
        lambda: a.vector[secret],
        lambda: xp.take(a.vector, secret),
        lambda: xp.take_along_axis(a.vector, secret),
    ):
        with pytest.raises(IndexError, match=r"shape \(3,\) has no elements") as out:
            operation()
        assert "27182" not in str(out.value)


def test_what_gives_arrays_goes_on(a: Any) -> None:
    x, places = a.vector, xp.asarray([2, 0])
    kept = [
        [*x],
        list(xp.unstack(x)),
        [sum(x)],
        [copy.copy(x), copy.deepcopy(x), xp.asarray(x, copy=True)],
        [x.to_device(x.device), xp.astype(x, xp.float32)],
        [x[0], x[xp.asarray(1)], x[places], xp.take(x, places)],
        [xp.clip(x, a.float, a.float), xp.where(a.mask, x, 0.0), x[1:] + a.float],
        [xp.searchsorted(x, a.float), xp.linalg.svdvals(xp.ones((2, 2)))],
    ]
    assert all(isinstance(y, xp.Array) for group in kept for y in group)
    assert (x.shape, x.size, x.ndim) == ((3,), 3, 1)
    assert weakref.ref(x)() is x
    assert xp.finfo(x.dtype).bits == 64


def test_values_are_kept_from_the_profile_alone(a: Any) -> None:
    y = a.vector * 2
    with profiles.use("strict"):
        assert np.asarray(y).tolist() == [63, 82.5, 119.5]
        assert float(y[0]) == 63
