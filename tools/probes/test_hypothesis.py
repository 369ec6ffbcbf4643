"""hypothesis: strategies for arrays of any namespace."""

import hypothesis
from hypothesis import strategies as st
from hypothesis.extra.array_api import make_strategies_namespace

import refarray as xp

xps = make_strategies_namespace(xp)


def test_the_newest_version_of_the_standard_is_found():
    assert xps.api_version == "2025.12"


@hypothesis.given(xps.arrays(xps.scalar_dtypes(), xps.array_shapes(max_dims=3)))
def test_arrays_are_of_refarray(x):
    assert isinstance(x, xp.Array)
    assert 1 <= x.ndim <= 3


@hypothesis.given(
    xps.arrays(
        xp.float64, 6, elements=st.floats(-10, 10, allow_subnormal=False), unique=True
    )
)
def test_elements_keep_to_their_strategy(x):
    assert x.dtype is xp.float64
    assert xp.unique_values(x).shape == (6,)
    assert float(xp.min(x)) >= -10
    assert float(xp.max(x)) <= 10


@hypothesis.given(st.data())
def test_indices_and_shapes(data):
    x = xp.reshape(xp.arange(12), (3, 4))
    key = data.draw(xps.indices(x.shape))
    assert x[key].ndim <= 2
    shapes = data.draw(xps.mutually_broadcastable_shapes(2)).input_shapes
    assert (
        xp.broadcast_shapes(*shapes) == (xp.ones(shapes[0]) + xp.ones(shapes[1])).shape
    )
