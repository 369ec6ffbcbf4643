"""Checks of arithmetic on the device: values, beside other libraries, speed.

Next: `check_gpu.py`, which runs everything.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from checks_exchange import host
from libraries import KINDS, library
from record import NotHere, Record, fastest

import refarray as xp
from refarray import cuda

# By name, with the operands of VALUES below; what NumPy has under the same name.
UNARY = """abs acos asin asinh atan atanh ceil conj cos cosh exp expm1 floor isfinite
isinf isnan log log10 log1p log2 negative positive real reciprocal round sign signbit
sin sinh sqrt square tan tanh trunc""".split()
BINARY = """add atan2 copysign divide equal floor_divide greater greater_equal hypot
less less_equal logaddexp maximum minimum multiply nextafter not_equal pow remainder
subtract""".split()
COMPLEX_UNARY = "abs conj cos exp imag log real sqrt square tanh".split()
INTEGER = """add bitwise_and bitwise_or bitwise_xor equal floor_divide maximum minimum
multiply remainder subtract""".split()
STATISTICS = "sum prod mean std var max min all any argmax argmin sort argsort".split()

RANDOM = np.random.default_rng(7)
REAL = RANDOM.uniform(0.05, 0.95, (37, 41))
OTHER = RANDOM.uniform(0.05, 0.95, (37, 41))
COMPLEX = REAL + 1j * OTHER
WHOLE = RANDOM.integers(1, 100, (37, 41))
SQUARE = RANDOM.uniform(size=(24, 24)) + 24 * np.eye(24)

# Functions whose results NumPy has under other names or with other arguments.
Made = Callable[[Any, Any], Any]
SPECIAL: dict[str, tuple[Made, Made]] = {
    "matmul": (lambda x, y: x @ y.mT, lambda x, y: x @ y.T),
    "tensordot": (lambda x, y: xp.tensordot(x, y, axes=2), np.tensordot),
    "vecdot": (xp.vecdot, lambda x, y: (x * y).sum(-1)),
    "cumulative_sum": (
        lambda x, y: xp.cumulative_sum(x, axis=1),
        lambda x, y: np.cumsum(x, 1),
    ),
    "where": (
        lambda x, y: xp.where(x < y, x, y),
        lambda x, y: np.minimum(x, y),
    ),
    "clip": (lambda x, y: xp.clip(x, 0.2, 0.8), lambda x, y: np.clip(x, 0.2, 0.8)),
    "take": (
        lambda x, y: xp.take(x, xp.asarray([3, 1], device=x.device), axis=1),
        lambda x, y: x[:, [3, 1]],
    ),
    "boolean index": (lambda x, y: x[x < y], lambda x, y: x[x < y]),
    "slices": (lambda x, y: x[::-2, 3:9] + 0, lambda x, y: x[::-2, 3:9]),
    "concat": (
        lambda x, y: xp.concat([x, y], axis=1),
        lambda x, y: np.concatenate([x, y], 1),
    ),
    "roll": (lambda x, y: xp.roll(x, 3), lambda x, y: np.roll(x, 3)),
    "unique_values": (
        lambda x, y: xp.sort(xp.unique_values(xp.round(10 * x))),
        lambda x, y: np.unique(np.round(10 * x)),
    ),
    "nonzero": (lambda x, y: xp.nonzero(x < y)[1], lambda x, y: np.nonzero(x < y)[1]),
    "searchsorted": (
        lambda x, y: xp.searchsorted(xp.sort(x[0, :]), y[0, :]),
        lambda x, y: np.searchsorted(np.sort(x[0]), y[0]),
    ),
    "astype": (
        lambda x, y: xp.astype(100 * x, xp.int16),
        lambda x, y: (100 * x).astype("int16"),
    ),
    "fft": (lambda x, y: xp.fft.fft(x + 1j * y), lambda x, y: np.fft.fft(x + 1j * y)),
    "irfft": (
        lambda x, y: xp.fft.irfft(xp.fft.rfft(x)),
        lambda x, y: np.fft.irfft(np.fft.rfft(x)),
    ),
}
SQUARES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "inv": (lambda a: xp.linalg.inv(a), np.linalg.inv),
    "det": (lambda a: xp.linalg.det(a), np.linalg.det),
    "solve": (
        lambda a: xp.linalg.solve(a, a[:, :3] + 0),
        lambda a: np.linalg.solve(a, a[:, :3]),
    ),
    "cholesky": (
        lambda a: xp.linalg.cholesky(a @ a.mT),
        lambda a: np.linalg.cholesky(a @ a.T),
    ),
    "svdvals": (
        lambda a: xp.linalg.svdvals(a),
        lambda a: np.linalg.svd(a, compute_uv=False),
    ),
    "eigvalsh": (
        lambda a: xp.linalg.eigvalsh(a + a.mT),
        lambda a: np.linalg.eigvalsh(a + a.T),
    ),
}


def compute(record: Record) -> None:
    """What is computed on the device, compared with NumPy on the host."""
    if record.target != "simulation":
        library(record, "cupy")
    device = xp.Device("cuda:0")

    def there(values: Any) -> Any:
        return xp.asarray(values, device=device, copy=True)

    def compare(what: str, ours: Callable[[], Any], right: Callable[[], Any]) -> None:
        with record.part(what):
            out, expected = ours(), right()
            record.equal(out.device, device, f"{what}: the result is on the device")
            seen = host(out)
            near = np.allclose(seen, expected, 1e-10, 1e-12)
            record.expect(seen.shape == np.shape(expected) and near, what)

    x, y, z, n = there(REAL), there(OTHER), there(COMPLEX), there(WHOLE)
    for name in UNARY:
        f, g = getattr(xp, name), getattr(np, name)
        compare(name, lambda f=f: f(x), lambda g=g: g(REAL))
    for name in COMPLEX_UNARY:
        f, g = getattr(xp, name), getattr(np, name)
        compare(f"{name}, complex", lambda f=f: f(z), lambda g=g: g(COMPLEX))
    for name in BINARY:
        f, g = getattr(xp, name), getattr(np, name)
        compare(name, lambda f=f: f(x, y), lambda g=g: g(REAL, OTHER))
    for name in INTEGER:
        f, g = getattr(xp, name), getattr(np, name)
        compare(f"{name}, int64", lambda f=f: f(n, n), lambda g=g: g(WHOLE, WHOLE))
    for name in STATISTICS:
        f, g = getattr(xp, name), getattr(np, name)
        compare(name, lambda f=f: f(x, axis=1), lambda g=g: g(REAL, axis=1))
    for name, (made, right) in SPECIAL.items():
        compare(name, lambda f=made: f(x, y), lambda g=right: g(REAL, OTHER))
    square = there(SQUARE)
    for name, (made, right) in SQUARES.items():
        compare(name, lambda f=made: f(square), lambda g=right: g(SQUARE))
    with record.part("in a stream"):
        with cuda.Stream():
            out = (x + y) * 2
        # Read on the legacy stream: refarray has to order it after the other.
        record.expect(np.allclose(host(out), (REAL + OTHER) * 2), "in a stream")
    with record.part("in place"):
        x[::2, :] += 1
        x[1, 1] = 5.0
        right = REAL.copy()
        right[::2] += 1
        right[1, 1] = 5.0
        record.expect(np.allclose(host(x), right), "in place")


# ---- Beside others -------------------------------------------------------------------

TOGETHER = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from record import Record
record = Record(Path("/dev/null"), "driver")
for name in sys.argv[2:]:
    if name == "refarray":
        import refarray as xp
        x = xp.asarray([1.0, 2.0], device=xp.Device("cuda:0"), copy=True)
        continue
    from libraries import library
    theirs = library(record, name)
    array = theirs.array(np.ones(4))
    import refarray as xp
    ours = xp.from_dlpack(array)
    assert np.asarray(ours.to_device(xp.Device("cpu"))).tolist() == [1.0] * 4
    assert theirs.host(theirs.take(ours)).tolist() == [1.0] * 4
"""

ORDERS = (
    ("torch", "cupy", "refarray"),
    ("cupy", "torch", "refarray"),
    ("refarray", "torch", "cupy", "jax"),
    ("jax", "cupy", "refarray"),
)


def import_orders(record: Record) -> None:
    """Whichever library comes first, all of them share the device."""
    record.only("driver")
    missing = [name for name in KINDS if importlib.util.find_spec(name) is None]
    for names in ORDERS:
        what = ", then ".join(names)
        with record.part(what):
            if absent := [name for name in names if name in missing]:
                raise NotHere(f"{', '.join(absent)} not installed")
            folder = str(Path(__file__).parent)
            start = time.perf_counter()
            ended = subprocess.run(
                [sys.executable, "-c", TOGETHER, folder, *names],
                capture_output=True,
                text=True,
                timeout=60,
            )
            record.measure(f"{what}, s", round(time.perf_counter() - start, 1))
            said = f"{what}: {ended.returncode} {ended.stderr[-400:]}"
            record.expect(ended.returncode == 0, said)


# ---- Speed ---------------------------------------------------------------------------

ELEMENTS = 10**8


def speed(record: Record) -> None:
    """An exchange, and `add` at 1e8 elements, beside CuPy and the copying of memory."""
    theirs = library(record, "cupy")
    cupy, device = theirs.module, xp.Device("cuda:0")
    small, small_there = xp.zeros(3, device=device), cupy.zeros(3)
    small + 1
    for what, action in {
        "refarray from cupy": lambda: xp.from_dlpack(small_there),
        "cupy from refarray": lambda: cupy.from_dlpack(small),
        "cupy from cupy": lambda: cupy.from_dlpack(small_there),
        "refarray from refarray": lambda: xp.from_dlpack(small),
    }.items():
        record.measure(f"{what}, ns", fastest(action, 1000))
    for what, action in {
        "add of 3 elements, refarray": lambda: small + small,
        "add of 3 elements, cupy": lambda: small_there + small_there,
    }.items():
        record.measure(f"{what}, ns", fastest(action, 300))
    for dtype in ("float32", "float64"):
        with record.part(f"add, {dtype}"):
            add_large(record, cupy, device, dtype)


def add_large(record: Record, cupy: Any, device: xp.Device, dtype: str) -> None:
    """Time `add` of ours and of CuPy, and a copy within the device, turn by turn."""
    kind = getattr(xp, dtype)
    x, y = (xp.full((ELEMENTS,), n, dtype=kind, device=device) for n in (1, 2))
    a, b = (cupy.full((ELEMENTS,), n, dtype=dtype) for n in (1, 2))
    c = cupy.empty_like(a)
    nbytes = ELEMENTS * c.itemsize

    def copy() -> None:
        kind_of_copy = cupy.cuda.runtime.memcpyDeviceToDevice
        cupy.cuda.runtime.memcpyAsync(c.data.ptr, a.data.ptr, nbytes, kind_of_copy, 0)

    actions: dict[str, Callable[[], object]] = {
        "refarray": lambda: x + y,
        "cupy": lambda: a + b,
        "copy": copy,
    }
    record.equal(float(host((x + y)[-1:])[0]), 3.0, f"the sum, {dtype}")
    for cached in (False, True):
        # By default, blocks this large are not kept, and giving them back waits.
        cuda.set_cache_limit(4 * nbytes if cached else 0)
        times = {name: device_seconds(cupy, action) for name, action in actions.items()}
        for _ in range(4):
            for name, action in actions.items():
                times[name] = min(times[name], device_seconds(cupy, action))
        label = f"{dtype}, {'with' if cached else 'without'} a cache"
        record.measure(f"seconds, {label}", {n: round(t, 7) for n, t in times.items()})
        ratio = times["refarray"] / times["cupy"]
        # An addition moves three elements where a copy moves two.
        share = 1.5 * times["copy"] / times["refarray"]
        record.measure(f"times of CuPy, {label}", round(ratio, 4))
        record.measure(f"share of the bandwidth of a copy, {label}", round(share, 4))
        if cached:
            record.expect(ratio <= 1.02, f"{label}: {ratio:.3f} of CuPy's time")
            record.expect(share >= 0.9, f"{label}: {share:.2f} of a copy's bandwidth")
    actions.clear()
    cuda.empty_cache()


def device_seconds(cupy: Any, action: Callable[[], object], times: int = 10) -> float:
    """Return the seconds of an action, by the host's clock, the device idle before."""
    action()
    cupy.cuda.Device().synchronize()
    start = time.perf_counter()
    for _ in range(times):
        action()
    cupy.cuda.Device().synchronize()
    return (time.perf_counter() - start) / times
