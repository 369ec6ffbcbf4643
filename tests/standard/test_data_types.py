"""Data type functions and inspection: what they take and give."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import refarray as xp

ALL = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 "
    "complex128"
).split()


def values(x: Any) -> Any:
    return np.from_dlpack(x).tolist()


@pytest.mark.parametrize("old", ALL)
@pytest.mark.parametrize("new", ALL)
def test_astype_of_zero_and_one(old: str, new: str) -> None:
    x = xp.asarray([0, 1], dtype=getattr(xp, old))
    if "complex" in old and "complex" not in new and new != "bool":
        with pytest.raises(TypeError, match="real"):
            xp.astype(x, getattr(xp, new))
        return
    came = xp.astype(x, getattr(xp, new))
    assert came.dtype is getattr(xp, new)
    assert values(came) == [0, 1]


def test_true_is_whatever_is_not_zero() -> None:
    x = xp.asarray([0.0, -0.0, 0.5, math.nan, -math.inf])
    assert values(xp.astype(x, xp.bool)) == [False, False, True, True, True]
    z = xp.asarray([0j, 1j, complex(0, math.nan)])
    assert values(xp.astype(z, xp.bool)) == [False, True, True]


def test_astype_copies_unless_told_otherwise() -> None:
    x = xp.asarray([1.0, 2.0])
    assert xp.astype(x, xp.float64, copy=False) is x
    assert xp.astype(x, xp.float64, copy=False, device=x.device) is x
    y = xp.astype(x, xp.float64)
    y[0] = 5.0
    assert values(x) == [1.0, 2.0]
    assert xp.astype(x, xp.float32, copy=False) is not x


@pytest.mark.parametrize("old", ["float32", "float64"])
@pytest.mark.parametrize("new", [name for name in ALL if "int" in name])
def test_integers_next_to_the_limits(old: str, new: str) -> None:
    limits = xp.iinfo(getattr(xp, new))
    # The last number of each dtype that is within, its fraction cut off.
    within = np.nextafter(np.asarray(limits.max + 1, old), np.asarray(0, old))
    least = np.asarray(limits.min, old)
    came = xp.astype(xp.asarray(np.asarray([within, least])), getattr(xp, new))
    assert values(came) == [math.trunc(float(within)), limits.min]


def test_held_dtypes_convert_to_float32() -> None:
    half = xp.asarray(np.asarray([1.5, -2.0, 65504.0], np.float16))
    assert values(xp.astype(half, xp.float32)) == [1.5, -2.0, 65504.0]
    assert values(xp.astype(half, half.dtype)) == [1.5, -2.0, 65504.0]
    assert xp.astype(half, half.dtype, copy=False) is half
    with pytest.raises(TypeError, match="float16"):
        xp.astype(half, xp.float64)
    with pytest.raises(TypeError, match="float16"):
        xp.astype(xp.ones(2), half.dtype)
    for kind in ("real floating", "numeric"):
        assert xp.isdtype(half.dtype, kind) is False
    assert xp.isdtype(half.dtype, half.dtype) is True


def test_can_cast_takes_arrays_and_dtypes() -> None:
    assert xp.can_cast(xp.ones(1, dtype=xp.int8), xp.int16) is True
    assert xp.can_cast(xp.uint64, xp.int64) is False
    assert xp.can_cast(xp.int64, xp.float64) is False
    with pytest.raises(TypeError):
        xp.can_cast("int8", xp.int16)  # type: ignore[arg-type]


def test_limits_of_dtypes_and_of_arrays() -> None:
    assert xp.finfo(xp.complex64).dtype is xp.float32
    assert xp.finfo(xp.ones(1)).eps == 2.0**-52
    assert xp.iinfo(xp.ones(1, dtype=xp.uint8)).max == 255
    assert type(xp.finfo(xp.float32).max) is float
    for call in (lambda: xp.finfo(xp.int8), lambda: xp.iinfo(xp.float32)):
        with pytest.raises(TypeError, match="info takes"):
            call()


def test_isdtype() -> None:
    assert xp.isdtype(xp.int8, ("bool", "signed integer")) is True
    assert xp.isdtype(xp.uint8, ("bool", xp.int8)) is False
    assert xp.isdtype(xp.float32, ()) is False
    with pytest.raises(ValueError, match="complex floating"):
        xp.isdtype(xp.float32, "float")
    with pytest.raises(ValueError, match="kind"):
        xp.isdtype(xp.bool, ("bool", "integer"))
    with pytest.raises(TypeError):
        xp.isdtype(xp.float32, float)  # type: ignore[arg-type]


def test_result_type() -> None:
    x = xp.ones(1, dtype=xp.float32)
    assert xp.result_type(x) is xp.float32
    assert xp.result_type(x, xp.complex64, 1.0) is xp.complex64
    assert xp.result_type(1j, x) is xp.complex64
    assert xp.result_type(xp.int8, xp.uint8, 1) is xp.int16
    with pytest.raises(TypeError, match="NumPy scalar"):
        xp.result_type(x, np.float64(1))


def test_inspection() -> None:
    info = xp.__array_namespace_info__()
    assert info.capabilities()["max dimensions"] == 64
    assert info.default_device() in info.devices()
    assert list(info.dtypes()) == ALL
    assert info.dtypes(kind="real floating") == {
        "float32": xp.float32,
        "float64": xp.float64,
    }
    assert list(info.dtypes(kind=("bool", "complex floating"))) == [
        "bool",
        "complex64",
        "complex128",
    ]
    defaults = info.default_dtypes(device=info.default_device())
    assert defaults["integral"] is xp.asarray(1).dtype
    assert defaults["real floating"] is xp.asarray(1.0).dtype
    assert defaults["complex floating"] is xp.asarray(1j).dtype
    with pytest.raises(ValueError, match="kind"):
        info.dtypes(kind="float")
    with pytest.raises(TypeError, match="Device"):
        info.dtypes(device="cpu")  # type: ignore[arg-type]
