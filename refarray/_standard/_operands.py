"""What functions of several arguments ask of their arrays before they compute.

Elementwise functions get this from the pipeline; linear algebra and the Fourier
transforms ask here.
"""

from __future__ import annotations

from refarray._compute.array import Array
from refarray._compute.pipeline import (
    Category,
    category_error,
    check_array,
    device_error,
)


def check_operands(name: str, category: Category, *operands: Array) -> None:
    """Raise unless all `operands` are arrays of a dtype in `category`, on one device.

    TypeError for what is no array, or of another dtype; ValueError for two devices.
    """
    for x in operands:
        check_array(name, x)
        if x.dtype not in category.dtypes:
            raise category_error(name, category, x.dtype)
        if x.device is not operands[0].device:
            raise device_error(name, operands[0].device, x.device)
