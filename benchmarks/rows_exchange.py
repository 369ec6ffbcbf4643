"""DLPack: what it costs to share an array, as consumer and as producer.

Next: rows_small.py.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.harness import Measure, Row, Target, at_most, statement
from benchmarks.libraries import libraries


def rows() -> list[Row]:
    """Return the rows on float64 arrays of three elements: size costs nothing here."""
    values = np.arange(3.0)
    own = {name: library.array(values) for name, library in libraries().items()}
    result = [
        Row(
            "from_dlpack(numpy array)",
            _load(dict.fromkeys(own, values)),
            {"numpy": Target(2.2, aim=1.6)},
        ),
        Row("from_dlpack(own array)", _load(own)),
        Row(
            "numpy.from_dlpack(own array)",
            _each("load(x)", own, load=np.from_dlpack),
            {"numpy": Target(1.5, aim=1.0)},
        ),
        Row(
            "x.__dlpack__(max_version=(1, 0))",
            _each("x.__dlpack__(max_version=(1, 0))", own),
            {"numpy": Target(1.5, aim=1.0)},
        ),
        Row(
            "x.__dlpack_device__()",
            _each("x.__dlpack_device__()", own),
            at_most(numpy=0.65),
        ),
    ]
    if "torch" in own:
        result += _with_torch(own)
    return result


def _with_torch(own: Mapping[str, Any]) -> list[Row]:
    torch = importlib.import_module("torch")
    tensor = own["torch"]
    # Not exactly a Tensor: refarray asks for `__dlpack__`, as it asks anything else.
    parameter = torch.nn.Parameter(tensor, requires_grad=False)
    return [
        Row(
            "from_dlpack(torch tensor), exchange API",
            _load(dict.fromkeys(own, tensor)),
            at_most(torch=0.15),
        ),
        Row(
            "from_dlpack(torch parameter), __dlpack__",
            _load(dict.fromkeys(own, parameter)),
            at_most(torch=0.55),
        ),
        Row(
            "torch.from_dlpack(own array)",
            _each("load(x)", own, load=torch.from_dlpack),
            at_most(numpy=1.0),
        ),
    ]


def _load(arrays: Mapping[str, Any]) -> dict[str, Measure]:
    """Measure the `from_dlpack` of each library, on the array given for it."""
    found = {name: libraries()[name] for name in arrays}
    return {
        name: statement(
            f"load(x){library.finished}", load=library.xp.from_dlpack, x=arrays[name]
        )
        for name, library in found.items()
    }


def _each(code: str, arrays: Mapping[str, Any], **names: Any) -> dict[str, Measure]:
    """Measure one statement about an array x, of each library."""
    return {name: statement(code, x=x, **names) for name, x in arrays.items()}
