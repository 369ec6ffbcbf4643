"""The command `python -m refarray info`: what is here, and what is missing for what."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib import metadata

import refarray
from refarray import cuda, memory, profiles


def run() -> None:
    """Print what refarray runs on, and how to get what it lacks."""
    for topic, text in describe():
        print(f"{topic:<12}{text}")


def describe() -> Iterator[tuple[str, str]]:
    """Yield lines as (topic, text); a topic is empty where the last one goes on."""
    version = refarray.__array_api_version__
    yield "refarray", f"{refarray.__version__}, array API {version}"
    python = platform.python_implementation()
    yield "Python", f"{python} {platform.python_version()}, {platform.platform()}"
    for package in ("numpy", "cffi"):
        yield package, metadata.version(package)
    yield "profile", profiles.active().name
    limit = memory.statistics().cache_limit
    yield "host memory", f"up to {limit:,} bytes are kept for reuse (REFARRAY_CACHE)"
    yield from _cuda()


def _cuda() -> Iterator[tuple[str, str]]:
    reason = cuda.why_not()
    if reason is not None:
        yield "CUDA", f"not usable: {reason}"
        yield "", "a simulated GPU for tests: refarray.testing.simulated_cuda()"
        return
    version = "{}.{}".format(*cuda.driver_version())
    yield "CUDA", f"the driver runs CUDA {version} and earlier"
    for device in refarray.__array_namespace_info__().devices():
        if device.name.startswith("cuda:"):
            free, total = cuda.free_and_total(device.dlpack[1])
            yield "", f"{device}: {free:,} of {total:,} bytes free"
    extra = f"cuda{min(cuda.driver_version()[0], 13)}"  # of those there are
    try:
        found = next(
            f"{name} {metadata.version(name)}"
            for name in ("cupy-cuda12x", "cupy-cuda13x", "cupy")
            if _is_installed(name)
        )
    except StopIteration:
        yield "CuPy", f"missing, and needed to compute: pip install 'refarray[{extra}]'"
        yield "", "memory, copies and exchange work without it"
    else:
        yield "CuPy", found


def _is_installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True
