"""The exchange with RAPIDS cuDF, which runs on NVIDIA GPUs only.

It has no `__dlpack__`: `Series.to_dlpack()` makes a legacy capsule of a copy in CUDA
memory, and `cudf.from_dlpack` copies out of a capsule, of CUDA or of CPU memory, with
one axis, or two that lie column by column. Its tests run where there is a GPU.

Install: cudf-cu12==26.10.2
Name: RAPIDS cuDF
"""

from pathlib import Path

import numpy as np
import pytest
from exchange import library

import refarray as xp
from refarray.dlpack import from_capsule

if not Path("/proc/driver/nvidia").exists():
    pytest.skip("cuDF needs an NVIDIA GPU", allow_module_level=True)
cudf = library("cudf")

LIBRARY = "RAPIDS cuDF"
VERSION = cudf.__version__
DIRECTIONS = "both"

VALUES = [1.5, 2.5, 3.5]


@pytest.mark.works
def test_a_column_comes_as_a_capsule(balance):
    """A Series comes by `from_capsule(series.to_dlpack())`, as a copy on the GPU."""
    with balance:
        x = from_capsule(cudf.Series(VALUES).to_dlpack())
        assert x.device == xp.Device("cuda:0")
        assert np.from_dlpack(x.to_device(xp.Device("cpu"))).tolist() == VALUES
        del x


@pytest.mark.works
@pytest.mark.parametrize("device", ["cpu", "cuda:0"])
def test_it_copies_out_of_our_capsules(balance, device):
    """`cudf.from_dlpack(x.__dlpack__())` copies one axis into a Series."""
    with balance:
        x = xp.asarray(VALUES, device=xp.Device(device))
        series = cudf.from_dlpack(x.__dlpack__())
        assert series.to_arrow().to_pylist() == VALUES
        del x, series


@pytest.mark.refuses
def test_a_column_with_nulls():
    """A Series with nulls."""
    with pytest.raises((ValueError, RuntimeError), match="null"):
        cudf.Series([1.0, None]).to_dlpack()
