"""The simulated CUDA driver as a context manager, and as a library with an end."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from cffi import FFI
from raw import (
    INVALID_DEVICE,
    LEGACY,
    NOT_INITIALIZED,
    OUT_OF_MEMORY,
    SUCCESS,
    alloc,
    get,
)
from raw import read as read_back
from simulated import NBYTES, kinds, read, simulated, start, stream, write
from through_binding import allocate, free

from refarray import cuda
from refarray._cuda_driver import ffi
from refarray._memory import cuda_memory
from refarray.testing import simulated_cuda
from refarray.testing.simulated_driver import (
    RaceError,
    SimulatedDriver,
    real_devices,
)
from refarray.testing.simulated_driver_memory import POISON


@pytest.fixture
def driver() -> Iterator[SimulatedDriver]:
    with simulated() as driver:
        yield driver


# ---- The context manager -------------------------------------------------------------


def plant(driver: SimulatedDriver) -> None:
    start(driver)
    try:
        a, b, pointer = stream(driver), stream(driver), alloc(driver, NBYTES)
        write(driver, a, pointer)
        read(driver, b, pointer)
    finally:
        driver.cuCtxSetCurrent(ffi.NULL)


def test_a_race_fails_the_test_at_its_end() -> None:
    with (
        pytest.raises(RaceError, match=r"1 race.*\n  read after write"),
        simulated_cuda(force=True) as driver,
    ):
        plant(driver)


def test_of_many_races_the_first_are_told() -> None:
    with (
        pytest.raises(RaceError, match=r"12 race(?s:.*)\n  and 2 more"),
        simulated_cuda(force=True) as driver,
    ):
        for _ in range(12):
            plant(driver)


def test_a_race_fails_at_once_if_asked_to() -> None:
    with (
        pytest.raises(RaceError, match="read after write") as caught,
        simulated_cuda(force=True, on_race="raise") as driver,
    ):
        plant(driver)
    assert any(entry.name == "read" for entry in caught.traceback)


def test_races_can_be_collected_or_cleared() -> None:
    with simulated_cuda(force=True, on_race="collect") as driver:
        plant(driver)
    assert kinds(driver) == ["read after write"]
    with simulated_cuda(force=True) as driver:
        plant(driver)
        driver.races.clear()


def test_an_exception_of_the_test_goes_first() -> None:
    with pytest.raises(ZeroDivisionError), simulated_cuda(force=True) as driver:
        plant(driver)
        raise ZeroDivisionError


def test_one_at_a_time() -> None:
    with (
        simulated_cuda(force=True),
        pytest.raises(RuntimeError, match="does not nest"),
        simulated_cuda(force=True),
    ):
        pass
    with simulated_cuda(force=True):
        pass


def test_it_refuses_where_a_real_gpu_answers(fake_library: Path) -> None:
    program = (
        "from refarray.testing.simulated_driver import simulated_cuda\n"
        "with simulated_cuda(force=True): print('forced')\n"
        "with simulated_cuda(): pass\n"
    )
    environment = os.environ | {"LD_LIBRARY_PATH": str(fake_library.parent)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    assert done.stdout == "forced\n"
    assert "RuntimeError: simulated_cuda: this machine has" in done.stderr


@pytest.mark.skipif(real_devices() > 0, reason="this machine has a CUDA device")
def test_it_needs_no_force_where_there_is_no_gpu() -> None:
    with simulated_cuda(devices=1) as driver:
        start(driver)
        assert get("int", driver.cuDeviceGetCount) == 1


# ---- Under refarray ------------------------------------------------------------------


def produce_and_consume(ordered: bool) -> bytes:
    """Fill memory on one stream of refarray, read it on another; what was read."""
    ours, theirs = cuda.Stream(), cuda.Stream()
    pointer = allocate(0, NBYTES)
    cuda_memory.fill(0, pointer, 7, NBYTES, ours.handle)
    if ordered:
        theirs.wait(ours)
    result = bytearray(NBYTES)
    to = int(ffi.cast("uintptr_t", ffi.from_buffer(result)))
    cuda_memory.copy_to_host(0, to, pointer, NBYTES, theirs.handle)
    free(pointer)
    return bytes(result)


def test_refarray_runs_on_it() -> None:
    with simulated_cuda(force=True) as driver:
        assert produce_and_consume(ordered=True) == bytes([7]) * NBYTES
        assert driver.live_bytes == 0


def test_races_of_refarray_name_the_lines_of_its_user() -> None:
    with simulated_cuda(force=True, on_race="collect") as driver:
        assert produce_and_consume(ordered=False) == bytes([POISON]) * NBYTES
    (report,) = driver.races
    first = inspect.getsourcelines(produce_and_consume)[1]
    lines = [int(place.rpartition(":")[2]) - first for place in report.places]
    assert lines == [4, 9]
    assert all("test_simulated_cuda.py" in place for place in report.places)


def test_what_was_made_with_it_raises_afterwards() -> None:
    with simulated_cuda(force=True):
        stream = cuda.Stream()
    with pytest.raises(cuda.CudaError, match="no longer in use"):
        stream.synchronize()


# ---- The library ---------------------------------------------------------------------

CDEF = Path(__file__).parents[2] / "_cffi_build" / "cuda_driver.h"


def test_it_has_the_functions_and_constants_of_the_binding(
    driver: SimulatedDriver,
) -> None:
    declared = FFI()
    declared.cdef(CDEF.read_text())
    functions, constants = {}, {}
    for name, (kind, _) in declared._parser._declarations.items():
        if name.startswith("function "):
            functions[name.removeprefix("function ")] = len(kind.args)
        elif name.startswith("enum "):
            constants |= dict(zip(kind.enumerators, kind.enumvalues, strict=True))
    assert len(functions) > 50 and len(constants) > 20
    simulated_functions = {name for name in dir(driver) if name.startswith("cu")}
    assert simulated_functions == set(functions)
    for name, parameters in functions.items():
        with pytest.raises(TypeError, match="positional argument"):
            getattr(driver, name)(*range(parameters + 1))
    for name, value in constants.items():
        assert getattr(driver, name) == value
    with pytest.raises(AttributeError, match="no function 'cuMemAlloc'"):
        driver.cuMemAlloc  # noqa: B018


def test_calls_are_counted(driver: SimulatedDriver) -> None:
    for _ in range(3):
        alloc(driver, NBYTES)
    driver.launch(0, lambda: None)
    assert driver.calls["cuMemAlloc_v2"] == 3
    assert driver.calls["launch"] == 1


def test_threads_share_a_driver(driver: SimulatedDriver) -> None:
    context = get("CUcontext", driver.cuCtxGetCurrent)

    def use(value: int) -> bool:
        assert driver.cuCtxSetCurrent(context) == SUCCESS
        on, right = stream(driver), True
        for _ in range(50):
            pointer = alloc(driver, NBYTES)
            write(driver, on, pointer, value)
            read(driver, on, pointer)
            assert driver.cuStreamSynchronize(on) == SUCCESS
            right &= bytes(driver.shadow(pointer, NBYTES)) == bytes([value]) * NBYTES
            assert driver.cuMemFree_v2(pointer) == SUCCESS
        return right

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(use, range(4)))
    assert driver.live_bytes == 0
    driver.assert_no_races()


def test_no_thread_destroys_a_stream_while_another_computes_on_it(
    driver: SimulatedDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = start(driver)
    on, launch, results = stream(driver), driver._launch, []

    def destroy() -> None:
        results.append(driver.cuCtxPushCurrent_v2(context))
        results.append(driver.cuStreamDestroy_v2(on))

    destroyer = threading.Thread(target=destroy)

    def launch_and_destroy(*args: Any) -> None:
        launch(*args)
        destroyer.start()
        destroyer.join(0.05)

    monkeypatch.setattr(driver, "_launch", launch_and_destroy)
    driver.compute(on)
    destroyer.join()
    assert results == [SUCCESS, SUCCESS]


def test_a_call_can_be_made_to_fail(driver: SimulatedDriver) -> None:
    out_of_memory = driver.CUDA_ERROR_OUT_OF_MEMORY
    driver.fail_next("cuMemAlloc_v2", out_of_memory)
    assert driver.cuMemAlloc_v2(ffi.new("CUdeviceptr *"), 8) == OUT_OF_MEMORY
    assert driver.cuMemAlloc_v2(ffi.new("CUdeviceptr *"), 8) == SUCCESS
    with pytest.raises(ValueError, match="no function 'cuMemAllok'"):
        driver.fail_next("cuMemAllok", 2)


def test_a_machine_without_a_device() -> None:
    driver = SimulatedDriver(devices=0, version=12040)
    assert driver.cuInit(0) == driver.CUDA_ERROR_NO_DEVICE
    assert get("int", driver.cuDriverGetVersion) == 12040
    assert driver.cuDeviceGetCount(ffi.new("int *")) == NOT_INITIALIZED


def test_as_many_devices_as_wanted() -> None:
    with simulated(devices=3) as driver:
        assert get("int", driver.cuDeviceGetCount) == 3
        assert driver.cuDeviceGet(ffi.new("CUdevice *"), 3) == INVALID_DEVICE


def test_arguments_are_checked() -> None:
    with pytest.raises(ValueError, match="on_race is 'exit', 'raise' or 'collect'"):
        SimulatedDriver(on_race="ignore")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not negative"):
        SimulatedDriver(devices=-1)


@pytest.mark.needs("fork")
def test_a_forked_child_has_no_driver(driver: SimulatedDriver) -> None:
    pointer = alloc(driver, NBYTES)
    write(driver, LEGACY, pointer, 7)
    assert driver.cuCtxSynchronize() == SUCCESS
    child = os.fork()
    if child == 0:
        try:
            driver.launch(0, lambda: None)
        except RuntimeError:
            driver.close()
            os._exit(driver.cuInit(0))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == NOT_INITIALIZED
    assert read_back(driver, pointer, NBYTES) == bytes([7]) * NBYTES


# ---- The end -------------------------------------------------------------------------


def test_nothing_works_after_the_end() -> None:
    with simulated() as driver:
        pointer = alloc(driver, NBYTES)
    assert driver.cuMemFree_v2(pointer) == driver.CUDA_ERROR_DEINITIALIZED
    assert driver.live_bytes == 0
    for use in (
        lambda: driver.launch(0, lambda: None),
        lambda: driver.shadow(pointer, NBYTES),
    ):
        with pytest.raises(RuntimeError, match="simulated CUDA devices are gone"):
            use()
    driver.close()


def test_the_end_runs_what_is_left() -> None:
    ran: list[str] = []
    with simulated() as driver:
        driver.launch(stream(driver), lambda: ran.append("work"))
        assert ran == []
    assert ran == ["work"]


def test_the_last_release_of_a_context_ends_what_it_has(
    driver: SimulatedDriver,
) -> None:
    context = start(driver, device=1)
    alloc(driver, NBYTES)
    on = stream(driver)
    assert driver.live_bytes == NBYTES
    assert driver.cuDevicePrimaryCtxRelease_v2(1) == SUCCESS
    assert driver.live_bytes == 0
    destroyed = driver.CUDA_ERROR_CONTEXT_IS_DESTROYED
    assert driver.cuCtxSynchronize() == destroyed
    assert driver.cuCtxPushCurrent_v2(context) == destroyed
    assert driver.cuCtxSetCurrent(ffi.NULL) == SUCCESS
    assert driver.cuStreamSynchronize(on) == driver.CUDA_ERROR_INVALID_HANDLE
