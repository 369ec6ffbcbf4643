"""Promotion against the standard's tables, written out as the standard prints them."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import pytest

from refarray._base.dtypes import BY_NAME, HELD, KINDS, STANDARD, DType
from refarray._base.limits import IINFO, check_int_range
from refarray._base.promotion import (
    can_cast,
    held_error,
    promote,
    scalar_dtype,
)

# Array API 2025.12, type promotion rules. First row and first column: the operands.
SIGNED = """
    -   i1  i2  i4  i8
    i1  i1  i2  i4  i8
    i2  i2  i2  i4  i8
    i4  i4  i4  i4  i8
    i8  i8  i8  i8  i8
"""
UNSIGNED = """
    -   u1  u2  u4  u8
    u1  u1  u2  u4  u8
    u2  u2  u2  u4  u8
    u4  u4  u4  u4  u8
    u8  u8  u8  u8  u8
"""
MIXED = """
    -   u1  u2  u4
    i1  i2  i4  i8
    i2  i2  i4  i8
    i4  i4  i4  i8
    i8  i8  i8  i8
"""
FLOATING = """
    -   f4  f8  c8  c16
    f4  f4  f8  c8  c16
    f8  f8  f8  c16 c16
    c8  c8  c16 c8  c16
    c16 c16 c16 c16 c16
"""
BOOL = """
    -   b1
    b1  b1
"""


def _dtype(code: str) -> DType:
    kinds = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}
    name = kinds[code[0]]
    return BY_NAME[name if name == "bool" else f"{name}{8 * int(code[1:])}"]


def _expected() -> dict[tuple[DType, DType], DType]:
    table = {}
    for text in (SIGNED, UNSIGNED, MIXED, FLOATING, BOOL):
        header, *rows = [line.split() for line in text.strip().splitlines()]
        for left, *results in rows:
            for right, result in zip(header[1:], results, strict=True):
                table[_dtype(left), _dtype(right)] = _dtype(result)
                table[_dtype(right), _dtype(left)] = _dtype(result)
    return table


EXPECTED = _expected()


def test_the_tables_above_are_complete() -> None:
    # bool 1; signed 16; unsigned 16; mixed 12, in both orders; floating 16.
    assert len(EXPECTED) == 1 + 16 + 16 + 2 * 12 + 16


def test_promote_is_the_standards_table() -> None:
    for d1 in STANDARD:
        for d2 in STANDARD:
            if (d1, d2) in EXPECTED:
                assert promote(d1, d2) is EXPECTED[d1, d2], (d1, d2)
            else:
                with pytest.raises(TypeError, match=f"^{d1} and {d2} have no common"):
                    promote(d1, d2)


def test_promote_is_numpys_where_the_standard_defines_it() -> None:
    for (d1, d2), result in EXPECTED.items():
        assert np.promote_types(str(d1), str(d2)).name == str(result)


def test_promote_is_associative() -> None:
    def fold(d1: DType, d2: DType, d3: DType) -> DType | None:
        try:
            return promote(promote(d1, d2), d3)
        except TypeError:
            return None

    for d1 in STANDARD:
        for d2 in STANDARD:
            for d3 in STANDARD:
                assert fold(d1, d2, d3) is fold(d2, d3, d1), (d1, d2, d3)


@pytest.mark.parametrize(
    ("d1", "d2", "why"),
    [
        ("uint64", "int64", "no integer dtype holds the values of both"),
        ("int8", "uint64", "no integer dtype holds the values of both"),
        ("bool", "int8", "do not mix"),
        ("int32", "float32", "do not mix"),
        ("complex64", "bool", "do not mix"),
    ],
)
def test_promote_says_why_not(d1: str, d2: str, why: str) -> None:
    with pytest.raises(TypeError, match=rf"{why}.*type promotion rules.*astype"):
        promote(BY_NAME[d1], BY_NAME[d2])


def test_held_dtypes_are_refused_by_name() -> None:
    for held in HELD:
        message = (
            f"^{held} is data that refarray holds; "
            r"convert it with astype\(x, float32\) first$"
        )
        with pytest.raises(TypeError, match=message):
            promote(held, held)
        for dtype in STANDARD:
            with pytest.raises(TypeError, match=message):
                promote(held, dtype)
            with pytest.raises(TypeError, match=message):
                promote(dtype, held)
        with pytest.raises(TypeError, match=message):
            scalar_dtype(int, held)
        with pytest.raises(TypeError, match=message):
            raise held_error(held)


def test_can_cast_is_the_standards_table() -> None:
    for d1 in STANDARD:
        for d2 in STANDARD:
            assert can_cast(d1, d2) is (EXPECTED.get((d1, d2)) is d2), (d1, d2)


def test_held_dtypes_cast_only_to_themselves() -> None:
    for held in HELD:
        for dtype in (*STANDARD, *HELD):
            assert can_cast(held, dtype) is (held is dtype)
            assert can_cast(dtype, held) is (held is dtype)


# Array API 2025.12, mixing arrays with Python scalars.
SCALARS: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "signed integer": (int,),
    "unsigned integer": (int,),
    "real floating": (int, float, complex),
    "complex floating": (int, float, complex),
}
CHANGED: dict[tuple[type, str], str] = {
    (complex, "float32"): "complex64",
    (complex, "float64"): "complex128",
}


class _Three(IntEnum):
    THREE = 3


def test_scalar_dtype_is_the_standards_list() -> None:
    for dtype in STANDARD:
        for kind in (bool, int, float, complex, str, _Three, np.float64, type(None)):
            if kind in SCALARS[dtype.family]:
                name = CHANGED.get((kind, str(dtype)), str(dtype))
                assert scalar_dtype(kind, dtype) is BY_NAME[name], (kind, dtype)
            else:
                with pytest.raises(TypeError, match=f"{dtype} .*{kind.__name__}"):
                    scalar_dtype(kind, dtype)


def test_scalar_dtype_says_what_is_allowed() -> None:
    with pytest.raises(TypeError, match=r"allowed: Python bool \(.*Python scalars"):
        scalar_dtype(int, BY_NAME["bool"])
    with pytest.raises(TypeError, match=r"allowed: Python int \("):
        scalar_dtype(float, BY_NAME["int8"])
    with pytest.raises(TypeError, match=r"allowed: Python int or float or complex \("):
        scalar_dtype(bool, BY_NAME["float32"])


def test_check_int_range() -> None:
    for dtype in KINDS["integral"]:
        low, high = int(np.iinfo(str(dtype)).min), int(np.iinfo(str(dtype)).max)
        for value in (low, 0, high):
            check_int_range(value, dtype)
        for value in (low - 1, high + 1, 10**30, -(10**30)):
            with pytest.raises(OverflowError, match=rf"^{value} .*{low} to {high}$"):
                check_int_range(value, dtype)


def test_check_int_range_knows_only_integers() -> None:
    for dtype in STANDARD:
        if dtype not in IINFO:
            check_int_range(10**30, dtype)
