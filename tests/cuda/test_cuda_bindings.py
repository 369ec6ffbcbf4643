"""NVIDIA's own binding, cuda.bindings, as a peer: on the fake, or on a real driver.

It is unmodified and knows nothing of the fake, so what it can do with our streams and
memory does not depend on how we read the documentation. Without a driver of its own
the machine lends the fake to a child process, as test_driver.py does.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from test_driver import output

try:
    found = importlib.util.find_spec("cuda.bindings")
except ModuleNotFoundError:
    found = None
if found is None:
    pytest.skip("no cuda.bindings: pip install cuda-bindings", allow_module_level=True)

# What all children begin with: both sides open the driver, in either order.
BEGIN = """
from cuda.bindings import driver as nvidia
from refarray import cuda
from refarray._memory import cuda_memory
from refarray._memory.cuda_context import call, run
from refarray._memory.cuda_driver import driver

def get(result):
    error, *values = result
    assert error == nvidia.CUresult.CUDA_SUCCESS, error
    return values[0] if values else None
"""


def test_both_share_the_primary_context(fake_library: Path) -> None:
    code = """
get(nvidia.cuInit(0))
theirs = get(nvidia.cuDevicePrimaryCtxRetain(get(nvidia.cuDeviceGet(0))))
current = run(0, nvidia.cuCtxGetCurrent, driver())
assert int(get(current)) == int(theirs)
assert int(get(nvidia.cuCtxGetCurrent())) == 0
get(nvidia.cuCtxPushCurrent(theirs))
cuda_memory.allocate(0, 8)
cuda.Stream()  # gives the memory back
assert int(get(nvidia.cuCtxGetCurrent())) == int(theirs)
"""
    output(BEGIN + code, fake_library)


def test_they_work_on_our_stream_and_memory(fake_library: Path) -> None:
    code = """
block = cuda_memory.allocate(0, 64)
ours = block.address
stream = cuda.Stream()
version, handle = stream.__cuda_stream__()
fill = lambda: nvidia.cuMemsetD8Async(ours, 5, 64, nvidia.CUstream(handle))
get(run(0, fill, driver()))
host = bytearray(64)
address = int(cuda.ffi.cast("uintptr_t", cuda.ffi.from_buffer(host)))
cuda_memory.copy_to_host(0, address, ours, 64, handle)
assert host == bytes([5]) * 64
"""
    output(BEGIN + code, fake_library)


def test_we_work_on_their_stream_and_memory(fake_library: Path) -> None:
    code = """
get(nvidia.cuInit(0))
theirs = get(nvidia.cuDevicePrimaryCtxRetain(get(nvidia.cuDeviceGet(0))))
get(nvidia.cuCtxPushCurrent(theirs))
memory = int(get(nvidia.cuMemAlloc(64)))
stream = get(nvidia.cuStreamCreate(1))
assert cuda_memory.locate(memory) == (2, 0)
external = cuda.Stream.external(int(stream))
cuda_memory.fill(0, memory, 5, 64, external.handle)
external.record().synchronize()
host = bytearray(64)
get(nvidia.cuMemcpyDtoH(host, memory, 64))
assert host == bytes([5]) * 64
"""
    output(BEGIN + code, fake_library)


def test_errors_have_the_same_names(fake_library: Path) -> None:
    code = """
for ask in (
    lambda: call(0, "cuMemFree_v2", 12345),
    lambda: cuda.Event(timing=True).elapsed_since(cuda.Event(timing=True)),
):
    try:
        ask()
    except cuda.CudaError as error:
        assert nvidia.CUresult(error.code).name == error.name
    else:
        raise AssertionError("no error")
"""
    output(BEGIN + code, fake_library)
