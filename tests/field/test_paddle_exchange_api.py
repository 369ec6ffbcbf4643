"""Paddle's C exchange API is used for the tensors that `__dlpack__` would give.

Library: paddle
"""

import pytest
from exchange import library

import refarray as xp
from refarray.dlpack import from_capsule
from refarray.dlpack.shortcuts import way_to

paddle = library("paddle")


def tensors():
    """Return tensors by the state they are in."""
    plain = paddle.arange(6.0).reshape([2, 3])
    return {
        "plain": plain,
        "strided": plain.T,
        "bfloat16": plain.astype("bfloat16"),
        "empty": paddle.zeros([0, 3]),
        "0-d": paddle.to_tensor(1.0),
        "requires grad": paddle.to_tensor([1.0, 2.0], stop_gradient=False),
        "parameter": paddle.create_parameter([2], "float32"),
        "sparse": paddle.sparse.sparse_coo_tensor([[0], [1]], [1.0], [2, 2]),
    }


PLAIN = {"plain", "strided", "bfloat16", "empty", "0-d"}


@pytest.mark.parametrize("state", tensors())
def test_both_ways_agree_in_every_state(state):
    tensor = tensors()[state]
    way = way_to(type(tensor))
    assert (isinstance(way, tuple) and way[1](tensor)) == (state in PLAIN)
    if state in PLAIN:
        usual = from_capsule(tensor.__dlpack__(max_version=(1, 3)))
        x = xp.from_dlpack(tensor)
        assert (x.shape, x._strides, x.dtype) == (
            usual.shape,
            usual._strides,
            usual.dtype,
        )
        assert repr(x) == repr(usual)
        assert x._buffer.address == usual._buffer.address
    else:
        with pytest.raises(BufferError):
            xp.from_dlpack(tensor)
