"""DLPack between refarray and NumPy: what it costs to share an array."""

from __future__ import annotations

import numpy as np

import refarray
from benchmarks.harness import Measure, Row, statement


def rows() -> list[Row]:
    """Return the rows on float64 arrays of three elements: size costs nothing here."""
    theirs = np.arange(3.0)
    ours = refarray.from_dlpack(np.arange(3.0))

    def both(code: str) -> dict[str, Measure]:
        """Measure a statement about an array x, of ours and of NumPy."""
        return {
            "refarray": statement(code, x=ours),
            "numpy": statement(code, x=theirs),
        }

    return [
        Row(
            "from_dlpack(numpy array)",
            {
                "refarray": statement("load(x)", load=refarray.from_dlpack, x=theirs),
                "numpy": statement("load(x)", load=np.from_dlpack, x=theirs),
            },
            {"numpy": 3.0},
        ),
        Row(
            "numpy.from_dlpack(own array)",
            {
                "refarray": statement("load(x)", load=np.from_dlpack, x=ours),
                "numpy": statement("load(x)", load=np.from_dlpack, x=theirs),
            },
            {"numpy": 2.0},
        ),
        Row(
            "x.__dlpack__(max_version=(1, 0))",
            both("x.__dlpack__(max_version=(1, 0))"),
            {"numpy": 2.5},
        ),
        Row("x.__dlpack_device__()", both("x.__dlpack_device__()")),
    ]
