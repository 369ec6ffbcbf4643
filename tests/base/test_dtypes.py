"""Dtypes against the standard's list, DLPack's codes, and NumPy's limits."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from refarray._base import dtypes
from refarray._base.dtypes import HELD, KINDS, STANDARD, DType
from refarray._base.limits import FINFO, IINFO

ALL = (*STANDARD, *HELD)

# Array API 2025.12, data types; DLPack 1.3, DLDataTypeCode.
NAME_CODE_BITS = [
    ("bool", 6, 8),
    ("int8", 0, 8),
    ("int16", 0, 16),
    ("int32", 0, 32),
    ("int64", 0, 64),
    ("uint8", 1, 8),
    ("uint16", 1, 16),
    ("uint32", 1, 32),
    ("uint64", 1, 64),
    ("float32", 2, 32),
    ("float64", 2, 64),
    ("complex64", 5, 64),
    ("complex128", 5, 128),
]
HELD_NAME_CODE_BITS = [("float16", 2, 16), ("bfloat16", 4, 16)]

# Array API 2025.12, isdtype.
MEMBERS = {
    "bool": "bool",
    "signed integer": "int8 int16 int32 int64",
    "unsigned integer": "uint8 uint16 uint32 uint64",
    "integral": "int8 int16 int32 int64 uint8 uint16 uint32 uint64",
    "real floating": "float32 float64",
    "complex floating": "complex64 complex128",
    "numeric": (
        "int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
        "float32 float64 complex64 complex128"
    ),
}


def test_names_codes_and_bits() -> None:
    assert [(str(d), d.code, d.bits) for d in STANDARD] == NAME_CODE_BITS
    assert [(str(d), d.code, d.bits) for d in HELD] == HELD_NAME_CODE_BITS


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_each_is_a_module_constant(dtype: DType) -> None:
    assert getattr(dtypes, str(dtype)) is dtype
    assert dtypes.BY_NAME[str(dtype)] is dtype


def test_by_name_has_nothing_else() -> None:
    assert set(dtypes.BY_NAME.values()) == set(ALL)


def test_repr_and_str() -> None:
    assert repr(dtypes.float64) == "refarray.float64"
    assert str(dtypes.bool) == "bool"
    assert f"{dtypes.bfloat16}" == "bfloat16"


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_copies_are_the_same_object(dtype: DType) -> None:
    assert copy.copy(dtype) is dtype
    assert copy.deepcopy(dtype) is dtype
    assert copy.deepcopy([dtype])[0] is dtype
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(dtype, protocol)) is dtype


class _RaisesOnEqual:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("compared")

    __hash__ = object.__hash__


@pytest.mark.parametrize(
    "other",
    [
        None,
        "float64",
        float,
        64,
        np.dtype("float64"),
        np.float64,
        np.float64(1),
        np.arange(3),
        (dtypes.float64,),
        _RaisesOnEqual(),
    ],
    ids=lambda other: type(other).__name__,
)
def test_equality_with_anything_is_a_bool(other: object) -> None:
    assert (dtypes.float64 == other) is False
    assert (dtypes.float64 != other) is True


def test_equality_and_hash() -> None:
    for d1 in ALL:
        for d2 in ALL:
            assert (d1 == d2) is (d1 is d2)
    assert len(set(ALL)) == len(ALL) == 15


def test_not_made_by_a_call() -> None:
    for args in [(), ("float64",), (dtypes.float64,)]:
        with pytest.raises(TypeError, match=r"refarray\.float64.*refarray\.complex128"):
            DType(*args)


def test_constants_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match=r"refarray\.int8.*'bits'"):
        dtypes.int8.bits = 2
    with pytest.raises(AttributeError):
        dtypes.int8.comment = "small"
    assert dtypes.int8.bits == 8


def test_kinds() -> None:
    assert {k: {str(d) for d in v} for k, v in KINDS.items()} == {
        kind: set(names.split()) for kind, names in MEMBERS.items()
    }
    for dtype in STANDARD:
        assert dtype in KINDS[dtype.family]


def test_held_dtypes_are_of_no_kind() -> None:
    for dtype in HELD:
        assert dtype.family == "held"
        assert not any(dtype in members for members in KINDS.values())


def test_defaults_match_each_other() -> None:
    assert dtypes.DEFAULT_REAL is dtypes.float64
    assert dtypes.DEFAULT_COMPLEX is dtypes.complex128
    assert dtypes.DEFAULT_INT is dtypes.int64
    assert dtypes.DEFAULT_INDEX is dtypes.int64


def test_finfo_is_numpys_in_python_numbers() -> None:
    assert set(FINFO) == KINDS["real floating"] | KINDS["complex floating"]
    for dtype, info in FINFO.items():
        expected = np.finfo(str(dtype))
        assert str(info.dtype) == expected.dtype.name
        assert info.bits == expected.bits
        for name in ("eps", "max", "min", "smallest_normal"):
            value = getattr(info, name)
            assert type(value) is float
            assert value == float(getattr(expected, name))


def test_iinfo_is_numpys_in_python_numbers() -> None:
    assert set(IINFO) == KINDS["integral"]
    for dtype, info in IINFO.items():
        expected = np.iinfo(str(dtype))
        assert info.dtype is dtype
        for name in ("bits", "max", "min"):
            value = getattr(info, name)
            assert type(value) is int
            assert value == int(getattr(expected, name))


def test_dtype_arguments() -> None:
    assert dtypes.as_dtype(dtypes.int8) is dtypes.int8
    assert dtypes.as_dtype(None, dtypes.int64) is dtypes.int64
    assert dtypes.as_dtype(dtypes.float16, held=True) is dtypes.float16
    with pytest.raises(TypeError, match="float16"):
        dtypes.as_dtype(dtypes.float16)


@pytest.mark.parametrize("obj", ["float64", float, np.float64, np.dtype("float64")])
def test_what_is_no_dtype_and_which_was_meant(obj: object) -> None:
    with pytest.raises(TypeError, match=r"write refarray\.float64"):
        dtypes.as_dtype(obj)


@pytest.mark.parametrize("obj", [None, 3, "object", [1]])
def test_what_is_no_dtype(obj: object) -> None:
    with pytest.raises(TypeError, match=r"such as refarray\.float64"):
        dtypes.as_dtype(obj)
