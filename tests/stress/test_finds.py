"""What the fuzzer found, each as a test of its own."""

from __future__ import annotations

import pytest

import refarray
from refarray import dlpack
from refarray.testing.forge import DTYPES, Raw, Tensor
from refarray.testing.producers import Producer

INT8 = DTYPES["int8"][0]


@pytest.mark.parametrize("version", [(1, 3), None], ids=["versioned", "legacy"])
def test_elements_at_address_0_are_refused(version):
    # The lowest byte was at NULL, which meant a buffer without any: its 64 bytes of
    # nothing were shown as two.
    x = Producer(Tensor(1, (2,), (-1,), INT8), legacy_only=version is None)
    with pytest.raises(BufferError, match="address space"):
        refarray.from_dlpack(x)
    assert x.deleter_calls == [1]


@pytest.mark.parametrize(
    "pointer, strides", [(1, (-1,)), (2**64 - 2, (1,)), (7, (-8,))]
)
def test_a_description_out_of_the_address_space_is_not_exported(pointer, strides):
    with pytest.raises(ValueError, match="address space"):
        dlpack.Tensor(pointer, (2,), "int8", strides=strides).__dlpack__()


def test_without_axes_the_shape_may_be_null():
    # memcpy was given NULL, which C leaves undefined even for no bytes.
    values = Tensor.of([7.0], ())
    x = refarray.from_dlpack(Producer(values.but(shape=None, strides=None)))
    assert float(x) == 7.0


def test_without_elements_a_description_may_have_strides_below_its_address():
    # NULL plus an offset, which C leaves undefined.
    capsule = dlpack.Tensor(64, (0, 3), "int8", strides=(-5, -1)).__dlpack__()
    assert Raw(capsule).data == 0
