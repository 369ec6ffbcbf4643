"""Memory that is not aligned for its elements, by each way in and each `copy`.

`copy=None` reuses memory if possible, `copy=False` raises if a copy is needed, and
`copy=True` always copies. A complex number is a struct of two floats in C, so its
components are what must be aligned.

Source: array API 2025.12, asarray and from_dlpack, `copy`; DLPack 1.3, DLTensor.
"""

from __future__ import annotations

import numpy as np
import pytest

import refarray as xp
from refarray._base import dtypes
from refarray.testing.forge import Tensor as Forged
from refarray.testing.forge import allocate, ffi
from refarray.testing.producers import Producer

#: Memory at `MISALIGNED` past an address that 256 divides has exactly this alignment.
MISALIGNED = (1, 2, 4, 8, 16)
NAMES = [str(dtype) for dtype in dtypes.STANDARD]
COPIES = [None, False, True]


def numbers(name: str) -> np.ndarray:
    """Return six values that are all different where the dtype has as many."""
    values = np.arange(1, 7)
    if name == "bool":
        return values % 3 == 0
    if name.startswith("complex"):
        return (values + 1j * values[::-1]).astype(name)
    return values.astype(name)


def component(name: str) -> int:
    """Return the bytes of what has to be aligned in an element."""
    itemsize = np.dtype(name).itemsize
    return itemsize // 2 if name.startswith("complex") else itemsize


def placed(name: str, alignment: int) -> np.ndarray:
    """Return the six values in memory of an alignment."""
    values = numbers(name)
    address = allocate(values.nbytes, misaligned=alignment)
    raw = np.frombuffer(ffi.buffer(ffi.cast("char *", address), values.nbytes), name)
    assert raw.ctypes.data == address
    raw[...] = values
    return raw


def forged(name: str, lent: np.ndarray) -> Producer:
    """Return a producer of this memory that has no buffer, and never copies."""
    dtype = dtypes.BY_NAME[name]
    tensor = Forged.of([0.0] * 6, (6,)).but(
        data=lent.ctypes.data, dtype=(dtype.code, dtype.bits, 1)
    )
    return Producer(tensor, ignore_copy=True)


def address(x: xp.Array) -> int:
    """Return where the first element lies, as refarray describes it to others."""
    return xp.dlpack.Tensor.from_array(x).pointer


def check(x: xp.Array, name: str, lent: np.ndarray, shared: bool) -> None:
    """Check dtype and values, and that `x` is a view or an independent array."""
    values = numbers(name)
    assert str(x.dtype) == name
    assert (address(x) == lent.ctypes.data) is shared
    np.testing.assert_array_equal(np.asarray(x), values)
    lent[...] = values[::-1]
    np.testing.assert_array_equal(np.asarray(x), values[::-1] if shared else values)


@pytest.mark.parametrize("copy", COPIES)
@pytest.mark.parametrize("alignment", MISALIGNED)
@pytest.mark.parametrize("name", [*NAMES, "float16"])
def test_a_buffer_is_shared_if_its_components_are_aligned(name, alignment, copy):
    lent = placed(name, alignment)
    aligned = alignment % component(name) == 0
    if copy is False and not aligned:
        with pytest.raises(ValueError, match=f"not aligned to {component(name)} bytes"):
            xp.asarray(lent, copy=False)
    else:
        shared = aligned and copy is not True
        check(xp.asarray(lent, copy=copy), name, lent, shared)


@pytest.mark.parametrize("copy", COPIES)
@pytest.mark.parametrize("alignment", MISALIGNED)
@pytest.mark.parametrize("name", [*NAMES, "float16"])
@pytest.mark.parametrize("take", [xp.from_dlpack, xp.asarray])
def test_a_tensor_of_dlpack_is_shared_however_it_is_aligned(
    take, name, alignment, copy
):
    lent = placed(name, alignment)
    x = take(forged(name, lent), copy=copy)
    check(x, name, lent, shared=copy is not True)


@pytest.mark.parametrize("alignment", MISALIGNED)
@pytest.mark.parametrize("name", NAMES)
def test_shared_memory_is_computed_with_however_it_is_aligned(name, alignment):
    lent = placed(name, alignment)
    x = xp.from_dlpack(forged(name, lent))
    values = numbers(name)
    np.testing.assert_array_equal(np.asarray(x == x[::-1]), values == values[::-1])
    np.testing.assert_array_equal(np.asarray(xp.concat([x, x])), [*values, *values])
    x[1:3] = xp.asarray(values[4:])
    values[1:3] = values[4:]
    np.testing.assert_array_equal(lent, values)
    if name != "bool":
        np.testing.assert_array_equal(np.asarray(x + x), values + values)
