"""DLPack as the standard asks for it: `__dlpack__`, `__dlpack_device__`, from_dlpack.

The struct in a capsule is read with ctypes. The full set of protocol rules is the
business of a DLPack checker; here are values, copies and the errors of the standard.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from refarray.testing.standard import arrays, layouts
from refarray.testing.standard.arrays import DTYPES
from refarray.testing.standard.calls import Calls
from refarray.testing.standard.check_assignment import mutable
from refarray.testing.standard.runner import Check, Report
from refarray.testing.standard.samples import everywhere, filled

CPU = 1
IS_COPIED = 2
LEGACY, VERSIONED = b"dltensor", b"dltensor_versioned"


class _VersionedHead(ctypes.Structure):
    """The fields of DLManagedTensorVersioned before its DLTensor."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
    )


def capsule_name(capsule: object) -> bytes | None:
    """The name of a PyCapsule."""
    get = ctypes.pythonapi.PyCapsule_GetName
    get.restype, get.argtypes = ctypes.c_char_p, [ctypes.py_object]
    name: bytes | None = get(capsule)
    return name


def _head(capsule: object) -> _VersionedHead:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return _VersionedHead.from_address(get(capsule, VERSIONED))


def on_cpu(x: Any) -> bool:
    """Whether an array says that it lies in memory of the CPU."""
    return int(x.__dlpack_device__()[0]) == CPU


class Producer:
    """Hands out a NumPy array, by the protocol of 2023.12 or the one before it."""

    def __init__(self, array: np.ndarray[Any, Any], old: bool = False) -> None:
        self.array, self.old = array, old

    def __dlpack__(self, **keywords: Any) -> object:
        if self.old and set(keywords) - {"stream"}:
            raise TypeError("unexpected keyword argument")
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (CPU, 0)


def exports(xp: Any, report: Report) -> None:
    """NumPy reads the same values from every dtype, shape and layout."""
    clause = "__dlpack__: shape, dtype, strides and offset describe the array"
    for x in everywhere(DTYPES, (2, 3)):
        for layout in layouts.LAYOUTS:
            made = layouts.make(xp, x, layout)
            if made is None or not on_cpu(made):
                continue
            given = f"array of shape {x.shape}, {layout}"
            with report.case(
                "__dlpack__", dtype=x.dtype.name, given=given, clause=clause
            ) as case:
                try:
                    got = np.from_dlpack(made)
                except BufferError:
                    continue  # the standard lets a library refuse strides
                right = got.shape == x.shape and got.dtype == x.dtype
                case.true(right, f"{got.dtype} {got.shape}", f"{x.dtype} {x.shape}")
                again = got.tolist()
                case.true(repr(again) == repr(x.tolist()), again, x.tolist())


def device(xp: Any, report: Report) -> None:
    """A pair of two integers."""
    clause = "__dlpack_device__: a tuple (device type, device id)"
    with report.case("__dlpack_device__", clause=clause) as case:
        got = arrays.make(xp, np.zeros(2)).__dlpack_device__()
        right = isinstance(got, tuple) and len(got) == 2
        case.true(right, repr(got), "a tuple of two")
        numbers = isinstance(int(got[0]), int) and isinstance(got[1], int)
        case.true(numbers, repr(got), "integers")


def arguments(xp: Any, report: Report) -> None:
    """Versions, copies, devices and streams in the call of `__dlpack__`."""
    name = "__dlpack__"
    x = arrays.make(xp, np.arange(6.0))
    if not on_cpu(x):
        return
    for version in ((1, 0), (1, 1), (0, 8), (2, 0), None):
        given = f"__dlpack__(max_version={version})"
        clause = "__dlpack__: a capsule of a version, versioned only if asked for 1.0"
        with report.case(name, given=given, clause=clause) as case:
            try:
                got = capsule_name(x.__dlpack__(max_version=version))
            except BufferError:
                case.true(version is None or version[0] < 1, "BufferError", "a capsule")
                continue
            old = version is None or version < (1, 0)
            allowed = (LEGACY,) if old else (LEGACY, VERSIONED)
            case.true(got in allowed, got, " or ".join(map(repr, allowed)))
    for keywords in (
        {"stream": None}, {"dl_device": (CPU, 0)}, {"dl_device": x.__dlpack_device__()},
        {"copy": None}, {"copy": False}, {"copy": True},
        {"copy": True, "max_version": (1, 0)},
    ):  # fmt: skip
        clause = f"__dlpack__: takes {', '.join(keywords)}"
        with report.case(name, given=f"__dlpack__({keywords})", clause=clause) as case:
            capsule = x.__dlpack__(**keywords)
            came = capsule_name(capsule)
            case.true(came in (LEGACY, VERSIONED), came, "a DLPack capsule")
            if keywords.get("copy") and came == VERSIONED:
                copied = bool(_head(capsule).flags & IS_COPIED)
                case.true(copied, "flag IS_COPIED not set", "flag IS_COPIED set")
    clause = "__dlpack__: a device that cannot be served: BufferError"
    for unknown in ((2, 99), (10, 7), (8, 0)):
        given = f"__dlpack__(dl_device={unknown})"
        with report.case(name, given=given, clause=clause) as case:
            case.raises(BufferError, x.__dlpack__, dl_device=unknown)


def imports(xp: Any, report: Report) -> None:
    """Arrays of this library, of NumPy, and of a producer of the old protocol."""
    call = Calls(xp, report, "from_dlpack", "from_dlpack: the values of the producer")
    for x in everywhere(DTYPES, (2, 3)):
        call.gives(x, x)
        call.gives(x, x, copy=True, clause="from_dlpack: copy=True always copies")
        call.gives(x, x, copy=None, layouts=("fresh",))
    foreign = "from_dlpack: an array of another library, in any memory layout"
    # torch ends the process when handed memory that runs backwards, so that is kept
    # from libraries that have no such arrays of their own.
    backwards = layouts.make(xp, np.zeros(2), "reversed") is not None
    for x in everywhere(DTYPES, (4, 6)):
        views = [x]
        if x.ndim:
            views += [x[..., ::2], x[1:], x[..., -1:], x.T]
            views += [np.broadcast_to(x[:1], x.shape)]
            views += [x[::-1], x[..., ::-2]] if backwards else []
        for view in views:
            kinds = (Producer(view), Producer(view, old=True))
            for producer in kinds[: 2 if view.flags.writeable else 1]:
                given = f"NumPy array of shape {view.shape}, strides {view.strides}"
                given += ", old protocol" if producer.old else ""
                with report.case(
                    "from_dlpack", dtype=x.dtype.name, given=given, clause=foreign
                ) as case:
                    try:
                        got = xp.from_dlpack(producer)
                    except BufferError:
                        continue  # a library may refuse strides or read-only memory
                    case.equal(got, view)


def copies(xp: Any, report: Report) -> None:
    """copy=True is independent of the source, copy=False shares its memory."""
    source = np.arange(6.0)
    if not on_cpu(arrays.make(xp, source)):
        return
    for copy in (True, False, None):
        clause = f"from_dlpack: copy={copy}"
        given = f"from_dlpack(NumPy array, copy={copy}), then the source changes"
        with report.case("from_dlpack", given=given, clause=clause) as case:
            source = np.arange(6.0)
            got = xp.from_dlpack(source, copy=copy)
            source[0] = 77
            shared = bool(arrays.read(got)[0] == 77)
            right = copy is None or shared is not copy
            case.true(right, f"shared: {shared}", f"shared: {not copy}")
            if copy and mutable(xp):
                got[1] = 99
                case.true(source[1] == 1, source[1], 1)
                values = arrays.read(got)
                case.true(values[1] == 99, values, "a copy that can be written to")


def errors(xp: Any, report: Report) -> None:
    """What from_dlpack raises."""
    call = Calls(xp, report, "from_dlpack")

    class Refuses(Producer):
        """Cannot export."""

        def __dlpack__(self, **keywords: Any) -> object:
            raise BufferError("the data cannot be exported")

    clause = "from_dlpack: an object without __dlpack__: AttributeError"
    for thing in ("text", [1, 2], 1.0):
        call.refused(AttributeError, thing, clause=clause)
    clause = "from_dlpack: BufferError of the producer propagates"
    call.refused(BufferError, Refuses(np.zeros(2)), clause=clause)


def round_trip(xp: Any, report: Report) -> None:
    """The memory outlives both arrays' owners."""
    clause = "from_dlpack: the memory lives as long as any array that uses it"
    for dtype in DTYPES:
        x = filled((40,), dtype)
        with report.case(
            "from_dlpack", dtype=dtype, given="a chain", clause=clause
        ) as case:
            first = arrays.make(xp, x)
            chain = xp.from_dlpack(xp.from_dlpack(first))
            del first
            case.equal(chain, x)


CHECKS = (
    Check("__dlpack__", exports),
    Check("__dlpack_device__", device),
    Check("__dlpack__", arguments),
    Check("from_dlpack", imports),
    Check("from_dlpack", copies),
    Check("from_dlpack", errors),
    Check("from_dlpack", round_trip),
)
