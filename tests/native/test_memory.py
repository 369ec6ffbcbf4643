"""Host memory: alignment, the cache and its bound, and what happens without any."""

import gc
import os
import subprocess
import sys

import pytest

from refarray import cuda, memory
from refarray._base import dtypes
from refarray._base.devices import CPU
from refarray._memory.host import numpy_view
from refarray._memory.native import allocate, view


@pytest.fixture
def cache():
    """Start and leave with an empty cache of the usual limit.

    Garbage of earlier tests would be counted if it were collected in between.
    """
    gc.collect()
    limit = memory.statistics().cache_limit
    memory.empty_cache()
    yield memory
    memory.set_cache_limit(limit)
    memory.empty_cache()


def new(nbytes, zeroed=False):
    return allocate((nbytes,), dtypes.uint8, CPU, zeroed)


def python(code, **environment):
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-W", "error", "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("nbytes", [0, 1, 63, 64, 65, 1000, 10**5, 2**21 - 1])
def test_memory_is_aligned_to_64_bytes(nbytes):
    assert new(nbytes)._buffer.address % 64 == 0


@pytest.mark.parametrize("nbytes", [2**21, 2**21 + 1, 3 * 10**7])
def test_large_memory_is_aligned_to_huge_pages(nbytes):
    assert new(nbytes)._buffer.address % 2**21 == 0


@pytest.mark.parametrize("nbytes", [10, 10**4, 2**21, 40 * 2**20])
def test_zeroed_memory_is_zero_even_after_use(cache, nbytes):
    dirty = new(nbytes)
    numpy_view(dirty)[...] = 255
    del dirty
    assert not numpy_view(new(nbytes, zeroed=True)).any()


@pytest.mark.needs_cache
def test_counters_follow_the_life_of_an_array(cache):
    before = cache.statistics()
    x = new(1000)
    during = cache.statistics()
    assert during.live_bytes - before.live_bytes == 1000
    assert during.live_buffers - before.live_buffers == 1
    y = view(x, 10, (5,), (1,), False)
    del x
    assert cache.statistics().live_bytes == during.live_bytes, "the view holds it"
    del y
    after = cache.statistics()
    assert (after.live_bytes, after.live_buffers) == (
        before.live_bytes,
        before.live_buffers,
    )
    assert after.cached_bytes == 1024, "1000 bytes lie in a block of 1024"


@pytest.mark.needs_cache
def test_freed_memory_is_used_again(cache):
    x = new(5000)
    address = x._buffer.address
    del x
    hits = cache.statistics().cache_hits
    assert new(4900)._buffer.address == address
    assert cache.statistics().cache_hits == hits + 1


@pytest.mark.needs_cache
def test_the_cache_keeps_to_its_limit_and_prefers_what_was_used_last(cache):
    cache.set_cache_limit(100_000)
    arrays = [new(n) for n in (30_000, 30_000, 50_000, 1000, 70_000)]
    while arrays:
        arrays.pop()
        assert cache.statistics().cached_bytes <= 100_000
    small = cache.statistics().cached_bytes
    assert small > 0
    del small
    x = new(200_000)
    del x
    assert cache.statistics().cached_bytes <= 100_000, "too large to be kept at all"


@pytest.mark.needs_cache
def test_memory_of_one_size_keeps_to_the_limit_too(cache):
    # Nothing else could make room for it.
    cache.set_cache_limit(100_000)
    arrays = [new(30_000) for _ in range(8)]
    while arrays:
        arrays.pop()
        assert cache.statistics().cached_bytes <= 100_000
    assert cache.statistics().cached_bytes > 0


def test_a_limit_of_zero_keeps_nothing(cache):
    del arrays_of(cache)[:]
    cache.set_cache_limit(0)
    x = new(1000)
    del x
    assert cache.statistics().cached_bytes == 0


def arrays_of(cache):
    return [new(100), new(10_000), new(3 * 2**20)]


@pytest.mark.needs_cache
def test_empty_cache_returns_everything(cache):
    del arrays_of(cache)[:]
    assert cache.statistics().cached_bytes > 0
    cache.empty_cache()
    assert cache.statistics().cached_bytes == 0


@pytest.mark.parametrize("limit", [-1, 2**63])
def test_an_impossible_limit_is_refused(limit):
    with pytest.raises(ValueError, match="number of bytes"):
        memory.set_cache_limit(limit)


@pytest.mark.parametrize("limit", ["1000", 1e6, None, True])
def test_a_limit_is_an_integer(limit):
    before = memory.statistics().cache_limit
    for function in (memory.set_cache_limit, cuda.set_cache_limit):
        with pytest.raises(TypeError, match="is an integer, a number of bytes, not"):
            function(limit)
    if limit is not None:  # which ends the use of pools
        with pytest.raises(TypeError, match="what a pool keeps is an integer"):
            cuda.use_pools(limit)
    assert memory.statistics().cache_limit == before


@pytest.mark.needs_cache
def test_the_environment_turns_the_cache_off():
    code = """
import refarray
from refarray import memory
x = refarray.zeros((1000,)); del x
s = memory.statistics()
print(s.cache_limit, s.cached_bytes)
"""
    assert python(code, REFARRAY_CACHE="0").stdout.split() == ["0", "0"]


@pytest.mark.needs_cache
@pytest.mark.parametrize("text", ["", "none", "-1", "1.5"])
def test_a_wrong_environment_is_an_error_that_names_it(text):
    result = python("import refarray", REFARRAY_CACHE=text)
    assert result.returncode == 1
    assert "REFARRAY_CACHE is the cache limit in bytes" in result.stderr


def test_no_memory_is_a_memory_error_with_the_size():
    with pytest.raises(MemoryError, match=r"8796093022208000 bytes"):
        allocate((2**40, 1000), dtypes.float64, CPU, False)


@pytest.mark.needs("RLIMIT_AS")
@pytest.mark.not_under_valgrind("runs in a child, which it does not follow")
@pytest.mark.not_under_sanitizers("they take more memory than there is")
def test_out_of_memory_in_a_process_with_little():
    code = """
import resource, refarray
x = refarray.ones((10,))
resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
for n in (2**27, 2**28):
    try:
        refarray.ones((n,))
    except MemoryError as error:
        assert str(8 * n) in str(error), error
    else:
        raise SystemExit("a gigabyte was found")
assert float(refarray.ones((10,))[0]) == 1.0
"""
    assert python(code, OPENBLAS_NUM_THREADS="1").returncode == 0


@pytest.mark.parametrize(
    "shape", [(-1,), (2, -3), (2**63 - 1, 2), (2**62, 2**62, 0), (2**64,)]
)
def test_impossible_shapes_are_value_errors(shape):
    with pytest.raises(ValueError, match="shape"):
        allocate(shape, dtypes.float64, CPU, False)


@pytest.mark.parametrize(
    ("offset", "shape", "strides"),
    [
        (0, (11,), (1,)),
        (-1, (1,), (1,)),
        (10, (1,), (1,)),
        (0, (2,), (10,)),
        (9, (2,), (1,)),
        (0, (2,), (-1,)),
        (2**62, (1,), (1,)),
        (-(2**63), (1,), (1,)),
        (0, (3, 3), (4, 1)),
        (0, (2,), (2**61,)),
    ],
)
def test_a_view_cannot_leave_the_memory(offset, shape, strides):
    x = allocate((10,), dtypes.int64, CPU, True)
    with pytest.raises(ValueError, match="no view"):
        view(x, offset, shape, strides, False)


@pytest.mark.slow
@pytest.mark.needs("fork")
@pytest.mark.not_under_valgrind("runs in a child, which it does not follow")
def test_a_fork_in_the_middle_of_allocations_leaves_the_child_able_to_allocate():
    code = """
import os, sys, threading, warnings
import refarray as xp
warnings.simplefilter("ignore")  # of fork in a process with threads: that is the point
stop = threading.Event()
def work():
    while not stop.is_set():
        for n in (3, 1000, 300_000):
            xp.zeros((n,))
threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads: t.start()
failed = 0
for _ in range(50):
    pid = os.fork()
    if pid == 0:
        for n in (3, 1000, 300_000):
            xp.zeros((n,))
        os._exit(0)
    failed += os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
stop.set()
for t in threads: t.join()
sys.exit(failed)
"""
    assert python(code).returncode == 0
