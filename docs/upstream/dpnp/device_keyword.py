"""With `device`, arrays without dimensions and strided ones cannot be imported.

`dpnp.from_dlpack(x, device=...)` copies from the host to the device. For an array
without dimensions, without elements, or with a strided last axis it raises ValueError.

Rule: 48
Says: array API 2025.12, from_dlpack, device
Reported: no report found
Needs: dpnp, a SYCL device, NumPy
"""

import sys

import dpnp
import numpy as np

device = dpnp.empty(1).device
arrays = {
    "no dimensions": np.asarray(1.5),
    "no elements": np.empty((0, 3)),
    "every second element": np.arange(6.0)[::2],
}
wrong = False
for name, x in arrays.items():
    try:
        same = dpnp.from_dlpack(x, device=device).tolist() == x.tolist()
        print(f"{name}: {'right' if same else 'wrong'}")
        wrong |= not same
    except Exception as error:
        print(f"{name}: {type(error).__name__}: {str(error)[:60]}")
        wrong = True
sys.exit(wrong)
