"""Load the native module, and tell it which objects stand for dtypes and devices.

Everything above imports the native functions from here, so that none of them is called
before this has happened.

Next: `host.py`.
"""

from __future__ import annotations

from refarray import _native
from refarray._base import devices, dtypes

if _native.lib.ra_install(b"refarray._native") != 0:
    raise ImportError("refarray's native module could not be installed; see above")

for _dtype in dtypes.BY_NAME.values():
    _native.register_dtype(_dtype, _dtype.code, _dtype.bits)
_native.register_device(devices.CPU, devices.CPU.dlpack)

ffi = _native.ffi
lib = _native.lib

ArrayBase = _native.ArrayBase
Buffer = _native.Buffer
register_array = _native.register_array
register_view = _native.register_view

allocate = _native.allocate
view = _native.view
wrap = _native.wrap
import_capsule = _native.import_capsule
import_memory = _native.import_memory
import_object = _native.import_object
export_memory = _native.export_memory
exchange_api = _native.exchange_api
inspect_capsule = _native.inspect_capsule
