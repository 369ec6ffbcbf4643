"""Memory of small arrays that is taken over together with the kernels' view of it."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import refarray as xp
from refarray import memory
from refarray._memory.host import cache_limit
from refarray._memory.native import empty_spares, view


@pytest.fixture(autouse=True)
def nothing_spare() -> Iterator[None]:
    gc.collect()
    memory.empty_cache()
    limit = cache_limit()
    yield
    memory.set_cache_limit(limit)


def used(shape: tuple[int, ...] = (3,), dtype: xp.DType = xp.float64) -> xp.Array:
    """An array that kernels have seen."""
    x = xp.ones(shape, dtype=dtype)
    assert isinstance(x._view, np.ndarray)
    return x


@pytest.mark.needs("GIL")  # which guards the list of them
def test_the_next_array_alike_takes_the_memory() -> None:
    x = used()
    address = x._buffer.address
    del x
    y = xp.empty((3,), dtype=xp.float64)
    assert y._buffer.address == address
    assert y._view.__array_interface__["data"] == (address, False)


@pytest.mark.parametrize(
    ("shape", "dtype"), [((4,), xp.float64), ((3,), xp.int64), ((3, 1), xp.float64)]
)
def test_another_shape_or_dtype_does_not(shape: tuple[int, ...], dtype: object) -> None:
    x = used()
    seen = weakref.ref(x._view)
    del x
    y = xp.empty(shape, dtype=dtype)  # type: ignore[arg-type]
    assert y._view is not seen()
    assert y._view.shape == shape


def test_zeros_are_zeros() -> None:
    x = xp.full((3,), 7.0)
    xp.add(x, x)
    del x
    assert bool(xp.all(xp.zeros((3,)) == 0))


def test_memory_that_others_hold_is_not_taken() -> None:
    def memory_of_a_view(x: xp.Array) -> object:
        return view(x, 0, (2,), (1,), False)

    for hold in (
        lambda x: x._view,
        lambda x: x._view[1:],
        lambda x: x._buffer,
        lambda x: memoryview(x._buffer),
        lambda x: x.__dlpack__(max_version=(1, 0)),
        np.from_dlpack,
        np.asarray,
        memory_of_a_view,
    ):
        x = used()
        address, held = x._buffer.address, hold(x)
        del x
        fresh = [xp.empty((3,), dtype=xp.float64) for _ in range(3)]
        assert address not in [y._buffer.address for y in fresh], hold
        del held


def test_a_part_of_memory_is_not_taken() -> None:
    before = memory.statistics().live_buffers
    x = xp.ones((2, 3))
    part = x[0, :]
    assert part._view.shape == (3,)
    del x, part
    assert memory.statistics().live_buffers == before
    y = xp.ones((3,))
    assert y._view.base is y._buffer
    assert y._buffer.nbytes == 24


def test_large_arrays_are_not_kept() -> None:
    x = used((129,))
    seen = weakref.ref(x._view)
    before = memory.statistics().cache_hits
    del x
    # By the cache of blocks, which makes a new view.
    assert seen() is None
    y = xp.empty((129,), dtype=xp.float64)
    assert memory.statistics().cache_hits == before + 1
    assert y._view is y._view


def test_what_is_kept_counts_as_cached() -> None:
    x = used()
    live = memory.statistics()
    del x
    kept = memory.statistics()
    assert kept.live_bytes == live.live_bytes - 24
    assert kept.live_buffers == live.live_buffers - 1
    assert kept.cached_bytes == live.cached_bytes + 64  # the block
    x = xp.empty((3,), dtype=xp.float64)
    again = memory.statistics()
    assert again.cache_hits == live.cache_hits + 1
    assert again._replace(cache_hits=live.cache_hits) == live
    del x
    memory.empty_cache()
    assert memory.statistics().cached_bytes == 0


@pytest.mark.needs("GIL")
def test_at_most_sixteen_are_kept() -> None:
    arrays = [used((n,)) for n in range(1, 40)]
    arrays.clear()
    assert empty_spares() == 16
    assert empty_spares() == 0
    memory.empty_cache()
    assert memory.statistics().cached_bytes == 0


def test_without_a_cache_nothing_is_kept() -> None:
    memory.set_cache_limit(0)
    x = used()
    del x
    assert empty_spares() == 0
    assert memory.statistics().cached_bytes == 0


@pytest.mark.needs("GIL")
def test_the_limit_takes_effect_at_once() -> None:
    x = used()
    del x
    memory.set_cache_limit(0)
    assert empty_spares() == 0
    assert memory.statistics().cached_bytes == 0


def read_only_arrays() -> dict[str, xp.Array]:
    """Return arrays that forbid writing and show all of their memory, one a way."""
    frozen = np.ones(3)
    frozen.flags.writeable = False
    return {
        "broadcast": xp.broadcast_to(xp.ones(3), (3,)),
        "slice of a broadcast": xp.broadcast_to(xp.ones(3), (3,))[:],
        "by DLPack": xp.from_dlpack(frozen),
        "by its buffer": xp.asarray(frozen),
    }


@pytest.mark.parametrize(
    ("shape", "change"),
    [
        ((3, 2), lambda x: x.T),
        ((2, 2), lambda x: x.T),
        ((2, 3), xp.flip),
        ((3,), xp.flip),
        ((2, 3), lambda x: x[:, ::-1]),
        ((1, 2, 3), lambda x: xp.permute_dims(x, (1, 0, 2))),
        ((3, 2, 1), lambda x: xp.permute_dims(x, (2, 1, 0))),
    ],
)
def test_what_follows_another_layout_is_row_major(
    shape: tuple[int, ...], change: Callable[[xp.Array], xp.Array]
) -> None:
    x = change(xp.zeros(shape))
    assert float(xp.sum(x + 1)) == x.size  # kernels have seen it
    wanted = np.arange(x.size, dtype="float64").reshape(x.shape)
    del x
    for _ in range(3):
        y = xp.asarray(wanted.tolist())
        assert memoryview(y).c_contiguous
        assert np.asarray(y + 0.5).tolist() == (wanted + 0.5).tolist()
        assert np.from_dlpack(y).tolist() == wanted.tolist()


MAKERS = {
    "asarray": lambda: xp.asarray([1.0, 2.0, 3.0]),
    "empty": lambda: xp.empty((3,)),
    "zeros": lambda: xp.zeros((3,)),
    "ones": lambda: xp.ones((3,)),
    "full": lambda: xp.full((3,), 2.0),
    "arange": lambda: xp.arange(3.0),
    "add": lambda: xp.add(xp.ones((3,)), 1.0),
    "a copy": lambda: xp.asarray(xp.broadcast_to(xp.ones(1), (3,)), copy=True),
}


@pytest.mark.parametrize("way", read_only_arrays())
@pytest.mark.parametrize("make", MAKERS)
def test_what_follows_a_read_only_array_is_writable(make: str, way: str) -> None:
    x = read_only_arrays()[way]
    assert memoryview(x).readonly
    assert (x + 1)._view is not x._view  # kernels have seen it
    del x
    for y in [MAKERS[make]() for _ in range(3)]:
        y[0] = 5.0
        y += 1.0
        assert not memoryview(y).readonly
        assert float(y[0]) == 6.0


def set_strides(seen: np.ndarray) -> None:
    seen.strides = (8, 16)


def set_shape(seen: np.ndarray) -> None:
    seen.shape = (4,)


def set_dtype(seen: np.ndarray) -> None:
    seen.dtype = np.int64


@pytest.mark.filterwarnings("ignore:Setting the:DeprecationWarning")
@pytest.mark.parametrize(
    "change",
    [
        lambda seen: seen.setflags(write=False),
        set_strides,
        set_shape,
        set_dtype,
    ],
    ids=["read-only", "strides", "shape", "dtype"],
)
def test_what_was_done_to_a_view_is_not_taken_over(
    change: Callable[[np.ndarray], None],
) -> None:
    x = used((2, 2))
    change(x._view)
    del x
    for _ in range(3):
        y = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
        y += 1.0
        assert np.asarray(y + y).tolist() == [[4.0, 6.0], [8.0, 10.0]]
        assert np.from_dlpack(y).tolist() == [[2.0, 3.0], [4.0, 5.0]]
