"""The command `python -m refarray info`: what is here, and what is missing for what.

Next: inspect.py.
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Iterator
from importlib import metadata
from typing import Any

import refarray
from refarray import cuda, memory, profiles
from refarray.commands.terminal import paint, print_json

#: What refarray needs at run time, and libraries that it exchanges memory with. They
#: are looked up, not imported.
NEEDED = ("numpy", "cffi")
PARTNERS = (
    *("torch", "jax", "cupy", "cupy-cuda12x", "cupy-cuda13x", "tensorflow"),
    *("pyarrow", "apache-tvm-ffi", "array-api-strict", "array-api-compat", "dask"),
    *("mlx", "paddlepaddle", "dpnp", "warp-lang", "cubed", "mpi4py"),
)
#: What some commands need: package, and what for.
OPTIONAL = (
    ("mpmath", "the right values of `python -m refarray standard`"),
    ("pytest", "the plugins in refarray.testing"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Print what refarray runs on, and how to get what it lacks."""
    if options.json:
        print_json(facts())
        return 0
    for topic, text in describe(facts()):
        print(f"{paint(f'{topic:<12}', 'bold')}{text}" if topic else f"{'':12}{text}")
    return 0


def facts() -> dict[str, Any]:
    """Return all of it, for programs."""
    found = {
        "refarray": refarray.__version__,
        "array_api": refarray.__array_api_version__,
        "dlpack": "{}.{}".format(*refarray.dlpack.VERSION),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": platform.platform(),
        "packages": _versions(NEEDED),
        "partners": _versions(PARTNERS),
        "profile": profiles.active().name,
        "cache_limit": memory.statistics().cache_limit,
        "devices": [_device(d) for d in refarray.__array_namespace_info__().devices()],
        "cuda": _cuda(),
    }
    return {**found, "missing": list(_missing(found))}


def describe(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield lines as (topic, text); a topic is empty where the last one goes on."""
    standards = f"array API {found['array_api']}, DLPack {found['dlpack']}"
    yield "refarray", f"{found['refarray']}, {standards}"
    yield "Python", f"{found['python']}, {found['platform']}"
    yield from found["packages"].items()
    yield "profile", found["profile"]
    limit = f"{found['cache_limit']:,}"
    yield "host memory", f"up to {limit} bytes are kept for reuse (REFARRAY_CACHE)"
    driver = found["cuda"]["driver"]
    if driver is None:
        yield "CUDA", f"not usable: {found['cuda']['why_not']}"
    else:
        yield "CUDA", f"the driver runs CUDA {driver} and earlier"
    topic = "devices"
    for device in found["devices"]:
        text = device["name"]
        if "bytes" in device:
            text += f": {device['bytes_free']:,} of {device['bytes']:,} bytes free"
        yield topic, text
        topic = ""
    partners = [f"{name} {version}" for name, version in found["partners"].items()]
    yield "exchange", ", ".join(partners) or "no other library of arrays is installed"
    topic = "missing"
    for lack in found["missing"]:
        yield topic, f"{lack['what']}, for {lack['for']}: {lack['get']}"
        topic = ""


def _versions(packages: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def _device(device: refarray.Device) -> dict[str, Any]:
    found: dict[str, Any] = {"name": device.name, "dlpack": list(device.dlpack)}
    if device.name.startswith("cuda:"):
        free, total = cuda.free_and_total(device.dlpack[1])
        found |= {"bytes": total, "bytes_free": free}
    return found


def _cuda() -> dict[str, Any]:
    reason = cuda.why_not()
    if reason is not None:
        return {"driver": None, "why_not": reason}
    return {"driver": "{}.{}".format(*cuda.driver_version()), "why_not": None}


def _missing(found: dict[str, Any]) -> Iterator[dict[str, str]]:
    """Yield what is not here, what it is for, and how to get it."""
    if found["cuda"]["driver"] is None:
        yield {
            "what": "a GPU with its driver",
            "for": "CUDA devices",
            "get": "NVIDIA's driver; in tests refarray.testing.simulated_cuda()",
        }
    elif not any(name.startswith("cupy") for name in found["partners"]):
        newest = min(cuda.driver_version()[0], 13)  # of the extras there are
        yield {
            "what": "CuPy",
            "for": "computing on CUDA devices (memory and exchange work without)",
            "get": f"pip install 'refarray[cuda{newest}]'",
        }
    present = _versions(tuple(package for package, _ in OPTIONAL))
    for package, purpose in OPTIONAL:
        if package not in present:
            yield {"what": package, "for": purpose, "get": f"pip install {package}"}
