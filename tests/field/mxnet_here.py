"""MXNet in the process of refarray, though it was written for NumPy 1.

Its part in Python calls libmxnet.so through ctypes, and is not bound to a version of
Python. But it looks up names that NumPy 2 no longer has, most of them only to list
them. They are given back while it is imported, and not after.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

_CONSTANTS = {
    "PZERO": 0.0,
    "NZERO": -0.0,
    "PINF": np.inf,
    "NINF": -np.inf,
    "NAN": np.nan,
    "NaN": np.nan,
}


def borrow() -> ModuleType:
    """Import MXNet from the environment of LIBRARY_PYTHON. Raises ImportError."""
    python = os.environ.get("LIBRARY_PYTHON")
    if python is None:
        raise ImportError("LIBRARY_PYTHON names no interpreter")
    folders = [
        str(path) for path in Path(python).parents[1].glob("lib/*/site-packages")
    ]
    present = np.__getattr__

    def former(name: str) -> Any:
        try:
            return present(name)
        except AttributeError:
            if name.startswith("__"):
                raise
            return _CONSTANTS.get(name)

    # At the end: what we have too comes from us.
    sys.path += folders
    np.__getattr__ = former
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import mxnet
    finally:
        np.__getattr__ = present
        for folder in folders:
            sys.path.remove(folder)
    found: ModuleType = mxnet
    return found
