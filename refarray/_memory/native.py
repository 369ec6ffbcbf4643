"""Load the native module, and tell it which objects stand for dtypes and devices.

Everything above imports the native functions from here, so that none of them is called
before this has happened.

Next: `host.py`.
"""

from __future__ import annotations

import atexit

from refarray import _native
from refarray._base import devices, dtypes, profile
from refarray._base.devices import Device
from refarray._base.dtypes import DType
from refarray._base.layout import Unknown

_address = _native.ffi.cast("void *", id(_native))
_installed = _native.lib.ra_install(b"refarray._native", _address)
if _installed > 0:
    raise ImportError(
        "refarray works in the main interpreter of a process, not in a "
        "sub-interpreter: memory is given back on threads that know no other"
    )
if _installed < 0:
    raise ImportError("refarray's native module could not be installed; see above")

for _dtype in dtypes.BY_NAME.values():
    _native.register_dtype(_dtype, _dtype.code, _dtype.bits)


def _register(device: Device) -> None:
    _native.register_device(device, device.dlpack, device.memory)


atexit.register(_native.mark_exit)

_register(devices.CPU)
devices.on_register.append(_register)


def _find_device(name: str) -> Device | None:
    if not name.startswith("cuda"):
        return None
    from refarray._memory import device, device_views  # noqa: F401 (registers itself)

    return device.find_device(name)


devices.find_other = _find_device
_native.register_unknown(Unknown)

ffi = _native.ffi
lib = _native.lib

ArrayBase = _native.ArrayBase
Buffer = _native.Buffer
register_array = _native.register_array
register_consumer = _native.register_consumer
register_operators = _native.register_operators
register_view = _native.register_view
register_runner = _native.register_runner

allocate = _native.allocate
call = _native.call
compute = _native.compute
elementwise = _native.elementwise
join = _native.join
view = _native.view
select = _native.select
empty_spares = _native.empty_spares
wrap = _native.wrap
from_dlpack = _native.from_dlpack
import_capsule = _native.import_capsule
import_memory = _native.import_memory
import_object = _native.import_object
export_memory = _native.export_memory
exchange_api = _native.exchange_api
inspect_capsule = _native.inspect_capsule
trace_capsule = _native.trace_capsule
register_memory = _native.register_memory
take_deferred = _native.take_deferred
finish_deferred = _native.finish_deferred


# What the native module asks once profiles other than `strict` are in use ------------


def _check_new(dtype: DType, device: Device) -> None:
    """Raise ValueError for an array of a dtype that the device does not hold."""
    if not profile.holds(device, dtype):
        held = ", ".join(str(d) for d in dtypes.STANDARD if profile.holds(device, d))
        raise ValueError(
            f"{device!r} does not support {dtype}: it has {held} (profile "
            f"{profile.active().name!r}; array API 2025.12, device support)"
        )


def _lend() -> tuple[bool, int]:
    """Return how memory is lent to others: read-only or not, and the scramble seed.

    TypeError where values are out of reach.
    """
    profile.check_values("the exchange of memory")
    now = profile.active()
    return not now.mutable, now.seed or 0


profile.on_guard.append(lambda: _native.register_guard(_check_new, _lend))
