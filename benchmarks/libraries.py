"""The libraries that rows compare, each on one thread.

Next: rows_exchange.py.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import refarray
from benchmarks.harness import Measure, statement

# Read by NumPy's, torch's and JAX's parts in C when they are loaded.
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "JAX_PLATFORMS": "cpu",
}

# The others, those of TVM FFI, are for exchange only.
WITH_FUNCTIONS = ("refarray", "numpy", "array-api-strict", "torch", "jax")


@dataclass(frozen=True)
class Library:
    """A library under the name in the table; `xp` has the functions of the standard.

    `array` makes an array of its own with the elements of a NumPy array. `finished` is
    put behind an expression that may return before the work is done.
    """

    name: str
    xp: Any
    array: Callable[[np.ndarray[Any, Any]], Any]
    finished: str = ""


def _refarray() -> Library:
    return Library("refarray", refarray, lambda x: refarray.asarray(x, copy=True))


def _numpy() -> Library:
    return Library("numpy", np, np.copy)


def _array_api_strict() -> Library:
    strict = importlib.import_module("array_api_strict")
    return Library("array-api-strict", strict, lambda x: strict.asarray(x, copy=True))


def _torch() -> Library:
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    return Library("torch", torch, lambda x: torch.from_numpy(x).clone())


def _jax() -> Library:
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    return Library("jax", jax.numpy, jax.numpy.array, ".block_until_ready()")


def _tvm_ffi() -> Library:
    ffi = importlib.import_module("tvm_ffi")
    return Library("tvm-ffi", ffi, lambda x: ffi.from_dlpack(np.copy(x)))


@cache
def libraries() -> Mapping[str, Library]:
    """Return those that are installed; complain about the others, once."""
    found = {}
    for load in (_refarray, _numpy, _array_api_strict, _torch, _jax, _tvm_ffi):
        try:
            library = load()
            found[library.name] = library
        except ImportError as error:
            print(f"NOT MEASURED: {error}", file=sys.stderr)
    return found


# The arrays of each library, by the names that they have in expressions.
Operands = Mapping[str, Mapping[str, Any]]


def operands(
    only: Collection[str] = WITH_FUNCTIONS, /, **values: np.ndarray[Any, Any]
) -> Operands:
    """Make arrays of these libraries, as far as they are installed."""
    return {
        name: {key: library.array(value) for key, value in values.items()}
        for name, library in libraries().items()
        if name in only
    }


def measures(
    code: str, operands: Operands, torch: str | None = None
) -> dict[str, Measure]:
    """Measure an expression about operands, in which `xp` stands for the library.

    `torch` is the expression for torch, where that lacks the standard's.
    """
    code_of = {"torch": torch or code}
    return {
        name: statement(
            f"({code_of.get(name, code)}){libraries()[name].finished}",
            xp=libraries()[name].xp,
            **arrays,
        )
        for name, arrays in operands.items()
    }
