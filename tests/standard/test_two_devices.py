"""No implicit transfer: a function that is given arrays on two devices raises.

Source: array API 2025.12, device support.
"""

import numpy as np
import pytest

import refarray as xp
from refarray import profiles


@pytest.fixture
def elsewhere():
    """Return a function that makes one-dimensional arrays on another device."""
    with profiles.use(devices=["cpu", "elsewhere"]):
        device = xp.Device("elsewhere")
        yield lambda values: xp.asarray(values, device=device)


CALLS = {
    "add": lambda x, y: xp.add(x, y),
    "a scaled operator": lambda x, y: 2 * x - y,
    "an operator in place": lambda x, y: x.__imul__(y),
    "equal": lambda x, y: x == y,
    "floor_divide": lambda x, y: xp.floor_divide(x, y),
    "clip, min": lambda x, y: xp.clip(x, y),
    "clip, max": lambda x, y: xp.clip(x, None, y),
    "where": lambda x, y: xp.where(x > 0, x, y),
    "concat": lambda x, y: xp.concat([x, y]),
    "stack": lambda x, y: xp.stack([x, y]),
    "broadcast_arrays": xp.broadcast_arrays,
    "isin": lambda x, y: xp.isin(x, y),
    "diff": lambda x, y: xp.diff(x, append=y),
    "matmul": lambda x, y: x @ y,
    "tensordot": lambda x, y: xp.tensordot(x, y, axes=1),
    "vecdot": lambda x, y: xp.vecdot(x, y),
    "outer": lambda x, y: xp.linalg.outer(x, y),
    "searchsorted": lambda x, y: xp.searchsorted(x, y),
    "assignment": lambda x, y: x.__setitem__(..., y),
    "assignment under a mask": lambda x, y: x.__setitem__(x == x, y),
}
INDEX_CALLS = {
    "selection": lambda x, key: x[key],
    "selection, in a tuple": lambda x, key: x[(key,)],
    "assignment": lambda x, key: x.__setitem__(key, 0.0),
    "take": lambda x, key: xp.take(x, key),
    "take_along_axis": lambda x, key: xp.take_along_axis(x, key, axis=0),
    "repeat": lambda x, key: xp.repeat(x, key),
    "sorter": lambda x, key: xp.searchsorted(x, x, sorter=key),
}


@pytest.mark.parametrize("name", CALLS)
def test_arrays_on_two_devices(elsewhere, name):
    x, y = xp.asarray([1.0, 2.0]), elsewhere([3.0, 4.0])
    with pytest.raises(ValueError, match=r"arrays on one device, got .*'elsewhere'"):
        CALLS[name](x, y)
    assert np.from_dlpack(x).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("name", INDEX_CALLS)
def test_indices_on_another_device(elsewhere, name):
    x, key = xp.asarray([1.0, 2.0]), elsewhere([0, 1])
    with pytest.raises(ValueError, match=r"arrays on one device, got .*'elsewhere'"):
        INDEX_CALLS[name](x, key)
    assert np.from_dlpack(x).tolist() == [1.0, 2.0]


def test_a_mask_on_another_device(elsewhere):
    x, mask = xp.asarray([1.0, 2.0]), elsewhere([True, False])
    with pytest.raises(ValueError, match="indexing takes arrays on one device"):
        x[mask]
    with pytest.raises(ValueError, match="indexing takes arrays on one device"):
        x[mask] = 0.0


def test_views_stay_on_their_device(elsewhere):
    y = elsewhere([3.0, 4.0])
    assert y.device is not xp.asarray(0).device
    for view in (y[0], y[::-1], xp.reshape(y, (2, 1)), xp.flip(y), y[None, ...]):
        assert view.device is y.device
