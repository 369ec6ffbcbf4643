"""Memory from stream-ordered pools of our own: `refarray.cuda.use_pools`."""

from __future__ import annotations

import pytest

import refarray as xp
from refarray import cuda
from refarray.testing.simulated_driver import SimulatedDriver


@pytest.fixture
def pools(simulated: SimulatedDriver) -> SimulatedDriver:
    cuda.use_pools(1 << 20)
    return simulated


def test_arrays_come_from_a_pool_and_go_back_to_it(pools: SimulatedDriver) -> None:
    x = xp.asarray([1.0, 2.0], device=xp.Device("cuda:0"))
    y = x * 2
    assert float(y[1]) == 4.0
    del x, y
    xp.zeros(1, device=xp.Device("cuda:0"))
    assert pools.calls["cuMemAlloc_v2"] == 0
    assert pools.calls["cuMemAllocFromPoolAsync"] >= 3
    assert pools.calls["cuMemFreeAsync"] >= 2
    assert pools.calls["cuMemPoolCreate"] == 1
    assert cuda.cached_bytes() == 0


def test_a_release_waits_on_the_device_for_other_streams(
    pools: SimulatedDriver,
) -> None:
    x = xp.asarray([1.0, 2.0], device=xp.Device("cuda:0"))
    with cuda.Stream():
        y = x + 1
    del x
    z = xp.asarray([7.0, 7.0], device=xp.Device("cuda:0"))
    assert float(y[0]) == 2.0
    assert float(z[0]) == 7.0
    pools.assert_no_races()


def test_what_was_exported_is_not_given_back_in_a_stream(
    pools: SimulatedDriver,
) -> None:
    x = xp.asarray([1.0, 2.0], device=xp.Device("cuda:0"))
    y = xp.from_dlpack(x)
    del x, y
    before = pools.calls["cuMemFree_v2"]
    cuda.empty_cache()
    assert pools.calls["cuMemFree_v2"] == before + 1


def test_pools_are_an_option(simulated: SimulatedDriver) -> None:
    x = xp.asarray([1.0], device=xp.Device("cuda:0"))
    cuda.use_pools(0)
    y = x + 1
    cuda.use_pools(None)
    z = y + 1
    assert simulated.calls["cuMemAllocFromPoolAsync"] == 1
    assert float(z[0]) == 3.0
    with pytest.raises(ValueError, match=r"from 0 up, below .*, not -1"):
        cuda.use_pools(-1)
