"""Namespaces of the earlier versions of the standard: `namespace("2023.12")`.

The main namespace is that of 2025.12. An earlier one has the names of its version and
no later one, and its own form of the few functions whose results have changed since:
`before_2025_12.py` and `before_2023_12.py`. Such a namespace is an object; nothing is
switched or loaded again, and namespaces of several versions serve side by side.

Three things are in every version, because they belong to the arrays and not to a
namespace: the operators and methods of the Array, as they are in 2025.12; complex
numbers, with `conj`, `imag` and `real` (they came with 2022.12); and
`__array_namespace_info__` (2023.12), by which programs find the devices. A function
also takes the arguments and the Python scalars that later versions allow.

Next: `before_2025_12.py`.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from refarray._compute import operators

# Each version, with the names that came with it.
_ARRIVALS: dict[str, tuple[str, ...]] = {
    "2021.12": (
        # constants
        *("e", "inf", "nan", "newaxis", "pi"),
        # data types
        *("bool", "int8", "int16", "int32", "int64"),
        *("uint8", "uint16", "uint32", "uint64"),
        *("float32", "float64", "complex64", "complex128"),
        # creation functions
        *("arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full"),
        *("full_like", "linspace", "meshgrid", "ones", "ones_like", "tril", "triu"),
        *("zeros", "zeros_like"),
        # data type functions
        *("astype", "can_cast", "finfo", "iinfo", "result_type"),
        # elementwise functions
        *("abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh"),
        *("bitwise_and", "bitwise_left_shift", "bitwise_invert", "bitwise_or"),
        *("bitwise_right_shift", "bitwise_xor", "ceil", "conj", "cos", "cosh"),
        *("divide", "equal", "exp", "expm1", "floor", "floor_divide", "greater"),
        *("greater_equal", "imag", "isfinite", "isinf", "isnan", "less"),
        *("less_equal", "log", "log1p", "log2", "log10", "logaddexp"),
        *("logical_and", "logical_not", "logical_or", "logical_xor", "multiply"),
        *("negative", "not_equal", "positive", "pow", "real", "remainder", "round"),
        *("sign", "sin", "sinh", "square", "sqrt", "subtract", "tan", "tanh", "trunc"),
        # inspection
        "__array_namespace_info__",
        # linear algebra functions
        *("matmul", "matrix_transpose", "tensordot", "vecdot"),
        # manipulation functions
        *("broadcast_arrays", "broadcast_to", "concat", "expand_dims", "flip"),
        *("permute_dims", "reshape", "roll", "squeeze", "stack"),
        # searching functions
        *("argmax", "argmin", "nonzero", "where"),
        # set functions
        *("unique_all", "unique_counts", "unique_inverse", "unique_values"),
        # sorting functions
        *("argsort", "sort"),
        # statistical functions
        *("max", "mean", "min", "prod", "std", "sum", "var"),
        # utility functions
        *("all", "any"),
        # extensions
        "linalg",
    ),
    "2022.12": ("isdtype", "take", "fft"),
    "2023.12": (
        *("clip", "copysign", "cumulative_sum", "hypot", "maximum", "minimum"),
        *("moveaxis", "repeat", "searchsorted", "signbit", "tile", "unstack"),
    ),
    "2024.12": (
        *("count_nonzero", "cumulative_prod", "diff", "nextafter", "reciprocal"),
        "take_along_axis",
    ),
    "2025.12": ("broadcast_shapes", "isin"),
}

# The same for the linear algebra extension. All of `fft` came at once.
_LINALG_ARRIVALS: dict[str, tuple[str, ...]] = {
    "2021.12": (
        *("cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul"),
        *("matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "outer"),
        *("pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "trace"),
        *("vecdot", "vector_norm"),
    ),
    "2025.12": ("eig", "eigvals"),
}

VERSIONS = tuple(_ARRIVALS)

_EXTENSIONS = ("linalg", "fft")


class Namespace(ModuleType):
    """The namespace of one version of the standard, or its linear algebra."""

    __array_api_version__: str
    __all__: list[str]
    _arrivals: dict[str, tuple[str, ...]]

    def __getattr__(self, name: str) -> Any:
        if name in self.__all__:
            # The only names not kept here, so that a profile can lack them.
            return _extension(name, self.__array_api_version__)
        for version, names in self._arrivals.items():
            if name in names:
                raise AttributeError(
                    f"{name} came with version {version} of the array API standard; "
                    f"this is {self.__name__}"
                )
        raise AttributeError(f"{self.__name__} has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted(["__array_api_version__", *self.__all__])


def namespace(api_version: str | None = None) -> ModuleType:
    """Return the namespace of a version of the standard; None means the newest.

    "2021.12" to "2025.12", the last of which is refarray itself. ValueError for any
    other. The same object every time.

    Source: array API 2025.12, array.__array_namespace__; versioning.
    """
    if api_version is None or api_version == VERSIONS[-1]:
        return operators.standard
    if api_version not in VERSIONS:
        known = ", ".join(map(repr, VERSIONS))
        raise ValueError(
            f"refarray knows no version {api_version!r} of the array API standard; "
            f"known versions: {known}"
        )
    name = f"refarray.namespace({api_version!r})"
    return _find(name, api_version, operators.standard, _ARRIVALS)


def _extension(name: str, version: str) -> ModuleType:
    newest: ModuleType = getattr(operators.standard, name)
    if name == "fft":
        return newest
    name = f"refarray.namespace({version!r}).linalg"
    return _find(name, version, newest, _LINALG_ARRIVALS)


_namespaces: dict[str, Namespace] = {}


def _find(
    name: str, version: str, newest: ModuleType, arrivals: dict[str, tuple[str, ...]]
) -> Namespace:
    """Return the namespace of that name, made when it is first asked for."""
    if name in _namespaces:
        return _namespaces[name]
    made = Namespace(name, f"The array API standard, version {version}.")
    made.__array_api_version__ = version
    made.__all__ = [
        n for since in arrivals if since <= version for n in arrivals[since]
    ]
    made._arrivals = arrivals
    for public in made.__all__:
        if public not in _EXTENSIONS:
            setattr(made, public, _form(public, version, newest))
    return _namespaces.setdefault(name, made)


def _form(name: str, version: str, newest: ModuleType) -> Any:
    # Not with the package: few programs ask for an earlier version.
    from refarray._standard import before_2023_12, before_2025_12

    # Until the version named, the functions in the module had another form.
    for change, earlier in (("2023.12", before_2023_12), ("2025.12", before_2025_12)):
        if version < change and name in earlier.__all__:
            return getattr(earlier, name)
    return getattr(newest, name)
