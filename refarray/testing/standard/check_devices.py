"""Devices: device= of every function that has it, and where results lie.

Every device that the namespace lists is tried. With a single device there is nothing to
mix up, and only the keyword and the attribute are checked.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from refarray.testing.standard import arrays
from refarray.testing.standard.runner import Check, Report
from refarray.testing.standard.samples import distinct

SUBJECT = "device= of functions"


def listed(xp: Any) -> list[Any]:
    """The devices that the namespace lists, or that of a fresh array."""
    try:
        return list(xp.__array_namespace_info__().devices())
    except Exception:  # another check reports a library without inspection
        return [xp.zeros(1).device]


def _makers(xp: Any, x: Any) -> dict[str, Callable[[Any], Any]]:
    """Every function with device=, as a function of the device alone."""
    f32 = xp.float32
    makers: dict[str, Callable[[Any], Any]] = {
        "arange": lambda d: xp.arange(3, dtype=f32, device=d),
        "asarray": lambda d: xp.asarray([1, 2], dtype=f32, device=d),
        "empty": lambda d: xp.empty((2,), dtype=f32, device=d),
        "empty_like": lambda d: xp.empty_like(x, device=d),
        "eye": lambda d: xp.eye(2, dtype=f32, device=d),
        "full": lambda d: xp.full((2,), 1, dtype=f32, device=d),
        "full_like": lambda d: xp.full_like(x, 1, device=d),
        "linspace": lambda d: xp.linspace(0, 1, 3, dtype=f32, device=d),
        "ones": lambda d: xp.ones((2,), dtype=f32, device=d),
        "ones_like": lambda d: xp.ones_like(x, device=d),
        "zeros": lambda d: xp.zeros((2,), dtype=f32, device=d),
        "zeros_like": lambda d: xp.zeros_like(x, device=d),
    }
    if hasattr(xp, "fft"):
        makers["fft.fftfreq"] = lambda d: xp.fft.fftfreq(4, device=d)
        makers["fft.rfftfreq"] = lambda d: xp.fft.rfftfreq(4, device=d)
    return makers


def keyword(xp: Any, report: Report) -> None:
    """Each function places its result on each device, and None is a default."""
    x = arrays.make(xp, distinct((2, 3), "float32"))
    for name, make in _makers(xp, x).items():
        clause = f"{name}: device= is where the result lies"
        for device in listed(xp):
            with report.case(name, given=f"device={device!r}", clause=clause) as case:
                got = make(device)
                case.true(bool(got.device == device), got.device, device)
        with report.case(name, given="device=None", clause=clause) as case:
            got = make(None)
            case.true(bool(got.device == x.device), got.device, x.device)
    own = x.device
    of_arrays: dict[str, Callable[[], Any]] = {
        "asarray": lambda: xp.asarray(x, device=own),
        "astype": lambda: xp.astype(x, xp.int32, device=own),
        "from_dlpack": lambda: xp.from_dlpack(x, device=own),
    }
    for name, call in of_arrays.items():
        clause = f"{name}: device= may be the device of the array"
        with report.case(name, given="device=x.device", clause=clause) as case:
            got = call()
            case.true(bool(got.device == own), got.device, own)
            wanted = distinct((2, 3), "int32" if name == "astype" else "float32")
            case.equal(got, wanted)


def moving(xp: Any, report: Report) -> None:
    """There and back again: the same values."""
    clause = "to_device: the same values on the device"
    values = distinct((2, 3), "float32")
    for one, two in itertools.product(listed(xp), repeat=2):
        given = f"to {one!r}, to {two!r}, and back"
        with report.case("to_device", given=given, clause=clause) as case:
            x = arrays.make(xp, values)
            there = x.to_device(one).to_device(two)
            case.true(bool(there.device == two), there.device, two)
            case.equal(there.to_device(x.device), values)


def results(xp: Any, report: Report) -> None:
    """Results lie where the arguments lie; two devices in one call raise."""
    calls: dict[str, Callable[[Any, Any], Any]] = {
        "add": lambda x, y: xp.add(x, y),
        "concat": lambda x, y: xp.concat([x, y]),
        "matmul": lambda x, y: xp.matmul(x, y),
        "where": lambda x, y: xp.where(x > y, x, y),
        "sum": lambda x, y: xp.sum(xp.stack([x, y]), axis=0),
        "__getitem__": lambda x, y: x[0, ...] * y[1, ...],
    }
    for one, two in itertools.product(listed(xp), repeat=2):
        for name, call in calls.items():
            x = xp.ones((2, 2), dtype=xp.float32, device=one)
            y = xp.ones((2, 2), dtype=xp.float32, device=two)
            given = f"{name} of arrays on {one!r} and {two!r}"
            if one == two:
                clause = "the result lies on the device of the arguments"
                with report.case(name, given=given, clause=clause) as case:
                    got = call(x, y)
                    case.true(bool(got.device == one), got.device, one)
            else:
                clause = "arrays on two devices should raise"
                with report.case(name, given=given, clause=clause) as case:
                    case.raises(Exception, call, x, y)


def compared(xp: Any, report: Report) -> None:
    """Devices compare with == and !=."""
    clause = "device objects support == and !="
    with report.case("device", clause=clause) as case:
        one, two = xp.zeros(1).device, xp.ones(2).device
        case.true(bool(one == two), f"{one} == {two}: {one == two}", True)
        case.true(not (one != two), f"{one} != {two}: {one != two}", False)
        devices = listed(xp)
        for i, j in np.ndindex(len(devices), len(devices)):
            equal = bool(devices[i] == devices[j])
            case.true(
                equal == (i == j), f"{devices[i]} == {devices[j]}: {equal}", i == j
            )


CHECKS = (
    Check(SUBJECT, keyword),
    Check(SUBJECT, moving),
    Check(SUBJECT, results),
    Check("device objects", compared),
)
