"""refarray."""
import sys as _sys
from refarray._base.devices import Device
from refarray._base.dtypes import *
from refarray._compute.array import Array, use_functions as _use_functions
from refarray._standard.elementwise_functions import add
from refarray.dlpack.consumer import from_dlpack
from refarray import dlpack, memory
_use_functions(_sys.modules[__name__])
