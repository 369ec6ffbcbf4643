"""refarray: the reference array library of the array API standard and of DLPack.

This file is the table of contents: the names of the standard, in its own order. Beside
them stand `Array`, `Device`, `namespace` (the standard of other years), `dlpack` (the
protocol itself), `memory` (counters and cache of host memory), `cuda` (streams and
memory of CUDA devices) and `profiles` (refarray as another library behaves).
`refarray.testing` holds other libraries to the standard and to DLPack;
`python -m refarray` is the command line.

How to read this package: `_base/`, `_memory/`, `dlpack/`, `_compute/`, `_standard/`, in
this order. The docstring of each folder says what its files are about, and that of each
file which one comes next. A folder imports only from those before it. A shorter way in:
docs/explanation/how-to-read-this-code.md follows one `add` and one exchange from here
down to the bytes.

More than 400 lines: a table of contents is no shorter than what it lists.
"""

import os as _os
import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

# From here and not first from deep within the package: there CPython's stack needs
# another piece of memory, which importing NumPy would take and give back 800 times.
import numpy as _numpy  # noqa: F401

from refarray import dlpack
from refarray._base import profile as _profile
from refarray._base.devices import Device
from refarray._base.dtypes import (
    bool,
    complex64,
    complex128,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from refarray._compute.array import Array
from refarray._compute.operators import use_functions as _use_functions
from refarray._standard.constants import e, inf, nan, newaxis, pi
from refarray._standard.creation_functions import (
    arange,
    asarray,
    empty,
    empty_like,
    eye,
    from_dlpack,
    full,
    full_like,
    linspace,
    meshgrid,
    ones,
    ones_like,
    tril,
    triu,
    zeros,
    zeros_like,
)
from refarray._standard.data_type_functions import (
    astype,
    can_cast,
    finfo,
    iinfo,
    isdtype,
    result_type,
)
from refarray._standard.elementwise_functions import (
    abs,
    acos,
    acosh,
    add,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    bitwise_and,
    bitwise_invert,
    bitwise_left_shift,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    ceil,
    clip,
    conj,
    copysign,
    cos,
    cosh,
    divide,
    equal,
    exp,
    expm1,
    floor,
    floor_divide,
    greater,
    greater_equal,
    hypot,
    imag,
    isfinite,
    isinf,
    isnan,
    less,
    less_equal,
    log,
    log1p,
    log2,
    log10,
    logaddexp,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    multiply,
    negative,
    nextafter,
    not_equal,
    positive,
    pow,
    real,
    reciprocal,
    remainder,
    round,
    sign,
    signbit,
    sin,
    sinh,
    sqrt,
    square,
    subtract,
    tan,
    tanh,
    trunc,
)
from refarray._standard.indexing_functions import (
    take,
    take_along_axis,
)
from refarray._standard.info import (
    __array_namespace_info__,
)
from refarray._standard.linear_algebra_functions import (
    matmul,
    matrix_transpose,
    tensordot,
    vecdot,
)
from refarray._standard.manipulation_functions import (
    broadcast_arrays,
    broadcast_shapes,
    broadcast_to,
    concat,
    expand_dims,
    flip,
    moveaxis,
    permute_dims,
    repeat,
    reshape,
    roll,
    squeeze,
    stack,
    tile,
    unstack,
)
from refarray._standard.searching_functions import (
    argmax,
    argmin,
    count_nonzero,
    nonzero,
    searchsorted,
    where,
)
from refarray._standard.set_functions import (
    isin,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
)
from refarray._standard.sorting_functions import (
    argsort,
    sort,
)
from refarray._standard.statistical_functions import (
    cumulative_prod,
    cumulative_sum,
    max,
    mean,
    min,
    prod,
    std,
    sum,
    var,
)
from refarray._standard.utility_functions import (
    all,
    any,
    diff,
)
from refarray._standard.versions import namespace

__version__ = "0.1.0"
__array_api_version__ = "2025.12"

__all__ = [
    "__array_api_version__",
    # constants
    "e",
    "inf",
    "nan",
    "newaxis",
    "pi",
    # data types
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "complex64",
    "complex128",
    # creation functions
    "arange",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
    # data type functions
    "astype",
    "can_cast",
    "finfo",
    "iinfo",
    "isdtype",
    "result_type",
    # elementwise functions
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_invert",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "ceil",
    "clip",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "divide",
    "equal",
    "exp",
    "expm1",
    "floor",
    "floor_divide",
    "greater",
    "greater_equal",
    "hypot",
    "imag",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "real",
    "reciprocal",
    "remainder",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "square",
    "sqrt",
    "subtract",
    "tan",
    "tanh",
    "trunc",
    # indexing functions
    "take",
    "take_along_axis",
    # info
    "__array_namespace_info__",
    # linear algebra functions
    "matmul",
    "matrix_transpose",
    "tensordot",
    "vecdot",
    # manipulation functions
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "moveaxis",
    "permute_dims",
    "repeat",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "tile",
    "unstack",
    # searching functions
    "argmax",
    "argmin",
    "count_nonzero",
    "nonzero",
    "searchsorted",
    "where",
    # set functions
    "isin",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    # sorting functions
    "argsort",
    "sort",
    # statistical functions
    "cumulative_prod",
    "cumulative_sum",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
    # utility functions
    "all",
    "any",
    "diff",
    # beside the standard
    "Array",
    "Device",
    "dlpack",
    "memory",
    "namespace",
]

if _TYPE_CHECKING:
    from refarray import cuda as cuda
    from refarray import memory as memory
    from refarray import profiles as profiles
    from refarray._standard import fft as fft
    from refarray._standard import linalg as linalg

# The extensions of the standard, found when they are asked for, so that a profile can
# lack them; and what few programs ask for.
_EXTENSIONS = ("fft", "linalg")
_ON_REQUEST = ("cuda", "memory", "profiles")


def __getattr__(name: str) -> _Any:
    from importlib import import_module

    if name in _extensions():
        extension = import_module(f"refarray._standard.{name}")
        if not _profile.guarded:
            globals()[name] = extension  # until a profile may lack it
        return extension
    if name in _ON_REQUEST:
        return import_module(f"refarray.{name}")
    if name in _EXTENSIONS:
        raise AttributeError(
            f"profile {_profile.active().name!r} has no extension {name!r}"
        )
    raise AttributeError(f"module 'refarray' has no attribute {name!r}")


def _extensions() -> list[str]:
    present = _profile.active().extensions
    return [name for name in _EXTENSIONS if name in present]


def _ask_again() -> None:
    for name in _EXTENSIONS:
        globals().pop(name, None)


_profile.on_guard.append(_ask_again)


def __dir__() -> list[str]:
    return sorted({*__all__, *_extensions(), *_ON_REQUEST})


_use_functions(_sys.modules[__name__])

if "REFARRAY_PROFILE" in _os.environ:
    from refarray.profiles import _use_environment

    _use_environment()
