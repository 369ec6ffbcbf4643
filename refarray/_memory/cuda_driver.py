"""The CUDA driver: opened at first use, initialised, and asked for its errors.

`driver()` is the one way to it. Nothing here runs at import or when devices are listed,
and no context is made (`cuda_context.py` does that). `use_driver(lib)` puts another
object in the driver's place: tests and the simulation bring one with its functions.

The functions and types stand in _cffi_build/cuda_driver.h. Source: NVIDIA, "CUDA Driver
API".

Next: `cuda_context.py`.
"""

from __future__ import annotations

import os
import sys
from _thread import RLock
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from refarray._base.process_bound import ProcessBound
from refarray._cuda_driver import ffi

OUT_OF_MEMORY: int = ffi.integer_const("CUDA_ERROR_OUT_OF_MEMORY")
NOT_READY: int = ffi.integer_const("CUDA_ERROR_NOT_READY")
_STUB_LIBRARY: int = ffi.integer_const("CUDA_ERROR_STUB_LIBRARY")
_NO_DEVICE: int = ffi.integer_const("CUDA_ERROR_NO_DEVICE")

LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"

# The first driver with every function of cuda_driver.h as it is there.
OLDEST = (12, 0)


class CudaError(RuntimeError):
    """What the CUDA driver refused, or why there is no driver to use.

    `code` and `name` are the driver's (2 and 'CUDA_ERROR_OUT_OF_MEMORY'); both are None
    if the driver was not there to give them.
    """

    def __init__(
        self, message: str, code: int | None = None, name: str | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.name = name


class Driver(ProcessBound):
    """A driver in use: its functions (`lib`), and what refarray holds in it.

    `version` is the newest CUDA that it can run, such as (13, 0). By ordinal of the
    device, `contexts` holds the primary contexts that refarray retains, each in the
    cell into which the driver wrote it, and `events` the events that are free for use;
    `cache` holds memory that nobody uses, by stream and then by device and length (see
    `device_release.py`).
    """

    __slots__ = (
        "lib",
        "version",
        "device_count",
        "contexts",
        "events",
        "cache",
        "cached_at_most",
        "pools",
        "pool_keeps",
        "compute",
        "unusable",
        "forked",
    )

    _instead = "The other process opens its own driver."

    def __init__(self, lib: Any) -> None:
        self.lib = lib
        # Why not, once the driver is gone for this process or for good.
        self.unusable: str | None = None
        self.forked = False
        self.contexts: dict[int, Any] = {}
        self.events: dict[int, list[Any]] = {}
        self.cache: dict[int, dict[tuple[tuple[int, int], int], list[Any]]] = {}
        self.cached_at_most = 0  # an interrupt may leave it higher than what is cached
        # Pools by ordinal of their device, where memory comes from pools.
        self.pools: dict[int, Any] | None = None
        self.pool_keeps = 0
        # A simulated driver wants to know what is computed on the memory behind it.
        self.compute = getattr(lib, "compute", None)
        self.version = _version(lib)
        if self.version < OLDEST:
            raise CudaError(
                "the CUDA driver is too old: it runs CUDA {}.{} at most, and refarray "
                "needs {}.{} or newer".format(*self.version, *OLDEST)
            )
        _check_initialisation(lib.cuInit(0), "cuInit", lib)
        count = ffi.new("int *")
        check(lib.cuDeviceGetCount(count), "cuDeviceGetCount", lib)
        self.device_count: int = count[0]
        if self.device_count == 0:
            raise CudaError(_no_device(), _NO_DEVICE, "CUDA_ERROR_NO_DEVICE")

    def close(self) -> None:
        """Give the contexts back; what is still in them cannot be used any more."""
        self.unusable = "the driver that it belongs to is no longer in use"
        self.events = {}  # each of them refers to this driver
        for ordinal, context in list(self.contexts.items()):
            del self.contexts[ordinal]
            if context[0]:
                self.lib.cuDevicePrimaryCtxRelease_v2(ordinal)


# ---- The driver in use ---------------------------------------------------------------

# The last one is in use; those before it wait until its `use_driver` ends.
_drivers: list[Driver] = []
_lock = RLock()  # a finalizer may come here in the middle of it


def driver() -> Driver:
    """Return the driver, opened and initialised by the first call.

    CudaError if there is none, if it has no device, is too old, or fails.
    """
    if _drivers:
        using = _drivers[-1]
        if using.unusable is None:
            return using
        raise CudaError(using.unusable)
    return _open()


def _open() -> Driver:
    with _lock:
        if not _drivers:
            opened = Driver(_load())
            if not _drivers:
                _drivers.append(opened)
    return driver()


def driver_in_use() -> Driver | None:
    """Return the driver if it has been opened and can be used; this opens none."""
    using = _drivers[-1] if _drivers else None
    return None if using is None or using.unusable is not None else using


def why_not() -> str | None:
    """Return why CUDA cannot be used here, in words; None if it can.

    This opens and initialises the driver, but makes no context.
    """
    try:
        driver()
    except CudaError as error:
        return str(error)
    return None


@contextmanager
def use_driver(lib: Any) -> Iterator[Driver]:
    """Use `lib` as the CUDA driver of the whole process, inside a `with` block.

    `lib` has the functions of cuda_driver.h, which take and return cdata of `ffi`: a
    library opened by `ffi.dlopen`, or an object that imitates one. Afterwards the
    driver is again what it was; memory, streams and events made inside raise on use.
    """
    using = Driver(lib)
    _drivers.append(using)
    try:
        yield using
    finally:
        _drivers.remove(using)
        using.close()


def _after_fork_in_child() -> None:
    # A thread that does not exist here may hold the lock.
    global _lock
    _lock = RLock()
    for using in _drivers:
        using.contexts = {}
        using.forked = True
        using.unusable = (
            "CUDA was in use before this process was forked, and a forked process "
            "cannot use it: start processes with the 'spawn' or 'forkserver' method, "
            "or fork before the first use of CUDA"
        )


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)


# ---- Opening and errors --------------------------------------------------------------


def _load() -> Any:
    try:
        return ffi.dlopen(LIBRARY)
    except OSError as error:
        raise CudaError(f"no CUDA driver ({LIBRARY} not found)") from error


def _version(lib: Any) -> tuple[int, int]:
    number = ffi.new("int *")
    try:
        error = lib.cuDriverGetVersion(number)
    except (AttributeError, ffi.error) as missing:
        raise CudaError(
            f"{LIBRARY} is not a CUDA driver: it has no function cuDriverGetVersion"
        ) from missing
    _check_initialisation(error, "cuDriverGetVersion", lib)
    return number[0] // 1000, number[0] % 1000 // 10


def _check_initialisation(error: int, function: str, lib: Any) -> None:
    if error == _STUB_LIBRARY:
        raise CudaError(
            f"{LIBRARY} is the stub that the CUDA toolkit has for linking, not a "
            "driver: remove its folder (.../stubs) from LD_LIBRARY_PATH",
            error,
            "CUDA_ERROR_STUB_LIBRARY",
        )
    if error == _NO_DEVICE:
        raise CudaError(_no_device(), error, "CUDA_ERROR_NO_DEVICE")
    check(error, function, lib)


def _no_device() -> str:
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    hint = "not set" if visible is None else repr(visible)
    return f"CUDA driver found, but no device (CUDA_VISIBLE_DEVICES is {hint})"


def check(error: int, function: str, lib: Any) -> None:
    """Raise CudaError with the driver's name and text unless `error` is 0."""
    if error:
        name, text = describe(error, lib)
        raise CudaError(f"{function}: {name} ({error}): {text}", error, name)


def describe(error: int, lib: Any) -> tuple[str, str]:
    """Return the driver's name and text for an error."""
    answers = []
    for function in (lib.cuGetErrorName, lib.cuGetErrorString):
        answer = ffi.new("char **")
        function(error, answer)
        answers.append(ffi.string(answer[0]).decode() if answer[0] else "")
    name, text = answers
    return name or "an error unknown to the driver", text or "no description"
